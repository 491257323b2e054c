package fake

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Framing is how messages are told apart on a stream.
type Framing int

const (
	Headers Framing = iota // a Content-Length header before each message, as LSP has it
	Lines                  // one JSON object a line
)

// maxBody bounds what one Content-Length may ask for.
const maxBody = 1 << 30

// errEnd says that the stream ended between two frames, which is no fault.
var errEnd = errors.New("the stream ended")

// frame returns body as bytes for the wire. A body for Lines has no line end
// in it, which holds for all that encoding/json makes.
func (f Framing) frame(body []byte) []byte {
	if f == Lines {
		return append(body[:len(body):len(body)], '\n')
	}
	return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
}

// read takes one message's body off r. It returns errEnd when r ends, or
// fails, between two frames; any other error is a fault of the sender, and
// what follows it cannot be trusted.
func (f Framing) read(r *bufio.Reader) ([]byte, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, errEnd
	}
	if f == Lines {
		return readLine(r)
	}
	n, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	body := make([]byte, n)
	if got, err := io.ReadFull(r, body); err != nil {
		return nil, fmt.Errorf("the stream ended after %d of %d bytes of a body (%q…): %w", got, n, head(body[:got]), io.ErrUnexpectedEOF)
	}
	return body, nil
}

func readLine(r *bufio.Reader) ([]byte, error) {
	text, err := r.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the stream ended inside a line (%q…): %w", head(text), io.ErrUnexpectedEOF)
	}
	return text[:len(text)-1], nil
}

// readHeader reads up to the empty line and returns the Content-Length.
func readHeader(r *bufio.Reader) (int, error) {
	length := -1
	for {
		text, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return 0, fmt.Errorf("bytes that are no frame: %q…", head(text))
		}
		if err != nil {
			return 0, fmt.Errorf("the stream ended inside a header (%q…): %w", head(text), io.ErrUnexpectedEOF)
		}
		field, ok := strings.CutSuffix(string(text), "\r\n")
		if !ok {
			return 0, fmt.Errorf("bytes that are no frame: %q…", head(text))
		}
		if field == "" {
			break
		}
		if err := parseField(field, &length); err != nil {
			return 0, err
		}
	}
	if length < 0 {
		return 0, errors.New("a header without Content-Length")
	}
	return length, nil
}

// parseField takes one header line; only the two names of LSP are known.
func parseField(field string, length *int) error {
	name, value, ok := strings.Cut(field, ":")
	switch {
	case ok && strings.EqualFold(name, "Content-Type"):
		return nil
	case !ok || !strings.EqualFold(name, "Content-Length"):
		return fmt.Errorf("bytes that are no frame: %q…", head([]byte(field)))
	case *length >= 0:
		return errors.New("a header with two Content-Length")
	}
	n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
	if err != nil || n > maxBody {
		return fmt.Errorf("bad Content-Length %q", value)
	}
	*length = int(n)
	return nil
}

// head is the beginning of b, enough to recognise it in a message.
func head(b []byte) []byte { return b[:min(len(b), 60)] }
