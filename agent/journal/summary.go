package journal

import (
	"errors"
	"io"
	"strings"
	"time"
	"unicode"

	"assent/agent"
)

// Summary is a session in a list.
type Summary struct {
	ID       string
	Dir      string
	Model    string
	Provider string
	Title    string // the beginning of the first prompt, one line, at most 60 characters
	Started  time.Time
	Ended    time.Time        // of the last record
	Turns    int              // replies of the model
	Outcome  agent.StopReason // of the last run, "" if it has not ended
}

const titleLength = 60

// Summarize tells what the entries of a journal are about.
func Summarize(entries []Entry) Summary {
	var s Summary
	for _, e := range entries {
		s.add(e)
	}
	return s
}

// ReadSummary is Summarize for a journal that is read to its end, one line at a time.
// Pictures, and all else that a summary does not tell, are not decoded.
func ReadSummary(r io.Reader) (Summary, error) {
	var s Summary
	for e, err := range entries(r, maxLine, decodeForSummary) {
		if _, bad := errors.AsType[*LineError](err); err != nil && !bad {
			return s, err
		}
		s.add(e)
	}
	return s, nil
}

func (s *Summary) add(e Entry) {
	if !e.Time.IsZero() {
		if s.Started.IsZero() {
			s.Started = e.Time
		}
		s.Ended = e.Time
	}
	switch r := e.Record.(type) {
	case agent.Started:
		if s.ID == "" {
			s.ID, s.Dir, s.Model, s.Provider = r.ID, r.Dir, r.Model, r.Provider
		}
	case agent.Appended:
		s.Outcome = ""
		if r.Message.Role == agent.RoleAssistant {
			s.Turns++
		} else if s.Title == "" {
			s.Title = title(r.Message.Text())
		}
	case agent.Done:
		s.Outcome = r.Reason
	}
}

// decodeForSummary is decodeBody for the records that a summary is made of.
func decodeForSummary(typ string, raw []byte) (agent.Record, error) {
	switch typ {
	case typeUser:
		return decodeAs[saidWire](raw)
	case typeSession, typeAssistant, typeDone:
		return decodeBody(typ, raw)
	}
	return nil, nil
}

// saidWire is the text of a message of the user.
type saidWire struct {
	Text   text `json:"text"`
	Blocks []struct {
		Type text `json:"type"`
		Text text `json:"text"`
	} `json:"blocks"`
}

func (w saidWire) record() (agent.Record, error) {
	m := agent.UserText(string(w.Text))
	for _, b := range w.Blocks {
		if b.Type == blockText {
			m.Blocks = append(m.Blocks, agent.Text{Text: string(b.Text)})
		}
	}
	return agent.Appended{Message: m}, nil
}

// title is the first words of a prompt. What a terminal could take for a command
// is left out.
func title(prompt string) string {
	if len(prompt) > 100*titleLength { // a pasted file; no need to look at all of it
		prompt = prompt[:100*titleLength]
	}
	printable := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, prompt)
	words := strings.Fields(printable)
	line := []rune(strings.Join(words, " "))
	if len(line) <= titleLength {
		return string(line)
	}
	end := titleLength - 1
	for i := end; i > titleLength/2; i-- { // behind a whole word, unless it is a long one
		if line[i] == ' ' {
			end = i
			break
		}
	}
	return string(line[:end]) + "…"
}
