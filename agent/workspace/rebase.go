package workspace

import (
	"strings"

	"assent/agent"
)

// Rebase takes an edit, planned on its Old, to the text that is there now. Hunks
// whose lines are unchanged are moved: only At differs. A hunk that touches a
// changed place is a conflict, and so is one that could touch it, where lines
// that repeat leave open which of them changed. Two places touch when they
// overlap, or when one inserts at an end of the other.
func Rebase(e agent.Edit, current string) (moved, conflicts []agent.Hunk) {
	changes := changesBetween(e.Old, current)
	for _, h := range e.Hunks {
		span := span{h.At, h.At + len(h.Old)}
		shift, clash := 0, false
		for _, c := range changes {
			if c.touches(span) {
				clash = true
				break
			}
			if c.wide.to <= span.from {
				shift += c.shift
			}
		}
		if at := h.At + shift; !clash && strings.HasPrefix(current[at:], h.Old) {
			h.At = at
			moved = append(moved, h)
		} else {
			conflicts = append(conflicts, h)
		}
	}
	return moved, conflicts
}

// change is a place in the old text where the current one differs.
type change struct {
	wide    span // all of the places where it may have been
	inserts bool // only: nothing was replaced or removed
	shift   int  // how much longer the text became there
}

// span is a range of bytes.
type span struct{ from, to int }

func (c change) touches(o span) bool {
	if c.inserts || o.from == o.to {
		return c.wide.from <= o.to && o.from <= c.wide.to
	}
	return c.wide.from < o.to && o.from < c.wide.to
}

func changesBetween(old, current string) []change {
	var changes []change
	hunks := Diff(old, current)
	shift, end := 0, 0
	for i, h := range hunks {
		here := span{h.At, h.At + len(h.Old)}
		next := len(old)
		if i+1 < len(hunks) {
			next = hunks[i+1].At
		}
		up, down := 0, 0
		switch {
		case h.Old == "":
			up, down = slack(current, span{h.At + shift, h.At + shift + len(h.New)})
		case h.New == "":
			up, down = slack(old, here)
		}
		wide := span{max(here.from-up, end), min(here.to+down, next)}
		changes = append(changes, change{wide, h.Old == "", len(h.New) - len(h.Old)})
		shift += len(h.New) - len(h.Old)
		end = here.to
	}
	return changes
}

// slack says how far up and down a block of added or removed lines could be
// moved with the same result, as where one of several blank lines goes.
func slack(text string, block span) (up, down int) {
	for from, to := block.from, block.to; ; {
		line := lastLine(text[:from])
		if line == "" || line != lastLine(text[:to]) {
			break
		}
		up += len(line)
		from, to = from-len(line), to-len(line)
	}
	for from, to := block.from, block.to; ; {
		line := firstLine(text[to:])
		if line == "" || line != firstLine(text[from:]) {
			break
		}
		down += len(line)
		from, to = from+len(line), to+len(line)
	}
	return up, down
}

func firstLine(text string) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}

func lastLine(text string) string {
	return text[strings.LastIndexByte(strings.TrimSuffix(text, lf), '\n')+1:]
}
