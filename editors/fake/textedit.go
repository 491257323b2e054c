package fake

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// TextEdit replaces Range by NewText.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// UnmarshalJSON refuses an edit that lacks one of its two fields, such as a
// snippet edit, which would else delete text.
func (t *TextEdit) UnmarshalJSON(data []byte) error {
	var wire struct {
		Range   *Range  `json:"range"`
		NewText *string `json:"newText"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	if wire.Range == nil || wire.NewText == nil {
		return errors.New("a text edit without range or newText")
	}
	t.Range, t.NewText = *wire.Range, *wire.NewText
	return nil
}

// span is a TextEdit in bytes.
type span struct {
	start, end int
	text       string
}

// spans converts edits, which are all relative to text and come in any order,
// to spans in the order of the text. Edits that overlap are refused; inserts at
// one place keep the order in which they were given.
func (e Encoding) spans(text string, edits []TextEdit) ([]span, error) {
	lines := splitLines(text)
	out := make([]span, 0, len(edits))
	for _, ed := range edits {
		start, err := e.offset(text, lines, ed.Range.Start)
		if err != nil {
			return nil, err
		}
		end, err := e.offset(text, lines, ed.Range.End)
		if err != nil {
			return nil, err
		}
		if start > end {
			return nil, fmt.Errorf("a range ends at %v, before its start at %v", ed.Range.End, ed.Range.Start)
		}
		out = append(out, span{start, end, ed.NewText})
	}
	slices.SortStableFunc(out, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	for i := 1; i < len(out); i++ {
		if out[i].start < out[i-1].end {
			return nil, fmt.Errorf("edits overlap at byte %d", out[i].start)
		}
	}
	return out, nil
}

// splice applies spans that are sorted and do not overlap.
func splice(text string, spans []span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.start])
		b.WriteString(s.text)
		at = s.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// contentChange is one element of didChange. Without a range it is the whole
// text.
type contentChange struct {
	Range *Range `json:"range,omitempty"`
	Text  string `json:"text"`
}

// changes tells spans of text as incremental changes. Each one is relative to
// the text that those before it left, so they go from the last to the first.
//
// Not everything can be said like this: an insert of "\n" right behind a "\r"
// joins two line ends, and then a position before it means another place. So
// the changes are tried here, and the whole text is sent where they fail.
func (e Encoding) changes(text string, spans []span) []contentChange {
	lines := splitLines(text)
	out := make([]contentChange, 0, len(spans))
	for _, s := range slices.Backward(spans) {
		r := Range{Start: e.position(text, lines, s.start), End: e.position(text, lines, s.end)}
		out = append(out, contentChange{Range: &r, Text: s.text})
	}
	want := splice(text, spans)
	if got, err := e.replay(text, out); err != nil || got != want {
		return []contentChange{{Text: want}}
	}
	return out
}

// replay applies changes one after the other, as a server does.
func (e Encoding) replay(text string, changes []contentChange) (string, error) {
	for _, c := range changes {
		if c.Range == nil {
			text = c.Text
			continue
		}
		spans, err := e.spans(text, []TextEdit{{Range: *c.Range, NewText: c.Text}})
		if err != nil {
			return "", err
		}
		text = splice(text, spans)
	}
	return text, nil
}

// tidy is the formatter of [FormatsOnSave]: it strips the blanks at the end of
// every line and ends the text with a line end, the kind that its first line
// has.
func tidy(text string) []span {
	var out []span
	lines := splitLines(text)
	for _, l := range lines {
		kept := len(strings.TrimRight(text[l.start:l.end], " \t"))
		if l.start+kept < l.end {
			out = append(out, span{l.start + kept, l.end, ""})
		}
	}
	last := lines[len(lines)-1]
	if strings.TrimRight(text[last.start:], " \t") == "" {
		return out
	}
	eol := "\n"
	if len(lines) > 1 {
		eol = text[lines[0].end:lines[1].start]
	}
	return append(out, span{len(text), len(text), eol})
}
