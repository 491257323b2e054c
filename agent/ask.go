package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	maxAttempts  = 3
	maxRetryWait = time.Minute
)

// ask sends the history and appends the reply. A request that failed before
// anything of its reply was shown is made again.
func (r *run) ask(tools []Spec) (Message, error) {
	messages, size, err := r.s.sendable()
	if err != nil {
		return Message{}, err
	}
	req := Request{System: r.s.cfg.System, Messages: messages, Tools: tools}
	for attempt := 1; ; attempt++ {
		if err := r.ctx.Err(); err != nil {
			return Message{}, err
		}
		requested := Requested{Messages: len(messages), Bytes: size, Attempt: attempt}
		if err := r.emit(requested); err != nil {
			return Message{}, err
		}
		began := time.Now()
		reply, so, err := r.stream(req)
		if err == nil {
			r.turns++
			r.usage.Input += reply.Usage.Input
			r.usage.Output += reply.Usage.Output
			return reply, r.append(reply, time.Since(began))
		}
		if r.ctx.Err() != nil {
			return Message{}, r.keepPartial(so.text.String(), time.Since(began))
		}
		wait, again := retryIn(err, attempt)
		if !again || so.shown {
			return Message{}, err
		}
		if err := r.emit(Retrying{Err: err, Attempt: attempt + 1, Wait: wait}); err != nil {
			return Message{}, err
		}
		if err := sleep(r.ctx, wait); err != nil {
			return Message{}, err
		}
	}
}

// partial is what of a reply was yielded before its end.
type partial struct {
	shown bool
	text  strings.Builder
}

// stream takes one reply.
func (r *run) stream(req Request) (Message, *partial, error) {
	so := &partial{}
	for chunk, err := range r.s.cfg.Model.Stream(r.ctx, req) {
		if err != nil {
			return Message{}, so, asModelError(err)
		}
		if err := r.ctx.Err(); err != nil {
			return Message{}, so, err
		}
		if chunk.Text != "" || chunk.Thinking != "" {
			so.shown = true
			so.text.WriteString(chunk.Text)
			if err := r.emit(Delta{Text: chunk.Text, Thinking: chunk.Thinking}); err != nil {
				return Message{}, so, err
			}
		}
		if chunk.Reply != nil {
			reply, err := r.accept(*chunk.Reply, len(req.Tools) > 0)
			return reply, so, err
		}
	}
	return Message{}, so, &ModelError{Kind: ErrorTruncated, Message: "the model's reply ended in the middle"}
}

func asModelError(err error) *ModelError {
	if failed, ok := errors.AsType[*ModelError](err); ok {
		return failed
	}
	return &ModelError{Kind: ErrorTransport, Message: err.Error(), Err: err}
}

// accept brings a reply into the shape that the history needs: unique ids,
// arguments that are an object or marked as invalid, no call where none may be.
func (r *run) accept(m Message, mayCall bool) (Message, error) {
	out := Message{Role: RoleAssistant, Stop: orDefault(m.Stop, StopComplete), Usage: m.Usage}
	fresh := map[string]bool{}
	said := false
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case Text:
			said = said || b.Text != ""
			out.Blocks = append(out.Blocks, b)
		case Thinking:
			out.Blocks = append(out.Blocks, b)
		case ToolUse:
			if !mayCall {
				continue
			}
			said = true
			b.ID = r.s.uniqueID(b.ID, fresh)
			fresh[b.ID] = true
			out.Blocks = append(out.Blocks, validUse(b, m.Stop))
		}
	}
	if !said {
		return Message{}, &ModelError{Kind: ErrorEmpty, Message: "the model's reply was empty; ask again, or in other words"}
	}
	return out, nil
}

func (s *Session) uniqueID(id string, fresh map[string]bool) string {
	base := orDefault(id, "call")
	unique := base
	for n := 2; s.ids[unique] || fresh[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", base, n)
	}
	return unique
}

// validUse marks a call that must not run: one whose arguments are no object,
// and every call of a reply that was cut.
func validUse(u ToolUse, stop StopReason) ToolUse {
	u.Input = bytes.TrimSpace(u.Input)
	switch {
	case u.Invalid != "":
	case stop == StopTruncated || stop == StopRefused:
		u.Invalid = "the reply was cut off before its end, so the call may be incomplete; make it again, smaller if it was large"
	case len(u.Input) == 0:
		u.Input = json.RawMessage("{}")
	case u.Input[0] != '{' || !json.Valid(u.Input):
		u.Invalid = "the arguments are not one JSON object"
	}
	if u.Invalid != "" && u.RawInput == "" {
		u.RawInput, u.Input = string(u.Input), nil
	}
	return u
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

// retryIn says how long to wait before the next attempt, if there may be one.
func retryIn(err error, attempt int) (time.Duration, bool) {
	failed, ok := errors.AsType[*ModelError](err)
	if !ok || !failed.Retryable() || attempt >= maxAttempts {
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

func textBytes(messages []Message) int {
	n := 0
	for _, m := range messages {
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case Text:
				n += len(b.Text)
			case Thinking:
				n += len(b.Text)
			case ToolUse:
				n += len(b.Name) + len(b.Input) + len(b.RawInput)
			case ToolResult:
				n += len(b.Output)
			}
		}
	}
	return n
}
