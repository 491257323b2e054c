package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"assent/agent"
)

// reader puts a reply together from the events of one wire.
type reader interface {
	// take reads an event and returns what of it is to be shown.
	take(ev event) (agent.Chunk, error)

	// steps grows with each event that brought the reply on.
	steps() int

	// complained reports whether an event was an error of the server.
	complained() bool

	// finished reports whether the reply said that it is: the rest are counts.
	finished() bool

	// end returns what is still to be shown, and the reply if it is whole. clean says
	// that the body came to its own end.
	end(clean bool) (agent.Chunk, agent.Message, error)
}

// errNotReply says that no event was of the protocol.
var errNotReply = errors.New("not a reply")

// maxCalls is how many calls one reply may have. No person reads more, and a model
// that makes them has lost itself.
const maxCalls = 1000

// draft is the part of a reply that both wires share.
type draft struct {
	filter   filter
	text     strings.Builder
	thinking strings.Builder
	source   string // of the thinking, "" if it stood in the text
	opaque   string // that belongs to it
	calls    calls
	finish   string
	refused  bool
	failed   bool // an event was an error
	count    int  // of what came
	usage    agent.Usage
}

func (d *draft) complained() bool { return d.failed }
func (d *draft) steps() int       { return d.count }

// complain is an error of an event that is one.
func (d *draft) complain(s server, data []byte) error {
	d.failed = true
	return s.streamError(data)
}

// write takes a piece of text in.
func (d *draft) write(text string) agent.Chunk {
	if text == "" {
		return agent.Chunk{}
	}
	d.count++
	return d.show(d.filter.add(text))
}

// think takes a piece of reasoning in that came in a field of its own.
func (d *draft) think(source, text string) agent.Chunk {
	if text == "" {
		return agent.Chunk{}
	}
	d.count++
	d.source = source
	d.filter.thought = true // so a tag in the text is not its end
	return d.show(agent.Chunk{Thinking: text})
}

// show notes what is shown.
func (d *draft) show(c agent.Chunk) agent.Chunk {
	if c.Recast {
		d.thinking.WriteString(d.text.String())
		d.text.Reset()
	}
	d.thinking.WriteString(c.Thinking)
	d.text.WriteString(c.Text)
	return c
}

// stop is why the reply ended.
func (d *draft) stop() agent.StopReason {
	for _, c := range d.calls.list {
		if c.cut() || d.finish == "" && c.args.Len() == 0 { // whatever the server calls it
			return agent.StopTruncated
		}
	}
	switch strings.ToLower(d.finish) {
	case "length", "max_tokens", "max_completion_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded", "token_limit", "incomplete":
		return agent.StopTruncated
	case "content_filter", "refusal", "safety", "recitation", "sensitive", "blocklist", "prohibited_content", "spii", "language", "image_safety":
		return agent.StopRefused
	}
	if d.refused {
		return agent.StopRefused
	}
	return agent.StopComplete
}

// bad reports whether the word for the end says that the server failed.
func (d *draft) bad() bool {
	switch strings.ToLower(d.finish) {
	case "error", "failed", "abort", "aborted", "cancelled", "canceled", "timeout", "insufficient_system_resource", "network_error",
		"server_error", "internal_error", "malformed_function_call", "unexpected_tool_call":
		return true
	}
	return false
}

// rest is what the filter held back. Calls that are written beside real ones are
// text.
func (d *draft) rest() agent.Chunk {
	out := d.filter.end()
	if len(d.calls.list) > 0 {
		for _, w := range d.filter.written {
			out.Text += "\n" + w.raw
		}
		d.filter.written = nil
	}
	return d.show(out)
}

// message is the reply, which may be empty.
func (d *draft) message() agent.Message {
	m := agent.Message{Role: agent.RoleAssistant, Usage: d.usage, Stop: d.stop(), Finish: d.finish}
	if d.thinking.Len() > 0 || d.opaque != "" {
		m.Blocks = append(m.Blocks, agent.Thinking{Text: d.thinking.String(), Source: d.source, Opaque: d.opaque})
	}
	if d.text.Len() > 0 {
		m.Blocks = append(m.Blocks, agent.Text{Text: d.text.String()})
	}
	for _, c := range d.calls.list {
		m.Blocks = append(m.Blocks, c.use(m.Stop))
	}
	for _, w := range d.filter.written {
		m.Blocks = append(m.Blocks, agent.ToolUse{Name: w.name, Invalid: agent.WrittenAsText, RawInput: w.raw})
	}
	return m
}

// text is a string, or the JSON of whatever a server sent in its place.
// Arguments that are an object must not get lost: a call without them would be
// another call.
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return unquote(data, (*string)(t))
	}
	if string(data) != "null" {
		*t = text(data)
	}
	return nil
}

// unquote reads a JSON string that was found to be one. Most hold no escape, and
// there is one in every event.
func unquote(data []byte, into *string) error {
	if body := data[1 : len(data)-1]; bytes.IndexByte(body, '\\') < 0 && utf8.Valid(body) {
		*into = string(body)
		return nil
	}
	return json.Unmarshal(data, into)
}

// number is a whole number in whatever form a server sends it.
type number int

func (n *number) UnmarshalJSON(data []byte) error {
	if len(data) == 1 && data[0] >= '0' && data[0] <= '9' {
		*n = number(data[0] - '0')
		return nil
	}
	if f, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64); err == nil && f >= 0 && f < 1<<50 {
		*n = number(f)
	}
	return nil // a count that can't be read is none
}
