package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// execute does what was approved and records each result, in the order of the
// calls. Reads run at once, up to Config.Parallel; all else one after another.
func (r *run) execute(batch []*call) error {
	if batch[0].spec.Tier == TierRead {
		return r.executeReads(batch)
	}
	for _, c := range batch {
		if err := r.perform(c); err != nil {
			return err
		}
		if err := r.conclude(c); err != nil {
			return err
		}
	}
	return nil
}

// executeReads reports in order what runs side by side. It waits for every
// read, also when the journal fails, so that none outlives the run.
func (r *run) executeReads(batch []*call) error {
	var all sync.WaitGroup
	defer all.Wait()
	slots := make(chan struct{}, r.s.cfg.Parallel)
	ended := make([]chan struct{}, len(batch))
	for i, c := range batch {
		ended[i] = make(chan struct{})
		all.Go(func() {
			slots <- struct{}{}
			r.runCall(c)
			<-slots
			close(ended[i])
		})
	}
	for i, c := range batch {
		<-ended[i]
		if err := r.conclude(c); err != nil {
			r.cancel()
			return err
		}
	}
	return nil
}

// perform does one call that stands alone.
func (r *run) perform(c *call) error {
	if c.result == nil && c.spec.Tier == TierWrite && len(c.parts) > 0 {
		return r.land(c)
	}
	r.runCall(c)
	return nil
}

// runCall runs an approved plan. It touches nothing but the call.
func (r *run) runCall(c *call) {
	if c.result != nil {
		return
	}
	var ok Approval
	for _, a := range c.answers {
		ok = ok.and(a.verdict.ok)
	}
	for _, p := range c.parts {
		if !ok.Covers(p.Effect) {
			c.result = &Result{Output: refusalText(c), IsError: true}
			return
		}
	}
	if r.ctx.Err() != nil {
		c.fail(cancelledText)
		return
	}
	c.ran = true
	began := time.Now()
	result, err := r.runPlan(c, ok)
	c.spent += time.Since(began)
	switch {
	case err == nil:
		c.result = &result
	case r.ctx.Err() != nil:
		c.fail("Cancelled by the person while it ran; what it did until then is unknown.")
	default:
		c.fail("%s failed: %v", c.use.Name, err)
	}
}

// runPlan calls Plan.Run, again only if the tool says that this does no harm.
func (r *run) runPlan(c *call, ok Approval) (Result, error) {
	for attempt := 1; ; attempt++ {
		result, err := guard(r.ctx, r.s.timeout(c.spec), func(ctx context.Context) (Result, error) { return c.plan.Run(ctx, ok) })
		if !c.spec.Idempotent || !errors.Is(err, ErrTransient) || attempt == maxAttempts || sleep(r.ctx, backoff(attempt)) != nil {
			return result, err
		}
	}
}

// land applies the accepted edits of a call, each after its own record.
func (r *run) land(c *call) error {
	var said []string
	landed, touched := false, false
	for _, a := range c.answers {
		var landing Landing
		edit, isEdit := a.verdict.edit, a.verdict.ok.Covers(a.verdict.edit)
		switch {
		case !isEdit:
			landed = landed || a.part.moot()
			said = append(said, outcome(a, landing))
			continue
		case r.ctx.Err() != nil:
			landing.Note = "it was cancelled before it landed"
		default:
			var err error
			if landing, err = r.apply(a.verdict.ok, edit); err != nil {
				return err
			}
			if err := r.emit(Landed{ProposalID: a.proposal, ToolUseID: c.use.ID, Edit: edit, Landing: landing}); err != nil {
				return err
			}
		}
		if !a.part.Info.Secret && landing.After != (Hash{}) {
			r.s.known.note(knownFile{a.part.Info.Name, landing.After})
		}
		c.leftOut = c.leftOut || len(landing.LeftOut) > 0
		landed = landed || landing.Status == LandComplete || landing.Status == LandPartial
		touched = touched || landing.Status != LandFailed
		said = append(said, outcome(a, landing))
	}
	c.result = &Result{Output: joinLines(said), IsError: !landed}
	if touched {
		r.seen.learn(c.use, c.result.Output, true)
	}
	return nil
}

// landGrace is how long a landing may take after a cancel, and wordGrace how long the
// editor then has to say what became of it, which it alone knows.
const (
	landGrace = 5 * time.Second
	wordGrace = 500 * time.Millisecond
)

// apply lands one edit. A yes that was given before a cancel is carried out to
// its end, within a grace time: half of it would be worse than either.
func (r *run) apply(ok Approval, e Edit) (Landing, error) {
	waiting, leave := context.WithCancelCause(context.WithoutCancel(r.ctx))
	defer leave(nil)
	ctx, cancel := context.WithCancelCause(waiting)
	defer cancel(nil)
	stop := context.AfterFunc(r.ctx, func() {
		if sleep(waiting, landGrace) == nil {
			cancel(errNoAnswer)
		}
		if sleep(waiting, wordGrace) == nil {
			leave(errNoAnswer)
		}
	})
	defer stop()
	landing, err := guard(waiting, 0, func(context.Context) (Landing, error) {
		return r.s.cfg.Editor.Apply(ctx, ok, e)
	})
	switch {
	case errors.Is(err, ErrInterrupted):
		return Landing{}, err
	case errors.Is(err, ErrNotApproved):
		return Landing{Note: err.Error()}, nil
	case err != nil:
		return Landing{Status: LandUnconfirmed, Note: err.Error()}, nil
	}
	return landing, nil
}

var errNoAnswer = errors.New("the editor did not answer after the cancel")

func (c *call) denied() bool {
	return c.leftOut || slices.ContainsFunc(c.answers, func(a answer) bool { return a.denied() })
}

// conclude records the result of a call.
func (r *run) conclude(c *call) error {
	out := r.shares.cut(orDefault(c.result.Output, noOutput))
	if c.ran || c.spec.Tier == TierRead {
		r.seen.learn(c.use, out, false)
	}
	if n := r.seen.judge(c.use); n >= repeatHint && !c.hinted {
		out += "\n\n" + repeatNote(n)
	}
	r.s.known.take(c.reads)
	if c.denied() {
		r.denied++
	}
	return r.answered(c.use, ToolResult{ID: c.use.ID, Output: out, IsError: c.result.IsError}, c.spent)
}
