package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	maxEvent = 64 << 20 // bytes of one event; more is an error, never a shorter event
	maxStray = 1 << 20  // bytes kept of a body that has no events
)

var errEventTooLong = fmt.Errorf("an event has more than %d MiB", maxEvent>>20)

// event is one server-sent event.
type event struct {
	kind string // its event field
	data []byte // valid until the next one
	torn bool   // the body ended before the event did
}

// eventReader finds the events of a body, as the standard says and as servers
// send them: lines end with LF, CRLF or CR, the last event may lack its end, and
// a line that is a JSON object counts as an event, since proxies put errors, and
// servers that do not stream whole replies, there without "data:".
type eventReader struct {
	r       *bufio.Reader
	line    []byte // of a line that spans reads
	data    []byte
	kind    string
	any     bool // there was data for the event that is being read
	skipLF  bool // the line before ended with CR
	started bool // the first line was read
	stray   []byte
}

func newEventReader(body io.Reader) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(body, 32<<10)}
}

// next is the next event; the error is io.EOF at the end of the body.
func (e *eventReader) next() (event, error) {
	e.data, e.kind, e.any = e.data[:0], "", false
	for {
		line, err := e.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return event{}, err
		}
		if len(line) == 0 && e.any {
			return event{e.kind, bytes.TrimSuffix(e.data, []byte("\n")), err != nil}, nil
		}
		if len(line) == 0 {
			if err != nil {
				return event{}, err
			}
			e.data, e.kind = e.data[:0], ""
			continue
		}
		if line[0] == '{' && !e.any && len(e.stray) == 0 && line[len(line)-1] == '}' {
			return event{e.kind, line, err != nil}, nil
		}
		if err := e.field(line); err != nil {
			return event{}, err
		}
	}
}

// field takes one line that is not empty into the event.
func (e *eventReader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if len(e.data)+len(value) > maxEvent {
			return errEventTooLong
		}
		e.any = e.any || len(value) > 0
		e.data = append(append(e.data, value...), '\n')
	case "event":
		e.kind = string(value)
	case "", "id", "retry":
	default:
		if len(e.stray)+len(line) <= maxStray {
			e.stray = append(append(e.stray, line...), '\n')
		}
	}
	return nil
}

// readLine is a line without its end, valid until the next call. What follows the
// last line end comes with io.EOF.
func (e *eventReader) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		if _, err := e.r.Peek(1); err != nil {
			return e.line, err
		}
		have, _ := e.r.Peek(e.r.Buffered())
		if e.skipLF {
			e.skipLF = false
			if have[0] == '\n' {
				_, _ = e.r.Discard(1)
				continue
			}
		}
		if !e.started {
			e.started = true
			if mark, _ := e.r.Peek(len("\ufeff")); string(mark) == "\ufeff" {
				_, _ = e.r.Discard(len("\ufeff"))
			}
			continue // with all that is there by now
		}
		end := lineEnd(have)
		if end < 0 {
			if len(e.line)+len(have) > maxEvent {
				return nil, errEventTooLong
			}
			e.line = append(e.line, have...)
			_, _ = e.r.Discard(len(have))
			continue
		}
		line := have[:end]
		if len(e.line) > 0 {
			e.line = append(e.line, line...)
			line = e.line
		}
		e.skipLF = have[end] == '\r'
		_, _ = e.r.Discard(end + 1) // what was peeked stays until the next read
		return line, nil
	}
}

func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf < 0 {
		return bytes.IndexByte(b, '\r')
	}
	if cr := bytes.IndexByte(b[:lf], '\r'); cr >= 0 {
		return cr
	}
	return lf
}
