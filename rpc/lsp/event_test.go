package lsp

import (
	"errors"

	"assent/agent"
)

// everyEvent has one of each event that a session yields.
func everyEvent() []agent.Event {
	use := agent.ToolUse{ID: "c1", Name: "edit_file", Input: []byte(`{"path":"a"}`)}
	edit := agent.Edit{Path: "/w/a", Kind: agent.EditText, Old: "x\n", Base: agent.HashText("x\n"), Hunks: []agent.Hunk{agent.NewHunk(0, "x\n", "y\n")}}
	p := agent.Proposal{ID: "p", Revision: 1, Parts: []agent.Part{{Use: use, Effect: edit}}}
	return []agent.Event{
		agent.Delta{Text: "a", Thinking: "b"},
		agent.Requested{Messages: 1, Attempt: 1},
		agent.Appended{Message: agent.UserText("go")},
		agent.Appended{Message: agent.Message{Role: agent.RoleAssistant, Blocks: []agent.Block{use}}},
		agent.Answered{Use: use, Result: agent.ToolResult{ID: "c1"}},
		agent.Proposed{Proposal: p},
		agent.Decided{ProposalID: "p", Decision: agent.Decision{Parts: []agent.PartDecision{{Accept: true}}}},
		agent.Landed{ProposalID: "p", Edit: edit},
		agent.Retrying{Err: errors.New("x")},
		agent.Done{Reason: agent.StopComplete},
	}
}
