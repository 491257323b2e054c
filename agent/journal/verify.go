package journal

import (
	"fmt"
	"slices"
	"strings"

	"assent/agent"
)

// Problem is what is wrong at a line of a journal, in one sentence.
type Problem struct {
	Line int
	Seq  int64
	Text string

	// Unfinished says that the journal merely ends in the middle of a run, as
	// after a crash or while the session goes on. Each journal has at most one
	// of those for its calls and one for its run.
	Unfinished bool
}

func (p Problem) String() string { return fmt.Sprintf("line %d (seq %d): %s", p.Line, p.Seq, p.Text) }

// Verify checks that the sequence has no gap, that a response has its request,
// that calls and results pair up, that what landed was decided and what was decided
// was proposed, that hashes fit the texts where both are known, and that runs end.
// Lines that this version can't read count for the sequence only.
func Verify(entries []Entry) []Problem {
	v := verifier{
		proposals: make(map[revision]agent.Proposal),
		decided:   make(map[revision]bool),
		accepted:  make(map[string][]acceptance),
	}
	for i, e := range entries {
		v.at = e
		if i == 0 && e.Type != typeSession {
			v.report("the journal does not begin with a session record")
		}
		v.sequence()
		v.record()
	}
	v.finish()
	return v.problems
}

type verifier struct {
	problems  []Problem
	at        Entry // that is being looked at
	seq       int64 // of the entry before
	open      *reply
	openAt    Entry // of open
	asked     int   // attempt of the request that has no response yet
	running   bool
	runAt     Entry // first of the run
	proposals map[revision]agent.Proposal
	decided   map[revision]bool
	accepted  map[string][]acceptance // by proposal
}

type revision struct {
	proposal string
	n        int
}

func (v *verifier) report(format string, args ...any) { v.reportAt(v.at, format, args...) }

func (v *verifier) reportAt(e Entry, format string, args ...any) {
	v.problems = append(v.problems, Problem{Line: e.Line, Seq: e.Seq, Text: fmt.Sprintf(format, args...)})
}

func (v *verifier) sequence() {
	switch gap := v.at.Seq - v.seq - 1; {
	case gap == 1:
		v.report("the record before it (seq %d) is missing", v.at.Seq-1)
	case gap > 1:
		v.report("the %d records before it (seq %d to %d) are missing", gap, v.seq+1, v.at.Seq-1)
	case gap < 0:
		v.report("its number is not above that of the record before it (seq %d): it was written twice, or by two writers", v.seq)
	}
	v.seq = v.at.Seq
}

func (v *verifier) record() {
	switch r := v.at.Record.(type) {
	case nil, agent.Started:
		return
	case agent.Done:
		v.closeReply()
		if !v.running {
			v.report("a run ends here that did not begin")
		}
		v.running = false
		return
	case agent.Requested:
		v.closeReply()
		v.asked = r.Attempt
	case agent.Responded:
		v.responded(r)
	case agent.Appended:
		if r.Message.Role == agent.RoleAssistant {
			v.closeReply()
			v.open, v.openAt = newReply(r.Message, 0), v.at
			v.asked = 0
		}
	case agent.Answered:
		v.answered(r)
	case agent.Proposed:
		v.proposals[revision{r.Proposal.ID, r.Proposal.Revision}] = r.Proposal
	case agent.Decided:
		v.decision(r)
	case agent.Landed:
		v.landed(r)
	}
	if !v.running {
		v.running, v.runAt = true, v.at
	}
}

// closeReply reports the calls that have no result though the session went on.
func (v *verifier) closeReply() {
	if v.open == nil {
		return
	}
	if uses := v.open.unanswered(); len(uses) > 0 {
		v.reportAt(v.openAt, "%s no result, though the session went on at line %d", nameCalls(uses), v.at.Line)
	}
	v.open = nil
}

// responded holds a response against its request. That a request has one is not
// asked for: journals of older versions have none, and a crash may be why.
func (v *verifier) responded(r agent.Responded) {
	if r.Attempt != v.asked || r.Attempt == 0 {
		v.report("a response to attempt %d, which the request before it is not", r.Attempt)
	}
	v.asked = 0
}

func (v *verifier) answered(r agent.Answered) {
	id := r.Result.ID
	switch {
	case v.open != nil && v.open.answer(r.Result):
	case v.open != nil && slices.ContainsFunc(v.open.uses, func(u agent.ToolUse) bool { return u.ID == id }):
		v.report("a second result for the call %s", id)
	default:
		v.report("a result for %s, which the reply before it does not call", id)
	}
}

