package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
)

// slots are lines to edit, each free until one call takes it.
type slots struct{ next int }

const slotsPerFile = 80

// take names a line that no call was given yet.
func (s *slots) take() (file, line string) {
	n := s.next
	s.next++
	return slotFile(n / slotsPerFile), slotLine(n)
}

func slotFile(n int) string { return fmt.Sprintf("lines-%03d.txt", n) }
func slotLine(n int) string { return fmt.Sprintf("slot %05d is free", n) }

// slotText is the text of a file before anything landed in it.
func slotText(file int) string {
	var b strings.Builder
	for i := range slotsPerFile {
		fmt.Fprintf(&b, "%s\n\n", slotLine(file*slotsPerFile+i))
	}
	return b.String()
}

// composer writes the body of a reply, in one of the ways in which servers do.
type composer struct {
	reply  *chaosReply
	random *rand.Rand
	slots  *slots

	lineEnd string
}

func (c *composer) compose(mayCall bool) {
	c.lineEnd = "\n"
	if c.random.IntN(8) == 0 {
		c.lineEnd = "\r\n"
	}
	switch c.reply.fault {
	case faultMute, faultLimited, faultBroken, faultRefused, faultPage, faultNoStream:
		return
	case faultEmpty:
		c.delta(map[string]any{"role": "assistant", "content": ""})
		c.end("stop")
		return
	}
	calls := 0
	if mayCall && (c.random.IntN(4) > 0 || c.reply.fault == faultWritten) {
		calls = 1 + c.random.IntN(3)
	}
	c.delta(map[string]any{"role": "assistant", "content": nil})
	c.say(calls == 0)
	if c.reply.fault == faultWritten && mayCall {
		name, args := c.call()
		c.delta(map[string]any{"content": fmt.Sprintf("\n<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", name, args)})
		c.end("stop")
		return
	}
	early := calls > 1 && c.random.IntN(8) == 0 // some say why they end before they do
	way := c.random.IntN(4)
	for i := range calls {
		if early && i == calls-1 {
			c.finish("tool_calls")
		}
		c.send(way, i)
	}
	switch {
	case early:
		c.reply.vague = !c.done()
	case calls > 0:
		c.end([]string{"tool_calls", "tool_calls", "stop"}[c.random.IntN(3)])
	default:
		c.end("stop")
	}
}

// say writes words that are in no other reply, in pieces.
func (c *composer) say(something bool) {
	n := c.random.IntN(8)
	if something {
		n++
	}
	for i := range n {
		key := "content"
		if i == 0 && n > 2 && c.random.IntN(4) == 0 {
			key = "reasoning_content"
		}
		word := fmt.Sprintf("w%d.%d ", c.reply.n, i)
		at := 1 + c.random.IntN(len(word)-1)
		c.delta(map[string]any{key: word[:at]})
		c.delta(map[string]any{key: word[at:]})
	}
	c.reply.words = n
}

// call makes up a call, mostly of an edit.
func (c *composer) call() (name, args string) {
	call := chaosCall{marker: fmt.Sprintf("m%05d.%dz", c.reply.n, len(c.reply.calls))}
	note := call.marker + ` "quoted" \ and {braced`
	var input map[string]any
	switch c.random.IntN(6) {
	case 0: // what is not there gives an error
		name = "read_file"
		input = map[string]any{"path": "none/" + call.marker + ".txt"}
	case 1:
		name, call.marker = "read_file", ""
		line := 1 + c.random.IntN(slotsPerFile)
		input = map[string]any{"path": slotFile(0), "start_line": line, "end_line": line + c.random.IntN(9)}
	case 2:
		name, call.file = "write_file", "made/"+call.marker+".txt"
		input = map[string]any{"path": call.file, "content": note + "\n"}
	default:
		name = "edit_file"
		call.file, call.slot = c.slots.take()
		input = map[string]any{"path": call.file, "edits": []any{map[string]any{"old_string": call.slot, "new_string": note}}}
	}
	data, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	c.reply.calls = append(c.reply.calls, call)
	return name, string(data)
}

