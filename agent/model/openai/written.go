package openai

import (
	"encoding/json"
	"strings"
)

// endCall ends a written call. One that names no tool of the request is text, and so
// is one without an end in the middle of a line, where a model speaks about calls.
func (f *filter) endCall(out *piece, whole bool) {
	raw, bare := f.call.String(), f.bare
	f.call, f.closer, f.bare = nil, "", false
	if bare {
		if calls := f.bareCalls(raw); len(calls) > 0 {
			f.written, f.space = append(f.written, calls...), nil
			return
		}
	} else if name := f.callName(raw); name != "" && (whole || f.lone) {
		f.written = append(f.written, written{name, raw})
		return
	}
	f.say(out, strings.TrimRight(raw, space))
	f.space = append(f.space, raw[len(strings.TrimRight(raw, space)):]...)
	f.line.filled = true
}

// calledName finds where a written call says which tool it means.
var calledName = lazy(`"name"\s*:\s*"([^"\\]+)"|<function=["']?([^>"'\s]+)|<invoke name=["']?([^>"'\s]+)|` +
	`functions\.([\w.-]+):\d|<tool_call>\s*([\w.-]+)|sep[｜|]>\s*([\w.-]+)|\[TOOL_CALLS\]\s*([\w.-]+)|\|?>\s*([\w.-]+)\(`)

func (f *filter) callName(raw string) string {
	for _, found := range calledName().FindAllStringSubmatch(raw, -1) {
		for _, name := range found[1:] {
			if name != "" && f.offered(name) {
				return name
			}
		}
	}
	return ""
}

// heldAsCall begins to hold the reply back if it may be a call written as a bare JSON
// object, and reports whether it waits to know.
func (f *filter) heldAsCall(final bool) bool {
	body := strings.TrimLeft(f.buf, space)
	if f.offered == nil || f.line.quoted() || f.line.run > 0 || body == "" {
		return false
	}
	may, known := beginsCall(body)
	switch {
	case !may:
		return false
	case !known && !final:
		return true
	}
	f.space = append(f.space, f.buf[:len(f.buf)-len(body)]...)
	f.call, f.bare, f.buf = &strings.Builder{}, true, ""
	f.call.WriteString(body)
	return true
}

// bareCalls are the calls of a reply that is a JSON object, or a list of them; none if
// any part of it is something else.
func (f *filter) bareCalls(raw string) []written {
	var list []json.RawMessage
	if json.Unmarshal([]byte(raw), &list) != nil {
		list = []json.RawMessage{json.RawMessage(raw)}
	}
	var calls []written
	for _, one := range list {
		name := bareName(one)
		if name == "" || !f.offered(name) {
			return nil
		}
		calls = append(calls, written{name, string(one)})
	}
	return calls
}

// bareName is the tool that a JSON object calls, "" if it is no call. The schema of a
// tool has a name and parameters too.
func bareName(raw json.RawMessage) string {
	var call struct {
		Name       string          `json:"name"`
		Function   json.RawMessage `json:"function"`
		Tool       string          `json:"tool"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
	}
	if json.Unmarshal(raw, &call) != nil {
		return ""
	}
	var inner struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	name := call.Name + call.Tool
	if name == "" && json.Unmarshal(call.Function, &inner) == nil {
		name, call.Arguments = inner.Name, inner.Arguments
	}
	if name == "" {
		_ = json.Unmarshal(call.Function, &name) // it may be the name itself
	}
	var schema struct {
		Type any `json:"type"`
	}
	isSchema := len(call.Arguments) == 0 && json.Unmarshal(call.Parameters, &schema) == nil && schema.Type == "object"
	if isSchema || len(call.Arguments)+len(call.Parameters) == 0 {
		return ""
	}
	return name
}

// callKeys are the first keys of an object that may be a call.
var callKeys = []string{`{"name"`, `{"function"`, `{"tool"`, `{"arguments"`, `{"parameters"`, `{"type":"function"`}

// beginsCall reports whether a text may begin as a call in JSON does, and whether that
// is known, or more of it has to come.
func beginsCall(text string) (may, known bool) {
	var head strings.Builder // without space
	text = strings.TrimPrefix(text, "[")
	for i := 0; i < len(text) && head.Len() < 24; i++ {
		if !strings.ContainsRune(space, rune(text[i])) {
			head.WriteByte(text[i])
		}
	}
	for _, key := range callKeys {
		if n := min(len(key), head.Len()); head.String()[:n] == key[:n] {
			return true, n == len(key)
		}
	}
	return false, true
}

// partialSuffix is the length of the longest end of text that begins tag.
func partialSuffix(text, tag string) int {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}