func (v *verifier) decision(r agent.Decided) {
	key := revision{r.ProposalID, r.Revision}
	p, ok := v.proposals[key]
	switch {
	case !ok:
		v.report("the proposal %s, revision %d, is decided but was not proposed", r.ProposalID, r.Revision)
	case v.decided[key]:
		v.report("the proposal %s, revision %d, is decided a second time", r.ProposalID, r.Revision)
	case len(r.Decision.Parts) > len(p.Parts):
		v.report("%d parts are decided, but the proposal %s has %d", len(r.Decision.Parts), r.ProposalID, len(p.Parts))
	}
	v.decided[key] = true
	for i, d := range r.Decision.Parts[:min(len(r.Decision.Parts), len(p.Parts))] {
		if a, ok := accept(p.Parts[i], d); ok {
			v.accepted[r.ProposalID] = append(v.accepted[r.ProposalID], a)
		}
	}
}

func (v *verifier) landed(r agent.Landed) {
	covered := slices.ContainsFunc(v.accepted[r.ProposalID], func(a acceptance) bool { return a.covers(r) })
	if !covered {
		v.report("a change of %s landed that no decision before it accepts", r.Edit.Path)
	}
	for _, id := range r.Landing.Landed {
		if !slices.ContainsFunc(r.Edit.Hunks, func(h agent.Hunk) bool { return h.ID == id }) {
			v.report("the hunk %s is said to have landed, but the edit of %s does not have it", id, r.Edit.Path)
		}
	}
	if r.Landing.Status != agent.LandComplete || r.Landing.Foreign != "" || v.at.Redacted {
		return
	}
	if r.Edit.Kind == agent.EditCreate && r.Edit.Check() != nil {
		v.report("the new file %s is not well formed", r.Edit.Path)
		return
	}
	switch want := (agent.Hash{}); r.Edit.Kind {
	case agent.EditCreate:
		want = agent.HashText(r.Edit.New())
		fallthrough
	case agent.EditDelete:
		if r.Landing.After != want {
			v.report("what landed in %s is not the text that was accepted: its hash is another one", r.Edit.Path)
		}
	}
}

func (v *verifier) finish() {
	if v.open != nil {
		if uses := v.open.unanswered(); len(uses) > 0 {
			v.reportAt(v.openAt, "%s no result yet", nameCalls(uses))
			v.problems[len(v.problems)-1].Unfinished = true
		}
	}
	if v.running {
		v.reportAt(v.runAt, "the run that begins here has not ended")
		v.problems[len(v.problems)-1].Unfinished = true
	}
}

// nameCalls is "the call c1 (read_file) has".
func nameCalls(uses []agent.ToolUse) string {
	var names []string
	for _, u := range uses {
		names = append(names, fmt.Sprintf("%s (%s)", u.ID, u.Name))
	}
	if len(names) == 1 {
		return "the call " + names[0] + " has"
	}
	return "the calls " + strings.Join(names, ", ") + " have"
}

// acceptance is the edit that a decision lets land.
type acceptance struct {
	useID string
	edit  agent.Edit // with the accepted hunks
}

// accept narrows a part to what the answer takes, by the session's own rules. An
// answer to a hunk that was never shown makes all of it invalid.
func accept(p agent.Part, d agent.PartDecision) (acceptance, bool) {
	e, ok := p.Effect.(agent.Edit)
	if !ok {
		return acceptance{}, false
	}
	proposed, known := e.Hunks, 0
	e.Hunks = nil
	for _, h := range proposed {
		hd, listed := d.Hunks[h.ID]
		if listed {
			known++
		}
		if listed && hd.Text != nil {
			h.New = *hd.Text
		}
		if listed && hd.Accept || !listed && d.Accept && !h.Conflict {
			e.Hunks = append(e.Hunks, h)
		}
	}
	if d.Rewrite != nil {
		e.Hunks = d.Rewrite
		return acceptance{useID: p.Use.ID, edit: e}, d.Accept
	}
	return acceptance{useID: p.Use.ID, edit: e}, known == len(d.Hunks) && (d.Accept || len(e.Hunks) > 0)
}

// covers leaves anchors aside: a rebase moves them.
func (a acceptance) covers(r agent.Landed) bool {
	if a.useID != r.ToolUseID || a.edit.Path != r.Edit.Path || a.edit.Kind != r.Edit.Kind || a.edit.To != r.Edit.To {
		return false
	}
	for _, h := range r.Edit.Hunks {
		if !slices.ContainsFunc(a.edit.Hunks, func(o agent.Hunk) bool { return o.Old == h.Old && o.New == h.New }) {
			return false
		}
	}
	return true
}
