package lsp

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"assent/agent"
)

// The events of assent/event, and of assent run --json, by type.
type (
	// SessionEvent begins a session: "session".
	SessionEvent struct {
		Type      string `json:"type"`
		SessionID string `json:"sessionId"`
		Journal   string `json:"journal"`
	}
	// RequestEvent says that the model is asked: "request".
	RequestEvent struct {
		Type     string `json:"type"`
		Messages int    `json:"messages"`
		Tokens   int    `json:"tokens"`
		Attempt  int    `json:"attempt"`
		Model    string `json:"model"`
		Provider string `json:"provider"`

		Compacting bool `json:"compacting,omitempty"`
	}
	// ResponseEvent says how that ended: "response".
	ResponseEvent struct {
		Type        string `json:"type"`
		Attempt     int    `json:"attempt"`
		FirstByteMS int64  `json:"firstByteMs"`
		MS          int64  `json:"ms"`
		Finish      string `json:"finish"`
		Usage       Usage  `json:"usage"`
		Error       string `json:"error,omitempty"`
	}
	// DeltaEvent is a piece of the reply: "text" or "thinking".
	DeltaEvent struct {
		Type  string `json:"type"`
		Delta string `json:"delta"`
	}
	// RecastEvent says that all text of the reply so far was reasoning: "recast".
	RecastEvent struct {
		Type string `json:"type"`
	}
	// UserEvent is what the person said: "user".
	UserEvent struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	// NoteEvent is what the session itself told the model: "note".
	NoteEvent struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	// CompactedEvent says that the history was put in short: "compacted".
	CompactedEvent struct {
		Type         string `json:"type"`
		TokensBefore int    `json:"tokensBefore"`
		TokensAfter  int    `json:"tokensAfter"`
		Summary      string `json:"summary"`
	}
	// ToolUseEvent is a call: "tool_use".
	ToolUseEvent struct {
		Type    string  `json:"type"`
		ToolUse ToolUse `json:"toolUse"`
		Title   string  `json:"title"`
	}
	// ToolUse is the call itself: with input, or with what came instead of one.
	ToolUse struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Input    json.RawMessage `json:"input,omitempty"`
		InputRaw string          `json:"inputRaw,omitempty"`
		Invalid  string          `json:"invalid,omitempty"`
	}
	// ToolResultEvent is the result of a call: "tool_result".
	ToolResultEvent struct {
		Type      string `json:"type"`
		ToolUseID string `json:"toolUseId"`
		Output    string `json:"output"`
		IsError   bool   `json:"isError"`
		MS        int64  `json:"ms"`
	}
	// ProposedEvent is a question before it is asked, and each time the texts move while
	// it is open: "proposed".
	ProposedEvent struct {
		Type       string     `json:"type"`
		ProposalID string     `json:"proposalId"`
		Revision   int        `json:"revision"`
		Title      string     `json:"title"`
		Files      []FileEdit `json:"files"`
		Effects    []Effect   `json:"effects,omitempty"`
	}
	// DecidedEvent is its answer: "decided".
	DecidedEvent struct {
		Type       string            `json:"type"`
		ProposalID string            `json:"proposalId"`
		Revision   int               `json:"revision"`
		By         string            `json:"by"`
		Files      map[string]string `json:"files"`
		Hunks      map[string]string `json:"hunks"`
		Effects    map[string]string `json:"effects"`
		Comment    string            `json:"comment"`
	}
	// LandedEvent says what became of an accepted edit: "landed".
	LandedEvent struct {
		Type       string       `json:"type"`
		ProposalID string       `json:"proposalId"`
		ToolUseID  string       `json:"toolUseId"`
		Files      []LandedFile `json:"files"`
	}
	// LandedFile is its file.
	LandedFile struct {
		URI       string   `json:"uri"`
		NewURI    string   `json:"newUri,omitempty"`
		Status    string   `json:"status"`
		Where     string   `json:"where"`
		Hash      string   `json:"hash"`
		Hunks     []string `json:"hunks"`
		Conflicts []string `json:"conflicts"`
		Foreign   string   `json:"foreign"`
		Note      string   `json:"note"`

		LeftOut  []string  `json:"leftOut,omitempty"`
		Problems *Problems `json:"problems,omitempty"`
	}
	// Problems is how that changed what the editor's tools say.
	Problems struct {
		New  []Diagnostic `json:"new"`
		More int          `json:"more"`
		Gone int          `json:"gone"`
	}
	// RetryingEvent says that a request failed and is made again: "retrying".
	RetryingEvent struct {
		Type    string `json:"type"`
		Reason  string `json:"reason"`
		Attempt int    `json:"attempt"`
		WaitMS  int64  `json:"waitMs"`
	}
	// UsageEvent counts the tokens of one reply: "usage".
	UsageEvent struct {
		Type  string `json:"type"`
		Usage Usage  `json:"usage"`
	}
	// DoneEvent ends a turn: "done".
	DoneEvent struct {
		Type       string `json:"type"`
		StopReason string `json:"stopReason"`
		Turns      int    `json:"turns"`
		Denied     int    `json:"denied"`
		Usage      Usage  `json:"usage"`
		Message    string `json:"message,omitempty"`

		Unheard []string `json:"unheard,omitempty"`
	}
)

