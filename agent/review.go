package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// answer is what was said about one part of a call.
type answer struct {
	proposal string
	asked    Part // as the model wants it
	part     Part // ... and as it was decided on
	verdict  verdict
	by       By
	comment  string // on the whole proposal
	moved    bool   // the text changed while it was open
}

// question is a part that needs consent, and the call that wants it.
type question struct {
	call *call
	part Part
}

// consent gets an answer to every part of a batch: first from the policy, where
// it speaks, then in one proposal from the person.
func (r *run) consent(batch []*call) error {
	type group struct {
		verdict   Verdict
		questions []question
	}
	var ruled []group
	var open []question
	for _, c := range batch {
		if c.result != nil {
			continue
		}
		for _, p := range c.parts {
			v := r.rule(p)
			q := question{c, p}
			if v.Do != Allow && v.Do != Deny {
				open = append(open, q)
				continue
			}
			i := slices.IndexFunc(ruled, func(g group) bool { return g.verdict == v })
			if i < 0 {
				ruled = append(ruled, group{verdict: v})
				i = len(ruled) - 1
			}
			ruled[i].questions = append(ruled[i].questions, q)
		}
	}
	for _, g := range ruled {
		if err := r.decide(g.questions, func(p Proposal) (Proposal, Decision, error) { return p, ruling(p, g.verdict), nil }); err != nil {
			return err
		}
	}
	return r.decide(open, r.review)
}

// review has the person decide, and returns the revision that they decided on. The
// editor reports each from a goroutine of its own; only this one yields.
func (r *run) review(p Proposal) (Proposal, Decision, error) {
	r.s.steers.ask(true)
	defer r.s.steers.ask(false)
	newest, errands := p, make(chan func())
	d, err := guardWith(r.ctx, 0, errands, func(ctx context.Context) (Decision, error) {
		return r.s.cfg.Editor.Review(ctx, p, func(next Proposal) error {
			done := make(chan error, 1)
			select {
			case errands <- func() { done <- r.revise(p, &newest, next) }:
				return <-done
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	})
	return newest, d, err
}

// revise shows what became of an open question.
func (r *run) revise(first Proposal, newest *Proposal, next Proposal) error {
	if next.Revision <= newest.Revision {
		return fmt.Errorf("revision %d of proposal %s comes after %d", next.Revision, first.ID, newest.Revision)
	}
	if err := checkRevision(first, next); err != nil {
		return err
	}
	*newest = next
	return r.emit(Revised{next})
}

func ruling(p Proposal, v Verdict) Decision {
	d := Decision{By: orDefault(v.By, ByRule), Comment: v.Reason, Parts: make([]PartDecision, len(p.Parts))}
	for i := range d.Parts {
		d.Parts[i].Accept = v.Do == Allow
	}
	return d
}

// decide records a proposal, gets its answer from decider, and records that
// before anything of it is done. Whatever is not a clear yes is a no. A cancel
// refuses without a decision, and so does every answer that comes after it.
func (r *run) decide(questions []question, decider func(Proposal) (Proposal, Decision, error)) error {
	if len(questions) == 0 {
		return nil
	}
	if r.ctx.Err() != nil {
		cancelAll(questions)
		return nil
	}
	first := r.propose(questions)
	if err := r.emit(Proposed{first}); err != nil {
		return err
	}
	p, d, err := decider(first)
	if errors.Is(err, ErrInterrupted) {
		return err
	}
	if r.ctx.Err() != nil {
		cancelAll(questions)
		return nil
	}
	if err != nil {
		d = Decision{By: ByHeadless, Comment: fmt.Sprintf("the question could not be asked: %v", err)}
	}
	d.By = orDefault(d.By, ByPerson)
	d.Parts = fitting(p, d.Parts)
	if p.Revision != first.Revision {
		if err := r.record(Proposed{p}); err != nil {
			return err
		}
	}
	if err := r.emit(Decided{ProposalID: p.ID, Revision: p.Revision, Decision: d}); err != nil {
		return err
	}
	for i, q := range questions {
		part := p.Parts[i]
		r.take(q, answer{proposal: p.ID, asked: q.part, part: part, verdict: weigh(part, d.Parts[i]), by: d.By, comment: d.Comment, moved: part.moved(first.Parts[i])})
	}
	return nil
}

func cancelAll(questions []question) {
	for _, q := range questions {
		q.call.fail(cancelledText)
	}
}

// take notes the answer to a part. One refused part refuses a call, but for an
// edit, where the accepted hunks land.
func (r *run) take(q question, a answer) {
	q.call.answers = append(q.call.answers, a)
	switch e := q.part.Effect.(type) {
	case OutsideRead, SecretRead:
		if a.verdict.ok.Covers(e) {
			r.s.reads = r.s.reads.and(a.verdict.ok)
		}
	}
}

// propose makes one proposal of the parts, named after its first call.
func (r *run) propose(questions []question) Proposal {
	first := questions[0].part
	p := Proposal{ID: "p-" + first.Use.ID, Revision: 1}
	for n := 2; r.proposed[p.ID]; n++ { // a call whose parts are answered apart
		p.ID = fmt.Sprintf("p-%s-%d", first.Use.ID, n)
	}
	r.proposed[p.ID] = true
	taken := map[string]bool{}
	for _, q := range questions {
		part := q.part
		if e, ok := part.Effect.(Edit); ok {
			for i, h := range e.Hunks { // the same line inserted twice, by two calls
				for n := 2; taken[e.Hunks[i].ID]; n++ {
					e.Hunks[i].ID = fmt.Sprintf("%s-%d", h.ID, n)
				}
				taken[e.Hunks[i].ID] = true
			}
		}
		p.Parts = append(p.Parts, part)
	}
	return p.Titled()
}
