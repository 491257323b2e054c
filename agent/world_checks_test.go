package agent_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/workspace"
)

// beforeApply checks that an edit lands only with a yes, on record.
func (w *world) beforeApply(e agent.Edit) error {
	byMode := w.mode == "accept_edits" && !workspace.Protected(strings.TrimPrefix(e.Path, agenttest.Root+"/"))
	w.mu.Lock()
	var missing []string
	if len(e.Hunks) == 0 {
		if s := fmt.Sprintf("%s %s %s", e.Kind, e.Path, e.To); w.yes[s] == 0 {
			missing = append(missing, s)
		}
	}
	for _, h := range e.Hunks {
		if s := fmt.Sprintf("%s %d %q %q", e.Path, h.At, h.Old, h.New); w.yes[s] == 0 {
			missing = append(missing, s)
		}
	}
	w.mu.Unlock()
	if len(missing) > 0 && !byMode {
		w.fault("landed without a yes: %s", strings.Join(missing, ", "))
	}
	if !w.recorded(func(r agent.Record) bool {
		d, ok := r.(agent.Decided)
		return ok && slices.ContainsFunc(d.Decision.Parts, func(p agent.PartDecision) bool {
			return p.Accept || slices.ContainsFunc(slices.Collect(maps.Values(p.Hunks)), func(h agent.HunkDecision) bool { return h.Accept })
		})
	}) {
		w.fault("landed before the decision was recorded: %s", e.Path)
	}
	w.checkLastDecision()
	switch w.Pick(10) {
	case 9:
		w.cancelled()
		return errors.New("the editor said no")
	case 8:
		w.cancelled()
		return fmt.Errorf("pipe: %w", agent.ErrInterrupted)
	case 7:
		w.cancel()
		w.cancelled()
	}
	return nil
}

// revise has the person type while they are asked: into the first line of a file, or a
// line above it. Some editors then lie about what became of the proposal.
func (w *world) revise(p agent.Proposal) agent.Proposal {
	if !w.Rarely(3) {
		return p
	}
	name := one(w, "a.txt", "b.txt")
	text := w.person.Text(name)
	if text == "" {
		return p
	}
	text = one(w, "typed\n"+text, "typed"+text)
	w.person.Put(name, text)
	p.Revision++
	p.Parts = slices.Clone(p.Parts)
	planned := map[string]string{agenttest.Root + "/" + name: text}
	for i, part := range p.Parts {
		edit, _ := part.Effect.(agent.Edit)
		text, moved := planned[edit.Path]
		if edit.Kind != agent.EditText || !moved {
			continue
		}
		edit, p.Parts[i].Moot = workspace.Revise(edit, text)
		planned[edit.Path] = edit.New()
		if len(edit.Hunks) > 0 && w.Rarely(5) {
			edit.Hunks[0].New, edit.Hunks[0].Conflict = "a lie\n", false
		}
		p.Parts[i].Effect = edit
	}
	return p
}

// checkLastDecision: the newest proposal on record has its decision on record
// too, before anything is done for it.
func (w *world) checkLastDecision() {
	open := ""
	for _, r := range w.store.Records() {
		switch r := r.(type) {
		case agent.Proposed:
			open = r.Proposal.ID
		case agent.Decided:
			open = ""
		}
	}
	if open != "" {
		w.fault("an effect while %s has no decision on record", open)
	}
}

func (w *world) recorded(match func(agent.Record) bool) bool {
	return slices.ContainsFunc(w.store.Records(), match)
}

// checkCalls: every call that is on record has one result, in order; calls
// without one are only at the end of a run that broke.
func (w *world) checkCalls() {
	var want, got []string
	shown := map[string]bool{}
	for _, r := range w.store.Records() {
		switch r := r.(type) {
		case agent.Appended:
			for _, u := range r.Message.ToolUses() {
				want = append(want, u.ID)
			}
		case agent.Proposed:
			shown[fmt.Sprint(r.Proposal.ID, r.Proposal.Revision)] = true
			for _, p := range r.Proposal.Parts {
				if e, ok := p.Effect.(agent.Edit); ok && slices.ContainsFunc(e.Hunks, func(h agent.Hunk) bool { return h.New == "a lie\n" }) {
					w.fault("%s became another proposal", r.Proposal.ID)
				}
			}
		case agent.Decided:
			if !shown[fmt.Sprint(r.ProposalID, r.Revision)] {
				w.fault("revision %d of %s was decided and is not on record", r.Revision, r.ProposalID)
			}
			if slices.Contains(w.lost, r.ProposalID) {
				w.fault("%s was decided, though nobody answered in time", r.ProposalID)
			}
		case agent.Answered:
			got = append(got, r.Result.ID)
			w.checkDone(r)
		}
	}
	if w.broken && len(got) <= len(want) {
		want = want[:len(got)]
	}
	if !slices.Equal(want, got) {
		w.fault("calls %v have results %v", want, got)
	}
	sorted := slices.Sorted(slices.Values(got))
	if len(slices.Compact(sorted)) != len(got) {
		w.fault("a call has two results: %v", got)
	}
}

// checkDone: what the person agreed to and nothing prevented was done.
func (w *world) checkDone(r agent.Answered) {
	w.mu.Lock()
	owed := w.owed[r.Use.ID]
	delete(w.owed, r.Use.ID)
	w.mu.Unlock()
	if !owed || !r.Result.IsError {
		return
	}
	if strings.Contains(r.Result.Output, "hunks landed") || strings.Contains(r.Result.Output, "though the person agreed") ||
		strings.Contains(r.Result.Output, "Interrupted") || strings.Contains(r.Result.Output, "Cancelled") {
		return
	}
	w.fault("%s was agreed to and not done: %s", r.Use.ID, r.Result.Output)
}
