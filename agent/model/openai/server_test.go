package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/model/openai"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect makes a model behind a test server. The options may change the rest.
func connect(t *testing.T, handler http.Handler, change ...func(*openai.Options)) *openai.Model {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	o := openai.Options{BaseURL: srv.URL + "/v1", APIKey: "test-key-123456", Model: "test-model", HTTPClient: srv.Client()}
	for _, c := range change {
		c(&o)
	}
	m, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sse is a writer of events that go out at once.
type sse struct{ w http.ResponseWriter }

func stream(w http.ResponseWriter, r *http.Request) sse {
	_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client left
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	return sse{w}
}

func (s sse) raw(text string) {
	_, _ = io.WriteString(s.w, text)
	s.w.(http.Flusher).Flush()
}

func (s sse) event(v any) {
	if text, ok := v.(string); ok {
		s.raw("data: " + text + "\n\n")
		return
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	s.raw("data: " + string(encoded) + "\n\n")
}

func (s sse) delta(d map[string]any) {
	s.event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": d}}})
}

func (s sse) finish(reason string) {
	s.event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}}})
	s.event("[DONE]")
}

// events answers each request with the same events.
func events(list ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := stream(w, r)
		for _, e := range list {
			s.event(e)
		}
	})
}

// scripted answers with the replies of a script, as OpenAI would.
func scripted(script []agenttest.Reply) http.Handler {
	var next atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := stream(w, r)
		reply := script[next.Add(1)-1]
		s.delta(map[string]any{"role": "assistant", "content": ""})
		calls := 0
		for _, b := range reply.Message.Blocks {
			switch b := b.(type) {
			case agent.Thinking:
				for piece := range strings.SplitAfterSeq(b.Text, " ") {
					s.delta(map[string]any{"reasoning_content": piece})
				}
			case agent.Text:
				for piece := range strings.SplitAfterSeq(b.Text, " ") {
					s.delta(map[string]any{"content": piece})
				}
			case agent.ToolUse:
				s.call(calls, b)
				calls++
			}
		}
		switch reply.End {
		case agenttest.EndCut:
			panic(http.ErrAbortHandler)
		case agenttest.EndHang:
			<-r.Context().Done()
			return
		}
		s.end(reply.Message, calls)
	})
}

func (s sse) call(index int, u agent.ToolUse) {
	fragment := func(id string, function map[string]any) {
		call := map[string]any{"index": index, "function": function}
		if id != "" {
			call["id"], call["type"] = id, "function"
		}
		s.delta(map[string]any{"tool_calls": []any{call}})
	}
	fragment(u.ID, map[string]any{"name": u.Name, "arguments": ""})
	for _, c := range string(u.Input) + u.RawInput {
		fragment("", map[string]any{"arguments": string(c)})
	}
}

func (s sse) end(m agent.Message, calls int) {
	if m.Usage != (agent.Usage{}) {
		defer s.event("[DONE]")
		defer s.event(map[string]any{"choices": []any{}, "usage": map[string]int{
			"prompt_tokens": m.Usage.Input, "completion_tokens": m.Usage.Output,
		}})
	}
	reason := map[agent.StopReason]string{agent.StopTruncated: "length", agent.StopRefused: "content_filter"}[m.Stop]
	switch {
	case reason != "":
	case calls > 0:
		reason = "tool_calls"
	default:
		reason = "stop"
	}
	s.event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}}})
	if m.Usage == (agent.Usage{}) {
		s.event("[DONE]")
	}
}

// answerOK says "ok", over whichever API it was asked.
func answerOK(w http.ResponseWriter, r *http.Request) {
	s := stream(w, r)
	if strings.HasSuffix(r.URL.Path, "/responses") {
		s.event(`{"type":"response.output_text.delta","delta":"ok"}`)
		s.event(completed)
		return
	}
	s.delta(map[string]any{"content": "ok"})
	s.finish("stop")
}

// captured is the body of each request to a server that answers. The options may change.
func captured(t *testing.T, change func(*openai.Options), requests ...agent.Request) []string {
	t.Helper()
	var bodies []string
	m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies = append(bodies, string(body))
		answerOK(w, r)
	}), func(o *openai.Options) {
		if change != nil {
			change(o)
		}
	})
	for _, req := range requests {
		if _, _, err := run(m, req); err != nil {
			t.Fatal(err)
		}
	}
	return bodies
}

func run(m *openai.Model, req agent.Request) (string, *agent.Message, error) {
	text := ""
	for c, err := range m.Stream(context.Background(), req) {
		if err != nil {
			return text, nil, err
		}
		text += c.Text
		if c.Reply != nil {
			return text, c.Reply, nil
		}
	}
	return text, nil, errors.New("the stream ended without a reply")
}

// failure is the error of a stream that has to fail with a *agent.ModelError.
func failure(t *testing.T, m *openai.Model) *agent.ModelError {
	t.Helper()
	_, reply, err := run(m, agenttest.ModelRequest())
	var known *agent.ModelError
	if !errors.As(err, &known) || reply != nil {
		t.Fatalf("the error is %v (%T), the reply %v", err, err, reply)
	}
	return known
}

func status(code int, contentType, body string, headers ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	})
}
