package journal

import (
	"slices"
	"strings"
	"testing"

	"assent/agent"
)

// without leaves out some records; the sequence is made anew.
func without(records []agent.Record, at ...int) []agent.Record {
	var kept []agent.Record
	for i, rec := range records {
		if !slices.Contains(at, i) {
			kept = append(kept, rec)
		}
	}
	return kept
}

func with(records []agent.Record, at int, more ...agent.Record) []agent.Record {
	return slices.Insert(slices.Clone(records), at, more...)
}

func TestVerify(t *testing.T) {
	all := wholeSession()
	const started, called, answered, proposed, decided, landed, asked, responded, done = 0, 3, 4, 7, 8, 9, 11, 12, 14
	refused := agent.Decided{ProposalID: "p1", Revision: 1, Decision: agent.Decision{By: agent.ByPerson}}
	created := createSession("new text\n", agent.HashText("new text\n"))
	rewritten, wasReverted := "TWO\n", "one\n"
	for _, c := range []struct {
		name string
		recs []agent.Record
		want []string // the beginning of each problem
	}{
		{"a whole session has no problem", all, nil},
		{"an empty journal has none", nil, nil},
		{"a journal begins with its session", without(all, started), []string{"line 1 (seq 1): the journal does not begin with a session record"}},
		{"a call without a result", without(all, answered), []string{"line 4 (seq 4): the call c1 (read_file) has no result, though the session went on at line 5"}},
		{"a response without a request", without(all, asked), []string{"line 12 (seq 12): a response to attempt 1, which the request before it is not"}},
		{"a response twice", with(all, responded, all[responded]), []string{"line 14 (seq 14): a response to attempt 1"}},
		{"a response to another attempt", with(without(all, responded), responded, agent.Responded{Attempt: 2}), []string{"line 13 (seq 13): a response to attempt 2"}},
		{"an older journal has no responses", without(all, responded), nil},
		{"a result without a call", without(all, called), []string{"line 4 (seq 4): a result for c1, which the reply before it does not call"}},
		{"a result twice", with(all, 5, all[answered]), []string{"line 6 (seq 6): a second result for the call c1"}},
		{"a landing without a decision", without(all, decided), []string{"line 9 (seq 9): a change of /w/notes.txt landed that no decision"}},
		{"a landing after a refusal", with(without(all, decided), decided, refused), []string{"line 10 (seq 10): a change of /w/notes.txt landed"}},
		{"a decision without a proposal", without(all, proposed), []string{"line 8 (seq 8): the proposal p1, revision 1, is decided but was not proposed", "line 9 (seq 9): a change"}},
		{"a decision twice", with(all, landed, all[decided]), []string{"line 10 (seq 10): the proposal p1, revision 1, is decided a second time"}},
		{"a decision of too many parts", with(without(all, decided, landed), decided, agent.Decided{ProposalID: "p1", Revision: 1, Decision: agent.Decision{Parts: make([]agent.PartDecision, 2)}}),
			[]string{"line 9 (seq 9): 2 parts are decided, but the proposal p1 has 1"}},
		{"a run that ends twice", with(all, 15, all[done]), []string{"line 16 (seq 16): a run ends here that did not begin"}},
		{"a run that goes on is unfinished", all[:14], []string{"line 2 (seq 2): the run that begins here has not ended"}},
		{"open calls at the end are unfinished", all[:4], []string{"line 4 (seq 4): the call c1 (read_file) has no result yet", "line 2 (seq 2): the run"}},
		{"the person's own text may land", with(without(all, decided, landed), decided, personal(&rewritten), landedAs("TWO\n")), nil},
		{"another text than the person's may not", with(without(all, decided, landed), decided, personal(&rewritten), landedAs("ONE\n")), []string{"line 10"}},
		{"a reverted hunk may not", with(without(all, decided, landed), decided, personal(&wasReverted), landedAs("ONE\n")), []string{"line 10"}},
		{"a rewrite may land", with(without(all, decided, landed), decided, rewrite("three\n"), landedAs("three\n")), nil},
		{"a rewrite replaces what was proposed", with(without(all, decided, landed), decided, rewrite("three\n"), landedAs("ONE\n")), []string{"line 10"}},
		{"a rewrite that is not accepted may not land", with(without(all, decided, landed), decided, notAccepted(rewrite("three\n")), landedAs("three\n")), []string{"line 10"}},
		{"an answer to a hunk that was never shown accepts nothing", with(without(all, decided), decided, unknownHunk()), []string{"line 10"}},
		{"a conflict that was not accepted by its name may not land", inConflict(all, proposed, decided, agent.PartDecision{Accept: true}), []string{"line 10"}},
		{"one that was may land", inConflict(all, proposed, decided, agent.PartDecision{Hunks: map[string]agent.HunkDecision{hunkOne.ID: {Accept: true}}}), nil},
		{"a hunk landed that the edit lacks", with(without(all, landed), landed, landedIDs("other")), []string{"line 10 (seq 10): the hunk other is said to have landed"}},
		{"a new file is what was accepted", created, nil},
		{"a new file is another text", createSession("new text\n", target), []string{"line 5 (seq 5): what landed in /w/n is not the text that was accepted"}},
		{"a new file makes no sense", badCreate(), []string{"line 5", "line 5 (seq 5): the new file /w/n is not well formed"}},
		{"a command is no edit", []agent.Record{all[0],
			agent.Proposed{Proposal: agent.Proposal{ID: "p", Parts: []agent.Part{{Effect: agent.Exec{Command: "make"}}}}},
			agent.Decided{ProposalID: "p", Decision: agent.Decision{Parts: []agent.PartDecision{{Accept: true}}}}, all[done]}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := Verify(entriesOf(t, journalOf(t, c.recs...)))
			if len(problems) != len(c.want) {
				t.Fatalf("problems %v, want %q", problems, c.want)
			}
			for i, p := range problems {
				if !strings.HasPrefix(p.String(), c.want[i]) {
					t.Errorf("got  %v\nwant %v", p, c.want[i])
				}
				if p.Unfinished != strings.Contains(c.name, "unfinished") {
					t.Errorf("unfinished: %v", p)
				}
			}
		})
	}
}

