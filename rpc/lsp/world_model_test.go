package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"

	"assent/agent"
	"assent/agent/agenttest"
)

// modelFunc is a model that gives whole replies.
type modelFunc func() agent.Message

// Stream implements [agent.Model].
func (f modelFunc) Stream(context.Context, agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		m := f()
		yield(agent.Chunk{Reply: &m}, nil)
	}
}

// reply is the next one of the model. What was decided before is over then, so the account
// is settled.
func (w *world) reply() agent.Message {
	w.check()
	w.judge()
	clear(w.grants)
	w.spoken = map[string]bool{}
	for _, is := range w.files {
		maps.Copy(w.spoken, set(slices.Concat(is.buffer, is.disk)))
	}
	w.answers, w.touched, w.owed = nil, map[string]map[string]bool{}, map[string]debt{}
	if w.steps <= 0 || len(w.faults) > 0 || w.Rarely(3) {
		return agenttest.Say("done")
	}
	w.steps--
	w.Steps++
	var uses []agent.ToolUse
	name := one(w, names...)
	for range 1 + w.Pick(3) {
		if w.Rarely(2) {
			name = one(w, names...)
		}
		use := w.call(name)
		if uses = append(uses, use); use.Name == "move_file" || use.Name == "delete_file" {
			break // another file in its place would look as if it were the old one
		}
	}
	return agenttest.Call(uses...)
}

// call is one of the model, for a file as it is now.
func (w *world) call(name string) agent.ToolUse {
	w.words++
	id := fmt.Sprintf("c%d", w.words)
	text, _, open := w.Text(w.uri(name))
	if data, err := os.ReadFile(w.path(name)); err == nil && !open {
		text, open = string(data), true
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var use agent.ToolUse
	switch kind := w.Pick(12); {
	case !open || kind == 0:
		for range 1 + w.Pick(3) {
			text = w.change(text, "a").of(text)
		}
		use = agenttest.Use(id, "write_file", object{"path": name, "content": text})
	case kind == 1:
		use = agenttest.Use(id, "delete_file", object{"path": name})
	case kind == 2:
		use = agenttest.Use(id, "move_file", object{"from": name, "to": one(w, names...)})
	default:
		use = agenttest.Use(id, "edit_file", object{"path": name, "edits": w.edits(text)})
	}
	input, _ := json.Marshal(use.Input) // it was made of JSON
	w.tell("%s: %s %s", id, use.Name, input)
	return use
}

// edits are one to four of a text, which is found again by its words.
func (w *world) edits(text string) []object {
	var all []object
	for range 1 + w.Pick(4) {
		words := wordsOf(text)
		if len(words) == 0 {
			return append(all, object{"old_string": "", "new_string": w.line("a") + "\n"})
		}
		old := words[w.Pick(len(words))]
		var new string
		switch w.Pick(6) {
		case 0:
			new = w.word("a")
		case 1:
			new = old + " " + w.word("a")
		case 2:
			new = w.line("a") + "\n" + old
		case 3:
			new = old + "\n" + w.line("a")
		case 4:
			for line := range strings.Lines(text) {
				if strings.Contains(line, old) {
					old = line
				}
			}
		case 5:
			for line := range strings.Lines(text) {
				if strings.Contains(line, old) {
					old, new = line, w.line("a")+"\n"
				}
			}
		}
		all = append(all, object{"old_string": old, "new_string": new})
	}
	return all
}
