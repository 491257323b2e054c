package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"assent/agent"
)

// version is the "v" of each line.
const version = 1

const timeLayout = "2006-01-02T15:04:05.000Z"

// Types of records, the "type" of a line.
const (
	typeSession    = "session"
	typeUser       = "user"
	typeRequest    = "request"
	typeResponse   = "response"
	typeAssistant  = "assistant"
	typeProposed   = "proposed"
	typeDecided    = "decided"
	typeLanded     = "landed"
	typeToolResult = "tool_result"
	typeCompacted  = "compacted"
	typeDone       = "done"
)

// typeOf is the type of a record, or why it has no place in a journal.
func typeOf(rec agent.Record) (string, error) {
	switch r := rec.(type) {
	case agent.Started:
		return typeSession, nil
	case agent.Requested:
		return typeRequest, nil
	case agent.Responded:
		return typeResponse, nil
	case agent.Appended:
		switch r.Message.Role {
		case agent.RoleUser:
			return typeUser, nil
		case agent.RoleAssistant:
			return typeAssistant, nil
		}
		return "", fmt.Errorf("a message of role %q can't be recorded", r.Message.Role)
	case agent.Proposed:
		return typeProposed, nil
	case agent.Decided:
		return typeDecided, nil
	case agent.Landed:
		return typeLanded, nil
	case agent.Answered:
		return typeToolResult, nil
	case agent.Compacted:
		return typeCompacted, nil
	case agent.Done:
		return typeDone, nil
	}
	return "", fmt.Errorf("a record of type %T can't be recorded", rec)
}

// record writes the whole object of a record, without a line end.
func (l *line) record(seq int64, now time.Time, rec agent.Record) error {
	typ, err := typeOf(rec)
	if err != nil {
		return err
	}
	l.b = append(l.b, '{')
	l.num("v", version)
	l.num("seq", seq)
	l.key("time")
	l.b = append(l.b, '"')
	l.b = now.UTC().AppendFormat(l.b, timeLayout)
	l.b = append(l.b, '"')
	l.word("type", typ)
	if err := l.body(rec); err != nil {
		return err
	}
	l.flag("redacted", l.redacted)
	l.end('}')
	return nil
}

func (l *line) body(rec agent.Record) error {
	switch r := rec.(type) {
	case agent.Started:
		l.text("id", r.ID)
		l.text("version", r.Version)
		l.text("cwd", r.Dir)
		l.text("model", r.Model)
		l.text("provider", r.Provider)
		l.texts("tools", r.ToolNames)
	case agent.Requested:
		l.num("messages", int64(r.Messages))
		l.num("bytes", int64(r.Bytes))
		l.num("tokens", int64(r.Tokens))
		l.num("attempt", int64(r.Attempt))
		l.text("model", r.Model)
		l.text("provider", r.Provider)
		l.flag("compacting", r.Compacting)
	case agent.Responded:
		l.responded(r)
	case agent.Appended:
		if err := l.message(r.Message); err != nil {
			return err
		}
		l.num("ms", wholeMS(r.Elapsed))
	case agent.Proposed:
		return l.proposal(r.Proposal)
	case agent.Decided:
		l.text("proposalId", r.ProposalID)
		l.num("revision", int64(r.Revision))
		l.decision(r.Decision)
	case agent.Landed:
		return l.landed(r)
	case agent.Answered:
		l.text("toolUseId", r.Result.ID)
		l.arguments(r.Use)
		l.text("output", r.Result.Output)
		l.flag("isError", r.Result.IsError)
		l.num("ms", wholeMS(r.Elapsed))
	case agent.Compacted:
		l.text("summary", r.Summary)
		l.texts("said", r.Said)
		l.num("kept", int64(r.Kept))
		l.num("clip", int64(r.Clip))
		l.num("clipNewest", int64(r.ClipNewest))
		l.num("tokensBefore", int64(r.Before))
		l.num("tokensAfter", int64(r.After))
	case agent.Done:
		l.done(r)
	}
	return nil
}

// wholeMS rounds up, every time alike: the first byte never comes after the end, and 0
// says that none came.
func wholeMS(d time.Duration) int64 { return (d + time.Millisecond - 1).Milliseconds() }

func (l *line) responded(r agent.Responded) {
	l.num("attempt", int64(r.Attempt))
	l.num("firstByteMs", wholeMS(r.FirstByte))
	l.num("ms", wholeMS(r.Elapsed))
	l.text("finish", r.Finish)
	l.usage(r.Usage)
	l.failure(r.Err)
}

func (l *line) done(r agent.Done) {
	l.word("reason", string(r.Reason))
	l.failure(r.Err)
	l.num("turns", int64(r.Turns))
	l.num("denied", int64(r.Denied))
	l.usage(r.Usage)
	l.texts("unheard", r.Unheard)
}

