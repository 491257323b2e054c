package agent

import "encoding/json"

// Role says who speaks in a [Message].
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // the results of the tool uses of the message before it
)

// Message is one entry of the history. Messages are values: once one is in the
// history it is never changed, so a provider's prompt cache keeps hitting.
type Message struct {
	Role   Role
	Blocks []Block
	Stop   StopReason // of an assistant message: why the model ended it
	Finish string     // of an assistant message: that reason in the server's own word
	Usage  Usage      // of an assistant message, when the server reported it
}

// Block is a part of a message: [Text], [Image], [Note], [Thinking], [ToolUse] or [ToolResult].
type Block interface{ block() }

// Text is what is said to the other side.
type Text struct{ Text string }

// Image is a picture that the user shows.
type Image struct {
	MediaType string // such as image/png
	Data      []byte
}

// Note is what the session itself tells the model, in a message of the user: what
// stands for messages that a compaction took out, or a hint. No person said it.
type Note struct{ Text string }

// Thinking is the model's reasoning, shown apart from its text and sent back
// to servers that want it.
type Thinking struct {
	Text string

	// Source and Opaque are the model's own: where in the reply it stood, and what
	// the server needs of it to know it again.
	Source string
	Opaque string
}

// ToolUse is a call that the model asks for.
type ToolUse struct {
	ID    string
	Name  string
	Input json.RawMessage // one JSON object, unless Invalid is set

	// Invalid says why the arguments are not one JSON object; RawInput then
	// holds them as they came. Such a call is answered by an error, never run.
	Invalid  string
	RawInput string

	Opaque string // the model's own: what the server wants back with the call
}

// WrittenAsText is the Invalid of a call that the model wrote into its text
// instead of making it.
const WrittenAsText = "the call was written as text, so nothing was done; make it as a tool call"

// ToolResult answers the ToolUse with the same ID.
type ToolResult struct {
	ID      string
	Output  string
	IsError bool
}

func (Text) block()       {}
func (Image) block()      {}
func (Note) block()       {}
func (Thinking) block()   {}
func (ToolUse) block()    {}
func (ToolResult) block() {}

// Usage counts tokens as the server reported them; zero means unknown.
type Usage struct{ Input, Output int }

// StopReason says why a turn, or one reply of the model, ended.
type StopReason string

const (
	StopComplete  StopReason = "complete"  // the model said all it wanted
	StopMaxTurns  StopReason = "max_turns" // the limit of model replies was reached
	StopRepeated  StopReason = "repeated"  // the model did or said the same again and again
	StopCancelled StopReason = "cancelled" // by the person
	StopTruncated StopReason = "truncated" // the reply hit the output limit
	StopRefused   StopReason = "refused"   // by the model or its server's filter
	StopError     StopReason = "error"     // the model server failed

	// StopInterrupted is in the journal of a run that lost the way to the person:
	// its open question is not decided.
	StopInterrupted StopReason = "interrupted"
)

// UserText is a prompt made of plain text.
func UserText(text string) Message {
	return Message{Role: RoleUser, Blocks: []Block{Text{text}}}
}

// Text joins the text blocks of the message.
func (m Message) Text() string {
	text := ""
	for _, b := range m.Blocks {
		if t, ok := b.(Text); ok {
			text += t.Text
		}
	}
	return text
}

// ToolUses lists the calls of the message, in order.
func (m Message) ToolUses() []ToolUse {
	var uses []ToolUse
	for _, b := range m.Blocks {
		if u, ok := b.(ToolUse); ok {
			uses = append(uses, u)
		}
	}
	return uses
}

// ToolResults lists the results in the message, in order.
func (m Message) ToolResults() []ToolResult {
	var results []ToolResult
	for _, b := range m.Blocks {
		if r, ok := b.(ToolResult); ok {
			results = append(results, r)
		}
	}
	return results
}
