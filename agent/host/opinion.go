package host

import (
	"maps"
	"slices"
	"strings"

	"assent/agent"
	"assent/agent/workspace"
)

// opinion is what the person said so far of one part of a proposal. Hunks keep their
// names from revision to revision as long as they are the same, so what was said of one
// counts for all revisions that have it.
type opinion struct {
	refused bool       // all of it, whatever becomes of it
	agreed  bool       // to an effect that has no hunks ...
	to      agent.Hash // ... of a file with this text

	yes   bool // what was said to all hunks that were not named
	hunks map[string]agent.HunkDecision
	own   *agent.Edit // from a text that was shown to the one that the person made of it

	confirm bool // the yes is for what the person confirms as it lands
	comment string
}

// open is what of a part is not decided yet: hunks, or all of what has none.
func (o *opinion) open(part agent.Part) (hunks []agent.Hunk, whole bool) {
	edit, isEdit := part.Effect.(agent.Edit)
	switch {
	case o.refused:
		return nil, false
	case !isEdit:
		return nil, !o.agreed
	case len(edit.Hunks) == 0:
		return nil, edit.Kind != agent.EditText && (!o.agreed || o.to != edit.Base)
	}
	if _, ok := o.rewrite(edit); ok {
		return nil, false
	}
	for _, h := range edit.Hunks {
		if _, said := o.hunks[h.ID]; !said {
			hunks = append(hunks, h)
		}
	}
	return hunks, false
}

// rewrite is the person's own text in the place of an edit, as hunks of the text that
// it is for now; not ok if there is none, or if the text changed where they changed it.
func (o *opinion) rewrite(edit agent.Edit) (hunks []agent.Hunk, ok bool) {
	if o.own == nil {
		return nil, false
	}
	if o.own.Old == edit.Old {
		return o.own.Hunks, true
	}
	own, _ := workspace.Revise(*o.own, edit.Old) // what is moot of it is there
	meets := slices.ContainsFunc(own.Hunks, func(h agent.Hunk) bool { return h.Conflict })
	return append([]agent.Hunk{}, own.Hunks...), !meets
}

// take notes the answer to a question.
func (r *review) take(q *Question, a Answer) {
	if r.by != agent.ByPerson { // what they said to one question counts, though another was not understood
		r.by = a.Decision.By
	}
	r.comment = both(r.comment, a.Decision.Comment)
	shown, known := q.Proposal, true
	if a.Revision != 0 {
		shown, known = q.Shown(a.Revision)
	}
	unclear := r.unclear(q, shown, a)
	for _, i := range q.Parts {
		edit, _ := q.Proposal.Parts[i].Effect.(agent.Edit)
		switch {
		case !known || slices.Contains(a.Unsaid, i) || unclear[edit.Path]: // asked again
		case i >= len(a.Decision.Parts):
			r.opinions[i].refused = true
		case a.Decision.Parts[i].Rewrite != nil:
			r.takeOwn(i, shown, a)
		default:
			r.opinions[i].take(q, i, shown.Parts[i], a.Decision.Parts[i])
			if all, known := r.revision(shown.Revision); known {
				r.opinions[i].forget(all.Parts[i], a.Decision.Parts[i])
			}
		}
	}
}

// refuse notes that a question is not answered, and not asked again.
func (r *review) refuse(q *Question, why string) {
	r.take(q, Answer{Decision: agent.Decision{By: agent.ByHeadless, Comment: why, Parts: make([]agent.PartDecision, len(q.Proposal.Parts))}})
}

// unclear are the files, by path, of which the person left a text of their own, and it is
// not known from which: the client does not say which revision it is for, and there were
// several.
func (r *review) unclear(q *Question, shown agent.Proposal, a Answer) map[string]bool {
	files := map[string]bool{}
	for _, i := range q.Parts {
		if a.Revision != 0 || i >= len(a.Decision.Parts) || a.Decision.Parts[i].Rewrite == nil {
			continue
		}
		edit := shown.Parts[i].Effect.(agent.Edit)
		if slices.ContainsFunc(q.Since(), func(p agent.Proposal) bool { return p.Parts[i].Effect.(agent.Edit).Old != edit.Old }) {
			files[edit.Path] = true
		}
	}
	return files
}

// take notes the answer to a part of a question as it was shown.
func (o *opinion) take(q *Question, i int, shown agent.Part, d agent.PartDecision) {
	o.comment, o.own = both(o.comment, d.Comment), nil
	o.confirm = o.confirm || d.Confirm
	edit, isEdit := shown.Effect.(agent.Edit)
	switch {
	case !d.Accept && len(d.Hunks) == 0 && len(o.hunks) == 0:
		o.refused = true
		return
	case !isEdit || len(edit.Hunks) == 0:
		o.agreed, o.to = d.Accept, edit.Base
		return
	}
	if o.hunks == nil {
		o.hunks, o.yes = map[string]agent.HunkDecision{}, d.Accept
	}
	for _, h := range edit.Hunks {
		_, said := o.hunks[h.ID]
		if !said && (!d.Accept || !h.Conflict || q.only(h.ID)) {
			o.hunks[h.ID] = agent.HunkDecision{Accept: d.Accept}
		}
	}
	maps.Copy(o.hunks, d.Hunks)
	if asked, _ := q.Proposal.Parts[i].Effect.(agent.Edit); !d.Accept && len(d.Hunks) == 0 { // a no to all, whatever they saw
		for _, h := range asked.Hunks {
			if _, said := o.hunks[h.ID]; !said {
				o.hunks[h.ID] = agent.HunkDecision{}
			}
		}
	}
}

