package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"assent/agent"
)

// maxLine is the length of the longest line that is written or read, in bytes
// with its end.
const maxLine = 256 << 20

// Entry is a line of a journal.
type Entry struct {
	Seq      int64
	Time     time.Time
	Type     string
	Record   agent.Record // nil if this version can't read the line
	Redacted bool         // texts of the record are not the original ones: nothing may land out of it
	Raw      json.RawMessage
	Line     int // from 1
}

// Warning says what about a journal is not as it should be, though it can be
// read: one sentence for a person.
type Warning struct {
	Text  string
	Lines []int // that it is about
}

func (w Warning) String() string { return w.Text }

// LineError is a line that holds no record (it is skipped), or one that this
// version can't read (its Entry is kept, without a Record).
type LineError struct {
	Line   int
	Reason string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Read reads a journal to its end. The error is that of r, or says that a line
// is too long; what came before it is returned as well.
func Read(r io.Reader) ([]Entry, []Warning, error) { return read(r, maxLine) }

func read(r io.Reader, longest int) ([]Entry, []Warning, error) {
	var list []Entry
	var skipped, opaque []*LineError
	for e, err := range entries(r, longest, decodeBody) {
		var bad *LineError
		switch {
		case err == nil:
			list = append(list, e)
		case !errors.As(err, &bad):
			return list, warnings(skipped, opaque), err
		case e.Raw == nil:
			skipped = append(skipped, bad)
		default:
			opaque = append(opaque, bad)
			list = append(list, e)
		}
	}
	return list, warnings(skipped, opaque), nil
}

// decoder makes the record of a line of a type; nil for one that it does not know.
type decoder func(typ string, raw []byte) (agent.Record, error)

// Entries is Read, one entry at a time. A [*LineError] comes with the Entry as
// far as there is one, and is not the end; any other error is.
func Entries(r io.Reader) iter.Seq2[Entry, error] { return entries(r, maxLine, decodeBody) }

func entries(r io.Reader, longest int, decode decoder) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		lines := bufio.NewReaderSize(r, 64<<10)
		var calls []agent.ToolUse // of the last reply
		for n := 1; ; n++ {
			raw, err := nextLine(lines, longest)
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Entry{Line: n}, fmt.Errorf("line %d of the journal can't be read: %w", n, err))
				return
			}
			e, err := parse(n, raw, decode)
			switch r := e.Record.(type) {
			case agent.Appended:
				if r.Message.Role == agent.RoleAssistant {
					calls = r.Message.ToolUses()
				}
			case agent.Proposed:
				putBackCalls(r.Proposal.Parts, calls)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// nextLine returns a line of its own memory, without its end; io.EOF means that
// there is none. The last one may have no end.
func nextLine(r *bufio.Reader, longest int) ([]byte, error) {
	var raw []byte
	for {
		chunk, err := r.ReadSlice('\n')
		if len(raw)+len(chunk) > longest {
			return nil, fmt.Errorf("it is longer than %d bytes", longest)
		}
		raw = append(raw, chunk...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(raw) > 0, err == nil:
			return bytes.TrimRight(raw, "\r\n"), nil
		}
		return nil, err
	}
}

// parse makes the entry of a line. With an error the entry has no Record, and if
// the line is no record at all, only its number.
func parse(n int, raw []byte, decode decoder) (Entry, error) {
	skip := func(reason string) (Entry, error) { return Entry{Line: n}, &LineError{n, reason} }
	if len(raw) == 0 {
		return skip("it is blank")
	}
	if !utf8.Valid(raw) {
		return skip("it is not UTF-8")
	}
	var w struct {
		V        int    `json:"v"`
		Seq      int64  `json:"seq"`
		Time     string `json:"time"`
		Type     string `json:"type"`
		Redacted bool   `json:"redacted"`
	}
	// A newer version may have other types of values, which is no broken line.
	var mismatch *json.UnmarshalTypeError
	err := json.Unmarshal(raw, &w)
	if err != nil && !errors.As(err, &mismatch) {
		return skip("it is no whole record")
	}
	if w.V <= 0 || w.Type == "" {
		return skip("it is no record")
	}
	e := Entry{Seq: w.Seq, Type: w.Type, Redacted: w.Redacted, Raw: raw, Line: n}
	at, timeErr := time.Parse(time.RFC3339, w.Time)
	if timeErr == nil {
		e.Time = at.UTC()
	}
	if w.V > version {
		return e, &LineError{n, fmt.Sprintf("it is in version %d of the format", w.V)}
	}
	if err = errors.Join(err, timeErr); err != nil {
		return e, &LineError{n, err.Error()}
	}
	e.Record, err = decode(w.Type, raw)
	switch {
	case err != nil:
		e.Record = nil
		return e, &LineError{n, err.Error()}
	case e.Record == nil:
		return e, &LineError{n, fmt.Sprintf("records of type %q are unknown", w.Type)}
	}
	return e, nil
}

// putBackCalls gives the parts of a proposal the arguments of their calls, which
// the line does not repeat.
func putBackCalls(parts []agent.Part, calls []agent.ToolUse) {
	for i, p := range parts {
		for _, call := range calls {
			if call.ID == p.Use.ID && call.Name == p.Use.Name {
				parts[i].Use = call
				break
			}
		}
	}
}

func warnings(skipped, opaque []*LineError) []Warning {
	var ws []Warning
	if len(skipped) > 0 {
		w := Warning{Lines: lineNumbers(skipped)}
		w.Text = fmt.Sprintf("%s of the journal is no whole record and was skipped; probably a crash cut it off, and all other records are intact", nameLines(w.Lines))
		if len(skipped) > 1 {
			w.Text = fmt.Sprintf("%s of the journal are no whole records and were skipped; probably crashes cut them off, and all other records are intact", nameLines(w.Lines))
		}
		ws = append(ws, w)
	}
	if len(opaque) > 0 {
		w := Warning{Lines: lineNumbers(opaque)}
		w.Text = fmt.Sprintf("%s of the journal can't be read by this version of assent and was passed over: %s", nameLines(w.Lines), opaque[0].Reason)
		if len(opaque) > 1 {
			w.Text = fmt.Sprintf("%s of the journal can't be read by this version of assent and were passed over: of the first, %s", nameLines(w.Lines), opaque[0].Reason)
		}
		ws = append(ws, w)
	}
	return ws
}

func lineNumbers(list []*LineError) []int {
	var lines []int
	for _, e := range list {
		lines = append(lines, e.Line)
	}
	return lines
}

// nameLines is "line 3", or "lines 3, 5 and 9", or the first few of many.
func nameLines(lines []int) string {
	const most = 10
	if len(lines) == 1 {
		return "line " + strconv.Itoa(lines[0])
	}
	var names []string
	for _, n := range lines[:min(len(lines)-1, most)] {
		names = append(names, strconv.Itoa(n))
	}
	last := strconv.Itoa(lines[len(lines)-1])
	if rest := len(lines) - len(names); rest > 1 {
		last = fmt.Sprintf("%d more", rest)
	}
	return "lines " + strings.Join(names, ", ") + " and " + last
}
