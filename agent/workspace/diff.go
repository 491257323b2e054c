package workspace

import (
	udiff "github.com/aymanbagabas/go-udiff"

	"assent/agent"
)

// Diff is the hunks that lead from one text to another, each of whole lines;
// nil if the texts are equal. They are in order and at least a line apart.
func Diff(old, new string) []agent.Hunk {
	var hunks []agent.Hunk
	for _, e := range lineEdits(old, new) {
		hunks = append(hunks, agent.NewHunk(e.Start, old[e.Start:e.End], e.New))
	}
	return hunks
}

// lineEdits is [udiff.Lines] with edits that touch merged into one.
func lineEdits(old, new string) []udiff.Edit {
	if old == new {
		return nil
	}
	var edits []udiff.Edit
	for _, e := range refine(nil, old, new, 0, maxRefine) {
		if last := len(edits) - 1; last >= 0 && edits[last].End == e.Start {
			edits[last].End = e.End
			edits[last].New += e.New
			continue
		}
		edits = append(edits, e)
	}
	// A merge can leave an edit that changes nothing.
	kept := edits[:0]
	for _, e := range edits {
		if old[e.Start:e.End] != e.New {
			kept = append(kept, e)
		}
	}
	return kept
}

const (
	// maxRefine bounds how often an edit is looked at again.
	maxRefine = 64
	// coarse is about the number of changed lines up to which udiff.Lines is
	// exact; a larger edit may hold lines that did not change.
	coarse = 50
)

// refine appends the edits from old to new. [udiff.Lines] gives up after some
// changed lines and makes one edit of the rest, so that is looked at again.
func refine(edits []udiff.Edit, old, new string, at, rounds int) []udiff.Edit {
	for _, e := range udiff.Lines(old, new) {
		part := old[e.Start:e.End]
		smaller := len(part) < len(old) || len(e.New) < len(new)
		if smaller && rounds > 0 && countLines(part) >= coarse && countLines(e.New) >= coarse {
			edits = refine(edits, part, e.New, at+e.Start, rounds-1)
			continue
		}
		edits = append(edits, udiff.Edit{Start: at + e.Start, End: at + e.End, New: e.New})
	}
	return edits
}
