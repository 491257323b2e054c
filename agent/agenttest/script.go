package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"assent/agent"
)

// Script is a model that gives the replies it was made with, and keeps the
// requests.
type Script struct {
	mu       sync.Mutex
	replies  []agent.Message
	requests []agent.Request
}

// NewScript makes a model that gives these replies, one a request.
func NewScript(replies ...agent.Message) *Script { return &Script{replies: replies} }

// Say is a reply of plain text.
func Say(text string) agent.Message {
	return agent.Message{Role: agent.RoleAssistant, Blocks: []agent.Block{agent.Text{Text: text}}, Stop: agent.StopComplete}
}

// Use is a call whose input is marshalled from v, or taken as it is if v is a
// string.
func Use(id, name string, v any) agent.ToolUse {
	if s, ok := v.(string); ok {
		return agent.ToolUse{ID: id, Name: name, Input: json.RawMessage(s)}
	}
	input, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return agent.ToolUse{ID: id, Name: name, Input: input}
}

// Call is a reply that makes calls.
func Call(uses ...agent.ToolUse) agent.Message {
	m := agent.Message{Role: agent.RoleAssistant, Stop: agent.StopComplete}
	for _, u := range uses {
		m.Blocks = append(m.Blocks, u)
	}
	return m
}

// Stream gives the next reply, its text in one chunk.
func (s *Script) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		s.mu.Lock()
		n := len(s.requests)
		s.requests = append(s.requests, req)
		s.mu.Unlock()
		if ctx.Err() != nil {
			yield(agent.Chunk{}, ctx.Err())
			return
		}
		if n >= len(s.replies) {
			yield(agent.Chunk{}, &agent.ModelError{Kind: agent.ErrorConfig, Message: fmt.Sprintf("the script has no reply %d", n+1)})
			return
		}
		reply := s.replies[n]
		if text := reply.Text(); text != "" && !yield(agent.Chunk{Text: text}, nil) {
			return
		}
		yield(agent.Chunk{Reply: &reply}, nil)
	}
}

// Requests are the requests so far.
func (s *Script) Requests() []agent.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]agent.Request(nil), s.requests...)
}

// RequestBytes is the size of what a request says, pictures left out: what a scripted
// server with a window counts.
func RequestBytes(req agent.Request) int {
	n := len(req.System)
	for _, s := range req.Tools {
		n += len(s.Name) + len(s.Description) + len(s.Schema)
	}
	for _, m := range req.Messages {
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case agent.Text:
				n += len(b.Text)
			case agent.Note:
				n += len(b.Text)
			case agent.ToolUse:
				n += len(b.Name) + len(b.Input) + len(b.RawInput)
			case agent.ToolResult:
				n += len(b.Output)
			}
		}
	}
	return n
}
