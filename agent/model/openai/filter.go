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
	space  []byte // held until what follows is known
	closer string // in reasoning or a written call: what ends it
	call   *strings.Builder
	lone   bool // that call began a line
	bare   bool // that call is the whole reply, a JSON object

	spoke   bool // text was let through
	thought bool // reasoning was found
	trim    bool // space is to be left out
	line    line
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
const marks = "<[◁`~\n"

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
	if f.buf == "" && f.spoke && !f.trim && f.closer == "" && f.call == nil && f.line.run == 0 && !strings.ContainsAny(text, marks) {
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
	f.line.text(text)
	body := strings.TrimRight(text, space)
	if body == "" {
		f.space = append(f.space, text...)
		return agent.Chunk{}
	}
	shown := string(f.space) + body
	f.space = append(f.space[:0], text[len(body):]...)
	return agent.Chunk{Text: shown}
}

// end takes what is left. Space at the end stays, but for that around a written call.
func (f *filter) end() agent.Chunk {
	var out piece
	f.run(&out, true)
	if f.call != nil {
		f.endCall(&out, f.closer == "")
	}
	if f.closer == "" && !f.trim && len(f.written) == 0 {
		out.text.Write(f.space)
	}
	f.space = nil
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
		f.endCall(out, true)
	} else {
		f.closer, f.space, f.trim, f.line.filled = "", f.space[:0], true, false
	}
}

// think lets reasoning through, but for space at its ends.
func (f *filter) think(out *piece, text string) {
	body := strings.TrimRight(text, space)
	after := text[len(body):]
	if body == "" {
		f.space = append(f.space, text...)
		return
	}
	if f.trim {
		f.space, body = f.space[:0], strings.TrimLeft(body, space)
	}
	out.thinking.Write(f.space)
	out.thinking.WriteString(body)
	f.space, f.trim = append(f.space[:0], after...), false
}

// outside reads text up to the next letter that may change the state, and that.
func (f *filter) outside(out *piece, final bool) {
	if !f.spoke && f.heldAsCall(final) {
		return
	}
	plain := strings.IndexAny(f.buf, marks)
	if plain < 0 {
		plain = len(f.buf)
	}
	if plain > 0 {
		body := strings.TrimRight(f.buf[:plain], space)
		f.line.text(f.buf[:plain])
		f.say(out, body)
		f.space, f.buf = append(f.space, f.buf[len(body):plain]...), f.buf[plain:]
		return
	}
	switch c := f.buf[0]; c {
	case '\n':
		f.line.end()
		f.space, f.buf = append(f.space, '\n'), f.buf[1:]
	case '`', '~':
		f.line.tick(c)
		f.say(out, f.buf[:1])
		f.buf = f.buf[1:]
	default:
		f.line.settle()
		f.tag(out, final)
	}
}

// tag reads a tag or a mark, or one letter that begins none.
func (f *filter) tag(out *piece, final bool) {
	if !f.line.quoted() {
		if f.thinkingTag(out, final) || f.callMark(final) {
			return
		}
	}
	_, size := utf8.DecodeRuneInString(f.buf)
	f.say(out, f.buf[:size])
	f.line.filled, f.buf = true, f.buf[size:]
}

// thinkingTag takes a tag, or waits while there may be one.
func (f *filter) thinkingTag(out *piece, final bool) bool {
	begins := !f.line.filled && (!f.line.indented || !f.spoke)
	for _, t := range thinkingTags {
		switch {
		case begins && strings.HasPrefix(f.buf, t.open):
			f.buf = f.buf[len(t.open):]
			if !f.spoke {
				f.space = nil
			}
			f.closer, f.trim, f.thought = t.close, true, true
			return true
		case f.buf == t.close && !final && len(f.space) > 0 && f.line.filled:
			return true // what follows says whether it is part of a sentence
		case strings.HasPrefix(f.buf, t.close) && !f.inSentence(t.close):
			f.buf = f.buf[len(t.close):]
			if !f.thought { // else it is there once more, for nothing
				f.recast(out)
			}
			return true
		case !final && (begins && strings.HasPrefix(t.open, f.buf) || strings.HasPrefix(t.close, f.buf) && len(f.buf) < len(t.close)):
			return true
		}
	}
	return false
}

// inSentence reports whether a closing tag stands between two words, or in a line of
// code, as in a text about it.
func (f *filter) inSentence(tag string) bool {
	between := len(f.space) > 0 && f.line.filled && strings.HasPrefix(f.buf, tag+" ")
	return between || f.line.indented && !f.line.filled
}

// callMark takes the beginning of a written call, or waits while there may be one.
func (f *filter) callMark(final bool) bool {
	if f.offered == nil {
		return false
	}
	for _, m := range callMarks {
		if m.close == "" && f.line.filled {
			continue
		}
		if strings.HasPrefix(f.buf, m.open) {
			f.buf = f.buf[len(m.open):]
			f.call, f.closer, f.lone = &strings.Builder{}, m.close, !f.line.filled
			f.call.WriteString(m.open)
			return true
		}
		if !final && strings.HasPrefix(m.open, f.buf) {
			return true
		}
	}
	return false
}

// recast makes reasoning of all text so far.
func (f *filter) recast(out *piece) {
	if f.spoke {
		out.thinking.WriteString(out.text.String()) // of this piece
		out.text.Reset()
		out.recast = true
	}
	f.thought, f.spoke, f.trim, f.space, f.line.filled = true, false, true, nil, false
}

// say lets text through, with the space before it.
func (f *filter) say(out *piece, text string) {
	if f.trim {
		f.space, text = f.space[:0], strings.TrimLeft(text, space)
	}
	if text == "" {
		return
	}
	out.text.Write(f.space)
	out.text.WriteString(text)
	f.space, f.trim, f.spoke = f.space[:0], false, true
}
