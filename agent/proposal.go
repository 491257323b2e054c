package agent

import (
	"fmt"
	"slices"
)

// Proposal is one question to the person: all that the consecutive calls of a
// reply want to do, a part for each effect.
type Proposal struct {
	ID       string // unique in the session
	Revision int    // from 1; a new one each time the texts move under an open question
	Title    string // "Edit notes.txt: +3 −1"
	Parts    []Part
}

// Titled is the proposal with the title that its parts give it.
func (p Proposal) Titled() Proposal {
	if len(p.Parts) == 0 {
		return p
	}
	files := map[string]bool{}
	for _, part := range p.Parts {
		files[part.Info.Path] = true
	}
	p.Title = p.Parts[0].Title()
	if len(p.Parts) > 1 {
		p.Title = fmt.Sprintf("%d changes in %d files, first: %s", len(p.Parts), len(files), p.Title)
	}
	return p
}

// Part is one effect in a proposal. Path facts come from the editor, not from
// the tool that planned the effect.
type Part struct {
	Use    ToolUse // the call that wants it
	Effect Effect
	Info   Info // of the effect's path, if it has one
	To     Info // of the new path of a rename

	// Alone says that a yes to several parts at once must not cover this one: it
	// is protected, secret or outside, and needs a yes of its own.
	Alone bool

	// Conflict says of a delete that someone changed the text while the question was
	// open. It takes a yes of its own.
	Conflict bool
	// Moot are the proposed hunks that the text has meanwhile without us. An edit may
	// have no others left.
	Moot []Hunk
}

// moot reports whether nothing of the part is left to decide.
func (p Part) moot() bool {
	e, isEdit := p.Effect.(Edit)
	return isEdit && e.Kind == EditText && len(e.Hunks) == 0
}

// moved reports whether an edit is for another text than it was first.
func (p Part) moved(first Part) bool {
	now, _ := p.Effect.(Edit)
	was, _ := first.Effect.(Edit)
	return FoldEnds(now.Old) != FoldEnds(was.Old)
}

// checkRevision reports whether a proposal is one that the texts moved under: it asks for
// the same effects, and where hunks are others than they were, it says so.
func checkRevision(first, next Proposal) error {
	if next.ID != first.ID || len(next.Parts) != len(first.Parts) {
		return fmt.Errorf("revision %d of proposal %s is another proposal", next.Revision, first.ID)
	}
	for i, p := range next.Parts {
		was := first.Parts[i]
		now, isEdit := p.Effect.(Edit)
		before, wasEdit := was.Effect.(Edit)
		switch {
		case p.Use.ID != was.Use.ID || p.Alone != was.Alone || isEdit != wasEdit:
			return fmt.Errorf("revision %d of proposal %s changes part %d", next.Revision, first.ID, i)
		case !isEdit:
			if !was.Effect.same(p.Effect) {
				return fmt.Errorf("revision %d of proposal %s changes part %d", next.Revision, first.ID, i)
			}
			continue
		case now.Path != before.Path || now.Kind != before.Kind || now.To != before.To || now.Confirm:
			return fmt.Errorf("revision %d of proposal %s changes another file", next.Revision, first.ID)
		}
		if err := now.Check(); err != nil && !p.moot() {
			return err
		}
		for _, h := range now.Hunks {
			kept := slices.ContainsFunc(before.Hunks, func(o Hunk) bool {
				return o.ID == h.ID && FoldEnds(o.Old) == FoldEnds(h.Old) && FoldEnds(o.New) == FoldEnds(h.New)
			})
			if h.By != ByAgent || !kept && !h.Conflict {
				return fmt.Errorf("revision %d of proposal %s has a hunk that was not proposed", next.Revision, first.ID)
			}
		}
	}
	return nil
}

// Title says in a few words what the part does.
func (p Part) Title() string {
	switch e := p.Effect.(type) {
	case Edit:
		switch e.Kind {
		case EditCreate:
			added, _ := e.Lines()
			return fmt.Sprintf("Create %s: +%d", p.Info.Name, added)
		case EditDelete:
			return "Delete " + p.Info.Name
		case EditRename:
			return fmt.Sprintf("Rename %s to %s", p.Info.Name, p.To.Name)
		}
		added, removed := e.Lines()
		return fmt.Sprintf("Edit %s: +%d −%d", p.Info.Name, added, removed)
	case Exec:
		return "Run " + e.Command
	case Remote:
		return fmt.Sprintf("Call %s of %s", e.Tool, e.Server)
	case OutsideRead:
		return "Read outside the workspace: " + e.Path
	case SecretRead:
		return "Read a file that may hold secrets: " + p.Info.Name
	}
	return "Unknown effect"
}

// Decision is the answer to a proposal. The zero Decision refuses everything, and
// a part that is not in it is refused. What does not fit the proposal (an unknown
// hunk, a part too many, Rewrite beside Hunks) makes a refusal of its part, or of
// everything.
type Decision struct {
	By      By // ByPerson, ByRule, ByMode or ByHeadless
	Parts   []PartDecision
	Comment string // the person's words, for the model
}

// PartDecision is the answer to the part at the same index.
type PartDecision struct {
	Accept  bool                    // the whole part, but for what Hunks says
	Hunks   map[string]HunkDecision // by hunk ID
	Comment string

	// Rewrite, if not nil, is what the person made of the whole edit: the hunks
	// from Edit.Old to the text that they left. Those that were proposed like
	// this count as the model's, the others as the person's.
	Rewrite []Hunk

	// Confirm makes a yes to an edit one to what the person confirms of it as it lands,
	// see [Edit.Confirm].
	Confirm bool
}

// HunkDecision is the answer to one hunk.
type HunkDecision struct {
	Accept  bool
	Text    *string // with Accept: what the person wants there instead
	Comment string
}

// Lines counts the lines that the edit adds and removes.
func (e Edit) Lines() (added, removed int) {
	for _, h := range e.Hunks {
		added += countLines(h.New)
		removed += countLines(h.Old)
	}
	return added, removed
}

func countLines(text string) int {
	n := 0
	for i := range len(text) {
		if text[i] == '\n' {
			n++
		}
	}
	if text != "" && text[len(text)-1] != '\n' {
		n++
	}
	return n
}
