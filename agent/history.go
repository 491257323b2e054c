package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// sound holds a history against what servers demand of one, both ways: the results of
// a message's tool uses are the next message, in order, and there are no others; no ID
// comes twice; no message is empty; arguments are one JSON object, or marked as none.
// ids are those of the messages before, and get those of these.
func sound(history []Message, ids map[string]bool, first bool) error {
	var open []ToolUse
	for i, m := range history {
		results := m.ToolResults()
		switch {
		case (len(open) > 0) != (m.Role == RoleTool) || len(results) != len(open):
			return fmt.Errorf("message %d: %d results for %d tool uses", i, len(results), len(open))
		case m.Role != RoleTool && blank(m):
			return fmt.Errorf("message %d is empty", i)
		case i == 0 && first && m.Role != RoleUser:
			return errors.New("the person does not begin")
		}
		for j, u := range open {
			if results[j].ID != u.ID || results[j].Output == "" {
				return fmt.Errorf("message %d: result %d is of %q, not of %q, or empty", i, j, results[j].ID, u.ID)
			}
		}
		open = m.ToolUses()
		for _, u := range open {
			if u.ID == "" || ids[u.ID] || u.Invalid == "" && !isObject(u.Input) {
				return fmt.Errorf("message %d: the call %q has no ID of its own, or arguments that are none", i, u.ID)
			}
			ids[u.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the last message has %d tool uses without results", len(open))
	}
	return nil
}

// blank reports whether nothing of a message can be sent.
func blank(m Message) bool {
	return !slices.ContainsFunc(m.Blocks, func(b Block) bool {
		switch b := b.(type) {
		case Text:
			return strings.TrimSpace(b.Text) != ""
		case Note:
			return strings.TrimSpace(b.Text) != ""
		case Thinking: // of nothing else: servers refuse it alone
			return false
		}
		return true
	})
}

func isObject(input json.RawMessage) bool {
	input = bytes.TrimSpace(input)
	return len(input) > 0 && input[0] == '{' && json.Valid(input)
}

// sendable is the history as a request may hold it, and the bytes of its text.
// What was sent before is not checked again, so that a long session costs what
// is new in it.
func (s *Session) sendable() (messages []Message, size int, err error) {
	if sound(s.history[s.sound:], s.sent, s.sound == 0) != nil {
		// Only a journal that was damaged, or written by something else, leads here.
		// The request is mended, never the journal.
		mended := mend(s.history)
		s.rewrite(mended)
		if err := sound(mended, s.sent, true); err != nil {
			return nil, 0, fmt.Errorf("agent: the history is broken, which is a bug: %w", err)
		}
	}
	s.bytes += textBytes(s.history[s.sound:])
	s.sound = len(s.history)
	return slices.Clip(s.history), s.bytes, nil
}

// rewrite puts another history in the place of this one; nothing of it was sent.
func (s *Session) rewrite(history []Message) {
	s.history, s.sound, s.bytes, s.sent = history, 0, 0, map[string]bool{}
}

const (
	lostResult    = "The result of this call was lost."
	lostBeginning = "[The beginning of the conversation was lost.]"
	noOutput      = "(no output)"
)

// mend makes a sound history of one that is not. Calls keep the results that follow
// their message, by ID, each once; what belongs to nothing is left out.
func mend(history []Message) []Message {
	var out []Message
	ids := map[string]bool{}
	for i, m := range history {
		switch {
		case m.Role == RoleTool: // taken below, beside its calls
			continue
		case blank(m):
			continue
		case len(out) == 0 && m.Role != RoleUser:
			out = append(out, Message{Role: RoleUser, Blocks: []Block{Note{lostBeginning}}})
		}
		uses := m.ToolUses()
		if len(uses) == 0 {
			out = append(out, m)
			continue
		}
		calls, results := mendCalls(m, resultsAfter(history, i), ids)
		out = append(out, calls, results)
	}
	return out
}

// resultsAfter are all results between a message and the next one that is no result.
func resultsAfter(history []Message, at int) []ToolResult {
	var found []ToolResult
	for _, m := range history[at+1:] {
		if m.Role != RoleTool {
			break
		}
		found = append(found, m.ToolResults()...)
	}
	return found
}

// mendCalls gives each call of a message an ID of its own, arguments that are marked
// if they are none, and one result.
func mendCalls(m Message, found []ToolResult, ids map[string]bool) (calls, results Message) {
	calls, results = m, Message{Role: RoleTool}
	calls.Blocks = slices.Clone(m.Blocks)
	for i, b := range calls.Blocks {
		u, ok := b.(ToolUse)
		if !ok {
			continue
		}
		result := ToolResult{Output: lostResult, IsError: true}
		if j := slices.IndexFunc(found, func(r ToolResult) bool { return r.ID == u.ID }); j >= 0 {
			result = found[j]
			found = slices.Delete(slices.Clone(found), j, j+1)
		}
		u.ID = unique(u.ID, ids)
		ids[u.ID] = true
		if u.Invalid == "" && !isObject(u.Input) {
			u.Invalid, u.RawInput, u.Input = notObject, string(u.Input), nil
		}
		result.ID, result.Output = u.ID, orDefault(result.Output, noOutput)
		calls.Blocks[i] = u
		results.Blocks = append(results.Blocks, result)
	}
	return calls, results
}
