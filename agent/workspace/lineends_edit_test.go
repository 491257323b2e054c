package workspace_test

import (
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/workspace"
)

func TestAReviseLeavesLineEndsToTheEditor(t *testing.T) {
	windows := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	same := func(text string) string { return text }
	for name, c := range map[string]struct{ planned, now func(string) string }{"opened as CRLF": {same, windows}, "opened as LF": {windows, same}} {
		t.Run(name, func(t *testing.T) {
			old, new, current := c.planned("a\nb\nc\nd\ne"), c.planned("a\nB\nB\nc\nd\nE"), c.now("0\na\nb\nc\nd\ne")
			e := agent.Edit{Path: "/a", Kind: agent.EditText, Base: agent.HashText(old), Old: old, Hunks: workspace.Diff(old, new)}
			got, _ := workspace.Revise(e, current)
			if err := got.Check(); err != nil || got.New() != c.now("0\na\nB\nB\nc\nd\nE") {
				t.Errorf("%v, %q", err, got.New())
			}
			for i, h := range got.Hunks {
				if h.Conflict || h.ID != e.Hunks[i].ID {
					t.Errorf("hunk %d: %+v", i, h)
				}
			}
		})
	}
}

// It is not for the editor to take that back.
func TestAnEditOfLineEndsStaysOne(t *testing.T) {
	e := agent.Edit{Path: "/a", Kind: agent.EditText, Base: agent.HashText("a\nb\n"), Old: "a\nb\n", Hunks: []agent.Hunk{agent.NewHunk(0, "a\n", "a\r\n")}}
	got, _ := workspace.Revise(e, "a\r\nb\r\n")
	if len(got.Hunks) != 1 || !got.Hunks[0].Conflict {
		t.Errorf("%+v", got.Hunks)
	}
}
