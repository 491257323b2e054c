// Package demo is a model without a model: it understands a handful of plain
// English commands and answers them with the session's tools, offline and always
// in the same way. It lets a person try consent, diffs and undo on their own
// files before they set up a real model, and tests use it for whole sessions.
//
// It keeps nothing between requests. What there is to do it finds in the last
// message of the user, and what was done in the calls and results after it.
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"assent/agent"
)

// Model is the built-in [agent.Model].
type Model struct{ grammar grammar }

// New makes the model.
func New() *Model { return &Model{newGrammar()} }

// Stream implements [agent.Model].
func (m *Model) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		reply := m.reply(req)
		for piece := range pieces(reply.Text()) {
			if err := ctx.Err(); err != nil {
				yield(agent.Chunk{}, err)
				return
			}
			if !yield(agent.Chunk{Text: piece}, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(agent.Chunk{}, err)
			return
		}
		yield(agent.Chunk{Reply: &reply}, nil)
	}
}

// pieces cuts a text behind white space into a few pieces, so that streaming is
// to be seen.
func pieces(text string) iter.Seq[string] {
	const most, least = 8, 6 // pieces, bytes in one
	size := max(least, len(text)/most)
	return func(yield func(string) bool) {
		for text != "" {
			end := len(text)
			if size < end {
				if i := strings.IndexAny(text[size:], " \n"); i >= 0 {
					end = size + i + 1
				}
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

func (m *Model) reply(req agent.Request) agent.Message {
	prompt, since := lastPrompt(req.Messages)
	tasks, unknown := m.grammar.parse(prompt)
	if unknown != "" || len(tasks) == 0 {
		return say(help(unknown, prompt))
	}
	return work(tasks, ownOutcomes(since), req)
}

// lastPrompt is what the user said last, and the messages after it.
func lastPrompt(messages []agent.Message) (string, []agent.Message) {
	for i, m := range slices.Backward(messages) {
		if m.Role != agent.RoleUser {
			continue
		}
		for _, b := range m.Blocks { // what follows the first text is context that the editor added
			if t, ok := b.(agent.Text); ok && strings.TrimSpace(t.Text) != "" {
				return t.Text, messages[i+1:]
			}
		}
	}
	return "", nil
}

// outcome is a call with its result.
type outcome struct {
	tool   string
	result agent.ToolResult
}

const idPrefix = "demo-"

// ownOutcomes are this model's calls in the messages, in order. Another model may
// have had a turn, too.
func ownOutcomes(messages []agent.Message) []outcome {
	results := map[string]agent.ToolResult{}
	for _, m := range messages {
		for _, r := range m.ToolResults() {
			results[r.ID] = r
		}
	}
	var own []outcome
	for _, m := range messages {
		for _, u := range m.ToolUses() {
			if strings.HasPrefix(u.ID, idPrefix) {
				own = append(own, outcome{u.Name, results[u.ID]})
			}
		}
	}
	return own
}

// work goes through the tasks in order, takes the outcomes that each has, and
// replies with the first calls that are missing, or with what came of all. After
// a failure nothing more is done: what follows may rest on it.
func work(tasks []task, had []outcome, req agent.Request) agent.Message {
	var said []string
	for i, t := range tasks {
		first, rest, ok := take(t.first, had)
		if !ok {
			return ask(t, t.first, said, req)
		}
		had = rest
		text, good := t.report(first)
		if good && t.then != nil {
			var second call
			if second, text, good = t.then(first[0].result.Output); good {
				done, rest, ok := take([]call{second}, had)
				if !ok {
					return ask(t, []call{second}, said, req)
				}
				had = rest
				text, good = reportAll(done)
			}
		}
		said = append(said, text)
		if !good && i+1 < len(tasks) {
			said = append(said, "I stop here. Not done: "+sentences(tasks[i+1:])+".")
		}
		if !good {
			break
		}
	}
	return say(strings.Join(said, "\n\n"))
}

// take splits off the outcomes of the calls, if all of them are there.
func take(calls []call, had []outcome) (mine, rest []outcome, ok bool) {
	if len(had) < len(calls) {
		return nil, nil, false
	}
	for i, c := range calls {
		if had[i].tool != c.tool {
			return nil, nil, false
		}
	}
	return had[:len(calls)], had[len(calls):], true
}

// ask is a reply that makes the calls of a task, or says why it can't.
func ask(t task, calls []call, said []string, req agent.Request) agent.Message {
	missing := func(c call) bool {
		return !slices.ContainsFunc(req.Tools, func(s agent.Spec) bool { return s.Name == c.tool })
	}
	if len(req.Tools) == 0 {
		return say(strings.Join(append(said, "I may not call tools any more in this turn, so this is not done: “"+t.sentence+"”."), "\n\n"))
	}
	if i := slices.IndexFunc(calls, missing); i >= 0 {
		return say(strings.Join(append(said, fmt.Sprintf("For “%s” I need the tool %s, and this session does not have it.", t.sentence, calls[i].tool)), "\n\n"))
	}
	n := 0
	for _, m := range req.Messages {
		n += len(m.ToolUses())
	}
	reply := say(t.doing)
	for i, c := range calls {
		reply.Blocks = append(reply.Blocks, agent.ToolUse{
			ID:    fmt.Sprintf("%s%d", idPrefix, n+i+1),
			Name:  c.tool,
			Input: encode(c.input),
		})
	}
	return reply
}

func say(text string) agent.Message {
	return agent.Message{
		Role:   agent.RoleAssistant,
		Blocks: []agent.Block{agent.Text{Text: text}},
		Stop:   agent.StopComplete,
	}
}

func encode(input any) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)      // people read the calls
	if enc.Encode(input) != nil { // strings and numbers always encode
		return json.RawMessage("{}")
	}
	return bytes.TrimSpace(buf.Bytes())
}

func sentences(tasks []task) string {
	var all []string
	for _, t := range tasks {
		all = append(all, "“"+t.sentence+"”")
	}
	return strings.Join(all, ", ")
}
