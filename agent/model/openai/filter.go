package openai

import (
	"strings"
	"unicode/utf8"

	"assent/agent"
)

// filter tells in the text of a reply what is text, what is reasoning between tags,
// and what is a call that the model wrote instead of making it. It sees the text
// in pieces, and what it says does not depend on where they were cut.
//
// Nothing counts inside backticks and fences, where a model speaks about such tags.
// Reasoning begins with a tag at the start of a line. A closing tag alone ends
// reasoning that began with the reply: servers put the opening tag into the
// prompt. A written call begins with its mark anywhere.
type filter struct {
	offered func(name string) bool // tools of the request; nil: none
	written []written

	buf    string // not decided yet
	space  string // held until what follows is known
	closer string // in reasoning or a written call: what ends it
	call   *strings.Builder

	spoke    bool // text was let through
	thought  bool // reasoning was found
	trim     bool // space is to be left out
	inLine   bool // the line has more than space
	ticks    int  // length of the run of backticks that was just read
	tickLine bool // that run began the line
	code     int  // length of the run that opened the code span, 0 is outside
	fenced   bool
}

// written is a call that stands in the text.
type written struct{ name, raw string }

var thinkingTags = []struct{ open, close string }{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
	{"<seed:think>", "</seed:think>"},
	{"[THINK]", "[/THINK]"},
	{"◁think▷", "◁/think▷"},
}

// callMarks begin a written call; close is "" where only the end of the reply ends it.
var callMarks = []struct{ open, close string }{
	{"<tool_call>", "</tool_call>"},
	{"<tool_calls>", "</tool_calls>"},
	{"<function_calls>", "</function_calls>"},
	{"<function_call>", "</function_call>"},
	{"<minimax:tool_call>", "</minimax:tool_call>"},
	{"<function=", "</function>"},
	{"<invoke name=", "</invoke>"},
	{"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"},
	{"<|tool_call_begin|>", "<|tool_call_end|>"},
	{"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"},
	{"<｜DSML｜function_calls>", "</｜DSML｜function_calls>"},
	{"<|python_tag|>", ""},
	{"[TOOL_CALLS]", ""},
}

// marks are the first letters of all tags and marks, and what else changes the state.
const marks = "<[◁`\n"

const space = " \t\r\n"

// piece is what a piece of text gave.
type piece struct {
	text, thinking strings.Builder
	recast         bool
}

func (p *piece) chunk() agent.Chunk {
	return agent.Chunk{Text: p.text.String(), Thinking: p.thinking.String(), Recast: p.recast}
}

// add takes a piece of the text and returns what is to be shown of it by now.
func (f *filter) add(text string) agent.Chunk {
	if f.buf == "" && f.spoke && !f.trim && f.closer == "" && f.call == nil && f.ticks == 0 && !strings.ContainsAny(text, marks) {
		return f.plain(text)
	}
	var out piece
	f.buf += text
	if f.closer == "" {
		out.text.Grow(len(f.space) + len(f.buf))
	}
	f.run(&out, false)
	return out.chunk()
}

// plain is the short way for a piece in the middle of a line, as most are.
func (f *filter) plain(text string) agent.Chunk {
	body := strings.TrimRight(text, space)
	if body == "" {
		f.space += text
		return agent.Chunk{}
	}
	shown := f.space + body
	f.space, f.inLine = text[len(body):], true
	return agent.Chunk{Text: shown}
}

// end takes what is left. Space at the end stays, but for that around a written call.
func (f *filter) end() agent.Chunk {
	var out piece
	f.run(&out, true)
	if f.call != nil {
		f.endCall(&out)
	}
	if f.closer == "" && !f.trim && len(f.written) == 0 {
		out.text.WriteString(f.space)
	}
	f.space = ""
	return out.chunk()
}

// run decides as much of buf as can be decided.
func (f *filter) run(out *piece, final bool) {
	for f.buf != "" {
		before := len(f.buf)
		switch {
		case f.closer != "" || f.call != nil:
			f.inside(out, final)
		default:
			f.outside(out, final)
		}
		if len(f.buf) == before {
			return
		}
	}
}

// inside reads up to the tag that ends reasoning or a written call.
func (f *filter) inside(out *piece, final bool) {
	take := len(f.buf)
	end := -1
	if f.closer != "" {
		if end = strings.Index(f.buf, f.closer); end >= 0 {
			take = end
		} else if !final {
			take -= partialSuffix(f.buf, f.closer)
		}
	}
	text := f.buf[:take]
	if f.call != nil {
		f.call.WriteString(text)
	} else {
		f.think(out, text)
	}
	f.buf = f.buf[take:]
	if end < 0 {
		return
	}
	f.buf = f.buf[len(f.closer):]
	if f.call != nil {
		f.call.WriteString(f.closer)
		f.endCall(out)
	} else {
		f.closer, f.space, f.trim, f.inLine = "", "", true, false
	}
}

