package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"
)

const (
	maxAttempts  = 3 // that fail
	maxAdapted   = 8 // further ones, after which the model put the request in other words
	maxRetryWait = time.Minute
)

var errCancelled = errors.New("cancelled")

// ask sends the history and appends the reply. A history that fills the model's window
// is put in short before, and if the server finds it too long, once after that.
func (r *run) ask(tools []Spec) (Message, error) {
	if room := r.s.room(tools); room.window > 0 && r.s.unsent() > room.history {
		if err := r.compact(tools); err != nil && kindOf(err) != ErrorContextOverflow {
			return Message{}, err
		} // else it may fit all the same: the server knows, we estimate
	}
	reply, so, err := r.send(tools)
	if r.tooLong(err, so) && !so.shown && r.ctx.Err() == nil {
		if err := r.compact(tools); err != nil {
			return Message{}, err
		}
		reply, so, err = r.send(tools)
		r.tooLong(err, so) // once is enough, but the next prompt knows more
	}
	if len(tools) < len(r.s.specs) && !so.shown && refusesResults(err) && r.ctx.Err() == nil {
		reply, so, err = r.attempts(r.s.inPlainText(), purpose{})
	}
	switch {
	case errors.Is(err, errEndless):
		return r.keepEndless(so)
	case err != nil && (kindOf(err) != "" || errors.Is(err, r.ctx.Err())) && r.ctx.Err() != nil:
		return Message{}, r.keepPartial(so)
	case err != nil:
		return Message{}, err
	}
	r.turns++
	return r.keep(reply, so.elapsed)
}

// tooLong reports whether a server refused a request as too long, and learns from it.
func (r *run) tooLong(err error, so *partial) bool {
	failed, ok := errors.AsType[*ModelError](err)
	return ok && failed.Kind == ErrorContextOverflow && r.s.overflowed(failed, so.size)
}

// refusesResults reports whether a server may have refused calls and results because
// the request had no tools, or its model answered with a call all the same.
func refusesResults(err error) bool {
	failed, ok := errors.AsType[*ModelError](err)
	return ok && (failed.Kind == ErrorNoTools || failed.Kind == ErrorEmpty || failed.Kind == ErrorProvider && failed.Status >= 400 && failed.Status < 500)
}

// send makes the request of the history as it is.
func (r *run) send(tools []Spec) (Message, *partial, error) {
	messages, size, err := r.s.sendable()
	if err != nil {
		return Message{}, &partial{}, err
	}
	req := Request{System: r.s.cfg.System, Messages: messages, Tools: tools, Session: r.s.cfg.ID}
	return r.attempts(req, purpose{size: size})
}

// purpose is what a request is for.
type purpose struct {
	size       int  // bytes of its messages; 0: not known
	compacting bool // the reply is for the session alone
}

// attempts makes a request until there is a reply. One that failed before anything of
// its reply was shown is made again; nothing else is, and no tool runs twice.
func (r *run) attempts(req Request, p purpose) (reply Message, so *partial, failed error) {
	if p.size == 0 {
		p.size = textBytes(req.Messages)
	}
	whole := p.size + len(req.System) + specBytes(req.Tools)
	name := r.s.cfg.Name
	so = &partial{}
	for attempt, adapted := 1, 0; ; attempt++ {
		if err := r.ctx.Err(); err != nil {
			return Message{}, so, err
		}
		requested := Requested{len(req.Messages), p.size, r.s.tokens(whole), attempt, name.Model, name.Provider, p.compacting}
		if err := r.emit(requested); err != nil {
			return Message{}, so, err
		}
		so = &partial{began: time.Now(), hidden: p.compacting, size: whole}
		reply, failed = r.stream(req, so)
		so.elapsed = time.Since(so.began)
		responded := Responded{attempt, so.first, so.elapsed, reply.Finish, reply.Usage, failed}
		if failed != nil && r.ctx.Err() != nil {
			responded.Err = errCancelled
		}
		if err := r.emit(responded); err != nil {
			return Message{}, so, err
		}
		r.s.count(whole, reply.Usage)
		r.s.cutShort(reply)
		r.usage.Input += reply.Usage.Input
		r.usage.Output += reply.Usage.Output
		if failed == nil || r.ctx.Err() != nil || errors.Is(failed, errEndless) {
			return reply, so, failed
		}
		wait, again := retryIn(failed, attempt-adapted, adapted)
		if !again || !so.repeatable(failed) || p.compacting && kindOf(failed) == ErrorEmpty { // there is another way to a summary
			return Message{}, so, failed
		}
		if kindOf(failed) == ErrorUnsupported {
			adapted++
		}
		if err := r.emit(Retrying{Err: failed, Attempt: attempt + 1, Wait: wait}); err != nil {
			return Message{}, so, err
		}
		if err := sleep(r.ctx, wait); err != nil {
			return Message{}, so, err
		}
	}
}

// partial is what of a reply was yielded before its end.
type partial struct {
	size    int // bytes of the request
	began   time.Time
	first   time.Duration // until the server began to answer
	elapsed time.Duration // until the end
	hidden  bool          // nothing is shown
	shown   bool
	text    strings.Builder
	echo    echo
}

// repeatable reports whether a request that failed may be made again: nothing
// that was shown may be shown twice. Of an empty reply only its reasoning was.
func (p *partial) repeatable(err error) bool {
	return !p.shown || strings.TrimSpace(p.text.String()) == "" && kindOf(err) == ErrorEmpty
}

// show passes on a piece of the reply.
func (r *run) show(chunk Chunk, so *partial) error {
	if so.first == 0 {
		so.first = time.Since(so.began)
	}
	if chunk.Recast {
		so.text.Reset()
	}
	if chunk.Text == "" && chunk.Thinking == "" && !chunk.Recast {
		return nil
	}
	so.text.WriteString(chunk.Text)
	if !so.hidden {
		so.shown = true
		if err := r.emit(Delta{chunk.Text, chunk.Thinking, chunk.Recast}); err != nil {
			return err
		}
	}
	if so.echo.endless(chunk.Text + chunk.Thinking) {
		return errEndless
	}
	return nil
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
		if err := r.show(chunk, so); err != nil {
			return Message{}, err
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
func (r *run) keepPartial(so *partial) error {
	if err := r.keepText(so.text.String(), StopCancelled, so.elapsed); err != nil {
		return err
	}
	return r.ctx.Err()
}

// keepEndless keeps what there was before a reply began to repeat itself.
func (r *run) keepEndless(so *partial) (Message, error) {
	r.turns++
	err := r.keepText(once(so.text.String()), StopRepeated, so.elapsed)
	return Message{Role: RoleAssistant, Stop: StopRepeated}, err
}

func (r *run) keepText(text string, stop StopReason, elapsed time.Duration) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return r.append(Message{Role: RoleAssistant, Blocks: []Block{Text{text}}, Stop: stop}, elapsed)
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
	return backoff(attempt), true
}

// backoff doubles with each attempt. Waits differ by chance, so that many who failed
// together do not all come back together.
func backoff(attempt int) time.Duration {
	wait := time.Second << (attempt - 1)
	return wait + rand.N(wait/2)
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
