package workspace_test

import (
	"testing"

	"assent/agent"
	"assent/agent/workspace"
)

// Two conflicts that became one hunk: what it replaces differs, so a yes to the one is
// none to the other.
func TestJoinedConflictsHaveNamesOfTheirOwn(t *testing.T) {
	old := "b1\nb2\nb3\nc\nd\n"
	e := agent.Edit{Path: "/a", Kind: agent.EditText, Base: agent.HashText(old), Old: old, Hunks: []agent.Hunk{
		agent.NewHunk(0, "b1\nb2\nb3\n", "B\n"), agent.NewHunk(11, "d\n", "D\n"),
	}}
	one, _ := workspace.Revise(e, "x\nb2\nb3\n")
	two, _ := workspace.Revise(e, "y\nb2\nb3\n")
	if len(one.Hunks) != 1 || len(two.Hunks) != 1 {
		t.Fatalf("%+v\n%+v", one.Hunks, two.Hunks)
	}
	if one.Hunks[0].ID == two.Hunks[0].ID {
		t.Errorf("one name for two hunks:\n%+v\n%+v", one.Hunks[0], two.Hunks[0])
	}
}