// failure writes an error, and of what kind it is if a model gave it.
func (l *line) failure(err error) {
	var m *agent.ModelError
	if errors.As(err, &m) && m != nil {
		l.key("error")
		l.value(m.Message)
		l.key("errorKind")
		l.quote(string(m.Kind))
		l.num("status", int64(m.Status))
		l.num("retryAfterMs", m.RetryAfter.Milliseconds())
	} else if err != nil {
		l.key("error")
		l.value(err.Error())
	}
}

// decodeBody makes the record of a line of the type; nil for a type that this
// version doesn't know.
func decodeBody(typ string, raw []byte) (agent.Record, error) {
	switch typ {
	case typeSession:
		return decodeAs[sessionWire](raw)
	case typeUser:
		return decodeAs[userWire](raw)
	case typeRequest:
		return decodeAs[requestWire](raw)
	case typeResponse:
		return decodeAs[responseWire](raw)
	case typeAssistant:
		return decodeAs[assistantWire](raw)
	case typeProposed:
		return decodeAs[proposedWire](raw)
	case typeDecided:
		return decodeAs[decidedWire](raw)
	case typeLanded:
		return decodeAs[landedWire](raw)
	case typeToolResult:
		return decodeAs[resultWire](raw)
	case typeCompacted:
		return decodeAs[compactedWire](raw)
	case typeDone:
		return decodeAs[doneWire](raw)
	}
	return nil, nil
}

func decodeAs[W interface{ record() (agent.Record, error) }](raw []byte) (agent.Record, error) {
	var w W
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	return w.record()
}

type sessionWire struct {
	ID       text   `json:"id"`
	Version  text   `json:"version"`
	Dir      text   `json:"cwd"`
	Model    text   `json:"model"`
	Provider text   `json:"provider"`
	Tools    []text `json:"tools"`
}

func (w sessionWire) record() (agent.Record, error) {
	return agent.Started{
		ID: string(w.ID), Version: string(w.Version), Dir: string(w.Dir), Model: string(w.Model),
		Provider: string(w.Provider), ToolNames: plainTexts(w.Tools),
	}, nil
}

type requestWire struct {
	Messages int  `json:"messages"`
	Bytes    int  `json:"bytes"`
	Tokens   int  `json:"tokens"`
	Attempt  int  `json:"attempt"`
	Model    text `json:"model"`
	Provider text `json:"provider"`

	Compacting bool `json:"compacting"`
}

func (w requestWire) record() (agent.Record, error) {
	return agent.Requested{
		Messages: w.Messages, Bytes: w.Bytes, Tokens: w.Tokens, Attempt: w.Attempt,
		Model: string(w.Model), Provider: string(w.Provider), Compacting: w.Compacting,
	}, nil
}

type responseWire struct {
	Attempt     int       `json:"attempt"`
	FirstByteMS int64     `json:"firstByteMs"`
	MS          int64     `json:"ms"`
	Finish      text      `json:"finish"`
	Usage       usageWire `json:"usage"`
	failureWire
}

func (w responseWire) record() (agent.Record, error) {
	return agent.Responded{
		Attempt: w.Attempt, FirstByte: milliseconds(w.FirstByteMS), Elapsed: milliseconds(w.MS),
		Finish: string(w.Finish), Usage: w.Usage.usage(), Err: w.err(),
	}, nil
}

type compactedWire struct {
	Summary text   `json:"summary"`
	Said    []text `json:"said"`
	Kept    int    `json:"kept"`
	Clip    int    `json:"clip"`
	Newest  int    `json:"clipNewest"`
	Before  int    `json:"tokensBefore"`
	After   int    `json:"tokensAfter"`
}

func (w compactedWire) record() (agent.Record, error) {
	if w.Kept < 0 || w.Clip < 0 || w.Newest < 0 {
		return nil, errors.New("it keeps less than nothing")
	}
	return agent.Compacted{
		Summary: string(w.Summary), Said: plainTexts(w.Said), Kept: w.Kept, Clip: w.Clip, ClipNewest: w.Newest, Before: w.Before, After: w.After,
	}, nil
}

type doneWire struct {
	Reason text `json:"reason"`
	failureWire
	Turns   int       `json:"turns"`
	Denied  int       `json:"denied"`
	Usage   usageWire `json:"usage"`
	Unheard []text    `json:"unheard"`
}

func (w doneWire) record() (agent.Record, error) {
	return agent.Done{
		Reason: agent.StopReason(w.Reason), Turns: w.Turns, Denied: w.Denied, Usage: w.Usage.usage(), Err: w.err(), Unheard: plainTexts(w.Unheard),
	}, nil
}

type failureWire struct {
	Error        *text `json:"error"`
	ErrorKind    *text `json:"errorKind"`
	Status       int   `json:"status"`
	RetryAfterMS int64 `json:"retryAfterMs"`
}

func (w failureWire) err() error {
	switch {
	case w.Error == nil:
		return nil
	case w.ErrorKind == nil:
		return errors.New(string(*w.Error))
	}
	return &agent.ModelError{
		Kind: agent.ModelErrorKind(*w.ErrorKind), Status: w.Status,
		RetryAfter: milliseconds(w.RetryAfterMS), Message: string(*w.Error),
	}
}

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
