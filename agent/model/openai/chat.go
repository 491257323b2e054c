package openai

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"assent/agent"
)

// chat is the wire of Chat Completions.
type chat struct{}

func (chat) path() string { return "chat/completions" }
func (chat) list() string { return "messages" }

func (chat) reader(s server, offered func(string) bool) reader {
	r := &chatReader{server: s}
	r.filter.offered = offered
	return r
}

type chatHead struct {
	Model         string         `json:"model"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options,omitempty"`
	MaxTokens     int            `json:"max_tokens,omitempty"`
	MaxCompletion int            `json:"max_completion_tokens,omitempty"`
	Effort        string         `json:"reasoning_effort,omitempty"`
	CacheKey      string         `json:"prompt_cache_key,omitempty"`
	CacheControl  *cacheControl  `json:"cache_control,omitempty"`
	Tools         []chatTool     `json:"tools,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type cacheControl struct {
	Type string `json:"type"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func (chat) head(e *encoder, req agent.Request) any {
	h := chatHead{Model: e.model, Stream: e.form.streamed}
	if e.form.usage && e.form.streamed {
		h.StreamOptions = &streamOptions{true}
	}
	switch e.form.maxTokens {
	case "max_tokens":
		h.MaxTokens = e.maxTokens
	case "max_completion_tokens":
		h.MaxCompletion = e.maxTokens
	}
	if e.form.effort {
		h.Effort = e.effort
	}
	if e.form.cacheKey {
		h.CacheKey = req.Session
	}
	if e.form.marks {
		h.CacheControl = &cacheControl{"ephemeral"}
	}
	for _, spec := range req.Tools {
		h.Tools = append(h.Tools, chatTool{"function", chatFunction{spec.Name, spec.Description, schemaFor(spec.Schema, e.form.schema)}})
	}
	return h
}

type chatMessage struct {
	Role             string          `json:"role"`
	Content          any             `json:"content"` // a text, parts, or null beside tool calls
	ReasoningContent string          `json:"reasoning_content,omitempty"`
	Reasoning        string          `json:"reasoning,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls        []chatCall      `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`
}

type chatPart struct {
	Type     string     `json:"type"`
	Text     string     `json:"text,omitempty"`
	ImageURL *chatImage `json:"image_url,omitempty"`
}

type chatImage struct {
	URL string `json:"url"`
}

type chatCall struct {
	ID       string           `json:"id"`
	Type     string           `json:"type"`
	Function chatCallFunction `json:"function"`
	Extra    json.RawMessage  `json:"extra_content,omitempty"`
}

type chatCallFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (chat) system(e *encoder, text string) []any {
	if e.form.system == asDeveloper {
		return []any{chatMessage{Role: "developer", Content: text}}
	}
	return []any{chatMessage{Role: "system", Content: text}}
}

func (chat) messages(e *encoder, m agent.Message) []any {
	switch m.Role {
	case agent.RoleTool:
		var out []any
		for _, r := range m.ToolResults() {
			out = append(out, chatMessage{Role: "tool", Content: output(r), ToolCallID: e.ids.of(r.ID)})
		}
		return out
	case agent.RoleAssistant:
		return chatReply(e, m)
	}
	return []any{chatMessage{Role: string(m.Role), Content: chatContent(e, m)}}
}

// output is never empty: some servers refuse that.
func output(r agent.ToolResult) string {
	if r.Output == "" {
		return "(no output)"
	}
	return r.Output
}

func chatReply(e *encoder, m agent.Message) []any {
	w := chatMessage{Role: "assistant"}
	if text := m.Text(); text != "" {
		w.Content = text
	}
	for _, u := range m.ToolUses() {
		call := chatCall{ID: e.ids.of(u.ID), Type: "function", Function: chatCallFunction{wireName(u.Name), arguments(u)}}
		if e.form.extras && u.Opaque != "" && json.Valid([]byte(u.Opaque)) {
			call.Extra = json.RawMessage(u.Opaque)
		}
		w.ToolCalls = append(w.ToolCalls, call)
	}
	if w.Content == nil && len(w.ToolCalls) == 0 {
		return nil
	}
	for _, b := range m.Blocks {
		if t, ok := b.(agent.Thinking); ok && e.form.reasoning {
			switch t.Source {
			case "reasoning_content":
				w.ReasoningContent += t.Text
			case "reasoning":
				w.Reasoning += t.Text
				if e.form.extras && t.Opaque != "" && json.Valid([]byte(t.Opaque)) {
					w.ReasoningDetails = json.RawMessage(t.Opaque)
				}
			}
		}
	}
	if e.form.filled && len(w.ToolCalls) > 0 && w.ReasoningContent+w.Reasoning == "" {
		w.ReasoningContent = noReasoning
	}
	return []any{w}
}

// noReasoning stands for reasoning that another model did, or that was lost. Some
// servers want theirs beside each call and take no empty one.
const noReasoning = "(not kept)"

// chatContent is a text, or parts if there are pictures.
func chatContent(e *encoder, m agent.Message) any {
	var parts []chatPart
	pictures := false
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case agent.Text:
			parts = append(parts, chatPart{Type: "text", Text: b.Text})
		case agent.Note:
			parts = append(parts, chatPart{Type: "text", Text: b.Text})
		case agent.Image:
			if !e.form.shows(b) {
				parts = append(parts, chatPart{Type: "text", Text: noPicture})
				continue
			}
			pictures = true
			parts = append(parts, chatPart{Type: "image_url", ImageURL: &chatImage{dataURL(b)}})
		}
	}
	if pictures {
		return parts
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

const noPicture = "[a picture that the model can't see]"

func dataURL(i agent.Image) string {
	return "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
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