// send writes a call: 0 as OpenAI does, 1 with id and name in each fragment, 2 all at
// once without an index, 3 said again as a whole at its end. Fragments with no news in
// them may come twice.
func (c *composer) send(way, index int) {
	name, args := c.call()
	id := fmt.Sprintf("call_%d_%d", c.reply.n, index)
	if c.random.IntN(4) == 0 {
		id = fmt.Sprintf("call_%d", index) // as in other replies
	}
	head := map[string]any{"index": index, "id": id, "type": "function"}
	fragment := func(fields map[string]any, function map[string]any) {
		all := map[string]any{"function": function}
		for k, v := range fields {
			all[k] = v
		}
		c.delta(map[string]any{"tool_calls": []any{all}})
	}
	if way == 2 {
		for range 1 + c.random.IntN(2) {
			fragment(map[string]any{"id": id, "type": "function"}, map[string]any{"name": name, "arguments": args})
		}
		c.reply.calls[index].end = c.last()
		return
	}
	for range 1 + c.random.IntN(2) {
		fragment(head, map[string]any{"name": name, "arguments": ""})
	}
	for rest := args; rest != ""; {
		n := min(len(rest), 1+c.random.IntN(60))
		if way == 1 {
			fragment(head, map[string]any{"name": name, "arguments": rest[:n]})
		} else {
			fragment(map[string]any{"index": index}, map[string]any{"arguments": rest[:n]})
		}
		rest = rest[n:]
	}
	c.reply.calls[index].end = c.last()
	if way == 3 {
		fragment(head, map[string]any{"name": name, "arguments": args})
	}
}

func (c *composer) delta(delta map[string]any) {
	c.event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": nil}}})
}

func (c *composer) end(reason string) {
	c.finish(reason)
	c.done()
}

func (c *composer) finish(reason string) {
	c.event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}}})
	c.reply.finish = c.last()
}

// done ends a reply, and reports whether it says so.
func (c *composer) done() bool {
	if c.random.IntN(2) == 0 {
		c.event(map[string]any{"choices": []any{}, "usage": map[string]any{"prompt_tokens": 100, "completion_tokens": 10}})
	}
	says := c.random.IntN(8) > 0 // not all servers do
	if says {
		c.write("data: [DONE]")
	}
	return says
}

func (c *composer) event(fields map[string]any) {
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	if c.random.IntN(30) == 0 {
		c.reply.body = append(c.reply.body, ": a comment"+c.lineEnd...)
	}
	c.write("data: " + string(data))
}

func (c *composer) write(line string) {
	c.reply.body = append(c.reply.body, line+c.lineEnd+c.lineEnd...)
	c.reply.ends = append(c.reply.ends, len(c.reply.body))
}

// last is where the data of the last event ends, without its line end.
func (c *composer) last() int { return len(c.reply.body) - 2*len(c.lineEnd) }

// checkChat holds a request against the published format of Chat Completions.
func checkChat(body []byte) error {
	var req struct {
		Stream   bool
		Messages []struct {
			Role       string
			Content    any
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID, Type string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	if !req.Stream || len(req.Messages) < 2 {
		return errors.New("it has no messages, or wants no stream")
	}
	var open []string
	seen := map[string]bool{}
	for i, m := range req.Messages {
		text, _ := m.Content.(string)
		switch {
		case len(open) > 0 && (m.Role != "tool" || m.ToolCallID != open[0]):
			return fmt.Errorf("message %d is %s of %q and not the result of %v", i, m.Role, m.ToolCallID, open)
		case len(open) == 0 && m.Role == "tool":
			return fmt.Errorf("message %d is the result %q of nothing", i, m.ToolCallID)
		case m.Role == "tool":
			open = open[1:]
		case strings.TrimSpace(text) == "" && len(m.ToolCalls) == 0:
			return fmt.Errorf("message %d of %s is empty", i, m.Role)
		}
		for _, call := range m.ToolCalls {
			var args map[string]any
			if err := json.Unmarshal([]byte(call.Function.Arguments), &args); err != nil || args == nil {
				return fmt.Errorf("the arguments %q of message %d are no object", call.Function.Arguments, i)
			}
			if seen[call.ID] || call.ID == "" || call.Type != "function" || call.Function.Name == "" || m.Role != "assistant" {
				return fmt.Errorf("the call %+v of message %d is not in order", call, i)
			}
			seen[call.ID] = true
			open = append(open, call.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the calls %v have no result", open)
	}
	if last := req.Messages[len(req.Messages)-1].Role; last != "user" && last != "tool" {
		return fmt.Errorf("the last message is of %s", last)
	}
	return nil
}
