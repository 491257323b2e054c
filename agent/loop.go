package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Run answers one prompt and yields what happens, ending with [Done] or with an
// error. An error means that the session itself can't go on: its journal can't
// be written, or the person is gone ([ErrInterrupted]), or it is busy.
//
// The loop goes on when the consumer returned, so a slow consumer slows the
// stream and nothing queues. A consumer that breaks cancels the run, as ctx
// does: what was begun is still recorded, and every call has its result, so the
// session can go on with the next prompt.
func (s *Session) Run(ctx context.Context, prompt Message) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if !s.running.TryLock() {
			yield(nil, ErrBusy)
			return
		}
		defer s.running.Unlock()
		if blank(prompt) {
			yield(nil, ErrEmptyPrompt)
			return
		}
		s.steers.listen(true)
		defer s.steers.listen(false)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r := &run{s: s, ctx: ctx, cancel: cancel, yield: yield, proposed: map[string]bool{}, nudged: map[string]bool{}}
		r.finish(r.loop(prompt))
	}
}

// run is one prompt being answered. All of it belongs to the goroutine of the
// loop, which alone records and yields.
type run struct {
	s      *Session
	ctx    context.Context // ends with the caller's, or when the consumer leaves
	cancel context.CancelFunc
	yield  func(Event, error) bool
	left   bool // the consumer broke: never yield again

	seen   repetition
	nudged map[string]bool // hints that were given
	cut    int             // replies in a row that hit the output limit

	compacted   bool // in this run, when it had so many replies
	compactedAt int
	proposed    map[string]bool // IDs of proposals
	turns       int
	denied      int
	usage       Usage

	wroteCalls bool   // the newest reply with calls wrote them as text
	shares     shares // of the results of one reply
}

// loop is the agent: ask the model, do what it asks for, tell it what came of it
// and what the person says meanwhile, and again.
func (r *run) loop(prompt Message) (StopReason, error) {
	if err := r.settle(); err != nil {
		return "", err
	}
	if err := r.append(prompt, 0); err != nil {
		return "", err
	}
	for range r.s.cfg.MaxTurns {
		reply, err := r.ask(r.s.specs)
		if err != nil {
			return "", err
		}
		uses := reply.ToolUses()
		if err := r.answer(uses); err != nil {
			return "", err
		}
		if err := r.ctx.Err(); err != nil && len(uses) > 0 {
			return "", err
		}
		hint := r.hint(reply)
		steered, err := r.join(len(uses) == 0 && hint == "")
		if err != nil {
			return "", err
		}
		if reason := r.stuck(reply, steered || hint != ""); reason != "" {
			return r.lastWord(reason)
		}
		if len(uses) == 0 && !steered {
			if hint == "" {
				return reply.Stop, nil
			}
			if err := r.nudge(hint); err != nil {
				return "", err
			}
		}
	}
	return r.lastWord(StopMaxTurns)
}

// lastWord asks for an answer without tools, so that the person gets one though
// the loop stops for another reason.
func (r *run) lastWord(reason StopReason) (StopReason, error) {
	for steered := true; steered; { // what is said from now on can't be heard any more
		var err error
		if steered, err = r.join(true); err != nil {
			return "", err
		}
	}
	if err := r.closing(); err != nil {
		return "", err
	}
	_, err := r.ask(nil)
	if _, failed := errors.AsType[*ModelError](err); failed {
		return reason, nil
	}
	return reason, err
}

// finish yields how it ended.
func (r *run) finish(reason StopReason, err error) {
	done := Done{Reason: reason, Turns: r.turns, Denied: r.denied, Usage: r.usage, Unheard: r.s.steers.rest()}
	failed, isModel := errors.AsType[*ModelError](err)
	switch {
	case isModel:
		done.Reason, done.Err = StopError, failed
	case err != nil && errors.Is(err, r.ctx.Err()) && !errors.Is(err, ErrInterrupted):
		done.Reason = StopCancelled
	case err != nil:
		if errors.Is(err, ErrInterrupted) { // on record, but nobody is there to see it
			done.Reason = StopInterrupted
			err = errors.Join(err, r.s.cfg.Store.Append(done))
		}
		if !r.left {
			r.yield(nil, WithUnheard(err, done.Unheard))
		}
		return
	}
	if err := r.emit(done); err != nil && !r.left {
		r.yield(nil, err)
	}
}

// emit records an event, then shows it. What must be known is on record before
// it is done, whoever listens.
func (r *run) emit(e Event) error {
	if rec, ok := e.(Record); ok {
		if err := r.record(rec); err != nil {
			return err
		}
	}
	if !r.left && !r.yield(e, nil) {
		r.left = true
		r.cancel()
	}
	return nil
}

// record has the journal keep what must be known before it is done.
func (r *run) record(rec Record) error {
	if err := r.s.cfg.Store.Append(rec); err != nil {
		return fmt.Errorf("the journal could not be written, so nothing more is done: %w", err)
	}
	return nil
}