// Events makes the wire form of the events of one session. The zero value is ready.
type Events struct {
	// Place, if set, says how a client spells the URI of a file, and which version
	// of it is open there.
	Place func(path string) (uri string, version *int32)

	open agent.Proposal // the one that the next decision is about
}

// Of is the wire form of an event, which may be none or several.
func (x *Events) Of(e agent.Event) []any {
	switch e := e.(type) {
	case agent.Delta:
		var out []any
		if e.Recast { // before what else is in the delta
			out = append(out, RecastEvent{recast})
		}
		if e.Thinking != "" {
			out = append(out, DeltaEvent{"thinking", e.Thinking})
		}
		if e.Text != "" {
			out = append(out, DeltaEvent{"text", e.Text})
		}
		return out
	case agent.Requested:
		return []any{RequestEvent{"request", e.Messages, e.Tokens, e.Attempt, e.Model, e.Provider, e.Compacting}}
	case agent.Responded:
		return []any{responseEvent(e)}
	case agent.Appended:
		if e.Message.Role == agent.RoleUser {
			return userEvents(e.Message)
		}
		return replyEvents(e.Message)
	case agent.Answered:
		return []any{ToolResultEvent{"tool_result", e.Use.ID, e.Result.Output, e.Result.IsError, wholeMS(e.Elapsed)}}
	case agent.Proposed:
		x.open = e.Proposal
		return []any{x.proposed(e.Proposal)}
	case agent.Revised:
		x.open = e.Proposal
		return []any{x.proposed(e.Proposal)}
	case agent.Decided:
		return []any{x.decided(x.open, e)}
	case agent.Landed:
		return []any{x.landed(e)}
	case agent.Compacted:
		return []any{CompactedEvent{"compacted", e.Before, e.After, e.Summary}}
	case agent.Retrying:
		return []any{RetryingEvent{"retrying", fmt.Sprint(e.Err), e.Attempt, e.Wait.Milliseconds()}}
	case agent.Done:
		return []any{DoneEvent{"done", string(e.Reason), e.Turns, e.Denied, usage(e.Usage), e.Explain(), e.Unheard}}
	}
	return nil
}

func usage(u agent.Usage) Usage { return Usage{u.Input, u.Output} }

// wholeMS rounds up, as the journal does: the first byte never comes after the end, and
// 0 says that none came.
func wholeMS(d time.Duration) int64 { return (d + time.Millisecond - 1).Milliseconds() }

func responseEvent(e agent.Responded) ResponseEvent {
	out := ResponseEvent{"response", e.Attempt, wholeMS(e.FirstByte), wholeMS(e.Elapsed), e.Finish, usage(e.Usage), ""}
	if e.Err != nil {
		out.Error = e.Err.Error()
	}
	return out
}

func userEvents(m agent.Message) []any {
	var out []any
	person := len(m.Blocks) == 0
	for _, b := range m.Blocks {
		if note, ok := b.(agent.Note); ok {
			out = append(out, NoteEvent{"note", note.Text})
		} else {
			person = true
		}
	}
	if person {
		out = append(out, UserEvent{"user", m.Text()})
	}
	return out
}

func replyEvents(m agent.Message) []any {
	var out []any
	for _, u := range m.ToolUses() {
		use := ToolUse{ID: u.ID, Name: u.Name, Input: u.Input}
		if u.Invalid != "" {
			use.Input, use.InputRaw, use.Invalid = nil, u.RawInput, u.Invalid
		}
		out = append(out, ToolUseEvent{"tool_use", use, toolTitle(u)})
	}
	return append(out, UsageEvent{"usage", usage(m.Usage)})
}

// toolTitle names a call by its tool and what it is about.
func toolTitle(u agent.ToolUse) string {
	var about struct{ Path, Pattern, From string }
	_ = json.Unmarshal(u.Input, &about) // else without
	for _, what := range []string{about.Path, about.Pattern, about.From} {
		if line, _, _ := strings.Cut(what, "\n"); line != "" {
			return u.Name + " " + line
		}
	}
	return u.Name
}

func (x *Events) place(path string) (string, *int32) {
	if x.Place != nil {
		return x.Place(path)
	}
	return fileURI(path), nil
}

// fileURI is the file: URI of an absolute path.
func fileURI(path string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/x
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}
