package rpc

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
)

// stream is the connection as jsonrpc2.Conn sees it, an ObjectStream. It answers
// what is no message itself, and hands on only what that Conn understands: its IDs
// are strings here, since it reads a negative number as a huge one, and request
// parameters go around it, since it would decode and encode them again.
type stream struct {
	c       *Conn
	reader  *frameReader
	framing atomic.Int32 // a Framing, known once the first message came

	messages chan message    // of the client; closed at the end of input, nil once that is seen
	idle     <-chan struct{} // nil before the end of input, closed when all work is done after it
	done     chan struct{}   // closed by ReadObject with its last return
	closed   chan struct{}   // closed by Close

	// params are those of the request that ReadObject returned last.
	params json.RawMessage
}

// read takes messages from the input until it ends, and hands them on.
func (s *stream) read() {
	defer close(s.messages)
	err := s.reader.detect()
	s.framing.Store(int32(s.reader.framing))
	for err == nil {
		var body []byte
		body, err = s.reader.next()
		var bad *frameError
		switch {
		case errors.As(err, &bad):
			s.refuse(json.RawMessage("null"), bad.reply)
			err = nil
			continue
		case err != nil:
			continue
		}
		m, id, refused := parse(body)
		if refused != nil {
			s.refuse(id, refused)
			continue
		}
		select {
		case s.messages <- m:
		case <-s.closed:
			return
		}
	}
	switch {
	case errors.Is(err, io.EOF):
	case errors.Is(err, io.ErrUnexpectedEOF):
		s.c.log.Warn("the input ended in the middle of a message")
	default:
		s.refuse(json.RawMessage("null"), Errorf(CodeParse, "%v", err))
		s.c.end(err)
	}
}

func (s *stream) refuse(id json.RawMessage, err *Error) {
	s.c.log.Warn("a message was refused", "id", string(id), "error", err.Message)
	s.c.reply(string(id), nil, err)
}

// ReadObject implements jsonrpc2.ObjectStream. The end of input is withheld until
// all work is done, since the Conn is of no use after it.
func (s *stream) ReadObject(v any) error {
	data, err := s.nextObject()
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		close(s.done) // the Conn does not ask again after any error
	}
	return err
}

func (s *stream) nextObject() ([]byte, error) {
	for {
		select {
		case m, ok := <-s.messages:
			if !ok {
				s.c.noInput() // frees what waits for the client
				s.messages, s.idle = nil, s.c.idle()
				continue
			}
			if data, ok := s.object(m); ok {
				return data, nil
			}
		case id := <-s.c.abandoned:
			return []byte(`{"id":` + strconv.Quote(id) + `,"result":null}`), nil
		case <-s.idle:
			return nil, io.EOF
		case <-s.closed:
			return nil, io.EOF
		}
	}
}

// object is a message in a form that jsonrpc2 reads right: a result is a string
// that holds its bytes, since the Conn would end at a number that is no float64, and
// bytes that are no text must not become others.
func (s *stream) object(m message) (data []byte, ok bool) {
	s.params = m.params
	fields := map[string]any{}
	switch {
	case m.method != "":
		fields["method"] = m.method
		if m.id != "" {
			fields["id"] = m.id
		}
	case !strings.HasPrefix(m.id, `"`):
		s.c.log.Warn("an answer to a request that was never made was left out", "id", m.id)
		return nil, false
	case m.failed != nil:
		failed := Error{Code: CodeInternal, Message: string(m.failed)}
		_ = json.Unmarshal(m.failed, &failed) // else as it came
		fields["id"], fields["error"] = json.RawMessage(m.id), failed
	default:
		fields["id"], fields["result"] = json.RawMessage(m.id), []byte(m.result)
	}
	data, err := json.Marshal(fields)
	return data, err == nil
}

// WriteObject implements jsonrpc2.ObjectStream. It never blocks, since the Conn
// holds a lock while it runs.
func (s *stream) WriteObject(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write(data)
}

func (s *stream) write(body []byte) error {
	return s.c.w.put(Framing(s.framing.Load()).encode(body))
}

// Close implements jsonrpc2.ObjectStream. The input itself is left to its owner.
func (s *stream) Close() error {
	close(s.closed) // the Conn calls it once
	return nil
}
