package journal

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"assent/agent"
)

func (l *line) decision(d agent.Decision) {
	l.word("by", string(d.By))
	l.text("comment", d.Comment)
	if len(d.Parts) == 0 {
		return
	}
	l.begin("parts", '[')
	for _, p := range d.Parts {
		l.element()
		l.flag("accept", p.Accept)
		l.flag("confirm", p.Confirm)
		l.text("comment", p.Comment)
		l.hunkDecisions(p.Hunks)
		if p.Rewrite != nil { // an empty one is an answer, too
			l.hunks("rewrite", p.Rewrite)
		}
		l.end('}')
	}
	l.end(']')
}

func (l *line) hunkDecisions(hunks map[string]agent.HunkDecision) {
	if len(hunks) == 0 {
		return
	}
	var odd []string // IDs that can't be a key
	ids := slices.Sorted(maps.Keys(hunks))
	l.begin("hunks", '{')
	for _, id := range ids {
		if !utf8.ValidString(id) {
			odd = append(odd, id)
			continue
		}
		l.sep()
		l.value(id)
		l.b = append(l.b, ':')
		l.hunkDecision(hunks[id])
	}
	l.end('}')
	if len(odd) == 0 {
		return
	}
	l.begin("hunks64", '{')
	for _, id := range odd {
		l.key(base64.StdEncoding.EncodeToString([]byte(id)))
		l.hunkDecision(hunks[id])
	}
	l.end('}')
}

func (l *line) hunkDecision(d agent.HunkDecision) {
	l.b = append(l.b, '{')
	l.flag("accept", d.Accept)
	if d.Text != nil {
		l.key("text")
		l.value(*d.Text)
	}
	l.text("comment", d.Comment)
	l.end('}')
}

func (l *line) landed(r agent.Landed) error {
	l.text("proposalId", r.ProposalID)
	l.text("toolUseId", r.ToolUseID)
	if err := l.edit("edit", r.Edit); err != nil {
		return err
	}
	l.word("status", r.Landing.Status.String())
	l.word("where", string(r.Landing.Where))
	l.hash("before", r.Landing.Before)
	l.hash("after", r.Landing.After)
	l.texts("landed", r.Landing.Landed)
	l.texts("conflicts", r.Landing.Conflicts)
	l.texts("leftOut", r.Landing.LeftOut)
	l.text("foreign", r.Landing.Foreign)
	l.text("note", r.Landing.Note)
	l.problems(r.Landing.Problems)
	return nil
}

type decidedWire struct {
	ProposalID text               `json:"proposalId"`
	Revision   int                `json:"revision"`
	By         text               `json:"by"`
	Comment    text               `json:"comment"`
	Parts      []partDecisionWire `json:"parts"`
}

type partDecisionWire struct {
	Accept  bool                        `json:"accept"`
	Confirm bool                        `json:"confirm"`
	Comment text                        `json:"comment"`
	Hunks   map[string]hunkDecisionWire `json:"hunks"`
	Hunks64 map[string]hunkDecisionWire `json:"hunks64"`
	Rewrite *[]hunkWire                 `json:"rewrite"`
}

type hunkDecisionWire struct {
	Accept  bool  `json:"accept"`
	Text    *text `json:"text"`
	Comment text  `json:"comment"`
}

func (w decidedWire) record() (agent.Record, error) {
	d := agent.Decision{By: agent.By(w.By), Comment: string(w.Comment)}
	for _, p := range w.Parts {
		part, err := p.decision()
		if err != nil {
			return nil, err
		}
		d.Parts = append(d.Parts, part)
	}
	return agent.Decided{ProposalID: string(w.ProposalID), Revision: w.Revision, Decision: d}, nil
}

func (w partDecisionWire) decision() (agent.PartDecision, error) {
	d := agent.PartDecision{Accept: w.Accept, Confirm: w.Confirm, Comment: string(w.Comment)}
	if n := len(w.Hunks) + len(w.Hunks64); n > 0 {
		d.Hunks = make(map[string]agent.HunkDecision, n)
	}
	for id, h := range w.Hunks {
		d.Hunks[id] = h.decision()
	}
	for key, h := range w.Hunks64 {
		id, err := base64.StdEncoding.DecodeString(key)
		if err != nil {
			return d, fmt.Errorf("hunks64: %w", err)
		}
		d.Hunks[string(id)] = h.decision()
	}
	if w.Rewrite != nil {
		d.Rewrite = append([]agent.Hunk{}, plainHunks(*w.Rewrite)...)
	}
	return d, nil
}

func (w hunkDecisionWire) decision() agent.HunkDecision {
	return agent.HunkDecision{Accept: w.Accept, Text: (*string)(w.Text), Comment: string(w.Comment)}
}

type landedWire struct {
	ProposalID text       `json:"proposalId"`
	ToolUseID  text       `json:"toolUseId"`
	Edit       effectWire `json:"edit"`
	Status     text       `json:"status"`
	Where      text       `json:"where"`
	Before     text       `json:"before"`
	After      text       `json:"after"`
	Landed     []text     `json:"landed"`
	Conflicts  []text     `json:"conflicts"`
	Foreign    text       `json:"foreign"`
	Note       text       `json:"note"`

	LeftOut  []text       `json:"leftOut"`
	Problems problemsWire `json:"problems"`
}

func (w landedWire) record() (agent.Record, error) {
	edit, err := w.Edit.edit()
	if err != nil {
		return nil, err
	}
	status, err := parseStatus(w.Status)
	if err != nil {
		return nil, err
	}
	before, err := parseHash(w.Before)
	if err != nil {
		return nil, err
	}
	after, err := parseHash(w.After)
	if err != nil {
		return nil, err
	}
	return agent.Landed{
		ProposalID: string(w.ProposalID), ToolUseID: string(w.ToolUseID), Edit: edit,
		Landing: agent.Landing{
			Status: status, Where: agent.Source(w.Where), Before: before, After: after,
			Landed: plainTexts(w.Landed), Conflicts: plainTexts(w.Conflicts),
			Foreign: string(w.Foreign), Note: string(w.Note), LeftOut: plainTexts(w.LeftOut), Problems: w.Problems.problems(),
		},
	}, nil
}

func parseStatus(name text) (agent.LandStatus, error) {
	for s := agent.LandFailed; s <= agent.LandUnconfirmed; s++ {
		if s.String() == string(name) {
			return s, nil
		}
	}
	return 0, fmt.Errorf("unknown status of a landing %q", name)
}
