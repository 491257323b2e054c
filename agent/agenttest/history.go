package agenttest

import (
	"encoding/json"
	"fmt"
	"strings"

	"assent/agent"
)

// CheckMessages holds the messages of a request against what model servers publish
// of their formats and the strictest of them insist on:
//
//   - the conversation begins with the user and does not end with the assistant;
//   - a message with calls is followed at once by one message with exactly one result
//     for each, in their order, and results are nowhere else;
//   - the ID of a call is its own in the whole conversation;
//   - arguments are one JSON object, or the call says what is wrong with them;
//   - no message and no result is empty, and blocks are where they belong.
//
// It shares no code with the session that it is there to check.
func CheckMessages(messages []agent.Message) error {
	if len(messages) == 0 {
		return fmt.Errorf("there are no messages")
	}
	seen := map[string]int{}
	for i, m := range messages {
		var err error
		switch m.Role {
		case agent.RoleUser:
			err = checkUser(m)
		case agent.RoleAssistant:
			err = checkAssistant(messages, i, seen)
		case agent.RoleTool:
			if i == 0 || messages[i-1].Role != agent.RoleAssistant || len(messages[i-1].ToolUses()) == 0 {
				err = fmt.Errorf("it holds results of nothing")
			}
		default:
			err = fmt.Errorf("its role is %q", m.Role)
		}
		if err != nil {
			return fmt.Errorf("message %d of %d (%s): %w", i, len(messages), m.Role, err)
		}
	}
	if first, last := messages[0].Role, messages[len(messages)-1].Role; first != agent.RoleUser || last == agent.RoleAssistant {
		return fmt.Errorf("the conversation begins with the %s and ends with the %s", first, last)
	}
	return nil
}

func checkUser(m agent.Message) error {
	content := false
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case agent.Text:
			content = content || strings.TrimSpace(b.Text) != ""
		case agent.Note:
			content = content || strings.TrimSpace(b.Text) != ""
		case agent.Image:
			content = content || len(b.Data) > 0
		default:
			return fmt.Errorf("it holds a %T", b)
		}
	}
	if !content {
		return fmt.Errorf("it is empty")
	}
	return nil
}

func checkAssistant(messages []agent.Message, at int, seen map[string]int) error {
	content := false
	var calls []string
	for _, b := range messages[at].Blocks {
		switch b := b.(type) {
		case agent.Text:
			content = content || strings.TrimSpace(b.Text) != ""
		case agent.Thinking:
		case agent.ToolUse:
			content = true
			calls = append(calls, b.ID)
			if earlier, taken := seen[b.ID]; taken || b.ID == "" {
				return fmt.Errorf("the ID %q of a call is empty or that of message %d", b.ID, earlier)
			}
			seen[b.ID] = at
			var object map[string]json.RawMessage
			if b.Invalid == "" && (json.Unmarshal(b.Input, &object) != nil || object == nil) {
				return fmt.Errorf("the arguments of %s are %q", b.ID, b.Input)
			}
		default:
			return fmt.Errorf("it holds a %T", b)
		}
	}
	if !content {
		return fmt.Errorf("it is empty")
	}
	if len(calls) == 0 {
		return nil
	}
	var results []string
	if at+1 < len(messages) && messages[at+1].Role == agent.RoleTool {
		for _, b := range messages[at+1].Blocks {
			r, ok := b.(agent.ToolResult)
			if !ok {
				return fmt.Errorf("its results hold a %T", b)
			}
			if r.Output == "" {
				return fmt.Errorf("the result of %s is empty", r.ID)
			}
			results = append(results, r.ID)
		}
	}
	if got, want := fmt.Sprintf("%q", results), fmt.Sprintf("%q", calls); got != want {
		return fmt.Errorf("it calls %s and is answered for %s", want, got)
	}
	return nil
}
