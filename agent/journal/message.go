package journal

import (
	"encoding/json"
	"fmt"

	"assent/agent"
)

// Types of blocks.
const (
	blockText       = "text"
	blockImage      = "image"
	blockNote       = "note"
	blockThinking   = "thinking"
	blockToolUse    = "tool_use"
	blockToolResult = "tool_result"
)

func (l *line) message(m agent.Message) error {
	if inOrder(m.Blocks) {
		l.blocksInOrder(m.Blocks)
	} else if err := l.blocks(m.Blocks); err != nil {
		return err
	}
	l.word("stop", string(m.Stop))
	l.text("finish", m.Finish)
	l.usage(m.Usage)
	return nil
}

// inOrder reports whether the blocks are at most one thinking, at most one text,
// then calls, so that the short form says all.
func inOrder(blocks []agent.Block) bool {
	seen := 0 // 1: thinking, 2: text, 3: a call
	for _, b := range blocks {
		switch b := b.(type) {
		case agent.Thinking:
			if seen >= 1 || b.Text == "" || b.Source != "" || b.Opaque != "" {
				return false
			}
			seen = 1
		case agent.Text:
			if seen >= 2 || b.Text == "" {
				return false
			}
			seen = 2
		case agent.ToolUse:
			seen = 3
		default:
			return false
		}
	}
	return true
}

func (l *line) blocksInOrder(blocks []agent.Block) {
	calls := false
	for _, b := range blocks {
		switch b := b.(type) {
		case agent.Thinking:
			l.text("thinking", b.Text)
		case agent.Text:
			l.text("text", b.Text)
		case agent.ToolUse:
			if !calls {
				calls = true
				l.begin("toolUses", '[')
			}
			l.element()
			l.text("id", b.ID)
			l.arguments(b)
			l.end('}')
		}
	}
	if calls {
		l.end(']')
	}
}

func (l *line) blocks(blocks []agent.Block) error {
	l.begin("blocks", '[')
	for _, b := range blocks {
		l.element()
		switch b := b.(type) {
		case agent.Text:
			l.word("type", blockText)
			l.text("text", b.Text)
		case agent.Image:
			l.word("type", blockImage)
			l.word("mediaType", b.MediaType)
			l.bytes("data", b.Data)
		case agent.Note:
			l.word("type", blockNote)
			l.text("text", b.Text)
		case agent.Thinking:
			l.word("type", blockThinking)
			l.text("text", b.Text)
			l.word("source", b.Source)
			l.text("opaque", b.Opaque)
		case agent.ToolUse:
			l.word("type", blockToolUse)
			l.text("id", b.ID)
			l.arguments(b)
		case agent.ToolResult:
			l.word("type", blockToolResult)
			l.text("id", b.ID)
			l.text("output", b.Output)
			l.flag("isError", b.IsError)
		default:
			return fmt.Errorf("a block of type %T can't be recorded", b)
		}
		l.end('}')
	}
	l.end(']')
	return nil
}

// arguments is a call without its ID.
func (l *line) arguments(u agent.ToolUse) {
	l.text("name", u.Name)
	l.input(u.Input)
	l.text("invalid", u.Invalid)
	l.text("inputRaw", u.RawInput)
	l.text("opaque", u.Opaque)
}

func (l *line) usage(u agent.Usage) {
	if u == (agent.Usage{}) {
		return
	}
	l.begin("usage", '{')
	l.num("inputTokens", int64(u.Input))
	l.num("outputTokens", int64(u.Output))
	l.end('}')
}

type messageWire struct {
	Thinking text        `json:"thinking"`
	Text     text        `json:"text"`
	ToolUses []callWire  `json:"toolUses"`
	Blocks   []blockWire `json:"blocks"`
	Stop     text        `json:"stop"`
	Finish   text        `json:"finish"`
	Usage    usageWire   `json:"usage"`
	MS       int64       `json:"ms"`
}

