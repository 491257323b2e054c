package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"assent/agent"
)

// chunk is one event of a stream, as far as it is read.
type chunk struct {
	Choices []struct {
		Index        int    `json:"index"`
		Delta        delta  `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content          string     `json:"content"`
	Refusal          string     `json:"refusal"`
	ReasoningContent text       `json:"reasoning_content"` // DeepSeek, vLLM, llama.cpp
	Reasoning        text       `json:"reasoning"`         // OpenRouter, Ollama
	ToolCalls        []fragment `json:"tool_calls"`
}

type fragment struct {
	Index    *int `json:"index"`
	ID       text `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments text   `json:"arguments"`
	} `json:"function"`
}

// text is a string, or the JSON of whatever a server sent in its place.
// Arguments that are an object must not get lost: a call without them would be
// another call.
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(t))
	}
	if string(data) != "null" {
		*t = text(data)
	}
	return nil
}

// accumulator puts a reply together from the events of a stream.
type accumulator struct {
	text     strings.Builder
	thinking strings.Builder
	calls    []*call
	finish   string
	refused  bool
	usage    agent.Usage
}

type call struct {
	id, name string
	index    *int
	args     strings.Builder
}

// add takes an event in and returns what of it is to be shown.
func (a *accumulator) add(c chunk) agent.Chunk {
	if c.Usage != nil { // running sums on some servers, so the last one counts
		a.usage = agent.Usage{Input: c.Usage.Prompt, Output: c.Usage.Completion}
	}
	var shown agent.Chunk
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		d := choice.Delta
		shown.Text += d.Content + d.Refusal
		if shown.Thinking += string(d.ReasoningContent); d.ReasoningContent == "" {
			shown.Thinking += string(d.Reasoning)
		}
		a.refused = a.refused || d.Refusal != ""
		for _, f := range d.ToolCalls {
			a.route(f).add(f)
		}
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
	}
	a.text.WriteString(shown.Text)
	a.thinking.WriteString(shown.Thinking)
	return shown
}

// route finds the call that a fragment belongs to, or opens one: by the id if
// it is known, then by the index, then the newest call. Servers differ: ids on
// every fragment or only on the first, fresh ids on each, index 0 for all calls,
// no index, no id.
func (a *accumulator) route(f fragment) *call {
	c := a.newest(func(c *call) bool { return f.ID != "" && c.id == string(f.ID) })
	if c == nil && (f.ID == "" || f.Function.Name == "") {
		c = a.newest(func(c *call) bool {
			return f.Index == nil || c.index != nil && *c.index == *f.Index
		})
	}
	if c == nil || startsAnother(c, f) {
		c = &call{index: f.Index}
		a.calls = append(a.calls, c)
	}
	return c
}

func (a *accumulator) newest(match func(*call) bool) *call {
	for i := len(a.calls) - 1; i >= 0; i-- {
		if match(a.calls[i]) {
			return a.calls[i]
		}
	}
	return nil
}

// startsAnother reports whether a fragment that was routed to c begins a call
// of its own: it names another tool, or the same after c is complete.
func startsAnother(c *call, f fragment) bool {
	name := f.Function.Name
	if name == "" || c.name == "" {
		return false
	}
	return name != c.name || f.Function.Arguments != "" && json.Valid([]byte(c.args.String()))
}

// add takes names and ids once: servers repeat them.
func (c *call) add(f fragment) {
	if c.id == "" {
		c.id = string(f.ID)
	}
	if c.name == "" {
		c.name = f.Function.Name
	}
	c.args.WriteString(string(f.Function.Arguments))
}

// reply is the whole message, or an error if the server never said that it is
// whole: then its calls may lack their ends.
func (a *accumulator) reply() (agent.Message, error) {
	m := agent.Message{Role: agent.RoleAssistant, Usage: a.usage}
	switch a.finish {
	case "":
		return agent.Message{}, &agent.ModelError{
			Kind:    agent.ErrorTruncated,
			Message: "The model server ended its reply in the middle",
		}
	case "error":
		return agent.Message{}, &agent.ModelError{
			Kind:    agent.ErrorProvider,
			Message: "The model server ended its reply with an error that it does not explain",
		}
	case "length", "max_tokens", "model_length":
		m.Stop = agent.StopTruncated
	case "content_filter":
		m.Stop = agent.StopRefused
	default:
		m.Stop = agent.StopComplete
	}
	if a.refused {
		m.Stop = agent.StopRefused
	}
	if a.thinking.Len() > 0 {
		m.Blocks = append(m.Blocks, agent.Thinking{Text: a.thinking.String()})
	}
	if a.text.Len() > 0 {
		m.Blocks = append(m.Blocks, agent.Text{Text: a.text.String()})
	}
	for _, c := range a.calls {
		m.Blocks = append(m.Blocks, c.use(m.Stop))
	}
	if m.Stop == agent.StopComplete && a.text.Len() == 0 && len(a.calls) == 0 {
		return agent.Message{}, &agent.ModelError{
			Kind:    agent.ErrorEmpty,
			Message: "The model ended its reply without a text or a call",
		}
	}
	return m, nil
}

// use keeps the server's id, also one that is missing or not unique: ids are made
// unique where the whole session is known.
func (c *call) use(stop agent.StopReason) agent.ToolUse {
	u := agent.ToolUse{ID: c.id, Name: c.name}
	if u.Input, u.Invalid = c.input(stop); u.Invalid != "" {
		u.RawInput = c.args.String()
	}
	return u
}

// input is the call's arguments without needless space, or why they are not one
// JSON object. No arguments at all are an empty object if the model meant to
// end there.
func (c *call) input(stop agent.StopReason) (json.RawMessage, string) {
	raw := c.args.String()
	if c.name == "" {
		return nil, "the call names no tool"
	}
	if strings.TrimSpace(raw) == "" {
		if stop == agent.StopTruncated {
			return nil, "the reply was cut before the arguments"
		}
		return json.RawMessage("{}"), ""
	}
	var object map[string]json.RawMessage
	err := json.Unmarshal([]byte(raw), &object)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		at := min(int(syntax.Offset), len(raw))
		return nil, fmt.Sprintf("the arguments are not one JSON object: %v, at byte %d of %d, after %q",
			syntax, at, len(raw), strings.ToValidUTF8(raw[max(0, at-30):at], "�"))
	case err != nil || object == nil:
		return nil, "the arguments are JSON, but not an object"
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, []byte(raw)) // it was parsed just now
	return compact.Bytes(), ""
}
