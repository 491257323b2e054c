package fake

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

const reviewParams = `{"sessionId":"s","proposalId":"p","revision":3,"title":"T","files":[{"toolUseId":"u","title":"F",
	"uri":"file:///a","version":null,"kind":"edit","newText":"n","alone":true,"protected":true,
	"hunks":[{"id":"h","oldStart":0,"oldLines":1,"newStart":0,"newLines":1,"oldText":"o","newText":"n"}]}]}`

func TestAPersonWhoIsNotDescribedAcceptsEverything(t *testing.T) {
	_, p := start(t, Options{}, full)
	wantJSON(t, p.response(p.ask("assent/review", reviewParams)).Result, `{"revision":3,"decision":"accept"}`)
	wantJSON(t, p.response(p.ask("assent/approve", `{"effect":{"kind":"exec"}}`)).Result, `{"decision":"allow"}`)
	wantJSON(t, p.response(p.ask("window/showMessageRequest", `{"type":3,"message":"m","actions":[{"title":"A","id":7},{"title":"B"}]}`)).Result,
		`{"title":"A","id":7}`)
	if got := p.response(p.ask("window/showMessageRequest", `{"type":3,"message":"m"}`)).Result; string(got) != "null" && got != nil {
		t.Errorf("got %s", got)
	}
}

func TestThePersonIsAskedAndAnswers(t *testing.T) {
	own := "mine"
	_, p := start(t, Options{
		Review: func(_ context.Context, r Review) (Answer, error) {
			f := r.Files[0]
			if r.Revision != 3 || f.Version != nil || !f.Alone || !f.Protected || f.Secret || f.Hunks[0].OldText != "o" {
				t.Errorf("got %+v", r)
			}
			return Answer{Decision: "partial", Hunks: map[string]any{
				"h": HunkAnswer{Verdict: "accept", NewText: &own}, "i": "reject",
			}, Comment: "so"}, nil
		},
		Approve: func(_ context.Context, a Approve) (ApproveAnswer, error) {
			if a.Effect.Kind != "exec" || a.Effect.Command != "ls" {
				t.Errorf("got %+v", a)
			}
			return ApproveAnswer{Raw: json.RawMessage(`"what?"`)}, nil
		},
		Message: func(_ context.Context, m MessageRequest) (string, error) {
			if m.Type != 2 || m.Message != "m" || !slices.Equal(m.Actions, []string{"A", "B"}) {
				t.Errorf("got %+v", m)
			}
			return "C", nil
		},
	}, full)
	wantJSON(t, p.response(p.ask("assent/review", reviewParams)).Result,
		`{"decision":"partial","hunks":{"h":{"verdict":"accept","newText":"mine"},"i":"reject"},"comment":"so"}`)
	wantJSON(t, p.response(p.ask("assent/approve", `{"effect":{"kind":"exec","command":"ls"}}`)).Result, `"what?"`)
	wantJSON(t, p.response(p.ask("window/showMessageRequest", `{"type":2,"message":"m","actions":[{"title":"A"},{"title":"B"}]}`)).Result, `{"title":"C"}`)
}

func TestHandlersThatFailAnswerWithAnError(t *testing.T) {
	for want, err := range map[int]error{
		CodeInternalError: errors.New("the window is gone"),
		-7:                &Error{Code: -7, Message: "own"},
	} {
		_, p := start(t, Options{Review: func(context.Context, Review) (Answer, error) { return Answer{}, err }}, full)
		if m := p.response(p.ask("assent/review", reviewParams)); m.Error == nil || m.Error.Code != want {
			t.Errorf("got %+v, want %d", m.Error, want)
		}
	}
}

func TestAReviewThatTheServerCancels(t *testing.T) {
	for name, late := range map[string]bool{"is answered with -32800": false, "may still be answered, late": true} {
		t.Run(name, func(t *testing.T) {
			_, p := start(t, Options{Review: func(ctx context.Context, _ Review) (Answer, error) {
				<-ctx.Done()
				if late {
					return Answer{Decision: "accept"}, nil
				}
				return Answer{}, errors.New("given up")
			}}, full)
			id := p.ask("assent/review", reviewParams)
			p.notify("$/cancelRequest", map[string]int{"id": id})
			m := p.response(id)
			switch {
			case late:
				wantJSON(t, m.Result, `{"decision":"accept"}`)
			case m.Error == nil || m.Error.Code != CodeRequestCancelled:
				t.Errorf("got %+v", m)
			}
			p.notify("$/cancelRequest", map[string]int{"id": id}) // too late, and no fault
			p.response(p.ask("window/showDocument", `{}`))
		})
	}
}

func TestTheReaderWaitsForNoPerson(t *testing.T) {
	gate := make(chan struct{})
	var open atomic.Int32
	_, p := start(t, Options{Review: func(context.Context, Review) (Answer, error) {
		open.Add(1)
		<-gate
		return Answer{Decision: "accept"}, nil
	}}, full)
	for range 20 {
		p.ask("assent/review", reviewParams)
	}
	p.response(p.ask("workspace/configuration", `{"items":[{},{}]}`))
	close(gate)
	for range 20 {
		p.next()
	}
	if open.Load() != 20 {
		t.Errorf("%d were asked", open.Load())
	}
}

