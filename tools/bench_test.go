package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/workspace"
)

// A call with 300 edits all over a file of 50,000 lines: what is proposed, and what is left
// of that when the person has typed a line at the top.
func BenchmarkManyEdits(b *testing.B) {
	const lines, edits = 50_000, 300
	text, input := manyEdits(b, lines, edits)
	person := agenttest.NewPerson(map[string]string{"big.txt": text})
	propose := func(b *testing.B) agent.Edit {
		plan, err := EditFile().Plan(b.Context(), person, input)
		if err != nil {
			b.Fatal(err)
		}
		return plan.Effects[0].(agent.Edit)
	}
	edit := propose(b)
	if len(edit.Hunks) != edits {
		b.Fatalf("%d hunks", len(edit.Hunks))
	}
	b.Run("plan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			propose(b)
		}
	})
	b.Run("rebase", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			moved, conflicts := workspace.Rebase(edit, "typed\n"+text)
			if len(moved) != edits || len(conflicts) != 0 {
				b.Fatalf("%d hunks moved, %d conflicts", len(moved), len(conflicts))
			}
		}
	})
	b.Run("plan, check, result and rebase", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			edit := propose(b)
			if err := edit.Check(); err != nil {
				b.Fatal(err)
			}
			_ = edit.New()
			workspace.Rebase(edit, "typed\n"+text)
		}
	})
}

func manyEdits(b *testing.B, lines, edits int) (text string, input json.RawMessage) {
	var all strings.Builder
	for n := range lines {
		fmt.Fprintf(&all, "\tline %d of the file, which has some words in it\n", n)
	}
	args := editFileArgs{Path: "big.txt"}
	for n := range edits {
		old := fmt.Sprintf("\tline %d of", n*(lines/edits)+7)
		args.Edits = append(args.Edits, stringEdit{Old: old, New: strings.ToUpper(old)})
	}
	input, err := json.Marshal(args)
	if err != nil {
		b.Fatal(err)
	}
	return all.String(), input
}
