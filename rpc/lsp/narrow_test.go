package lsp

import (
	"testing"

	"assent/agent/workspace"

	"pgregory.net/rapid"
)

func TestAnEditReplacesNoMoreThanTheWordsThatChange(t *testing.T) {
	for _, c := range []struct{ old, new, cutOld, cutNew string }{
		{"s = \"🎉é\" + name;\n", "s = \"🎉é\" + title;\n", "name", "title"},
		{"    pass", "    return 1", "pass", "return 1"},
		{"a b c\r\n", "a B c\r\n", "b", "B"},
		{"a\r\n", "b\n", "a\r\n", "b\n"},
		{"x == y\n", "x =\u0338 y\n", "==", "=\u0338"}, // a mark stays with what it marks
		{"é1\n", "é2\n", "é1", "é2"},
		{"", "new\n", "", "new\n"},
		{"x;\n", "x;\ny;\n", "", "y;\n"},
	} {
		from, to := narrowed(c.old, c.new)
		same(t, c.old+": what is replaced", c.old[from:len(c.old)-to], c.cutOld)
		same(t, c.old+": what by", c.new[from:len(c.new)-to], c.cutNew)
	}
}

// Whatever two texts are, the edits between them lead from one to the other, through
// the positions of each encoding.
func TestNarrowEditsLeadToTheText(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "name", " ", "_", ";", "é", "e\u0301", "🎉", "\n", "\r\n", "\t", "="}), 0, 30)
	rapid.Check(t, func(t *rapid.T) {
		text := func(label string) (s string) {
			for _, w := range words.Draw(t, label) {
				s += w
			}
			return s
		}
		old, new := text("old"), text("new")
		for _, enc := range []encoding{utf8Units, utf16Units, utf32Units} {
			at := newPositions(old, enc)
			got, end := "", 0
			for _, h := range workspace.Diff(old, new) {
				from, to := narrowed(h.Old, h.New)
				start, ok1 := at.offset(at.of(h.At + from))
				stop, ok2 := at.offset(at.of(h.At + len(h.Old) - to))
				if !ok1 || !ok2 {
					t.Fatalf("%q: no such position", old)
				}
				got += old[end:start] + h.New[from:len(h.New)-to]
				end = stop
			}
			if got += old[end:]; got != new {
				t.Fatalf("from %q to %q the edits lead to %q", old, new, got)
			}
		}
	})
}
