package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"assent/agent"
)

const (
	// settle is how long a change of the texts waits for others at least, so that typing
	// does not make a revision of each key. Where a look at the texts takes longer, it is several
	// times that.
	settle = 60 * time.Millisecond
	// pollEvery is how often files are looked at that no editor tells of.
	pollEvery = time.Second
)

// Review is how a dialect has the person decide on a proposal while they go on working
// on its files.
type Review struct {
	// Ask puts a question before the person and reads the answer. It returns soon after
	// its context ends.
	Ask func(ctx context.Context, q *Question) (Answer, error)
	// Now is the text that the file of an edit has at this moment.
	Now func(e agent.Edit) (text string, known bool)
	// Changed is closed at the next change of a text that an editor has open; nil if
	// none tells of that.
	Changed func() <-chan struct{}
}

// Question is what of a proposal is to be decided.
type Question struct {
	Proposal agent.Proposal // the newest revision; hunks that are decided are left out
	Parts    []int          // that are asked, by their place in it

	r *review
}

// Answer is what the person said to a question.
type Answer struct {
	Revision int            // of which it speaks; 0: the client did not say
	Decision agent.Decision // by part of the proposal; only those that are asked count
	Unsaid   []int          // parts that were asked, and are not answered: they are asked again, alone
}

// Shown is a revision of the proposal as the person may have seen it.
func (q *Question) Shown(revision int) (p agent.Proposal, ok bool) {
	if revision == q.Proposal.Revision {
		return q.Proposal, true
	}
	return q.r.revision(revision)
}

// Since are the revisions that there were since the question was asked, itself the
// last, the newest first.
func (q *Question) Since() []agent.Proposal {
	later := slices.Clone(q.r.since(q.Proposal.Revision + 1))
	slices.Reverse(later)
	return append(later, q.Proposal)
}

// only reports whether nothing but one hunk is asked, so that a plain yes can mean
// nothing else.
func (q *Question) only(id string) bool {
	edit, _ := q.Proposal.Parts[q.Parts[0]].Effect.(agent.Edit)
	return len(q.Parts) == 1 && len(edit.Hunks) == 1 && edit.Hunks[0].ID == id
}

// same reports whether another question asks the same of the same texts.
func (q *Question) same(o *Question) bool {
	if q == nil || q.Proposal.Revision != o.Proposal.Revision || !slices.Equal(q.Parts, o.Parts) {
		return false
	}
	return slices.EqualFunc(q.Proposal.Parts, o.Proposal.Parts, func(a, b agent.Part) bool {
		x, _ := a.Effect.(agent.Edit)
		y, _ := b.Effect.(agent.Edit)
		return slices.EqualFunc(x.Hunks, y.Hunks, func(h, k agent.Hunk) bool { return h.ID == k.ID })
	})
}

// Run asks until each hunk of the newest revision is decided. It is Review of
// [agent.Editor].
func (v Review) Run(ctx context.Context, p agent.Proposal, revise func(agent.Proposal) error) (agent.Decision, error) {
	r := &review{how: v, revise: revise, revisions: []agent.Proposal{p}, seen: textsOf(p, asPlanned), opinions: make([]opinion, len(p.Parts))}
	r.follow()
	vain := 0
	for q := r.first(); q != nil; {
		a, err := r.ask(ctx, q)
		switch {
		case err == nil:
			r.take(q, a)
		case r.by == "" || ctx.Err() != nil || errors.Is(err, agent.ErrInterrupted):
			return agent.Decision{}, err
		default: // what they said to the questions before stands
			r.refuse(q, fmt.Sprintf("A question could not be asked (%v), so it counts as no.", err))
		}
		next := r.next()
		if vain++; !next.same(q) {
			vain = 0
		}
		if vain == maxVain {
			r.refuse(q, fmt.Sprintf("The answers, %d times, were not for what was asked, so it counts as no.", vain))
			next, vain = r.next(), 0
		}
		q = next
	}
	return r.decision(), nil
}

// maxVain is how often a question is asked of a client whose answers are for something
// else, such as always the first revision.
const maxVain = 3

// review is a proposal that is open. It belongs to the goroutine of Run, but for the
// revisions, in which those who ask look up what was answered.
type review struct {
	how      Review
	revise   func(agent.Proposal) error
	seen     []string // the texts for which the newest revision is
	opinions []opinion
	by       agent.By
	comment  string
	took     time.Duration // the last look at the texts, until the dialect had what came of it

	mu        sync.Mutex
	revisions []agent.Proposal // the newest last, and the first always
}

