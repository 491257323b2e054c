package agent

import (
	"context"
	"errors"
	"strings"
	"time"
)

const (
	maxAttempts  = 3 // that fail
	maxAdapted   = 8 // further ones, after which the model put the request in other words
	maxRetryWait = time.Minute
)

var errCancelled = errors.New("cancelled")

// ask sends the history and appends the reply. A request that failed before
// anything of its reply was shown is made again.
func (r *run) ask(tools []Spec) (Message, error) {
	messages, size, err := r.s.sendable()
	if err != nil {
		return Message{}, err
	}
	req := Request{System: r.s.cfg.System, Messages: messages, Tools: tools, Session: r.s.cfg.ID}
	whole := size + len(req.System) + specBytes(tools)
	for attempt, adapted := 1, 0; ; attempt++ {
		if err := r.ctx.Err(); err != nil {
			return Message{}, err
		}
		name := r.s.cfg.Name
		requested := Requested{len(messages), size, r.s.tokens(whole), attempt, name.Model, name.Provider}
		if err := r.emit(requested); err != nil {
			return Message{}, err
		}
		so := &partial{began: time.Now()}
		reply, failed := r.stream(req, so)
		elapsed := time.Since(so.began)
		responded := Responded{attempt, so.first, elapsed, reply.Finish, reply.Usage, failed}
		if failed != nil && r.ctx.Err() != nil {
			responded.Err = errCancelled
		}
		if err := r.emit(responded); err != nil {
			return Message{}, err
		}
		r.s.count(whole, reply.Usage)
		r.usage.Input += reply.Usage.Input
		r.usage.Output += reply.Usage.Output
		if failed == nil {
			r.turns++
			return r.keep(reply, elapsed)
		}
		if r.ctx.Err() != nil {
			return Message{}, r.keepPartial(so.text.String(), elapsed)
		}
		wait, again := retryIn(failed, attempt-adapted, adapted)
		if !again || !so.repeatable(failed) {
			return Message{}, failed
		}
		if kindOf(failed) == ErrorUnsupported {
			adapted++
		}
		if err := r.emit(Retrying{Err: failed, Attempt: attempt + 1, Wait: wait}); err != nil {
			return Message{}, err
		}
		if err := sleep(r.ctx, wait); err != nil {
			return Message{}, err
		}
	}
}

// partial is what of a reply was yielded before its end.
type partial struct {
	began time.Time
	first time.Duration // until the server began to answer
	shown bool
	text  strings.Builder
}

// repeatable reports whether a request that failed may be made again: nothing
// that was shown may be shown twice. Of an empty reply only its reasoning was.
func (p *partial) repeatable(err error) bool {
	return !p.shown || p.text.Len() == 0 && kindOf(err) == ErrorEmpty
}

// stream takes one reply.
func (r *run) stream(req Request, so *partial) (Message, error) {
	for chunk, err := range r.s.cfg.Model.Stream(r.ctx, req) {
		if err != nil {
			return Message{}, asModelError(err)
		}
		if err := r.ctx.Err(); err != nil {
			return Message{}, err
		}
		if so.first == 0 {
			so.first = time.Since(so.began)
		}
		if chunk.Recast {
			so.text.Reset()
		}
		if chunk.Text != "" || chunk.Thinking != "" || chunk.Recast {
			so.shown = true
			so.text.WriteString(chunk.Text)
			if err := r.emit(Delta{chunk.Text, chunk.Thinking, chunk.Recast}); err != nil {
				return Message{}, err
			}
		}
		if chunk.Reply != nil { // also of an empty one the counts are known
			return r.accept(*chunk.Reply, len(req.Tools) > 0)
		}
	}
	return Message{}, &ModelError{Kind: ErrorTruncated, Message: "the model's reply ended in the middle"}
}

func asModelError(err error) *ModelError {
	if failed, ok := errors.AsType[*ModelError](err); ok {
		return failed
	}
	return &ModelError{Kind: ErrorTransport, Message: err.Error(), Err: err}
}

func kindOf(err error) ModelErrorKind {
	if failed, ok := errors.AsType[*ModelError](err); ok {
		return failed.Kind
	}
	return ""
}

// keepPartial keeps what the person saw of a reply that they cancelled, so that
// "go on" has something to go on from.
func (r *run) keepPartial(shown string, elapsed time.Duration) error {
	if shown != "" {
		m := Message{Role: RoleAssistant, Blocks: []Block{Text{shown}}, Stop: StopCancelled}
		if err := r.append(m, elapsed); err != nil {
			return err
		}
	}
	return r.ctx.Err()
}

// retryIn says how long to wait before the next attempt, if there may be one. A
// request that the model will put in other words need not wait.
func retryIn(err error, attempt, adapted int) (time.Duration, bool) {
	failed, ok := errors.AsType[*ModelError](err)
	switch {
	case !ok || !failed.Retryable():
		return 0, false
	case failed.Kind == ErrorUnsupported:
		return 0, adapted < maxAdapted
	case attempt >= maxAttempts:
		return 0, false
	}
	if failed.RetryAfter > 0 {
		return failed.RetryAfter, failed.RetryAfter <= maxRetryWait
	}
	return time.Second << (attempt - 1), true
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
