package openai_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
)

// sessionLog is a server whose first answer is given and whose others are a text, and
// the tools of a session that talks to it.
type sessionLog struct {
	first http.Handler

	mu       sync.Mutex
	requests [][]byte
	ran      []string
}

func (l *sessionLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	l.requests = append(l.requests, body)
	n := len(l.requests)
	l.mu.Unlock()
	if n == 1 {
		l.first.ServeHTTP(w, r)
		return
	}
	s := stream(w, r)
	s.delta(map[string]any{"content": "done"})
	s.finish("stop")
}

func (l *sessionLog) tools() (tools []agent.Tool) {
	for _, spec := range caseRequest().Tools {
		tools = append(tools, agenttest.Tool{Name: spec.Name, Tier: agent.TierRead, Planer: func(context.Context, agent.Files, json.RawMessage) (agent.Plan, error) {
			return agent.Plan{Run: func(context.Context, agent.Approval) (agent.Result, error) {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.ran = append(l.ran, spec.Name)
				return agent.Result{Output: "ok"}, nil
			}}, nil
		}})
	}
	return tools
}

// strictMessage is a message as the published format of Chat Completions has it.
type strictMessage struct {
	Role       string `json:"role"`
	Content    any    `json:"content"`
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

var (
	strictName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	strictID   = regexp.MustCompile(`^[a-zA-Z0-9_.:-]{1,64}$`)
)

// checkStrictly holds a request against the rules by which servers refuse one.
func checkStrictly(t *testing.T, body []byte) {
	t.Helper()
	var req struct {
		Messages []strictMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Errorf("the request is no JSON: %v", err)
		return
	}
	var open []string
	seen := map[string]bool{}
	for i, m := range req.Messages {
		if len(open) > 0 || m.Role == "tool" {
			if m.Role != "tool" || len(open) == 0 || m.ToolCallID != open[0] {
				t.Errorf("message %d, %s of %q, is not the result of %v", i, m.Role, m.ToolCallID, open)
				return
			}
			open = open[1:]
			continue
		}
		text, _ := m.Content.(string)
		if strings.TrimSpace(text) == "" && len(m.ToolCalls) == 0 {
			if parts, _ := m.Content.([]any); len(parts) == 0 {
				t.Errorf("message %d of %s is empty", i, m.Role)
			}
		}
		for _, c := range m.ToolCalls {
			var args map[string]any
			if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil || args == nil {
				t.Errorf("the arguments %q are no object", c.Function.Arguments)
			}
			if seen[c.ID] || !strictID.MatchString(c.ID) || !strictName.MatchString(c.Function.Name) || c.Type != "function" {
				t.Errorf("the call %+v is not in order", c)
			}
			seen[c.ID] = true
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		t.Errorf("the calls %v have no result", open)
	}
}