// forget drops what was said before of hunks that are not in what is refused now: a
// conflict was there in their place, and if they come back, they are asked again.
func (o *opinion) forget(shown agent.Part, now agent.PartDecision) {
	no := !now.Accept && len(now.Hunks) == 0
	for _, h := range now.Hunks {
		no = no || !h.Accept
	}
	if !no {
		return
	}
	edit, _ := shown.Effect.(agent.Edit)
	for _, id := range slices.Sorted(maps.Keys(o.hunks)) {
		_, named := now.Hunks[id]
		if !named && !slices.ContainsFunc(edit.Hunks, func(h agent.Hunk) bool { return h.ID == id }) {
			o.comment = both(o.comment, o.hunks[id].Comment) // which the model hears all the same
			delete(o.hunks, id)
		}
	}
}

// takeOwn notes the person's own text of a part, made from a text that was shown. What was
// accepted before, and left out of the question, stays.
func (r *review) takeOwn(i int, shown agent.Proposal, a Answer) {
	edit := shown.Parts[i].Effect.(agent.Edit)
	o := &r.opinions[i]
	o.comment = both(o.comment, a.Decision.Parts[i].Comment)
	asked := edit.Hunks
	edit.Hunks = slices.Clone(a.Decision.Parts[i].Rewrite)
	if all, known := r.revision(shown.Revision); known {
		edit.Hunks = append(edit.Hunks, o.kept(all.Parts[i].Effect.(agent.Edit).Hunks, asked, edit.Hunks)...)
		slices.SortStableFunc(edit.Hunks, func(a, b agent.Hunk) int { return a.At - b.At })
	}
	o.own = &edit
}

// kept are those of all hunks that were accepted before others were asked, and are not
// where the person changed the text since.
func (o *opinion) kept(all, asked, own []agent.Hunk) []agent.Hunk {
	var kept []agent.Hunk
	for _, h := range all {
		d := o.hunks[h.ID]
		is := func(a agent.Hunk) bool { return a.ID == h.ID }
		near := func(a agent.Hunk) bool { return a.At <= h.At+len(h.Old) && h.At <= a.At+len(a.Old) }
		if !d.Accept || slices.ContainsFunc(asked, is) || slices.ContainsFunc(own, near) {
			continue
		}
		if d.Text != nil {
			h.New = *d.Text
		}
		if h.New != h.Old {
			kept = append(kept, h)
		}
	}
	return kept
}

// decision is the opinion on the newest revision of the part. What the person said of
// hunks that it has no more is said of the part.
func (o *opinion) decision(part agent.Part) agent.PartDecision {
	d := o.verdict(part)
	for _, id := range slices.Sorted(maps.Keys(o.hunks)) {
		if _, there := d.Hunks[id]; !there && o.hunks[id].Comment != "" {
			d.Comment = both(d.Comment, o.hunks[id].Comment)
		}
	}
	return d
}

func (o *opinion) verdict(part agent.Part) agent.PartDecision {
	d := agent.PartDecision{Comment: o.comment}
	edit, isEdit := part.Effect.(agent.Edit)
	if o.refused {
		return d
	}
	if own, ok := o.rewrite(edit); ok { // also where the text has all of the model's meanwhile
		d.Accept, d.Rewrite = true, own
		return d
	}
	if !isEdit || len(edit.Hunks) == 0 {
		if d.Accept = o.agreed; o.own != nil { // and there is nothing left to ask them about
			d.Comment = both(d.Comment, "(I also wrote a text of my own, which did not land, since its lines changed meanwhile.)")
		}
		return d
	}
	d.Accept, d.Confirm = o.yes, o.confirm
	for _, h := range edit.Hunks {
		hd := o.hunks[h.ID]
		if hd == (agent.HunkDecision{Accept: o.yes}) && !h.Conflict {
			continue
		}
		if hd.Text != nil { // it was written for a text that may have had others
			text := workspace.MatchLineEnds(*hd.Text, h.Old, edit.Old)
			hd.Text = &text
		}
		if d.Hunks == nil {
			d.Hunks = map[string]agent.HunkDecision{}
		}
		d.Hunks[h.ID] = hd
	}
	return d
}

// both are two comments, unless one is said again.
func both(a, b string) string {
	if b == "" || slices.Contains(strings.Split(a, "\n"), b) {
		return a
	}
	return strings.TrimPrefix(a+"\n"+b, "\n")
}
