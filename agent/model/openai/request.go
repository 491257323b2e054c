package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"assent/agent"
)

// The request is encoded here and not with openai-go's parameter types: equal
// histories must give equal bytes, for the provider's prompt cache, and tool
// schemas must go out as they are.

type wireRequest struct {
	Model         string            `json:"model"`
	Stream        bool              `json:"stream"`
	StreamOptions wireStreamOptions `json:"stream_options"`
	Tools         []wireTool        `json:"tools,omitempty"`
	Messages      []wireMessage     `json:"messages"`
}

type wireStreamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type wireTool struct {
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type wireMessage struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"` // null beside tool calls
	ToolCalls  []wireCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type wireCall struct {
	ID       string           `json:"id"`
	Type     string           `json:"type"`
	Function wireCallFunction `json:"function"`
}

type wireCallFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func encode(model string, req agent.Request) ([]byte, error) {
	out := wireRequest{Model: model, Stream: true, StreamOptions: wireStreamOptions{IncludeUsage: true}}
	for _, spec := range req.Tools {
		schema := spec.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out.Tools = append(out.Tools, wireTool{"function", wireFunction{spec.Name, spec.Description, schema}})
	}
	if req.System != "" {
		out.Messages = append(out.Messages, wireMessage{Role: "system", Content: &req.System})
	}
	for _, m := range req.Messages {
		out.Messages = appendMessage(out.Messages, m)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // code is full of < and &
	if err := enc.Encode(out); err != nil {
		return nil, &agent.ModelError{
			Kind:    agent.ErrorConfig,
			Message: fmt.Sprintf("The request can't be encoded, a tool's schema may be broken: %v", err),
			Err:     err,
		}
	}
	return buf.Bytes(), nil
}

func appendMessage(out []wireMessage, m agent.Message) []wireMessage {
	switch m.Role {
	case agent.RoleTool:
		for _, r := range m.ToolResults() {
			if r.Output == "" { // some servers refuse an empty content
				r.Output = "(no output)"
			}
			out = append(out, wireMessage{Role: "tool", Content: &r.Output, ToolCallID: r.ID})
		}
		return out
	case agent.RoleAssistant:
		text, calls := m.Text(), wireCalls(m.ToolUses())
		if text == "" && len(calls) == 0 {
			return out
		}
		w := wireMessage{Role: "assistant", ToolCalls: calls}
		if text != "" {
			w.Content = &text
		}
		return append(out, w)
	}
	text := m.Text()
	return append(out, wireMessage{Role: string(m.Role), Content: &text})
}

func wireCalls(uses []agent.ToolUse) []wireCall {
	var calls []wireCall
	for _, u := range uses {
		calls = append(calls, wireCall{u.ID, "function", wireCallFunction{wireName(u.Name), arguments(u)}})
	}
	return calls
}

// arguments are one JSON object on the wire, whatever the model wrote: servers
// parse them again and refuse the whole history if they can't.
func arguments(u agent.ToolUse) string {
	raw := u.RawInput
	if u.Invalid == "" {
		if len(u.Input) == 0 {
			return "{}"
		}
		if json.Valid(u.Input) {
			return string(u.Input)
		}
		raw = string(u.Input)
	}
	wrapped, _ := json.Marshal(struct { // strings always marshal
		Invalid string `json:"invalid_arguments"`
	}{raw})
	return string(wrapped)
}

// wireName makes a name that servers accept of one that a model made up, since
// they refuse a history with any other.
func wireName(name string) string {
	if name == "" {
		return "unnamed"
	}
	const longest = 64
	if len(name) > longest {
		name = name[:longest]
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}
