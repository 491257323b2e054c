package lsp

import (
	"assent/agent"
)

func (x *Events) landed(e agent.Landed) LandedEvent {
	l := e.Landing
	where, _ := x.place(e.Edit.Path)
	file := LandedFile{
		URI: where, Status: l.Status.String(), Where: string(l.Where), Hash: l.After.String(),
		Hunks: l.Landed, Conflicts: l.Conflicts, Foreign: l.Foreign, Note: l.Note, LeftOut: l.LeftOut, Problems: x.problems(l.Problems),
	}
	if e.Edit.Kind == agent.EditRename {
		file.NewURI, _ = x.place(e.Edit.To)
	}
	return LandedEvent{"landed", e.ProposalID, e.ToolUseID, []LandedFile{file}}
}

func (x *Events) proposed(p agent.Proposal) ProposedEvent {
	out := ProposedEvent{Type: "proposed", ProposalID: p.ID, Revision: p.Revision, Title: p.Title, Files: []FileEdit{}}
	for _, part := range p.Parts {
		if e, ok := part.Effect.(agent.Edit); ok {
			out.Files = append(out.Files, x.file(part, e))
		} else {
			out.Effects = append(out.Effects, x.effect(part))
		}
	}
	return out
}

// file is a part that is an edit.
func (x *Events) file(part agent.Part, e agent.Edit) FileEdit {
	f := FileEdit{
		ToolUseID: part.Use.ID, Title: part.Title(), Kind: string(e.Kind), NewText: e.New(), Hunks: []Hunk{},
		Alone: part.Alone, Conflict: part.Conflict, Protected: part.Info.Protected || part.To.Protected, Secret: part.Info.Secret || part.To.Secret, Outside: part.Info.Outside || part.To.Outside,
	}
	f.URI, f.Version = x.place(e.Path)
	if e.Kind != agent.EditCreate {
		f.OldText = e.Old
	}
	if e.Kind == agent.EditRename {
		f.NewURI, _ = x.place(e.To)
	}
	moved, at, before := 0, 0, 0 // lines that earlier hunks added; offset and line of the last hunk
	for _, h := range e.Hunks {
		before += lineBreaks(e.Old[at:h.At])
		at = h.At
		oldLines, newLines := lineCount(h.Old), lineCount(h.New)
		f.Hunks = append(f.Hunks, Hunk{h.ID, before, oldLines, before + moved, newLines, h.Old, h.New, h.Conflict})
		moved += newLines - oldLines
	}
	return f
}

// effect is a part that is none.
func (x *Events) effect(part agent.Part) Effect {
	out := Effect{ToolUseID: part.Use.ID}
	switch e := part.Effect.(type) {
	case agent.Exec:
		out.Kind, out.Dir, out.Command = "exec", e.Dir, e.Command
	case agent.Remote:
		out.Kind, out.Server, out.Tool, out.Input = "remote", e.Server, e.Tool, e.Input
	case agent.OutsideRead:
		out.Kind, out.Outside = "read", true
		out.URI, _ = x.place(e.Path)
	case agent.SecretRead:
		out.Kind, out.Secret = "read", true
		out.URI, _ = x.place(e.Path)
	}
	return out
}

const (
	accept  = "accept"
	reject  = "reject"
	partly  = "partial"
	byHand  = "edited" // the person left another text
	allowed = "allow"
)

func yesNo(yes bool) string {
	if yes {
		return accept
	}
	return reject
}

func (x *Events) decided(p agent.Proposal, e agent.Decided) DecidedEvent {
	out := DecidedEvent{
		Type: "decided", ProposalID: e.ProposalID, Revision: e.Revision, By: string(e.Decision.By), Comment: e.Decision.Comment,
		Files: map[string]string{}, Hunks: map[string]string{}, Effects: map[string]string{},
	}
	for i, part := range p.Parts {
		d := e.Decision.Parts[i] // the session gives each part an answer
		edit, ok := part.Effect.(agent.Edit)
		if !ok {
			out.Effects[part.Use.ID] = both(out.Effects[part.Use.ID], yesNo(d.Accept))
			continue
		}
		accepted := 0
		for _, h := range edit.Hunks {
			hd, listed := d.Hunks[h.ID]
			yes := listed && hd.Accept || !listed && d.Accept
			out.Hunks[h.ID] = yesNo(yes)
			if yes {
				accepted++
			}
		}
		where, _ := x.place(edit.Path)
		word := yesNo(accepted > 0)
		switch {
		case d.Rewrite != nil:
			word = byHand
		case len(edit.Hunks) == 0:
			word = yesNo(d.Accept)
		case accepted > 0 && accepted < len(edit.Hunks):
			word = partly
		}
		out.Files[where] = both(out.Files[where], word)
	}
	return out
}

// both is the word for what two calls do to one file, or one call does twice.
func both(before, word string) string {
	switch {
	case before == "" || before == word, before == reject && word == byHand:
		return word
	case before == byHand && word == reject: // the other calls are refused for the sake of it
		return byHand
	}
	return partly
}
