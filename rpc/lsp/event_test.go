package lsp

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"assent/agent"
)

// everyEvent has one of each event that a session yields.
func everyEvent() []agent.Event {
	use := agent.ToolUse{ID: "c1", Name: "edit_file", Input: []byte(`{"path":"a"}`)}
	edit := agent.Edit{Path: "/w/a", Kind: agent.EditText, Old: "x\n", Base: agent.HashText("x\n"), Hunks: []agent.Hunk{agent.NewHunk(0, "x\n", "y\n")}}
	p := agent.Proposal{ID: "p", Revision: 1, Parts: []agent.Part{{Use: use, Effect: edit}}}
	return []agent.Event{
		agent.Delta{Text: "a", Thinking: "b", Recast: true},
		agent.Requested{Messages: 1, Attempt: 1},
		agent.Responded{Attempt: 1},
		agent.Appended{Message: agent.UserText("go")},
		agent.Appended{Message: agent.Message{Role: agent.RoleAssistant, Blocks: []agent.Block{use}}},
		agent.Answered{Use: use, Result: agent.ToolResult{ID: "c1"}},
		agent.Proposed{Proposal: p},
		agent.Decided{ProposalID: "p", Decision: agent.Decision{Parts: []agent.PartDecision{{Accept: true}}}},
		agent.Landed{ProposalID: "p", Edit: edit},
		agent.Retrying{Err: errors.New("x")},
		agent.Compacted{Summary: "x", Before: 9, After: 1},
		agent.Appended{Message: agent.Message{Role: agent.RoleUser, Blocks: []agent.Block{agent.Note{Text: "x"}}}},
		agent.Done{Reason: agent.StopComplete},
	}
}

func TestWhatIsSaidOfRequestAndResponse(t *testing.T) {
	for _, c := range []struct {
		name  string
		event agent.Event
		want  string
	}{
		{"a request", agent.Requested{Messages: 3, Bytes: 80, Tokens: 25, Attempt: 2, Model: "m", Provider: "ollama"},
			`[{"type":"request","messages":3,"tokens":25,"attempt":2,"model":"m","provider":"ollama"}]`},
		{"a first byte in the last millisecond", agent.Responded{Attempt: 1, FirstByte: 5200 * time.Microsecond, Elapsed: 5700 * time.Microsecond},
			`[{"type":"response","attempt":1,"firstByteMs":6,"ms":6,"finish":"","usage":{"inputTokens":0,"outputTokens":0}}]`},
		{"a response", agent.Responded{Attempt: 2, FirstByte: 30 * time.Millisecond, Elapsed: 2 * time.Second, Finish: "stop", Usage: agent.Usage{Input: 5, Output: 7}},
			`[{"type":"response","attempt":2,"firstByteMs":30,"ms":2000,"finish":"stop","usage":{"inputTokens":5,"outputTokens":7}}]`},
		{"a first byte that came in no time", agent.Responded{Attempt: 1, FirstByte: time.Microsecond},
			`[{"type":"response","attempt":1,"firstByteMs":1,"ms":0,"finish":"","usage":{"inputTokens":0,"outputTokens":0}}]`},
		{"a failure", agent.Responded{Attempt: 1, Err: &agent.ModelError{Kind: agent.ErrorRateLimit, Message: "too many"}},
			`[{"type":"response","attempt":1,"firstByteMs":0,"ms":0,"finish":"","usage":{"inputTokens":0,"outputTokens":0},"error":"too many"}]`},
		{"a recast comes before what is new", agent.Delta{Text: "a", Recast: true}, `[{"type":"recast"},{"type":"text","delta":"a"}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(new(Events).Of(c.event))
			if err != nil {
				t.Fatal(err)
			}
			same(t, "the event", string(got), c.want)
		})
	}
}
