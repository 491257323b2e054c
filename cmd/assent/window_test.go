package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// smallWindow is a server of 4096 tokens that says so, as vLLM does, only when a
// request is too long. It has a task of 40 calls.
type smallWindow struct {
	mu                         sync.Mutex
	calls, overflows, shortens int
	strange                    []string
}

const smallTokens = 4096

func (s *smallWindow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var req struct {
		Tools    []any
		Messages []struct{ Role string }
	}
	if err := json.Unmarshal(body, &req); err != nil {
		s.strange = append(s.strange, err.Error())
	}
	if tokens := len(body) / 5; tokens > smallTokens {
		s.overflows++
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"object":"error","message":"This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, 0 in the completion).","type":"BadRequestError","param":null,"code":400}`, smallTokens, tokens, tokens)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	delta := ""
	switch {
	case len(req.Tools) == 0:
		s.shortens++
		for _, m := range req.Messages {
			if m.Role == "tool" {
				s.strange = append(s.strange, "results without tools")
			}
		}
		delta = `{"content":"So far, notes.txt was read."}`
	case !strings.Contains(string(body), "read all of it, and then say so"):
		s.strange = append(s.strange, "the prompt is gone")
		delta = `{"content":"What was I to do?"}`
	case s.calls == 40:
		delta = `{"content":"I have read it all."}`
	default:
		s.calls++
		delta = fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"c%d","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"notes.txt\",\"start_line\":%d,\"end_line\":%d}"}}]}`, s.calls, s.calls, s.calls+20)
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", delta)
}

// TestATaskThatIsLongerThanTheWindow is one, by the program itself: the person reads
// that the conversation was put in short, and the task comes to its end.
func TestATaskThatIsLongerThanTheWindow(t *testing.T) {
	t.Parallel()
	server := &smallWindow{}
	http := httptest.NewServer(server)
	defer http.Close()
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, "line %d of some notes that are not short\n", i)
	}
	write(t, filepath.Join(dir, "notes.txt"), lines.String())
	out, err := runAssent(t, dir, http.URL+"/v1", []string{"--api", "chat"}, "read all of it, and then say so")
	if err != nil || !strings.Contains(out, "I have read it all.") || !strings.Contains(out, "was put in short") {
		t.Errorf("%v:\n%s", err, out)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if server.calls != 40 || server.overflows != 1 || server.shortens == 0 || len(server.strange) > 0 {
		t.Errorf("%d calls, %d overflows, %d summaries, and %q", server.calls, server.overflows, server.shortens, server.strange)
	}
}