// maxRevisions is how many are remembered. An answer to an older one counts as none.
const maxRevisions = 50

func (r *review) newest() agent.Proposal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.revisions[len(r.revisions)-1]
}

// since are the remembered revisions from one on.
func (r *review) since(revision int) []agent.Proposal {
	if r == nil { // a question that is not of a review has no others
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.revisions, func(p agent.Proposal) bool { return p.Revision >= revision })
	if i < 0 {
		return nil
	}
	return slices.Clone(r.revisions[i:])
}

func (r *review) revision(n int) (agent.Proposal, bool) {
	if all := r.since(n); len(all) > 0 && all[0].Revision == n {
		return all[0], true
	}
	return agent.Proposal{}, false
}

// ask waits for the answer to a question, and has the proposal follow the texts
// meanwhile, for the last time when the answer is there.
func (r *review) ask(ctx context.Context, q *Question) (Answer, error) {
	type reply struct {
		answer Answer
		err    error
	}
	replied := make(chan reply, 1)
	go func() {
		var got reply
		defer func() {
			if p := recover(); p != nil {
				got.err = fmt.Errorf("it crashed, which is a bug in it: %v", p)
			}
			replied <- got
		}()
		got.answer, got.err = r.how.Ask(ctx, q)
	}()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	var changed <-chan struct{}
	var soon <-chan time.Time
	for {
		if r.how.Changed != nil && changed == nil && soon == nil {
			changed = r.how.Changed()
			r.follow()
		}
		select {
		case got := <-replied:
			if got.err == nil {
				r.follow()
			}
			return got.answer, got.err
		case <-changed:
			changed, soon = nil, time.After(max(settle, 4*r.took))
		case <-soon:
			soon = nil
		case <-poll.C:
			r.follow()
		}
	}
}

// follow makes a revision if the texts are others than those of the newest.
func (r *review) follow() {
	began := time.Now()
	defer func() { r.took = time.Since(began) }()
	texts := textsOf(r.newest(), r.how.Now)
	if slices.Equal(texts, r.seen) { // a revision is dear
		return
	}
	next := revision(r.revisions[0], r.newest(), texts)
	r.keep(next)               // first, since the answer may come before revise has returned
	if r.revise(next) != nil { // nobody listens any more
		r.drop()
		return
	}
	r.seen = texts
}

func (r *review) keep(next agent.Proposal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.revisions) > maxRevisions {
		r.revisions = slices.Delete(r.revisions, 1, 2)
	}
	r.revisions = append(r.revisions, next)
}

// drop takes back the newest.
func (r *review) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.revisions = r.revisions[:len(r.revisions)-1]
}

// first asks all.
func (r *review) first() *Question {
	q := &Question{Proposal: r.newest(), r: r}
	for i, part := range q.Proposal.Parts {
		if hunks, whole := r.opinions[i].open(part); whole || len(hunks) > 0 {
			q.Parts = append(q.Parts, i)
		}
	}
	if len(q.Parts) == 0 { // the texts have it all meanwhile
		return nil
	}
	return q
}

// next asks one thing that is open: a part, what is not in conflict of an edit, or one
// hunk that is.
func (r *review) next() *Question {
	p := r.newest()
	for i := range p.Parts {
		open, whole := r.opinions[i].open(p.Parts[i])
		edit, _ := p.Parts[i].Effect.(agent.Edit)
		switch {
		case whole:
			return &Question{Proposal: p, Parts: []int{i}, r: r}
		case len(open) == 0:
			continue
		}
		edit.Hunks = slices.DeleteFunc(slices.Clone(open), func(h agent.Hunk) bool { return h.Conflict })
		if len(edit.Hunks) == 0 {
			edit.Hunks = open[:1]
		}
		p.Parts = slices.Clone(p.Parts)
		p.Parts[i].Effect = edit
		return &Question{Proposal: p, Parts: []int{i}, r: r}
	}
	return nil
}

// decision is what was said, for the newest revision.
func (r *review) decision() agent.Decision {
	p := r.newest()
	d := agent.Decision{By: cmp.Or(r.by, agent.ByPerson), Comment: r.comment}
	for i, o := range r.opinions {
		d.Parts = append(d.Parts, o.decision(p.Parts[i]))
	}
	return d
}
