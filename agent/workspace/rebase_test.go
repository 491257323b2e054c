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

func plan(old, new string) agent.Edit {
	return agent.Edit{Path: "/x", Kind: agent.EditText, Base: agent.HashText(old), Old: old, Hunks: workspace.Diff(old, new)}
}

func TestRebasedHunks(t *testing.T) {
	for _, c := range []struct {
		name, old, planned, current string
		moved                       []int // places of the hunks that move
		conflicts                   int
	}{
		{"nothing changed", "a\nb\n", "a\nB\n", "a\nb\n", []int{2}, 0},
		{"lines were added above", "a\nb\nc\n", "a\nb\nC\n", "new\na\nb\nc\n", []int{8}, 0},
		{"lines were removed above", "a\nb\nc\nd\n", "a\nb\nc\nD\n", "c\nd\n", []int{2}, 0},
		{"lines changed below", "a\nb\nc\n", "A\nb\nc\n", "a\nb\nsea\n", []int{0}, 0},
		{"the neighbour changed", "a\nb\n", "a\nB\n", "aa\nb\n", []int{3}, 0},
		{"the line itself changed", "a\nb\n", "a\nB\n", "a\nbb\n", nil, 1},
		{"the line is as it should become", "a\nb\n", "a\nB\n", "a\nB\n", nil, 1},
		{"a line was added where one is to be added", "a\nb\n", "a\nx\nb\n", "a\ny\nb\n", nil, 1},
		{"a line was added just above", "a\nb\n", "a\nB\n", "a\ny\nb\n", nil, 1},
		{"a line is to be added above one that changed", "a\nb\n", "a\nx\nb\n", "a\nB\n", nil, 1},
		{"one of two hunks meets a change", "a\nb\nc\nd\n", "A\nb\nc\nD\n", "a\nb\nc\ndee\n", []int{0}, 1},
		{"all line ends were converted", "a\nb\n", "a\nB\n", "a\r\nb\r\n", nil, 1},
		{"the file is empty now", "a\nb\n", "a\nB\n", "", nil, 1},
		{"which of two equal lines was removed is open", "x\nx\ny\n", "X\nx\ny\n", "x\ny\n", nil, 1},
		{"which of the equal lines is new is open", "x\ny\n", "X\ny\n", "x\nx\ny\n", nil, 1},
		{"which line is new does not matter far away", "x\ny\nz\n", "x\ny\nZ\n", "x\nx\ny\nz\n", []int{6}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := plan(c.old, c.planned)
			moved, conflicts := workspace.Rebase(e, c.current)
			var at []int
			for _, h := range moved {
				at = append(at, h.At)
			}
			if !slices.Equal(at, c.moved) || len(conflicts) != c.conflicts {
				t.Errorf("moved %+v, conflicts %+v", moved, conflicts)
			}
		})
	}
}

func TestAMovedHunkDiffersInPlaceAlone(t *testing.T) {
	e := plan("a\nb\n", "a\nB\n")
	e.Hunks[0].By = agent.ByPerson
	moved, _ := workspace.Rebase(e, "new\na\nb\n")
	want := e.Hunks[0]
	want.At += len("new\n")
	if !slices.Equal(moved, []agent.Hunk{want}) {
		t.Errorf("moved = %+v, want %+v", moved, want)
	}
}

// Whatever became of the text: every hunk is accounted for, in order, and what
// moved quotes the text that is there.
func TestRebaseNeverMovesAHunkToOtherText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := plan(texts().Draw(t, "old"), texts().Draw(t, "planned"))
		current := texts().Draw(t, "current")
		moved, conflicts := workspace.Rebase(e, current)
		check(t, current, moved)
		if len(moved)+len(conflicts) != len(e.Hunks) {
			t.Fatalf("%d moved and %d conflicts of %d hunks", len(moved), len(conflicts), len(e.Hunks))
		}
		for _, h := range e.Hunks {
			same := func(m agent.Hunk) bool { return m.ID == h.ID && m.Old == h.Old && m.New == h.New && m.By == h.By }
			if !slices.ContainsFunc(moved, same) && !slices.ContainsFunc(conflicts, same) {
				t.Fatalf("hunk %+v is lost", h)
			}
		}
	})
}

// The texts are made of blocks that both sides change, each its own, with lines
// between them that nobody changes; the merge is written down block by block.
func TestChangesApartFromEachOtherAllLand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var old, mine, theirs, both strings.Builder
		add := func(text string, to ...*strings.Builder) {
			for _, b := range to {
				b.WriteString(text)
			}
		}
		for i := range rapid.IntRange(1, 8).Draw(t, "blocks") {
			add(fmt.Sprintf("between %d\n", i), &old, &mine, &theirs, &both)
			before := fmt.Sprintf("block %d\n", i)
			if rapid.Bool().Draw(t, "insert") {
				before = ""
			}
			after := rapid.SampledFrom([]string{"", fmt.Sprintf("new %d\n", i), fmt.Sprintf("one %d\r\ntwo %d\n", i, i)}).Draw(t, "after")
			add(before, &old)
			switch rapid.IntRange(0, 2).Draw(t, "who") {
			case 0:
				add(before, &mine, &theirs, &both)
			case 1:
				add(before, &theirs)
				add(after, &mine, &both)
			case 2:
				add(before, &mine)
				add(after, &theirs, &both)
			}
		}
		add("end", &old, &mine, &theirs, &both)
		e := plan(old.String(), mine.String())
		moved, conflicts := workspace.Rebase(e, theirs.String())
		if len(conflicts) != 0 {
			t.Fatalf("conflicts %+v between %q and %q", conflicts, mine.String(), theirs.String())
		}
		if got := check(t, theirs.String(), moved); got != both.String() {
			t.Fatalf("merged to %q, want %q", got, both.String())
		}
	})
}
