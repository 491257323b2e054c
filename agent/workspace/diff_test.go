package workspace_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assent/agent"
	"assent/agent/workspace"
)

// texts draws short texts of few different lines, so that lines repeat, with
// all sorts of line ends and bytes.
func texts() *rapid.Generator[string] {
	line := rapid.SampledFrom([]string{"a", "b", "", "}", "caf\xe9", "ü", "a\r", "\xc3"})
	return rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "\n")
		if rapid.Bool().Draw(t, "ended") {
			text += "\n"
		}
		return text
	})
}

// check holds hunks against the rules of the domain, and returns the new text.
func check(t interface{ Fatalf(string, ...any) }, old string, hunks []agent.Hunk) string {
	e := agent.Edit{Path: "/x", Kind: agent.EditText, Base: agent.HashText(old), Old: old, Hunks: hunks}
	if err := e.Check(); err != nil && len(hunks) > 0 {
		t.Fatalf("%v: %q %+v", err, old, hunks)
	}
	return e.New()
}

func TestDiffLeadsFromOneTextToTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.OneOf(texts(), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		old, new := any.Draw(t, "old"), any.Draw(t, "new")
		hunks := workspace.Diff(old, new)
		if (hunks == nil) != (old == new) {
			t.Fatalf("Diff(%q, %q) = %v", old, new, hunks)
		}
		if got := check(t, old, hunks); got != new {
			t.Fatalf("Diff(%q, %q) leads to %q", old, new, got)
		}
		end := -1
		for _, h := range hunks {
			if h.At == end {
				t.Fatalf("Diff(%q, %q) has two hunks that touch: %+v", old, new, hunks)
			}
			end = h.At + len(h.Old)
			if !(h.At == 0 || old[h.At-1] == '\n') || !(end == len(old) || end == h.At || old[end-1] == '\n') {
				t.Fatalf("Diff(%q, %q) has a hunk of part of a line: %+v", old, new, h)
			}
		}
	})
}

func TestDiffsOfSmallChanges(t *testing.T) {
	type hunk struct {
		at       int
		old, new string
	}
	for _, c := range []struct {
		name, old, new string
		want           []hunk
	}{
		{"equal texts", "a\n", "a\n", nil},
		{"a first text", "", "a\nb", []hunk{{0, "", "a\nb"}}},
		{"all removed", "a\nb", "", []hunk{{0, "a\nb", ""}}},
		{"a line added at the end of an unfinished text", "a\nb", "a\nb\nc", []hunk{{2, "b", "b\nc"}}},
		{"a final newline added", "a", "a\n", []hunk{{0, "a", "a\n"}}},
		{"a line end changed", "a\r\nb\r\n", "a\nb\r\n", []hunk{{0, "a\r\n", "a\n"}}},
		{"two places", "1\n2\n3\n", "1\n1b\n1c\n2\nthree\n", []hunk{{2, "", "1b\n1c\n"}, {4, "3\n", "three\n"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []hunk
			for _, h := range workspace.Diff(c.old, c.new) {
				got = append(got, hunk{h.At, h.Old, h.New})
				if want := agent.NewHunk(h.At, h.Old, h.New); h != want {
					t.Errorf("hunk %+v, want %+v", h, want)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("hunks = %+v", got)
			}
		})
	}
}

func TestDiffKeepsManyChangesApart(t *testing.T) {
	var old, new strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&old, "line %d\n", i)
		if i%5 == 0 {
			fmt.Fprintf(&new, "changed %d\n", i)
			continue
		}
		fmt.Fprintf(&new, "line %d\n", i)
	}
	hunks := workspace.Diff(old.String(), new.String())
	if got := check(t, old.String(), hunks); got != new.String() {
		t.Fatal("the hunks do not lead to the new text")
	}
	if len(hunks) != 400 {
		t.Errorf("%d hunks for 400 changed lines", len(hunks))
	}
}
