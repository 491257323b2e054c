package openai

import (
	"encoding/json"
	"regexp"
	"strings"
)

// endCall ends a written call. One that names no tool of the request is text.
func (f *filter) endCall(out *piece) {
	raw := f.call.String()
	f.call, f.closer = nil, ""
	if name := f.callName(raw); name != "" {
		f.written = append(f.written, written{name, raw})
		return
	}
	f.say(out, raw)
	f.inLine = true
}

// calledName finds where a written call says which tool it means.
var calledName = regexp.MustCompile(`"name"\s*:\s*"([^"\\]+)"|<function=["']?([^>"'\s]+)|<invoke name=["']?([^>"'\s]+)|` +
	`functions\.([\w.-]+):\d|<tool_call>\s*([\w.-]+)|sep[｜|]>\s*([\w.-]+)|\[TOOL_CALLS\]\s*([\w.-]+)|\|?>\s*([\w.-]+)\(`)

func (f *filter) callName(raw string) string {
	for _, found := range calledName.FindAllStringSubmatch(raw, -1) {
		for _, name := range found[1:] {
			if name != "" && f.offered(name) {
				return name
			}
		}
	}
	return ""
}

// bareEnds reports false while all of the reply may still be a call written as a
// bare JSON object, which is then held back.
func (f *filter) bareEnds(final bool) bool {
	if f.offered == nil || f.fenced || f.ticks > 0 {
		return true
	}
	body := strings.TrimLeft(f.buf, space)
	if body == "" {
		return true // space is held anyway
	}
	if !beginsCall(body) {
		return true
	}
	if !final {
		return false
	}
	var call struct {
		Name       string          `json:"name"`
		Function   json.RawMessage `json:"function"`
		Tool       string          `json:"tool"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
	}
	var list []json.RawMessage
	if json.Unmarshal([]byte(body), &list) == nil && len(list) > 0 {
		body = string(list[0])
	}
	if json.Unmarshal([]byte(body), &call) != nil {
		return true
	}
	name := call.Name + call.Tool
	var inner struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if name == "" && json.Unmarshal(call.Function, &inner) == nil {
		name, call.Arguments = inner.Name, inner.Arguments
	}
	if name == "" && json.Unmarshal(call.Function, &name) != nil {
		return true
	}
	if !f.offered(name) || len(call.Arguments) == 0 && len(call.Parameters) == 0 {
		return true
	}
	f.written = append(f.written, written{name, body})
	f.buf, f.space = "", ""
	return false
}

// callKeys are the first keys of an object that may be a call.
var callKeys = []string{`{"name"`, `{"function"`, `{"tool"`, `{"arguments"`, `{"parameters"`, `{"type":"function"`}

// beginsCall reports whether a text begins as a call in JSON does, as far as it goes.
func beginsCall(text string) bool {
	var head strings.Builder // without space
	text = strings.TrimPrefix(text, "[")
	for i := 0; i < len(text) && head.Len() < 24; i++ {
		if !strings.ContainsRune(space, rune(text[i])) {
			head.WriteByte(text[i])
		}
	}
	for _, key := range callKeys {
		if n := min(len(key), head.Len()); head.String()[:n] == key[:n] {
			return true
		}
	}
	return false
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
