package agenttest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"assent/agent"
)

type namedMessage struct {
	name    string
	message agent.Message
}

// modelReplies are the replies that every model has to be able to give.
func modelReplies() []namedMessage {
	thoughtful := Say("so it is 42")
	thoughtful.Blocks = append([]agent.Block{agent.Thinking{Text: "what is asked?\nthink"}}, thoughtful.Blocks...)
	truncated, refused, counted := Say("it goes on and"), Say("I won't do it"), Say("counted words")
	truncated.Stop, refused.Stop = agent.StopTruncated, agent.StopRefused
	counted.Usage = agent.Usage{Input: 1234, Output: 5}
	broken := calling(Say("broken call"), "c1", "read_file", "{}")
	broken.Blocks[1] = agent.ToolUse{ID: "c1", Name: "edit_file", RawInput: `{"path": "a.txt"} or so`, Invalid: "more follows"}

	return []namedMessage{
		{"a text", Say("It is done.")},
		{"a text of one letter", Say("x")},
		{"a text with line ends, quotes and other scripts", Say("\n\tline one\r\nzwei: \"naïve\" 日本語 👩‍👩‍👧 <&>\n\n")},
		{"thinking and a text", thoughtful},
		{"a call without a text", Call(Use("c1", "list_files", `{}`))},
		{"a text and two calls", calling(calling(Say("I look at both"), "c1", "read_file", `{"path":"a.txt"}`),
			"c2", "read_file", `{"path":"b\n\"<&>ü.txt","start_line":5}`)},
		{"a call whose arguments are broken", broken},
		{"a reply that hit the output limit", truncated},
		{"a refusal", refused},
		{"the count of tokens", counted},
	}
}

// ModelRequest is a request with all that a request may hold. The history's one
// call has the id "c0".
func ModelRequest() agent.Request {
	reasoned := calling(Say("I look."), "c0", "read_file", `{"path":"notes.txt"}`)
	reasoned.Blocks = append([]agent.Block{agent.Thinking{Text: "a file"}, agent.Thinking{Text: "to read"}}, reasoned.Blocks...)
	return agent.Request{
		Session: "20261201T010203Z-00c0ffee",
		System:  "You are a test.",
		Messages: []agent.Message{
			{Role: agent.RoleUser, Blocks: []agent.Block{
				agent.Text{Text: "What is in notes.txt?"}, agent.Image{MediaType: "image/gif", Data: []byte(pixel)}}},
			reasoned,
			{Role: agent.RoleTool, Blocks: []agent.Block{agent.ToolResult{ID: "c0", Output: "notes.txt: lines 1-1 of 1\nmilk\n"}}},
			Say("Milk."),
			agent.UserText("show notes.txt"),
		},
		Tools: []agent.Spec{{
			Name:        "read_file",
			Description: "Reads a file.",
			Schema:      json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
			Tier:        agent.TierRead,
		}},
	}
}

// pixel is a whole GIF, of one transparent pixel.
const pixel = "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

// calling is m with one call more.
func calling(m agent.Message, id, name, input string) agent.Message {
	m.Blocks = append(slices.Clip(m.Blocks), Use(id, name, input))
	return m
}

func thinking(m agent.Message) string {
	all := ""
	for _, b := range m.Blocks {
		if t, ok := b.(agent.Thinking); ok {
			all += t.Text
		}
	}
	return all
}

// sameJSON reports whether two values differ at most in how they are written.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return bytes.Equal(a, b)
	}
	return reflect.DeepEqual(x, y)
}

func clone(req agent.Request) agent.Request {
	req.Messages = slices.Clone(req.Messages)
	for i, m := range req.Messages {
		blocks := slices.Clone(m.Blocks)
		for j, b := range blocks {
			switch b := b.(type) {
			case agent.ToolUse:
				b.Input = bytes.Clone(b.Input)
				blocks[j] = b
			case agent.Image:
				b.Data = bytes.Clone(b.Data)
				blocks[j] = b
			}
		}
		req.Messages[i].Blocks = blocks
	}
	req.Tools = slices.Clone(req.Tools)
	for i := range req.Tools {
		req.Tools[i].Schema = bytes.Clone(req.Tools[i].Schema)
	}
	return req
}

// spare gives the lists of a request room behind their ends, where a careless
// append would write.
func spare(req agent.Request) agent.Request {
	req.Messages = slices.Grow(req.Messages, 4)
	req.Tools = slices.Grow(req.Tools, 4)
	for i, m := range req.Messages {
		req.Messages[i].Blocks = slices.Grow(m.Blocks, 4)
	}
	return req
}

// beyond makes the room behind the ends visible.
func beyond(req agent.Request) agent.Request {
	blocks := req.Messages
	req.Messages = slices.Clone(req.Messages[:cap(req.Messages)])
	for i, m := range blocks {
		req.Messages[i].Blocks = m.Blocks[:cap(m.Blocks)]
	}
	req.Tools = req.Tools[:cap(req.Tools)]
	return req
}
