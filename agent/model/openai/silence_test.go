package openai_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assent/agent"
	"assent/agent/model/openai"
)

// TestSilenceEndsAStream: the limits are short here; what is told apart is who was
// silent, and when.
func TestSilenceEndsAStream(t *testing.T) {
	hang := func(before ...string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s := stream(w, r)
			for _, event := range before {
				s.raw(event)
			}
			<-r.Context().Done()
		})
	}
	for name, c := range map[string]struct {
		handler http.Handler
		say     string
	}{
		"before the header": {http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = stream(w, r)
			<-r.Context().Done()
		}), "did not begin to answer"},
		"before the first event":  {hang(": hello\n\n"), "did not begin to answer"},
		"in the middle":           {hang(`data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n"), "in the middle of its reply"},
		"in the middle of a line": {hang(`data: {"choices":[{"delta":{"content":"a"}}]}`+"\n\n", `data: {"cho`), "in the middle of its reply"},
		"in a call":               {hang(`data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"read_file","arguments":"{}"}}]}}]}` + "\n\n"), "in the middle of its reply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := failure(t, connect(t, c.handler, func(o *openai.Options) { o.Idle = 100 * time.Millisecond }))
			if err.Kind != agent.ErrorIdle || !err.Retryable() || !strings.Contains(err.Message, c.say) || !strings.Contains(err.Message, "idle_timeout") {
				t.Errorf("%s: %v", err.Kind, err)
			}
		})
	}
}

// TestCommentsKeepAStreamOnlyForATime: the server never stops sending them.
func TestCommentsKeepAStreamOnlyForATime(t *testing.T) {
	m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := stream(w, r)
		s.raw(`data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n")
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-r.Context().Done():
				tick.Stop()
				return
			case <-tick.C:
				s.raw(": still here\n\n")
			}
		}
	}), func(o *openai.Options) { o.Idle = 150 * time.Millisecond })
	began := time.Now()
	if err := failure(t, m); err.Kind != agent.ErrorIdle {
		t.Errorf("%s: %v", err.Kind, err)
	}
	if took := time.Since(began); took < 280*time.Millisecond { // longer than the silence, or the comments did nothing
		t.Errorf("it ended after %v", took)
	}
}

// TestAnEndedReplyIsNotWaitedFor: the server said that it is finished, and neither
// ends the stream nor says [DONE].
func TestAnEndedReplyIsNotWaitedFor(t *testing.T) {
	release := make(chan struct{})
	m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := stream(w, r)
		s.delta(map[string]any{"content": "ok"})
		s.event(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`)
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}), func(o *openai.Options) { o.Idle = time.Hour })
	defer close(release)
	text, reply, err := run(m, caseRequest())
	if err != nil || text != "ok" || reply.Stop != agent.StopComplete {
		t.Errorf("%q, %v, %v", text, reply, err)
	}
}

func TestACancelDuringSilenceWorksAtOnceAndTheNextRequestToo(t *testing.T) {
	var before atomic.Bool
	m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := stream(w, r)
		s.delta(map[string]any{"content": "ok"})
		if !before.Swap(true) {
			<-r.Context().Done()
			return
		}
		s.finish("stop")
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range m.Stream(ctx, caseRequest()) {
		cancel() // at the first chunk
		if err != nil && err != context.Canceled {
			t.Errorf("the error is %v", err)
		}
	}
	if _, _, err := run(m, caseRequest()); err != nil {
		t.Error(err)
	}
}
