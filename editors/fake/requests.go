package fake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// handle takes a request or a notification from the reader, and never blocks.
func (e *Editor) handle(ctx context.Context, m message) {
	if m.kind == notification {
		e.check(m)
		return
	}
	ctx, ok := e.conn.admit(ctx, m)
	if !ok {
		return
	}
	if m.method != "workspace/applyEdit" || e.opts.NoApplyEdit {
		e.owned.Go(func() {
			result, err := e.answer(ctx, m)
			if err != nil && ctx.Err() != nil {
				err = ctx.Err()
			}
			e.conn.reply(m.id, result, err)
		})
		return
	}
	before, done := e.applied, make(chan struct{})
	e.applied = done
	e.owned.Go(func() {
		defer close(done)
		<-before
		e.applyEdit(ctx, m)
	})
}

// check keeps a fault when a notification that tests read is malformed.
func (e *Editor) check(m message) {
	var err error
	switch m.method {
	case "assent/event":
		_, err = parseEvent(m.params)
	case "window/showMessage", "window/logMessage":
		_, err = parseMessage(m.params)
	case "$/progress":
		_, err = parseProgress(m.params)
	}
	if err != nil {
		e.conn.fault(fmt.Errorf("a broken %s: %w", m.method, err))
	}
}

// answer makes the result of every request but applyEdit.
func (e *Editor) answer(ctx context.Context, m message) (any, error) {
	o := &e.opts
	switch {
	case m.method == "assent/review" && !o.NoReview:
		return e.answerReview(ctx, m.params)
	case m.method == "assent/approve" && !o.NoApprove:
		return e.answerApprove(ctx, m.params)
	case m.method == "assent/diagnostics" && o.Diagnostics != nil:
		var p struct {
			URI string `json:"uri"`
		}
		if err := decode(m.params, &p); err != nil {
			return nil, err
		}
		return o.Diagnostics(ctx, p.URI)
	case m.method == "window/showMessageRequest" && !o.NoMessageRequest:
		return e.answerMessage(ctx, m.params)
	case m.method == "window/workDoneProgress/create" && !o.NoProgress:
		return nil, nil
	case m.method == "window/showDocument" && !o.NoShowDocument:
		return e.answerShow(ctx, m.params)
	case m.method == "client/registerCapability", m.method == "client/unregisterCapability":
		return nil, nil
	case m.method == "workspace/configuration":
		var p struct {
			Items []json.RawMessage `json:"items"`
		}
		err := decode(m.params, &p)
		return make([]any, len(p.Items)), err
	}
	return nil, &Error{Code: CodeMethodNotFound, Message: "the fake editor does not know " + m.method}
}

func (e *Editor) answerReview(ctx context.Context, params json.RawMessage) (any, error) {
	var r Review
	if err := decode(params, &r); err != nil {
		return nil, err
	}
	if e.opts.Review == nil {
		return Answer{Revision: r.Revision, Decision: "accept"}, nil
	}
	return e.opts.Review(ctx, r)
}

func (e *Editor) answerApprove(ctx context.Context, params json.RawMessage) (any, error) {
	var a Approve
	if err := decode(params, &a); err != nil {
		return nil, err
	}
	if e.opts.Approve == nil {
		return ApproveAnswer{Decision: "allow"}, nil
	}
	return e.opts.Approve(ctx, a)
}

// answerMessage returns the chosen action whole, with properties that only the
// server understands. A title that was not offered is sent all the same.
func (e *Editor) answerMessage(ctx context.Context, params json.RawMessage) (any, error) {
	var p struct {
		Type    int                          `json:"type"`
		Message string                       `json:"message"`
		Actions []map[string]json.RawMessage `json:"actions"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	r := MessageRequest{Type: p.Type, Message: p.Message}
	offered := map[string]any{}
	for _, a := range p.Actions {
		var title string
		if err := decode(a["title"], &title); err != nil {
			return nil, err
		}
		r.Actions = append(r.Actions, title)
		offered[title] = a
	}
	title, err := e.choose(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case title == "":
		return nil, nil
	case offered[title] != nil:
		return offered[title], nil
	}
	return map[string]string{"title": title}, nil
}

func (e *Editor) answerShow(ctx context.Context, params json.RawMessage) (any, error) {
	var p struct {
		URI string `json:"uri"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	success, err := true, error(nil)
	if e.opts.Show != nil {
		success, err = e.opts.Show(ctx, p.URI)
	}
	return map[string]bool{"success": success}, err
}

func (e *Editor) choose(ctx context.Context, r MessageRequest) (string, error) {
	switch {
	case e.opts.Message != nil:
		return e.opts.Message(ctx, r)
	case len(r.Actions) > 0:
		return r.Actions[0], nil
	}
	return "", nil
}

// Event is one assent/event.
type Event struct {
	SessionID string
	Seq       int64
	Type      string
	Raw       json.RawMessage // the event object, with its type
}

// Decode reads the event object into v.
func (ev Event) Decode(v any) error { return json.Unmarshal(ev.Raw, v) }

func parseEvent(params json.RawMessage) (Event, error) {
	var p struct {
		SessionID string          `json:"sessionId"`
		Seq       int64           `json:"seq"`
		Event     json.RawMessage `json:"event"`
	}
	var body struct {
		Type string `json:"type"`
	}
	err := json.Unmarshal(params, &p)
	if err == nil {
		err = json.Unmarshal(p.Event, &body)
	}
	if err == nil && body.Type == "" {
		err = errors.New("it has no type")
	}
	return Event{SessionID: p.SessionID, Seq: p.Seq, Type: body.Type, Raw: p.Event}, err
}
