package host

import (
	"fmt"

	"assent/agent"
	"assent/agent/workspace"
)

// revision is what a proposal is for some texts: each is made from the first, so that
// what a person takes back leaves no trace.
func revision(first, last agent.Proposal, texts []string) agent.Proposal {
	next := last
	next.Revision++
	next.Parts = append([]agent.Part(nil), first.Parts...)
	planned := map[string]string{} // texts that earlier parts lead to
	eachText(first, func(i int, edit agent.Edit, rests bool) {
		part := &next.Parts[i]
		text := planned[edit.Path]
		if !rests {
			text, texts = texts[0], texts[1:]
		}
		switch edit.Kind {
		case agent.EditText:
			edit, part.Moot = workspace.Revise(edit, text)
		case agent.EditDelete:
			if part.Conflict = agent.FoldEnds(text) != agent.FoldEnds(edit.Old); part.Conflict {
				edit.Old, edit.Base = text, agent.HashText(text)
			}
		}
		part.Effect = edit
		for n := range edit.Hunks { // two calls may meet the same change
			if edit.Hunks[n].Conflict {
				edit.Hunks[n].ID += fmt.Sprintf("-%d", i)
			}
		}
		planned[edit.Path] = edit.New()
	})
	return next.Titled()
}

// textsOf are the texts on which a proposal rests, as they are now. Where one is not
// known, it is the one of the proposal.
func textsOf(p agent.Proposal, now func(agent.Edit) (string, bool)) (texts []string) {
	eachText(p, func(_ int, edit agent.Edit, rests bool) {
		if rests {
			return
		}
		text, known := now(edit)
		if !known {
			text = edit.Old
		}
		texts = append(texts, text)
	})
	return texts
}

func asPlanned(e agent.Edit) (string, bool) { return e.Old, true }

// eachText does something for each edit of a text that is there: one that an earlier
// part leaves, on which it rests, or else the one of the file.
func eachText(p agent.Proposal, do func(part int, edit agent.Edit, rests bool)) {
	left := map[string]bool{} // by earlier parts
	gone := map[string]bool{} // they take the file away
	for i, part := range p.Parts {
		edit, isEdit := part.Effect.(agent.Edit)
		if !isEdit || gone[edit.Path] {
			continue
		}
		switch edit.Kind {
		case agent.EditText, agent.EditDelete:
			do(i, edit, left[edit.Path])
		case agent.EditCreate:
			do(i, edit, true)
		}
		left[edit.Path] = true
		gone[edit.Path] = edit.Kind == agent.EditDelete || edit.Kind == agent.EditRename
		gone[edit.To] = gone[edit.To] || edit.Kind == agent.EditRename
	}
}
