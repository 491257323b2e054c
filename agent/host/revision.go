package host

import (
	"fmt"
	"strings"

	"assent/agent"
	"assent/agent/workspace"
)

// revision is what a proposal is for the texts as they are now: each is made from the
// first, so that what a person takes back leaves no trace. Where the text of a file is
// not known, it is the one of the last revision. texts are those that it was made for.
func revision(first, last agent.Proposal, now func(agent.Edit) (string, bool)) (next agent.Proposal, texts []string) {
	next = last
	next.Revision++
	next.Parts = append([]agent.Part(nil), first.Parts...)
	planned := map[string]string{} // texts that earlier parts lead to
	gone := map[string]bool{}      // ... or from which they take the file away
	for i := range next.Parts {
		part := &next.Parts[i]
		edit, isEdit := part.Effect.(agent.Edit)
		if !isEdit || gone[edit.Path] {
			continue
		}
		text, known := planned[edit.Path]
		if !known && (edit.Kind == agent.EditText || edit.Kind == agent.EditDelete) {
			if text, known = now(edit); !known {
				was, _ := last.Parts[i].Effect.(agent.Edit)
				text = was.Old
			}
			texts = append(texts, text)
		}
		switch edit.Kind {
		case agent.EditText:
			edit, part.Moot = workspace.Revise(edit, text)
		case agent.EditDelete:
			part.Conflict = unified(text) != unified(edit.Old)
			edit.Old, edit.Base = text, agent.HashText(text)
		}
		part.Effect = edit
		for n := range edit.Hunks { // two calls may meet the same change
			if edit.Hunks[n].Conflict {
				edit.Hunks[n].ID += fmt.Sprintf("-%d", i)
			}
		}
		planned[edit.Path] = edit.New()
		gone[edit.Path] = edit.Kind == agent.EditDelete || edit.Kind == agent.EditRename
		gone[edit.To] = gone[edit.To] || edit.Kind == agent.EditRename
	}
	return next.Titled(), texts
}

// textsOf are the texts for which a proposal was made.
func textsOf(p agent.Proposal) []string {
	_, texts := revision(p, p, func(e agent.Edit) (string, bool) { return e.Old, true })
	return texts
}

// unified is a text with the line ends that it would have in any editor.
func unified(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
