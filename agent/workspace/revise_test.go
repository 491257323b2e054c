package workspace_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assent/agent"
	"assent/agent/workspace"
)

func TestRevisedEdits(t *testing.T) {
	type shown struct {
		old, new string
		conflict bool
	}
	for _, c := range []struct {
		name, old, planned, current string
		hunks                       []shown
		moot                        int
		all                         string // the text if all is accepted
	}{
		{"a line above", "a\nb\nc\n", "a\nb\nC\n", "new\na\nb\nc\n", []shown{{"c\n", "C\n", false}}, 0, "new\na\nb\nC\n"},
		{"the line itself", "a\nb\nc\n", "a\nB\nc\n", "a\nbb\nc\n", []shown{{"bb\n", "B\n", true}}, 0, "a\nB\nc\n"},
		{"the line itself, and one above", "a\nb\nc\nd\n", "a\nb\nc\nD\n", "a\nmore\nb\nc\ndd\n", []shown{{"dd\n", "D\n", true}}, 0, "a\nmore\nb\nc\nD\n"},
		{"the same was written", "a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n", nil, 1, "a\nB\nc\n"},
		{"the same was written, and another hunk is left", "a\nb\nc\nd\n", "A\nb\nc\nD\n", "a\nb\nc\nD\n", []shown{{"a\n", "A\n", false}}, 1, "A\nb\nc\nD\n"},
		{"one of two", "a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n", "a\nb\nc\nd\nee\n", []shown{{"a\n", "A\n", false}, {"ee\n", "E\n", true}}, 0, "A\nb\nc\nd\nE\n"},
		{"the lines are gone", "a\nb\nc\n", "a\nB\nc\n", "a\nc\n", []shown{{"", "B\n", true}}, 0, "a\nB\nc\n"},
		{"one change over two hunks", "a\nb\nc\nd\ne\n", "a\nB\nc\nD\ne\n", "a\nx\ne\n", []shown{{"x\n", "B\nc\nD\n", true}}, 0, "a\nB\nc\nD\ne\n"},
		{"lines behind a hunk are gone, and the next hunk with them", "a\nb\nc\nd\n", "A\nb\nC\nd\n", "a\nd\n", []shown{{"a\n", "A\nb\nC\n", true}}, 0, "A\nb\nC\nd\n"},
		{"the file is empty", "a\nb\n", "a\nB\n", "", []shown{{"", "a\nB\n", true}}, 0, "a\nB\n"},
		{"no line end at the end", "a\nb", "a\nB", "a\nbb", []shown{{"bb", "B", true}}, 0, "a\nB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, moot := workspace.Revise(plan(c.old, c.planned), c.current)
			var got []shown
			for _, h := range e.Hunks {
				got = append(got, shown{h.Old, h.New, h.Conflict})
			}
			if !slices.Equal(got, c.hunks) || len(moot) != c.moot {
				t.Errorf("hunks %+v, moot %+v", e.Hunks, moot)
			}
			if e.New() != c.all {
				t.Errorf("all accepted: %q, want %q", e.New(), c.all)
			}
		})
	}
}

func TestAConflictKeepsItsNameWhenTheTextMoves(t *testing.T) {
	e := plan("a\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n")
	first, _ := workspace.Revise(e, "a\nb\nc\nd\nee\n")
	later, _ := workspace.Revise(e, "new\na\nb\nc\nd\nee\n")
	if first.Hunks[0].ID != later.Hunks[0].ID || first.Hunks[0].ID == e.Hunks[0].ID {
		t.Errorf("the names are %s, %s and %s", e.Hunks[0].ID, first.Hunks[0].ID, later.Hunks[0].ID)
	}
}

// Whatever became of the text: what is left to decide fits it, each hunk is as it was
// proposed or says that it is not, and none is lost.
func TestARevisedEditFitsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := plan(texts().Draw(t, "old"), texts().Draw(t, "planned"))
		current := texts().Draw(t, "current")
		revised, moot := workspace.Revise(e, current)
		if err := revised.Check(); err != nil && len(revised.Hunks) > 0 {
			t.Fatal(err)
		}
		kept, conflicts := 0, 0
		moved, _ := workspace.Rebase(e, current)
		for _, h := range revised.Hunks {
			if h.Conflict {
				conflicts++
				continue
			}
			kept++
			if !strings.Contains(e.Old+current, "\r") && !slices.Contains(moved, h) { // line ends that an editor makes are no change
				t.Fatalf("the hunk %+v is none that moved: %+v", h, moved)
			}
		}
		if left := len(e.Hunks) - kept - len(moot); left < 0 || left > 0 && conflicts == 0 || left < conflicts {
			t.Fatalf("of %d hunks %d are kept, %d moot, %d conflicts", len(e.Hunks), kept, len(moot), conflicts)
		}
		if again, _ := workspace.Revise(e, e.Old); !slices.Equal(again.Hunks, e.Hunks) {
			t.Fatalf("the first text gives other hunks: %+v", again.Hunks)
		}
	})
}

// Where the person's changes and the hunks are apart from each other by a line, each
// hunk is kept; where a person's change is a hunk's, to all of its lines, all accepted
// gives what was planned there and what the person did elsewhere.
func TestAllOfARevisedEditIsTheMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var old, mine, theirs, both string
		for range rapid.IntRange(1, 8).Draw(t, "blocks") {
			line := rapid.StringMatching(`[a-f]{8}\n`)
			between, before, my, your := line.Draw(t, "between"), line.Draw(t, "before"), "my "+line.Draw(t, "mine"), "your "+line.Draw(t, "yours")
			old, mine, theirs, both = old+between, mine+between, theirs+between, both+between
			switch rapid.IntRange(0, 3).Draw(t, "who") {
			case 0:
				old, mine, theirs, both = old+before, mine+before, theirs+before, both+before
			case 1:
				old, mine, theirs, both = old+before, mine+my, theirs+before, both+my
			case 2:
				old, mine, theirs, both = old+before, mine+before, theirs+your, both+your
			case 3:
				old, mine, theirs, both = old+before, mine+my, theirs+your, both+my
			}
		}
		if old == mine {
			return
		}
		e, _ := workspace.Revise(plan(old, mine), theirs)
		if got := (agent.Edit{Kind: agent.EditText, Old: theirs, Hunks: e.Hunks}).New(); got != both {
			t.Fatalf("merged to %q, want %q", got, both)
		}
	})
}

// A name stands for a text, whatever line ends an editor gives it: what was said of it
// counts for every hunk of that name.
func TestAHunkOfOneNameIsOneHunk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := plan(texts().Draw(t, "old"), texts().Draw(t, "planned"))
		seen := map[string]agent.Hunk{}
		for _, h := range e.Hunks {
			h.Old, h.New = strings.ReplaceAll(h.Old, "\r\n", "\n"), strings.ReplaceAll(h.New, "\r\n", "\n")
			seen[h.ID] = h
		}
		for range 4 {
			revised, _ := workspace.Revise(e, texts().Draw(t, "current"))
			for _, h := range revised.Hunks {
				h.Old, h.New = strings.ReplaceAll(h.Old, "\r\n", "\n"), strings.ReplaceAll(h.New, "\r\n", "\n")
				if was, ok := seen[h.ID]; ok && (was.Old != h.Old || was.New != h.New || was.Conflict != h.Conflict) {
					t.Fatalf("%+v was %+v", h, was)
				}
				seen[h.ID] = h
			}
		}
	})
}
