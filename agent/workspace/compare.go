package workspace

import (
	"slices"
	"strings"

	"assent/agent"
)

// Outcome is what a text holds of the hunks that should be in it.
type Outcome struct {
	Landed  []string // IDs of those that are there as they were approved
	Altered []string // of those that are there, and changed at once by something else
	Missing []string // of those in whose place the old lines still are
	Foreign string   // what else changed, in words; "" for nothing
}

// Compare says what became of hunks that something else, such as an editor, put
// into base, by the text that is there now. That may have other changes besides: of
// a formatter, or of a person who went on typing.
func Compare(base string, hunks []agent.Hunk, actual string) Outcome {
	want := agent.Edit{Kind: agent.EditText, Old: base, Hunks: hunks}.New()
	if actual == want {
		return Outcome{Landed: ids(hunks)}
	}
	if actual == base {
		return Outcome{Missing: ids(hunks)}
	}
	var out Outcome
	var there []agent.Hunk
	fromWant, fromBase := Diff(want, actual), Diff(base, actual)
	shift, doubts := 0, 0
	for i, h := range hunks {
		landed := intact(fromWant, h.At+shift, h.New, h.Old) && (h.New != "" || !added(fromWant, h.At+shift))
		missing := intact(fromBase, h.At, h.Old, h.New)
		if landed && missing && doubts < maxDoubts { // lines that repeat leave open which of them are new, or gone
			doubts++
			without := agent.Edit{Kind: agent.EditText, Old: base, Hunks: slices.Delete(slices.Clone(hunks), i, i+1)}.New()
			nearer := changedLines(Diff(without, actual)) - changedLines(fromWant)
			landed, missing = nearer > 0, nearer < 0
		}
		shift += len(h.New) - len(h.Old)
		switch {
		case missing && !landed:
			out.Missing = append(out.Missing, h.ID)
			continue
		case landed && !missing:
			out.Landed = append(out.Landed, h.ID)
		default: // neither, or both: the new lines and the old ones, at another place
			out.Altered = append(out.Altered, h.ID)
		}
		there = append(there, h)
	}
	if rest := (agent.Edit{Kind: agent.EditText, Old: base, Hunks: there}).New(); rest != actual {
		out.Foreign = foreign(rest, actual)
	}
	return out
}

// intact reports whether the lines at a place of a text outlived some changes of it.
// What was added right beside them does not matter. Lines that are none, since a hunk
// adds or removes, are intact if nothing was changed across their place, nor what they
// stand against was put there.
func intact(changes []agent.Hunk, at int, lines, against string) bool {
	end := at + len(lines)
	for _, c := range changes {
		switch last := c.At + len(c.Old); {
		case c.At < end && at < last, c.Old == "" && at < c.At && c.At < end, lines == "" && c.At < at && at < last:
			return false
		case lines == "" && c.At <= at && at <= last && strings.Contains(c.New, against):
			return false
		}
	}
	return true
}

// added reports whether something was put at a place. Where lines were to be removed, it
// may be what someone made of them.
func added(changes []agent.Hunk, at int) bool {
	return slices.ContainsFunc(changes, func(c agent.Hunk) bool { return c.At <= at && at <= c.At+len(c.Old) && c.New != "" })
}

// maxDoubts is for how many hunks the text is compared once more.
const maxDoubts = 20

func changedLines(hunks []agent.Hunk) int {
	added, removed := agent.Edit{Hunks: hunks}.Lines()
	return added + removed
}

// Unsure is the first of the hunks whose old lines hold a replacement character.
// An editor's text has one where the buffer has bytes that are no text, and then
// what the hunk shows is not what it would replace.
func Unsure(hunks []agent.Hunk) (agent.Hunk, bool) {
	for _, h := range hunks {
		if strings.ContainsRune(h.Old, '\uFFFD') {
			return h, true
		}
	}
	return agent.Hunk{}, false
}
