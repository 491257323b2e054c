package workspace

import (
	"assent/agent"
)

// Revise makes of an edit of a text what it is for the text that is there now, to be
// decided anew. Hunks whose lines are as they were are moved, as by [Rebase]. Where a
// change meets hunks, one hunk with a Conflict takes their place: from the lines as
// they are now to what the edit would have made of them. Hunks that the text has
// already are moot; their At is in the text as it is now. An editor may show the text with
// line ends of its own, which is no change.
func Revise(e agent.Edit, current string) (revised agent.Edit, moot []agent.Hunk) {
	e = withEndsOf(e, current)
	r := reviser{hunks: e.Hunks, changes: changesBetween(e.Old, current)}
	revised = e
	revised.Old, revised.Base, revised.Hunks = current, agent.HashText(current), nil
	for len(r.hunks) > 0 {
		c := r.next()
		if c.changes == 0 {
			for _, h := range c.hunks {
				h.At += c.shift
				revised.Hunks = append(revised.Hunks, h)
			}
			continue
		}
		h, same := c.conflict(e.Old, current)
		if !same {
			revised.Hunks = c.add(revised.Hunks, h)
			continue
		}
		for _, m := range c.hunks {
			m.At = c.shift + c.place.from
			moot = append(moot, m)
		}
	}
	if len(revised.Hunks) > 0 && revised.Check() != nil { // it has not been seen, and nothing may land at a wrong place
		whole := agent.NewHunk(0, current, e.New())
		whole.Conflict = true
		revised.Hunks, moot = []agent.Hunk{whole}, nil
	}
	return revised, moot
}

// add appends its conflict. Where the lines are gone, as they may be behind another hunk,
// the two would insert at one place, so they become one.
func (c cluster) add(hunks []agent.Hunk, h agent.Hunk) []agent.Hunk {
	last := len(hunks) - 1
	if last < 0 || h.Old != "" || hunks[last].At+len(hunks[last].Old) < h.At {
		return append(hunks, h)
	}
	both := agent.NewHunk(c.place.from, hunks[last].Old, hunks[last].New+h.New)
	both.At, both.Conflict = hunks[last].At, true
	return append(hunks[:last:last], both)
}

// reviser goes through the hunks and the changes of a text in their order.
type reviser struct {
	hunks   []agent.Hunk
	changes []change
	shift   int // how much longer the changes so far made the text
}

// cluster is hunks that no change meets, or hunks and changes that meet each other.
type cluster struct {
	place   span // in the old text
	hunks   []agent.Hunk
	changes int
	shift   int // of place.from
	grown   int // how much longer the changes made the place
}

// next takes the next hunk, and all that it meets.
func (r *reviser) next() cluster {
	h := r.hunks[0]
	c := cluster{place: span{h.At, h.At + len(h.Old)}, hunks: r.hunks[:1]}
	for len(r.changes) > 0 && r.changes[0].wide.to <= c.place.from && !r.changes[0].touches(c.place) {
		r.shift += r.changes[0].shift
		r.changes = r.changes[1:]
	}
	c.shift = r.shift
	for {
		switch {
		case len(r.changes) > 0 && r.changes[0].touches(c.place):
			m := r.changes[0]
			r.changes = r.changes[1:]
			c.changes++
			c.grown += m.shift
			c.place = span{min(c.place.from, m.wide.from), max(c.place.to, m.wide.to)}
		case c.changes > 0 && len(c.hunks) < len(r.hunks) && r.hunks[len(c.hunks)].At <= c.place.to:
			h := r.hunks[len(c.hunks)]
			c.hunks = r.hunks[:len(c.hunks)+1]
			c.place.to = max(c.place.to, h.At+len(h.Old))
		default:
			r.hunks = r.hunks[len(c.hunks):]
			r.shift += c.grown
			return c
		}
	}
}

// conflict is the hunk from what a change made of a place to what the edit would have
// made of it; same says that these are one.
func (c cluster) conflict(old, current string) (h agent.Hunk, same bool) {
	from := c.place.from + c.shift
	theirs := current[from : c.place.to+c.shift+c.grown]
	inside := make([]agent.Hunk, len(c.hunks))
	for i, h := range c.hunks {
		h.At -= c.place.from
		inside[i] = h
	}
	ours := agent.Edit{Kind: agent.EditText, Old: old[c.place.from:c.place.to], Hunks: inside}.New()
	h = agent.NewHunk(c.place.from, theirs, ours) // named by the old place, so that it keeps its name when moved
	h.At, h.Conflict = from, true
	return h, theirs == ours
}
