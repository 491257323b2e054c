package fake

import (
	"context"
	"encoding/json"
	"errors"
)

// Message is a window/showMessage or, with Logged, a window/logMessage.
type Message struct {
	Type   int // 1 error, 2 warning, 3 info, 4 log
	Text   string
	Logged bool
}

func parseMessage(params json.RawMessage) (Message, error) {
	var p struct {
		Type    int    `json:"type"`
		Message string `json:"message"`
	}
	err := json.Unmarshal(params, &p)
	return Message{Type: p.Type, Text: p.Message}, err
}

// Progress is one $/progress. Kind is begin, report or end.
type Progress struct {
	Token       string // JSON text: 7 or "a"
	Kind        string
	Title       string
	Message     string
	Percentage  *float64
	Cancellable bool
}

func parseProgress(params json.RawMessage) (Progress, error) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind        string   `json:"kind"`
			Title       string   `json:"title"`
			Message     string   `json:"message"`
			Percentage  *float64 `json:"percentage"`
			Cancellable bool     `json:"cancellable"`
		} `json:"value"`
	}
	err := json.Unmarshal(params, &p)
	if err == nil && len(p.Token) == 0 {
		err = errors.New("it has no token")
	}
	v := p.Value
	return Progress{compact(p.Token), v.Kind, v.Title, v.Message, v.Percentage, v.Cancellable}, err
}

// paramsOf are the params of a notification out of the log.
func paramsOf(en Entry) json.RawMessage {
	var m struct {
		Params json.RawMessage `json:"params"`
	}
	_ = json.Unmarshal(en.Raw, &m) // it was parsed when it came
	return m.Params
}

// notices returns what the server sent by method; what is malformed is a
// fault already, and left out.
func notices[T any](e *Editor, method string, parse func(json.RawMessage) (T, error)) []T {
	var out []T
	for _, en := range e.Log() {
		if !en.FromServer || en.Response || en.Method != method {
			continue
		}
		if v, err := parse(paramsOf(en)); err == nil {
			out = append(out, v)
		}
	}
	return out
}

// Events returns all assent/event so far, in order.
func (e *Editor) Events() []Event { return notices(e, "assent/event", parseEvent) }

// Await returns the first event, so far or later, that matches. It ends with
// ctx and with the connection. match must not call the editor.
func (e *Editor) Await(ctx context.Context, match func(Event) bool) (Event, error) {
	var found Event
	_, err := e.AwaitEntry(ctx, func(en Entry) bool {
		if !en.FromServer || en.Response || en.Method != "assent/event" {
			return false
		}
		ev, err := parseEvent(paramsOf(en))
		if err != nil || !match(ev) {
			return false
		}
		found = ev
		return true
	})
	return found, err
}

// Messages returns all window/showMessage so far, then all window/logMessage.
func (e *Editor) Messages() []Message {
	out := notices(e, "window/showMessage", parseMessage)
	for _, m := range notices(e, "window/logMessage", parseMessage) {
		m.Logged = true
		out = append(out, m)
	}
	return out
}

// Progress returns all $/progress so far, in order.
func (e *Editor) Progress() []Progress { return notices(e, "$/progress", parseProgress) }

// Shown returns the URIs of all window/showDocument so far, in order.
func (e *Editor) Shown() []string {
	return notices(e, "window/showDocument", func(params json.RawMessage) (string, error) {
		var p struct {
			URI string `json:"uri"`
		}
		err := json.Unmarshal(params, &p)
		return p.URI, err
	})
}
