package agent

import (
	"fmt"
	"slices"
	"time"
)

// append records a message of the user or the model and adds it to the history.
func (r *run) append(m Message, elapsed time.Duration) error {
	if err := r.emit(Appended{Message: m, Elapsed: elapsed}); err != nil {
		return err
	}
	r.s.history = append(r.s.history, m)
	for _, u := range m.ToolUses() {
		r.s.ids[u.ID] = true
	}
	return nil
}

// answered records the result of a call and adds it to the message of results
// that follows the calls.
func (r *run) answered(use ToolUse, result ToolResult, elapsed time.Duration) error {
	if err := r.emit(Answered{Use: use, Result: result, Elapsed: elapsed}); err != nil {
		return err
	}
	h := r.s.history
	if last := len(h) - 1; h[last].Role == RoleTool {
		// No request was made since this message began, so no cache knows it.
		h[last].Blocks = append(slices.Clip(h[last].Blocks), result)
		return nil
	}
	r.s.history = append(h, Message{Role: RoleTool, Blocks: []Block{result}})
	return nil
}

// settle gives a result to each call that an earlier run, perhaps in another
// process, left without one. It runs none of them again.
func (r *run) settle() error {
	for _, use := range openUses(r.s.history) {
		out := "Interrupted before the call ended. Nothing more of it will happen; if it had begun, its effects are unknown: check before doing it again."
		if err := r.answered(use, ToolResult{ID: use.ID, Output: out, IsError: true}, 0); err != nil {
			return err
		}
	}
	return nil
}

// openUses lists the calls at the end of the history that lack a result.
func openUses(history []Message) []ToolUse {
	n := len(history)
	var results []ToolResult
	if n > 0 && history[n-1].Role == RoleTool {
		results = history[n-1].ToolResults()
		n--
	}
	if n == 0 {
		return nil
	}
	uses := history[n-1].ToolUses()
	return slices.DeleteFunc(uses, func(u ToolUse) bool {
		return slices.ContainsFunc(results, func(r ToolResult) bool { return r.ID == u.ID })
	})
}

// checkHistory holds invariant 1 both ways: the results of a message's tool uses
// are the next message, in order, and there are no others.
func checkHistory(history []Message) error {
	var open []ToolUse
	for i, m := range history {
		results := m.ToolResults()
		if len(open) > 0 || m.Role == RoleTool {
			if m.Role != RoleTool || len(results) != len(open) {
				return fmt.Errorf("message %d: %d results for %d tool uses", i, len(results), len(open))
			}
			for j, u := range open {
				if results[j].ID != u.ID {
					return fmt.Errorf("message %d: result %d is of %q, not of %q", i, j, results[j].ID, u.ID)
				}
			}
		}
		open = m.ToolUses()
	}
	if len(open) > 0 {
		return fmt.Errorf("the last message has %d tool uses without results", len(open))
	}
	return nil
}

// sendable is the history as a request may hold it, and the bytes of its text.
// What was sent before is not checked again, so that a long session costs what
// is new in it.
func (s *Session) sendable() (messages []Message, size int, err error) {
	if checkHistory(s.history[s.sound:]) == nil {
		s.bytes += textBytes(s.history[s.sound:])
		s.sound = len(s.history)
		return slices.Clip(s.history), s.bytes, nil
	}
	messages = mended(s.history)
	if err := checkHistory(messages); err != nil {
		return nil, 0, fmt.Errorf("agent: the history is broken, which is a bug: %w", err)
	}
	return messages, textBytes(messages), nil
}

// mended makes a well formed history of one that is not, because its journal was
// damaged. The request is mended, never the journal.
func mended(history []Message) []Message {
	var out []Message
	for i, m := range history {
		if m.Role == RoleTool {
			continue // taken below, beside its calls
		}
		out = append(out, m)
		uses := m.ToolUses()
		if len(uses) == 0 {
			continue
		}
		var found []ToolResult
		if i+1 < len(history) {
			found = history[i+1].ToolResults()
		}
		results := Message{Role: RoleTool}
		for _, u := range uses {
			result := ToolResult{ID: u.ID, Output: "The result of this call was lost.", IsError: true}
			if j := slices.IndexFunc(found, func(r ToolResult) bool { return r.ID == u.ID }); j >= 0 {
				result = found[j]
			}
			results.Blocks = append(results.Blocks, result)
		}
		out = append(out, results)
	}
	return out
}
