package openai

import (
	"encoding/json"
	"slices"

	"assent/agent"
)

// responses is the wire of OpenAI's Responses API. Nothing is stored there: each
// request carries the whole conversation, sealed reasoning included.
type responses struct{}

func (responses) path() string { return "responses" }
func (responses) list() string { return "input" }

func (responses) reader(s server, offered func(string) bool) reader {
	r := &responsesReader{server: s}
	r.filter.offered = offered
	return r
}

type responsesHead struct {
	Model     string           `json:"model"`
	Stream    bool             `json:"stream"`
	Store     bool             `json:"store"`
	Include   []string         `json:"include,omitempty"`
	MaxTokens int              `json:"max_output_tokens,omitempty"`
	Reasoning *reasoningParams `json:"reasoning,omitempty"`
	CacheKey  string           `json:"prompt_cache_key,omitempty"`
	Tools     []responsesTool  `json:"tools,omitempty"`
}

type reasoningParams struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"` // our schemas have optional fields, which strict ones have not
}

func (responses) head(e *encoder, req agent.Request) any {
	h := responsesHead{Model: e.model, Stream: e.form.streamed}
	if e.form.maxTokens != "" {
		h.MaxTokens = e.maxTokens
	}
	if e.form.encrypted {
		h.Include = []string{"reasoning.encrypted_content"}
	}
	var params reasoningParams
	if e.form.effort {
		params.Effort = e.effort
	}
	if e.form.summary {
		params.Summary = "auto"
	}
	if params != (reasoningParams{}) {
		h.Reasoning = &params
	}
	if e.form.cacheKey {
		h.CacheKey = req.Session
	}
	for _, spec := range req.Tools {
		h.Tools = append(h.Tools, responsesTool{"function", spec.Name, spec.Description, schemaFor(spec.Schema, e.form.schema), false})
	}
	return h
}

type inputMessage struct {
	Type    string      `json:"type"`
	Role    string      `json:"role"`
	Content []inputPart `json:"content"`
}

type inputPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

type inputCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type inputOutput struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

func (responses) system(e *encoder, text string) []any {
	role := "developer"
	if e.form.system == asSystem {
		role = "system"
	}
	return []any{inputMessage{"message", role, []inputPart{{Type: "input_text", Text: text}}}}
}

func (responses) messages(e *encoder, m agent.Message) []any {
	var out []any
	if m.Role == agent.RoleUser {
		var parts []inputPart
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case agent.Text:
				parts = append(parts, inputPart{Type: "input_text", Text: b.Text})
			case agent.Note:
				parts = append(parts, inputPart{Type: "input_text", Text: b.Text})
			case agent.Image:
				if e.form.shows(b) {
					parts = append(parts, inputPart{Type: "input_image", ImageURL: dataURL(b)})
				} else {
					parts = append(parts, inputPart{Type: "input_text", Text: noPicture})
				}
			}
		}
		return []any{inputMessage{"message", "user", parts}}
	}
	for i, b := range m.Blocks {
		switch b := b.(type) {
		case agent.Text:
			out = append(out, inputMessage{"message", "assistant", []inputPart{{Type: "output_text", Text: b.Text}}})
		case agent.Thinking:
			if item := sealed(e, b); item != nil && leads(m.Blocks[i+1:]) {
				out = append(out, item)
			}
		case agent.ToolUse:
			out = append(out, inputCall{"function_call", e.ids.of(b.ID), wireName(b.Name), arguments(b)})
		case agent.ToolResult:
			out = append(out, inputOutput{"function_call_output", e.ids.of(b.ID), output(b)})
		}
	}
	return out
}

// leads reports whether anything but reasoning follows: the server refuses reasoning
// that led to nothing, as of a reply that its filter stopped.
func leads(rest []agent.Block) bool {
	return slices.ContainsFunc(rest, func(b agent.Block) bool {
		_, thinks := b.(agent.Thinking)
		return !thinks
	})
}

// sealed is a reasoning item as the server gave it, if this model can open it.
func sealed(e *encoder, t agent.Thinking) any {
	if !e.form.encrypted || t.Opaque == "" || t.Source != responsesSource(e.model) || !json.Valid([]byte(t.Opaque)) {
		return nil
	}
	return json.RawMessage(t.Opaque)
}

// responsesSource is the source of reasoning that only the same model can open.
func responsesSource(model string) string { return "responses " + model }
