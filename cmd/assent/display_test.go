package main

import (
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/workspace"
)

func TestWhatATerminalWouldObeyOrHideIsShown(t *testing.T) {
	for text, want := range map[string]string{
		"plain, tab\tand\nlines é 漢 🙂": "plain, tab\tand\nlines é 漢 🙂",
		"\x1b[2Jgone":                  "␛[2Jgone",
		"a\rb\x00\x7f\u0085":           "a␍b␀<U+007F><U+0085>",
		"not \xff text":                "not <FF> text",
		"pass\u200bword":               "pass<U+200B>word",
		"\u202etxt.exe":                "<U+202E>txt.exe",
		"\u2066x\u2069":                "<U+2066>x<U+2069>",
		"hangul \u3164 filler":         "hangul <U+3164> filler",
		"no-break\u00a0blank":          "no-break<U+00A0>blank",
		"tag\U000e0041":                "tag<U+E0041>",
		"variant\ufe0f":                "variant<U+FE0F>",
	} {
		if got := agent.Printable(text); got != want {
			t.Errorf("agent.Printable(%q) = %q, want %q", text, got, want)
		}
	}
	if got := inline("x\n--- a/notes.txt\t\x1b"); got != "x␊--- a/notes.txt␉␛" {
		t.Errorf("inline gives %q", got)
	}
}

func TestLineEndsAreShownWhereTheyDiffer(t *testing.T) {
	diff := func(old, new string) string {
		e := agent.Edit{Kind: agent.EditText, Old: old, Hunks: workspace.Diff(old, new)}
		return style(false).colourDiff(workspace.Unified("f", e, e.Hunks))
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"all CRLF", "a\r\nb\r\n", "a\r\nc\r\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"CRLF to LF", "a\r\n", "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a␍\n+a\n"},
		{"one LF among CRLF", "x\nb\r\n", "x\nc\r\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n x\n-b␍\n+c␍\n"},
		{"no newline at the end", "a", "b", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := diff(c.old, c.new); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestDiffsOfWholeFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		edit agent.Edit
		want string
	}{
		{"a rename shows no text", agent.Edit{Kind: agent.EditRename}, ""},
		{"an empty new file shows none", agent.Edit{Kind: agent.EditCreate}, ""},
		{"a delete shows what goes", agent.Edit{Kind: agent.EditDelete, Old: "a\nb\n"}, "-a\n-b\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := style(true).colourDiff(workspace.Unified("f", c.edit, c.edit.Hunks))
			got = colours.ReplaceAllString(got, "")
			if c.want == "" && got != "" || !strings.HasSuffix(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
