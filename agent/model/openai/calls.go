package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"assent/agent"
)

// fragment is a piece of a call, in the words of either wire.
type fragment struct {
	index  *int
	id     string
	name   string
	args   string
	opaque string
}

// calls puts the calls of a reply together.
type calls struct {
	list    []*call
	tooMany bool
}

type call struct {
	id, name string
	index    *int
	args     strings.Builder
	shape    shape // of args
	broken   bool  // its server says that it is not whole
	again    bool  // its name came once more, without arguments
	opaque   string
}

// add takes a fragment. Names and ids count once: servers repeat them.
func (a *calls) add(f fragment) {
	c := a.route(f)
	if c.id == "" {
		c.id = f.id
	}
	if c.name == "" {
		c.name = f.name
	}
	if f.opaque != "" {
		c.opaque = f.opaque
	}
	switch {
	case f.args == "", c.repeats(f):
		return
	case c.shape.empty && strings.HasPrefix(strings.TrimSpace(f.args), "{"):
		c.args.Reset() // "{}" was a placeholder
		c.shape = shape{}
	}
	c.args.WriteString(f.args)
	c.shape.feed(f.args)
}

// route finds the call that a fragment belongs to, or opens one: by the id if it
// is known, then by the index, then the open call. Servers differ: ids on every
// fragment or only on the first, fresh ids on each, the same for all calls, index 0
// for all, no index, no id.
func (a *calls) route(f fragment) *call {
	sameIndex := func(c *call) bool { return f.index == nil || c.index == nil || *c.index == *f.index }
	if f.id != "" {
		c := a.newest(func(c *call) bool { return c.id == f.id && sameIndex(c) })
		if c != nil && !(f.name != "" && c.name != "" && (f.name != c.name || c.another(f))) {
			return c
		}
		if c == nil && f.name == "" {
			c = a.newest(sameIndexed(f))
		}
		if c == nil && len(a.list) > 0 { // a fresh id on each fragment of one call
			last := a.list[len(a.list)-1]
			if last.name == f.name && last.shape.open() && sameIndex(last) {
				c = last
			}
		}
		if c == nil || f.name != "" && c.name != "" && (f.name != c.name || c.shape.whole) {
			return a.open(f)
		}
		return c
	}
	c := a.newest(sameIndexed(f))
	switch {
	case c == nil, f.name != "" && c.name != "" && f.name != c.name:
		return a.open(f)
	case f.name != "" && c.name != "" && c.shape.whole && (f.args != "" || f.index == nil):
		return a.open(f)
	case f.name != "" && c.shape.whole: // its name once more, or the head of another one
		c.again = true
	case f.args != "" && c.again:
		c.again = false
		next := a.open(f)
		next.name = c.name
		return next
	}
	return c
}

// sameIndexed matches calls with the index of f, or any if it has none.
func sameIndexed(f fragment) func(*call) bool {
	return func(c *call) bool { return f.index == nil || c.index != nil && *c.index == *f.index }
}

func (a *calls) newest(match func(*call) bool) *call {
	for i := len(a.list) - 1; i >= 0; i-- {
		if match(a.list[i]) {
			return a.list[i]
		}
	}
	return nil
}

func (a *calls) open(f fragment) *call {
	c := &call{index: f.index}
	if len(a.list) == maxCalls {
		a.tooMany = true
		return c // which nobody will see
	}
	a.list = append(a.list, c)
	return c
}

// repeats reports whether a fragment says the whole call again, as some servers do
// at its end: taken twice, it would be run twice.
func (c *call) repeats(f fragment) bool {
	return c.shape.whole && f.id != "" && f.id == c.id && sameJSON(f.args, c.args.String())
}

func sameJSON(a, b string) bool {
	if a == b {
		return true
	}
	var x, y bytes.Buffer
	return json.Compact(&x, []byte(a)) == nil && json.Compact(&y, []byte(b)) == nil && x.String() == y.String()
}

// another reports whether a named fragment with the id of c is a call of its own:
// c is whole, and the fragment neither repeats it nor fills its placeholder.
func (c *call) another(f fragment) bool {
	return f.args != "" && c.shape.whole && !c.shape.empty && !c.repeats(f)
}

// cut reports whether the arguments end before their object does.
func (c *call) cut() bool { return c.broken || c.shape.open() }

// use keeps the server's id, also one that is missing or not unique: ids are made
// unique where the whole session is known.
func (c *call) use(stop agent.StopReason) agent.ToolUse {
	u := agent.ToolUse{ID: c.id, Name: c.name, Opaque: c.opaque}
	if u.Input, u.Invalid = c.input(stop); u.Invalid != "" {
		u.RawInput = c.args.String()
	}
	return u
}

// input is the call's arguments without needless space, or why they are not one
// JSON object. No arguments at all are an empty object if the model meant to
// end there. An object inside a string, as some servers encode it twice, is that
// object.
func (c *call) input(stop agent.StopReason) (json.RawMessage, string) {
	raw := c.args.String()
	switch {
	case c.name == "":
		return nil, "the call names no tool"
	case c.cut() || stop == agent.StopTruncated && strings.TrimSpace(raw) == "":
		return nil, fmt.Sprintf("the reply was cut at the output limit in the middle of the call, at byte %d of its arguments, after %q; make it again in smaller parts",
			len(raw), ending(raw))
	case strings.TrimSpace(raw) == "":
		return json.RawMessage("{}"), ""
	}
	var inner string
	if raw[0] == '"' && json.Unmarshal([]byte(raw), &inner) == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") {
		raw = inner
	}
	var object map[string]json.RawMessage
	err := json.Unmarshal([]byte(raw), &object)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		at := min(int(syntax.Offset), len(raw))
		return nil, fmt.Sprintf("the arguments are not one JSON object: %v, at byte %d of %d, after %q",
			syntax, at, len(raw), ending(raw[:at]))
	case err != nil || object == nil:
		return nil, "the arguments are JSON, but not an object"
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, []byte(raw)) // it was parsed just now
	return compact.Bytes(), ""
}

// ending is enough of the end of a text to find the place again.
func ending(text string) string {
	return strings.ToValidUTF8(text[max(0, len(text)-30):], "�")
}

// shape follows the brackets of a JSON text that comes in pieces, so that nobody
// has to parse it again at each.
type shape struct {
	depth    int
	inString bool
	escaped  bool
	began    bool
	whole    bool // one object, and nothing but space after it
	empty    bool // that object has nothing in it
	filled   bool
}

// open reports whether an object or a string has begun and not ended.
func (s *shape) open() bool { return s.began && !s.whole && (s.depth > 0 || s.inString) }

func (s *shape) feed(text string) {
	for i := range len(text) {
		b := text[i]
		switch {
		case s.escaped:
			s.escaped = false
			continue
		case s.inString:
			s.escaped, s.inString = b == '\\', b != '"'
			continue
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			continue
		}
		s.whole = false
		switch b {
		case '"':
			s.inString = true
		case '{', '[':
			s.depth++
		case '}', ']':
			s.depth--
			s.whole = s.depth == 0 && s.began && b == '}'
		}
		s.filled = s.filled || b != '{' && b != '}'
		s.began = true
	}
	s.empty = s.whole && !s.filled
}