// think lets reasoning through, but for space at its ends.
func (f *filter) think(out *piece, text string) {
	body := strings.TrimRight(text, space)
	after := text[len(body):]
	if body == "" {
		f.space += text
		return
	}
	if f.trim {
		f.space, body = "", strings.TrimLeft(body, space)
	}
	out.thinking.WriteString(f.space)
	out.thinking.WriteString(body)
	f.space, f.trim = after, false
}

// outside reads text up to the next letter that may change the state, and that.
func (f *filter) outside(out *piece, final bool) {
	if !f.spoke && !f.bareEnds(final) {
		return
	}
	plain := strings.IndexAny(f.buf, marks)
	if plain < 0 {
		plain = len(f.buf)
	}
	if plain > 0 {
		f.endTicks()
		body := strings.TrimRight(f.buf[:plain], space)
		f.say(out, body)
		f.inLine = f.inLine || body != ""
		f.space, f.buf = f.space+f.buf[len(body):plain], f.buf[plain:]
		return
	}
	switch f.buf[0] {
	case '\n':
		f.endTicks()
		f.space, f.inLine, f.buf = f.space+"\n", false, f.buf[1:]
		f.code = 0 // a span may go on, but a tag on a line of its own is none
	case '`':
		if f.ticks == 0 {
			f.tickLine = !f.inLine
		}
		f.ticks++
		f.say(out, "`")
		f.inLine, f.buf = true, f.buf[1:]
	default:
		f.endTicks()
		f.tag(out, final)
	}
}

// endTicks ends a run of backticks, which opens or closes a fence or a code span.
func (f *filter) endTicks() {
	switch {
	case f.ticks == 0:
		return
	case f.tickLine && f.ticks >= 3:
		f.fenced, f.code = !f.fenced, 0
	case f.fenced:
	case f.code == 0:
		f.code = f.ticks
	case f.code == f.ticks:
		f.code = 0
	}
	f.ticks = 0
}

// tag reads a tag or a mark, or one letter that begins none.
func (f *filter) tag(out *piece, final bool) {
	maybe := false // buf may be the beginning of one
	if !f.fenced && f.code == 0 {
		for _, t := range thinkingTags {
			switch {
			case strings.HasPrefix(f.buf, t.open) && !f.inLine:
				f.buf = f.buf[len(t.open):]
				f.dropSpace()
				f.closer, f.trim, f.thought = t.close, true, true
				return
			case strings.HasPrefix(f.buf, t.close) && !f.thought:
				f.buf = f.buf[len(t.close):]
				f.recast(out)
				return
			case strings.HasPrefix(f.buf, t.close):
				f.buf = f.buf[len(t.close):] // once more, for nothing
				return
			}
			maybe = maybe || !f.inLine && strings.HasPrefix(t.open, f.buf) || strings.HasPrefix(t.close, f.buf)
		}
		for _, m := range callMarks {
			if f.offered == nil {
				break
			}
			if strings.HasPrefix(f.buf, m.open) {
				f.buf = f.buf[len(m.open):]
				f.call, f.closer = &strings.Builder{}, m.close
				f.call.WriteString(m.open)
				return
			}
			maybe = maybe || strings.HasPrefix(m.open, f.buf)
		}
	}
	if maybe && !final {
		return
	}
	_, size := utf8.DecodeRuneInString(f.buf)
	f.say(out, f.buf[:size])
	f.inLine, f.buf = true, f.buf[size:]
}

// recast makes reasoning of all text so far.
func (f *filter) recast(out *piece) {
	if f.spoke {
		out.thinking.WriteString(out.text.String()) // of this piece
		out.text.Reset()
		out.recast = true
	}
	f.thought, f.spoke, f.trim, f.space, f.inLine = true, false, true, "", false
}

// dropSpace leaves out the space before reasoning that begins a reply.
func (f *filter) dropSpace() {
	if !f.spoke {
		f.space = ""
	}
}

// say lets text through, with the space before it.
func (f *filter) say(out *piece, text string) {
	if f.trim {
		f.space, text = "", strings.TrimLeft(text, space)
	}
	if text == "" {
		return
	}
	out.text.WriteString(f.space)
	out.text.WriteString(text)
	f.space, f.trim, f.spoke = "", false, true
}
