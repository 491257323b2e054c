package workspace

import (
	"fmt"

	"assent/agent"

	udiff "github.com/aymanbagabas/go-udiff"
)

// Unified is a unified diff of some hunks of an edit, as text. A deletion shows all
// that goes.
func Unified(name string, e agent.Edit, hunks []agent.Hunk) string {
	before, after := "a/"+name, "b/"+name
	switch e.Kind {
	case agent.EditCreate:
		before = "/dev/null"
	case agent.EditDelete:
		after = "/dev/null"
		hunks = nil
		if e.Old != "" {
			hunks = []agent.Hunk{{Old: e.Old}}
		}
	}
	edits := make([]udiff.Edit, 0, len(hunks))
	for _, h := range hunks {
		edits = append(edits, udiff.Edit{Start: h.At, End: h.At + len(h.Old), New: h.New})
	}
	const context = 3
	text, err := udiff.ToUnified(before, after, e.Old, edits, context)
	if err != nil {
		return fmt.Sprintf("(the diff can't be shown: %v)\n", err)
	}
	return text
}
