package workspace_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assent/agent/workspace"
)

func TestMatchedLineEnds(t *testing.T) {
	for _, c := range []struct{ name, new, replaced, whole, want string }{
		{"LF replaces LF", "x\ny\n", "a\n", "a\n", "x\ny\n"},
		{"CRLF lines stay CRLF", "B\nX\nc\n", "b\r\nc\r\n", "a\r\nb\r\nc\r\n", "B\r\nX\r\nc\r\n"},
		{"a text in CRLF is not given a second CR", "B\r\nc\r\n", "b\r\n", "b\r\n", "B\r\nc\r\n"},
		{"a text in CRLF for lines in LF", "B\r\nc\r\n", "b\n", "b\n", "B\nc\n"},
		{"lines of their own count, not the file", "x\ny\n", "a\n", "a\nb\r\nc\r\n", "x\ny\n"},
		{"part of a line takes the file's", "x\ny", "a", "a\r\nb\r\n", "x\r\ny"},
		{"part of a line takes the more frequent", "x\ny", "a", "a\nb\r\nc\r\n", "x\r\ny"},
		{"a file without line ends gets LF", "x\ny\n", "a", "a", "x\ny\n"},
		{"a new file keeps LF", "x\ny\n", "", "", "x\ny\n"},
		{"untouched lines of a mixed text keep theirs", "a\nB\nc\n", "a\nb\r\nc\n", "", "a\nB\r\nc\n"},
		{"a new line takes that of the line before", "a\nnew\nb\n", "a\r\nb\n", "", "a\r\nnew\r\nb\n"},
		{"a new first line takes that of the first", "new\na\nb\n", "a\r\nb\n", "", "new\r\na\r\nb\n"},
		{"more lines than were replaced", "1\n2\n3\nend\n", "a\r\nb\nend\n", "", "1\r\n2\n3\nend\n"},
		{"fewer lines than were replaced", "1\nend\n", "a\r\nb\nend\n", "", "1\r\nend\n"},
		{"the end of the text stays open", "a\nB", "a\r\nb\nc", "", "a\r\nB"},
		{"a CR within a line is text", "x\ry\n", "a\r\n", "", "x\ry\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := workspace.MatchLineEnds(c.new, c.replaced, c.whole); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestATextWrittenBackKeepsEveryLineEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "a\r\n", "b\n", "b\r\n", "\n", "\r\n"})
		text := strings.Join(rapid.SliceOfN(line, 0, 20).Draw(t, "lines"), "") + rapid.SampledFrom([]string{"", "end"}).Draw(t, "end")
		seen := strings.ReplaceAll(text, "\r\n", "\n")
		if got := workspace.MatchLineEnds(seen, text, text); got != text {
			t.Fatalf("%q was written back as %q", text, got)
		}
	})
}

func TestMatchingChangesNothingButLineEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		new, replaced, whole := texts().Draw(t, "new"), texts().Draw(t, "replaced"), texts().Draw(t, "whole")
		got := workspace.MatchLineEnds(new, replaced, whole)
		if fold(got) != fold(new) {
			t.Fatalf("%q became %q", new, got)
		}
	})
}

func fold(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
