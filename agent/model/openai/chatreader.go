package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assent/agent"
)

// chunk is one event of a stream of Chat Completions, as far as it is read.
type chunk struct {
	Choices []choice `json:"choices"`
	Usage   *struct {
		Prompt     number `json:"prompt_tokens"`
		Completion number `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type choice struct {
	Index        number `json:"index"`
	Delta        delta  `json:"delta"`
	Message      delta  `json:"message"` // of a reply that was not streamed
	FinishReason text   `json:"finish_reason"`
}

type delta struct {
	Content          content         `json:"content"`
	Refusal          text            `json:"refusal"`
	ReasoningContent text            `json:"reasoning_content"` // DeepSeek, Kimi, llama.cpp, older vLLM
	Reasoning        text            `json:"reasoning"`         // OpenRouter, Ollama, Groq, vLLM
	ReasoningDetails json.RawMessage `json:"reasoning_details"` // OpenRouter
	ToolCalls        toolCalls       `json:"tool_calls"`
	FunctionCall     *function       `json:"function_call"` // before there were tool calls
}

type toolCall struct {
	Index    *number         `json:"index"`
	ID       text            `json:"id"`
	Function function        `json:"function"`
	Extra    json.RawMessage `json:"extra_content"` // Gemini wants its signatures back
}

type function struct {
	Name      text `json:"name"`
	Arguments text `json:"arguments"`
}

// toolCalls is a list, or the one call that some servers send in its place.
type toolCalls []toolCall

func (t *toolCalls) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		var one toolCall
		err := json.Unmarshal(data, &one)
		*t = toolCalls{one}
		return err
	}
	return json.Unmarshal(data, (*[]toolCall)(t))
}

// content is a text, or a list of parts of which some may be reasoning (Mistral).
type content struct{ text, thinking string }

func (c *content) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return unquote(data, &c.text)
	}
	type part struct {
		Type     string          `json:"type"`
		Text     text            `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	var parts []part
	if data[0] == '{' {
		data = slices.Concat([]byte("["), data, []byte("]"))
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		var inner content
		if len(p.Thinking) > 0 && json.Unmarshal(p.Thinking, &inner) == nil {
			c.thinking += inner.text
		} else if p.Type == "thinking" || p.Type == "reasoning" {
			c.thinking += string(p.Text)
		} else {
			c.text += string(p.Text)
		}
	}
	return nil
}

// chatReader reads a stream of Chat Completions.
type chatReader struct {
	draft
	server  server
	details details
	known   bool // an event was of this protocol
	done    bool // [DONE] came
	early   bool // the finish reason was not the end: more came after it
	pieces  bool // something of the reply came
	tools   bool // a call came as a tool call
}

func (r *chatReader) take(ev event) (agent.Chunk, error) {
	switch data := strings.TrimSpace(string(ev.data[:min(len(ev.data), 16)])); {
	case data == "[DONE]":
		r.done = true
		return agent.Chunk{}, nil
	case ev.kind == "error":
		return agent.Chunk{}, r.complain(r.server, ev.data)
	}
	var c chunk
	if err := json.Unmarshal(ev.data, &c); err != nil {
		if ev.torn {
			return agent.Chunk{}, r.server.cutError(nil)
		}
		return agent.Chunk{}, r.server.strangeEvent(ev.data, err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return agent.Chunk{}, r.complain(r.server, ev.data)
	}
	if len(c.Choices) == 0 && c.Usage == nil && !r.known {
		if parseComplaint(ev.data).message != "" {
			return agent.Chunk{}, r.complain(r.server, ev.data)
		}
		return agent.Chunk{}, nil
	}
	r.known = true
	if c.Usage != nil { // running sums on some servers, so the last one counts
		r.usage = agent.Usage{Input: int(c.Usage.Prompt), Output: int(c.Usage.Completion)}
	}
	var shown agent.Chunk
	for i := range c.Choices {
		if c.Choices[i].Index == 0 {
			shown = joined(shown, r.choice(&c.Choices[i]))
		}
	}
	if r.calls.tooMany {
		return shown, r.server.endless(fmt.Sprintf("%d calls", maxCalls))
	}
	return shown, nil
}

// joined is a followed by b, which comes of the same event.
func joined(a, b agent.Chunk) agent.Chunk {
	if b.Recast {
		a.Thinking, a.Text, a.Recast = a.Thinking+a.Text, "", true
	}
	return agent.Chunk{Text: a.Text + b.Text, Thinking: a.Thinking + b.Thinking, Recast: a.Recast}
}

func (r *chatReader) choice(c *choice) (shown agent.Chunk) {
	shown = r.delta(&c.Delta)
	if !r.pieces { // else it says again what came
		shown = joined(shown, r.delta(&c.Message))
	}
	if c.FinishReason != "" && c.FinishReason != "null" {
		r.finish = string(c.FinishReason)
	}
	return shown
}

func (r *chatReader) delta(d *delta) agent.Chunk {
	var shown agent.Chunk
	switch {
	case d.ReasoningContent != "":
		shown = r.think("reasoning_content", string(d.ReasoningContent))
	case d.Reasoning != "":
		shown = r.think("reasoning", string(d.Reasoning))
	case d.Content.thinking != "":
		shown = r.think("content", d.Content.thinking)
	}
	r.details.add(d.ReasoningDetails)
	shown = joined(shown, r.write(d.Content.text))
	shown = joined(shown, r.write(string(d.Refusal)))
	r.refused = r.refused || d.Refusal != ""
	r.tools = r.tools || len(d.ToolCalls) > 0
	r.count += len(d.ToolCalls)
	for _, t := range d.ToolCalls {
		f := fragment{id: string(t.ID), name: string(t.Function.Name), args: string(t.Function.Arguments), opaque: string(t.Extra)}
		if t.Index != nil {
			index := int(*t.Index)
			f.index = &index
		}
		r.calls.add(f)
	}
	if d.FunctionCall != nil && !r.tools { // else it says the same in an older way
		r.calls.add(fragment{name: string(d.FunctionCall.Name), args: string(d.FunctionCall.Arguments)})
	}
	if d.Content.text+d.Content.thinking != "" || shown != (agent.Chunk{}) || len(d.ToolCalls) > 0 || d.FunctionCall != nil {
		r.early, r.pieces = r.early || r.finish != "", true
	}
	return shown
}

// finished takes the finish reason as an end only while nothing followed one: some
// servers send it early, or with each event, and a reply that was cut has it too.
func (r *chatReader) finished() bool { return r.finish != "" && !r.early }

func (r *chatReader) end(clean bool) (agent.Chunk, agent.Message, error) {
	shown := r.rest()
	if !clean && !r.done && len(r.calls.list) > 0 { // the finish reason alone lets nothing run
		return shown, agent.Message{}, r.server.cutError(nil)
	}
	if !r.known && !r.done {
		return shown, agent.Message{}, errNotReply
	}
	if !r.done && !r.finished() {
		return shown, agent.Message{}, r.server.cutError(nil)
	}
	if r.bad() {
		return shown, agent.Message{}, r.server.endedBadly(r.finish)
	}
	r.opaque = r.details.json()
	return shown, r.message(), nil
}

// details are OpenRouter's reasoning_details, which come in pieces and go back whole.
type details struct{ list []map[string]any }

func (d *details) add(raw json.RawMessage) {
	var pieces []map[string]any
	if len(raw) == 0 || json.Unmarshal(raw, &pieces) != nil {
		return
	}
	for _, p := range pieces {
		if n := len(d.list); n > 0 && same(d.list[n-1]["type"], p["type"]) && same(d.list[n-1]["index"], p["index"]) {
			extend(d.list[n-1], p)
		} else if p != nil {
			d.list = append(d.list, p)
		}
	}
}

func same(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// extend adds a piece to the part before it: its texts follow, the rest replaces.
func extend(whole, piece map[string]any) {
	for key, value := range piece {
		more, isText := value.(string)
		before, wasText := whole[key].(string)
		switch {
		case value == nil:
		case isText && wasText && (key == "text" || key == "summary" || key == "data"):
			whole[key] = before + more
		default:
			whole[key] = value
		}
	}
}

func (d *details) json() string {
	if len(d.list) == 0 {
		return ""
	}
	data, err := json.Marshal(d.list)
	if err != nil {
		return ""
	}
	return string(data)
}
