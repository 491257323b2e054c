package agent

import (
	"slices"
	"sort"
)

// Approval says which effects a person, or a rule that a person wrote, said yes
// to. It can't be made outside this package; the zero Approval covers nothing.
type Approval struct{ effects []Effect }

// Covers reports whether exactly this effect was approved. An edit is covered
// when file, kind, base and every hunk are those that were shown and accepted,
// or written by the person.
func (a Approval) Covers(e Effect) bool {
	return e != nil && slices.ContainsFunc(a.effects, e.same)
}

// Effects lists what was approved, narrowed to the accepted hunks and with the
// person's own text in them.
func (a Approval) Effects() []Effect { return slices.Clone(a.effects) }

func (a Approval) and(b Approval) Approval {
	return Approval{append(slices.Clip(a.effects), b.effects...)}
}

// verdict is what a decision says of one part.
type verdict struct {
	ok      Approval // zero: refused
	edit    Edit     // of an edit: as approved
	refused []Hunk   // proposed hunks in whose place nothing lands
	comment string

	hunkComments map[string]string // what the person said of single hunks, by ID
}

// fitting gives each part of a proposal its answer. What does not fit is a
// refusal, and is recorded as one.
func fitting(p Proposal, answers []PartDecision) []PartDecision {
	const malformed = "The answer did not fit the question, so it counts as no."
	out := make([]PartDecision, len(p.Parts))
	for i := range out {
		switch {
		case len(answers) > len(p.Parts):
			out[i].Comment = malformed
		case i >= len(answers):
		case !answers[i].fits(p.Parts[i]):
			out[i].Comment = malformed
		default:
			out[i] = answers[i]
		}
	}
	return out
}

func (d PartDecision) fits(p Part) bool {
	edit, _ := p.Effect.(Edit)
	for id := range d.Hunks {
		if !slices.ContainsFunc(edit.Hunks, func(h Hunk) bool { return h.ID == id }) {
			return false
		}
	}
	if d.Rewrite == nil {
		return true
	}
	return len(d.Hunks) == 0 && (len(edit.Hunks) > 0 || p.moot()) && checkHunks(edit.Old, rewrittenHunks(edit, d.Rewrite)) == nil
}

// weigh turns the fitting answer to a part into an approval of just what was
// accepted.
func weigh(p Part, d PartDecision) verdict {
	v := verdict{comment: d.Comment}
	edit, isEdit := p.Effect.(Edit)
	if !isEdit {
		if d.Accept {
			v.ok = Approval{[]Effect{p.Effect}}
		}
		return v
	}
	v.hunkComments = map[string]string{}
	for id, hd := range d.Hunks {
		v.hunkComments[id] = hd.Comment
	}
	accepted, ok := acceptedHunks(edit, d)
	for _, h := range edit.Hunks {
		if !ok || !slices.ContainsFunc(accepted, h.meets) {
			v.refused = append(v.refused, h)
		}
	}
	if ok {
		edit.Hunks, edit.Confirm = accepted, d.Confirm
		v.edit, v.ok = edit, Approval{[]Effect{edit}}
	}
	return v
}

// meets reports whether two hunks change the same place of one text.
func (h Hunk) meets(o Hunk) bool {
	return h.At == o.At || h.At < o.At+len(o.Old) && o.At < h.At+len(h.Old)
}

// acceptedHunks is what of an edit the answer takes, and whether that is
// anything at all.
func acceptedHunks(e Edit, d PartDecision) ([]Hunk, bool) {
	if len(e.Hunks) == 0 && d.Rewrite == nil { // an empty new file, a rename, a delete, or nothing is left of an edit
		return nil, d.Accept && e.Kind != EditText
	}
	hunks := chosenHunks(e, d)
	if d.Rewrite != nil {
		hunks = nil
		if d.Accept {
			hunks = rewrittenHunks(e, d.Rewrite)
		}
	}
	if checkHunks(e.Old, hunks) != nil {
		return nil, false
	}
	if e.Kind == EditCreate {
		return hunks, len(hunks) == 1
	}
	return hunks, len(hunks) > 0
}

// chosenHunks goes by the answer to each hunk.
func chosenHunks(e Edit, d PartDecision) []Hunk {
	var chosen []Hunk
	for _, h := range e.Hunks {
		hd, listed := d.Hunks[h.ID]
		switch {
		case listed && hd.Accept && hd.Text != nil && *hd.Text == h.Old:
			// The person put the old text back: nothing to land.
		case listed && hd.Accept && hd.Text != nil && *hd.Text != h.New:
			h.New, h.By = *hd.Text, ByPerson
			chosen = append(chosen, h)
		case listed && hd.Accept, !listed && d.Accept && !h.Conflict:
			chosen = append(chosen, h)
		}
	}
	return chosen
}

// rewrittenHunks marks what the person wrote. Ownership is never taken from the
// answer: a hunk is the model's only if it was proposed exactly so.
func rewrittenHunks(e Edit, rewrite []Hunk) []Hunk {
	hunks := make([]Hunk, 0, len(rewrite))
	for _, w := range rewrite {
		h := NewHunk(w.At, w.Old, w.New)
		h.By = ByPerson
		if i := slices.IndexFunc(e.Hunks, h.same); i >= 0 {
			h = e.Hunks[i]
		}
		hunks = append(hunks, h)
	}
	sort.SliceStable(hunks, func(i, j int) bool { return hunks[i].At < hunks[j].At })
	return hunks
}