type (
	userWire      struct{ messageWire }
	assistantWire struct{ messageWire }
)

func (w userWire) record() (agent.Record, error)      { return w.appended(agent.RoleUser) }
func (w assistantWire) record() (agent.Record, error) { return w.appended(agent.RoleAssistant) }

func (w messageWire) appended(role agent.Role) (agent.Record, error) {
	m := agent.Message{Role: role, Stop: agent.StopReason(w.Stop), Finish: string(w.Finish), Usage: w.Usage.usage()}
	if w.Thinking != "" {
		m.Blocks = append(m.Blocks, agent.Thinking{Text: string(w.Thinking)})
	}
	if w.Text != "" {
		m.Blocks = append(m.Blocks, agent.Text{Text: string(w.Text)})
	}
	for _, u := range w.ToolUses {
		m.Blocks = append(m.Blocks, u.use())
	}
	for _, b := range w.Blocks {
		block, err := b.block()
		if err != nil {
			return nil, err
		}
		m.Blocks = append(m.Blocks, block)
	}
	return agent.Appended{Message: m, Elapsed: milliseconds(w.MS)}, nil
}

// callWire is a call. Its ID is "id" in a message, "toolUseId" in a result.
type callWire struct {
	ID text `json:"id"`
	argumentsWire
}

type argumentsWire struct {
	Name      text            `json:"name"`
	Input     json.RawMessage `json:"input"`
	InputText *text           `json:"inputText"`
	Invalid   text            `json:"invalid"`
	InputRaw  text            `json:"inputRaw"`
	Opaque    text            `json:"opaque"`
}

func (w callWire) use() agent.ToolUse { return w.call(w.ID) }

func (w argumentsWire) call(id text) agent.ToolUse {
	return agent.ToolUse{
		ID: string(id), Name: string(w.Name), Input: rawInput(w.Input, w.InputText),
		Invalid: string(w.Invalid), RawInput: string(w.InputRaw), Opaque: string(w.Opaque),
	}
}

func rawInput(input json.RawMessage, inputText *text) json.RawMessage {
	if inputText != nil {
		return json.RawMessage(*inputText)
	}
	return input
}

type blockWire struct {
	Type text `json:"type"`
	Text text `json:"text"`
	callWire
	MediaType text   `json:"mediaType"`
	Data      []byte `json:"data"`
	Source    text   `json:"source"`
	Output    text   `json:"output"`
	IsError   bool   `json:"isError"`
}

func (w blockWire) block() (agent.Block, error) {
	switch w.Type {
	case blockText:
		return agent.Text{Text: string(w.Text)}, nil
	case blockImage:
		return agent.Image{MediaType: string(w.MediaType), Data: w.Data}, nil
	case blockNote:
		return agent.Note{Text: string(w.Text)}, nil
	case blockThinking:
		return agent.Thinking{Text: string(w.Text), Source: string(w.Source), Opaque: string(w.Opaque)}, nil
	case blockToolUse:
		return w.use(), nil
	case blockToolResult:
		return agent.ToolResult{ID: string(w.ID), Output: string(w.Output), IsError: w.IsError}, nil
	}
	return nil, fmt.Errorf("unknown type of block %q", w.Type)
}

type usageWire struct {
	Input  int `json:"inputTokens"`
	Output int `json:"outputTokens"`
}

func (w usageWire) usage() agent.Usage { return agent.Usage(w) }

type resultWire struct {
	ToolUseID text `json:"toolUseId"`
	argumentsWire
	Output  text  `json:"output"`
	IsError bool  `json:"isError"`
	MS      int64 `json:"ms"`
}

func (w resultWire) record() (agent.Record, error) {
	return agent.Answered{
		Use:     w.call(w.ToolUseID),
		Result:  agent.ToolResult{ID: string(w.ToolUseID), Output: string(w.Output), IsError: w.IsError},
		Elapsed: milliseconds(w.MS),
	}, nil
}
