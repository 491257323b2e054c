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

// weigh turns the answer to a part into an approval of just what was accepted.
// An answer that does not fit the proposal is a refusal.
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
		edit.Hunks = accepted
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
	if len(e.Hunks) == 0 { // an empty new file, a rename, a delete
		return nil, d.Accept && d.Rewrite == nil
	}
	hunks, valid := chosenHunks(e, d)
	if d.Rewrite != nil {
		hunks, valid = rewrittenHunks(e, d.Rewrite), d.Accept
	}
	if !valid || checkHunks(e.Old, hunks) != nil {
		return nil, false
	}
	if e.Kind == EditCreate {
		return hunks, len(hunks) == 1
	}
	return hunks, len(hunks) > 0
}

// chosenHunks goes by the answer to each hunk. An answer to a hunk that was
// never shown makes the whole answer invalid.
func chosenHunks(e Edit, d PartDecision) ([]Hunk, bool) {
	var chosen []Hunk
	known := 0
	for _, h := range e.Hunks {
		hd, listed := d.Hunks[h.ID]
		if listed {
			known++
		}
		switch {
		case listed && hd.Accept && hd.Text != nil && *hd.Text == h.Old:
			// The person put the old text back: nothing to land.
		case listed && hd.Accept && hd.Text != nil && *hd.Text != h.New:
			h.New, h.By = *hd.Text, ByPerson
			chosen = append(chosen, h)
		case listed && hd.Accept, !listed && d.Accept:
			chosen = append(chosen, h)
		}
	}
	return chosen, known == len(d.Hunks)
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
