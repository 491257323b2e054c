package demo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/model/demo"
)

// world is a workspace with tools that answer as the real ones do, without
// consent: a call is done at once, or refused if it is in refuse.
type world struct {
	files  map[string]string
	limit  int // lines that read_file gives at most
	refuse map[string]string
	lack   []string // tools that are not there
	calls  []string // "name input" of each
}

func (w *world) specs() []agent.Spec {
	var specs []agent.Spec
	for _, name := range []string{
		"read_file", "list_files", "search", "edit_file", "write_file", "move_file", "delete_file", "get_weather",
	} {
		if !slices.Contains(w.lack, name) {
			specs = append(specs, agent.Spec{Name: name})
		}
	}
	return specs
}

// turn runs one prompt to its end and returns the last text.
func (w *world) turn(t *testing.T, history []agent.Message, prompt string) (string, []agent.Message) {
	t.Helper()
	m := demo.New()
	history = append(history, agent.UserText(prompt))
	for range 12 {
		var reply *agent.Message
		for c, err := range m.Stream(context.Background(), agent.Request{Messages: history, Tools: w.specs()}) {
			if err != nil {
				t.Fatal(err)
			}
			reply = c.Reply
		}
		history = append(history, *reply)
		uses := reply.ToolUses()
		if len(uses) == 0 {
			return reply.Text(), history
		}
		results := agent.Message{Role: agent.RoleTool}
		for _, u := range uses {
			results.Blocks = append(results.Blocks, w.do(u))
		}
		history = append(history, results)
	}
	t.Fatal("the model does not come to an end")
	return "", nil
}

func (w *world) do(u agent.ToolUse) agent.ToolResult {
	w.calls = append(w.calls, u.Name+" "+string(u.Input))
	var in struct {
		Path, Content, From, To, Pattern, Glob, City string
		Start                                        int `json:"start_line"`
		End                                          int `json:"end_line"`
		Edits                                        []struct {
			Old string `json:"old_string"`
			New string `json:"new_string"`
		}
	}
	if err := json.Unmarshal(u.Input, &in); err != nil {
		return agent.ToolResult{ID: u.ID, Output: err.Error(), IsError: true}
	}
	if why, refused := w.refuse[u.Name]; refused {
		return agent.ToolResult{ID: u.ID, Output: why, IsError: true}
	}
	name := in.Path + in.From
	text, exists := w.files[name]
	if !exists && slices.Contains([]string{"read_file", "edit_file", "move_file", "delete_file"}, u.Name) {
		return agent.ToolResult{ID: u.ID, Output: name + " does not exist", IsError: true}
	}
	out := ""
	switch u.Name {
	case "read_file":
		out = w.read(in.Path, in.Start, in.End)
	case "list_files":
		out = strings.Join(slices.Sorted(maps.Keys(w.files)), "\n") + "\n"
	case "search":
		out = "1 match for " + in.Pattern + "\nnotes.txt:1: milk\n"
	case "edit_file":
		w.files[name] = strings.ReplaceAll(text, in.Edits[0].Old, in.Edits[0].New)
		out = name + " edited: 1 of 1 hunks landed."
	case "write_file":
		w.files[name] = in.Content
		out = name + " written."
	case "move_file":
		delete(w.files, name)
		w.files[in.To] = text
		out = name + " renamed to " + in.To + "."
	case "delete_file":
		delete(w.files, name)
		out = name + " deleted."
	case "get_weather":
		out = "sunny in " + in.City
	}
	return agent.ToolResult{ID: u.ID, Output: out}
}

func (w *world) read(name string, start, end int) string {
	text := w.files[name]
	if text == "" {
		return name + ": empty file"
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	if strings.HasSuffix(text, "\n") {
		lines[len(lines)-1] += "\n"
	}
	all := len(lines)
	start = min(max(start, 1), all)
	if end == 0 {
		end = all
	}
	if end = min(end, all); w.limit > 0 {
		end = min(end, start+w.limit-1)
	}
	last := ""
	if end == all && !strings.HasSuffix(text, "\n") {
		last = ", no newline at the end"
	}
	return fmt.Sprintf("%s: lines %d-%d of %d%s\n%s", name, start, end, all, last, strings.Join(lines[start-1:end], ""))
}