func personal(text *string) agent.Decided {
	return agent.Decided{ProposalID: "p1", Revision: 1, Decision: agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{
		{Hunks: map[string]agent.HunkDecision{hunkOne.ID: {Accept: true, Text: text}}},
	}}}
}

func rewrite(text string) agent.Decided {
	return agent.Decided{ProposalID: "p1", Revision: 1, Decision: agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{
		{Accept: true, Rewrite: []agent.Hunk{agent.NewHunk(0, "one\n", text)}},
	}}}
}

// inConflict is a session in which the hunk met a change, with another decision.
func inConflict(all []agent.Record, proposed, decided int, d agent.PartDecision) []agent.Record {
	recs := slices.Clone(all)
	p := recs[proposed].(agent.Proposed).Proposal
	p.Parts = slices.Clone(p.Parts)
	e := p.Parts[0].Effect.(agent.Edit)
	e.Hunks = slices.Clone(e.Hunks)
	e.Hunks[0].Conflict = true
	p.Parts[0].Effect = e
	recs[proposed] = agent.Proposed{Proposal: p}
	recs[decided] = agent.Decided{ProposalID: p.ID, Revision: 1, Decision: agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{d}}}
	return recs
}

func notAccepted(d agent.Decided) agent.Decided {
	d.Decision.Parts[0].Accept = false
	return d
}

func unknownHunk() agent.Decided {
	d := personal(nil)
	d.Decision.Parts[0].Hunks["other"] = agent.HunkDecision{Accept: true}
	return d
}

// landedAs is a landing of other text, elsewhere: anchors may move.
func landedAs(text string) agent.Landed {
	e := edit
	e.Hunks = []agent.Hunk{{ID: "x", At: 10, Old: "one\n", New: text, By: agent.ByPerson}}
	return agent.Landed{ProposalID: "p1", ToolUseID: "c2", Edit: e, Landing: agent.Landing{Status: agent.LandComplete}}
}

func landedIDs(ids ...string) agent.Landed {
	return agent.Landed{ProposalID: "p1", ToolUseID: "c2", Edit: edit, Landing: agent.Landing{Status: agent.LandComplete, Landed: ids}}
}

func createSession(text string, after agent.Hash) []agent.Record {
	c := call("c1", "write_file", `{}`)
	e := agent.Edit{Path: "/w/n", Kind: agent.EditCreate, Hunks: []agent.Hunk{agent.NewHunk(0, "", text)}}
	return []agent.Record{
		agent.Started{ID: "s"}, reply1(c),
		agent.Proposed{Proposal: agent.Proposal{ID: "p", Revision: 1, Parts: []agent.Part{{Use: c, Effect: e}}}},
		agent.Decided{ProposalID: "p", Revision: 1, Decision: agent.Decision{Parts: []agent.PartDecision{{Accept: true}}}},
		agent.Landed{ProposalID: "p", ToolUseID: "c1", Edit: e, Landing: agent.Landing{Status: agent.LandComplete, After: after}},
		answer(c, "made"), agent.Done{Reason: agent.StopComplete},
	}
}

func badCreate() []agent.Record {
	recs := createSession("x", agent.HashText("x"))
	landed := recs[4].(agent.Landed)
	landed.Edit.Hunks = []agent.Hunk{{At: 99, Old: "never", New: "x"}}
	recs[4] = landed
	return recs
}

func TestVerifyCounts(t *testing.T) {
	entries := entriesOf(t, journalOf(t, wholeSession()...))
	check := func(name, want string) {
		t.Helper()
		problems := Verify(entries)
		if len(problems) == 0 || !strings.Contains(problems[0].Text, want) {
			t.Errorf("%s: problems %v", name, problems)
		}
	}
	entries[5].Seq = 7
	for i := range entries[6:] {
		entries[6+i].Seq++
	}
	check("one is missing", "the record before it (seq 6) is missing")
	for i := range entries[5:] {
		entries[5+i].Seq += 2
	}
	check("some are missing", "the 3 records before it (seq 6 to 8) are missing")
	entries[5].Seq = 5
	check("one comes again", "written twice, or by two writers")
}