func TestWhatTheEditorCannotDoItDoesNotKnow(t *testing.T) {
	able, limited := Options{}, Options{NoReview: true, NoApprove: true, NoApplyEdit: true, NoMessageRequest: true, NoProgress: true, NoShowDocument: true}
	for method, tt := range map[string]struct{ able, limited bool }{
		"assent/review":                  {true, false},
		"assent/approve":                 {true, false},
		"workspace/applyEdit":            {true, false},
		"window/showMessageRequest":      {true, false},
		"window/workDoneProgress/create": {true, false},
		"window/showDocument":            {true, false},
		"assent/diagnostics":             {false, false},
		"client/registerCapability":      {true, true},
		"workspace/configuration":        {true, true},
		"assent/unheard":                 {false, false},
	} {
		for _, o := range []struct {
			Options
			knows bool
		}{{able, tt.able}, {limited, tt.limited}} {
			_, p := start(t, o.Options, full)
			m := p.response(p.ask(method, `{"edit":{"changes":{}}}`))
			if unknown := m.Error != nil && m.Error.Code == CodeMethodNotFound; unknown == o.knows {
				t.Errorf("%s: got %+v, want it known: %v", method, m.Error, o.knows)
			}
		}
	}
}

func TestWhatIsShownAndWhatToolsSayIsUpToTheTest(t *testing.T) {
	_, p := start(t, Options{
		Show: func(_ context.Context, uri string) (bool, error) { return uri == "file:///a", nil },
		Diagnostics: func(_ context.Context, uri string) (DiagnosticsAnswer, error) {
			if uri == "" {
				return DiagnosticsAnswer{Raw: json.RawMessage(`7`)}, nil
			}
			return DiagnosticsAnswer{Items: []Diagnostic{{URI: uri, Severity: 2, Message: "m"}}}, nil
		},
	}, full)
	for _, c := range []struct{ method, params, want string }{
		{"window/showDocument", `{"uri":"file:///a"}`, `{"success":true}`},
		{"window/showDocument", `{"uri":"file:///b"}`, `{"success":false}`},
		{"assent/diagnostics", `{}`, `7`},
		{"assent/diagnostics", `{"uri":"file:///a"}`, `{"items":[{"uri":"file:///a","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"severity":2,"message":"m"}]}`},
	} {
		wantJSON(t, p.response(p.ask(c.method, c.params)).Result, c.want)
	}
}

func TestStringIDsAndIDsThatAreUsedTwice(t *testing.T) {
	e, p := start(t, Options{Apply: Silent}, full)
	p.send(`{"jsonrpc":"2.0","id":"a/1","method":"window/showDocument","params":{}}`)
	if m := p.next(); string(m.ID) != `"a/1"` || string(m.Result) != `{"success":true}` {
		t.Errorf("got %+v", m)
	}
	for range 2 {
		p.send(`{"jsonrpc":"2.0","id":"b","method":"workspace/applyEdit","params":{"edit":{}}}`)
	}
	mustFault(t, e, `still uses`)
}

func TestEventsCanBeReadAndAwaited(t *testing.T) {
	e, p := start(t, Options{}, full)
	type result struct {
		ev  Event
		err error
	}
	got := make(chan result)
	go func() {
		ev, err := e.Await(t.Context(), func(ev Event) bool { return ev.Type == "done" })
		got <- result{ev, err}
	}()
	p.notify("assent/event", `{"sessionId":"s","seq":1,"event":{"type":"text","delta":"é"}}`)
	p.notify("assent/event", `{"sessionId":"s","seq":2,"event":{"type":"done","stopReason":"complete"}}`)
	r := <-got
	var body struct{ StopReason string }
	if r.err != nil || r.ev.Seq != 2 || r.ev.Decode(&body) != nil || body.StopReason != "complete" {
		t.Errorf("got %+v, %v", r.ev, r.err)
	}
	if evs := e.Events(); len(evs) != 2 || evs[0].Type != "text" || evs[1].SessionID != "s" {
		t.Errorf("got %+v", evs)
	}
	ev, err := e.Await(t.Context(), func(ev Event) bool { return ev.Type == "text" }) // one so far
	if err != nil || ev.Seq != 1 {
		t.Errorf("got %+v, %v", ev, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Await(ctx, func(Event) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNoticesAreKept(t *testing.T) {
	e, p := start(t, Options{}, full)
	p.notify("window/showMessage", `{"type":3,"message":"hello"}`)
	p.notify("window/logMessage", `{"type":4,"message":"log"}`)
	p.notify("$/progress", `{"token":"t","value":{"kind":"begin","title":"T","percentage":10,"cancellable":true}}`)
	p.notify("telemetry/event", `{}`)
	p.response(p.ask("window/showDocument", `{"uri":"file:///a"}`))
	if got := e.Messages(); !slices.Equal(got, []Message{{3, "hello", false}, {4, "log", true}}) {
		t.Errorf("got %+v", got)
	}
	if got := e.Progress(); len(got) != 1 || got[0].Token != `"t"` || *got[0].Percentage != 10 || !got[0].Cancellable {
		t.Errorf("got %+v", got)
	}
	if got := e.Shown(); !slices.Equal(got, []string{"file:///a"}) {
		t.Errorf("got %v", got)
	}
}
