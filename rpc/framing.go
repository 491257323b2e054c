package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Framing is how messages are told apart.
type Framing int32

const (
	FramingAuto    Framing = iota // by the first byte: '{' or '[' means lines
	FramingHeaders                // Content-Length, as in LSP
	FramingLines                  // one message a line
)

// ParseFraming reads "auto", "headers" or "lines".
func ParseFraming(text string) (Framing, error) {
	switch text {
	case "auto":
		return FramingAuto, nil
	case "headers":
		return FramingHeaders, nil
	case "lines":
		return FramingLines, nil
	}
	return 0, fmt.Errorf("the framing %q is not known; use auto, headers or lines", text)
}

// DefaultMaxMessage is the largest message that is read, in bytes.
const DefaultMaxMessage = 64 << 20

const (
	// maxHeader is the longest line among the headers.
	maxHeader = 8 << 10
	// maxSkip is the largest message that is skipped to stay in step. What claims
	// to be larger is taken for a broken header.
	maxSkip = 4 << 30
)

// frameError is a message that could not be read. The next one can.
type frameError struct{ reply *Error }

func (e *frameError) Error() string { return e.reply.Message }

// frameReader takes a stream apart into messages.
type frameReader struct {
	r       *bufio.Reader
	max     int
	framing Framing
	garbage func(line string) // told of a line where a header should be
}

func newFrameReader(in io.Reader, framing Framing, max int, garbage func(string)) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(in, 64<<10), max: max, framing: framing, garbage: garbage}
}

const byteOrderMark = "\xef\xbb\xbf"

// detect looks at the first byte that is no blank, and takes nothing but blanks
// and a byte-order mark, which some shells put before what they pipe.
func (f *frameReader) detect() error {
	if mark, err := f.r.Peek(len(byteOrderMark)); err == nil && string(mark) == byteOrderMark {
		f.r.Discard(len(byteOrderMark))
	}
	for {
		b, err := f.r.ReadByte()
		if err != nil {
			return err
		}
		if strings.IndexByte(" \t\r\n", b) >= 0 {
			continue
		}
		f.r.UnreadByte()
		if f.framing == FramingAuto {
			f.framing = FramingHeaders
			if b == '{' || b == '[' {
				f.framing = FramingLines
			}
		}
		return nil
	}
}

// next is the next message, without a mark or blanks around it. A *frameError
// concerns that message only; after any other error there are no more: io.EOF
// where the stream may end, io.ErrUnexpectedEOF in the middle of a message.
func (f *frameReader) next() ([]byte, error) {
	var body []byte
	var err error
	if f.framing == FramingLines {
		body, err = f.line()
	} else {
		body, err = f.counted()
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimSpace(bytes.TrimPrefix(body, []byte(byteOrderMark))), nil
}

// line reads a line that is not blank. The last one need not end.
func (f *frameReader) line() ([]byte, error) {
	for {
		line, tooLong, err := f.upTo(f.max)
		if tooLong {
			return nil, f.tooLarge()
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// upTo reads to the end of the line and keeps no more than limit bytes of it.
func (f *frameReader) upTo(limit int) (line []byte, tooLong bool, err error) {
	for {
		part, err := f.r.ReadSlice('\n')
		if len(line)+len(bytes.TrimRight(part, "\r\n")) > limit {
			tooLong = true
		}
		if !tooLong {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

func (f *frameReader) tooLarge() error {
	return &frameError{Errorf(CodeInvalidRequest, "the message is larger than %d bytes and was left out; send less at once", f.max)}
}

// counted reads the headers, then as many bytes as they say.
func (f *frameReader) counted() ([]byte, error) {
	length, err := f.headers()
	switch {
	case err != nil:
		return nil, err
	case length > int64(f.max):
		if _, err := io.CopyN(io.Discard, f.r, length); err != nil {
			return nil, unexpected(err)
		}
		return nil, f.tooLarge()
	}
	// Not made at once: the header may promise more than comes.
	body, err := io.ReadAll(io.LimitReader(f.r, length))
	if err == nil && int64(len(body)) < length {
		err = io.ErrUnexpectedEOF
	}
	return body, err
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// headers reads to the blank line and returns the length that they tell. Other
// headers are passed over, and so is what is no header, which is told.
func (f *frameReader) headers() (int64, error) {
	length, seen := int64(-1), false
	for {
		line, tooLong, err := f.upTo(maxHeader)
		if err != nil {
			if seen || len(bytes.TrimSpace(line)) > 0 {
				err = unexpected(err)
			}
			return 0, err
		}
		text := strings.TrimSpace(string(line))
		name, value, isHeader := strings.Cut(text, ":")
		switch {
		case tooLong: // and text is empty, which is not the end
			f.garbage(text)
		case text == "" && length >= 0:
			return length, nil
		case text == "" && seen:
			return 0, &frameError{Errorf(CodeParse, "the headers lack a Content-Length; send one before each message")}
		case text == "": // blank lines between messages
		case !isHeader || strings.ContainsAny(name, " \t{\""):
			f.garbage(text)
		case strings.EqualFold(name, "Content-Length"):
			if length, err = parseLength(strings.TrimSpace(value), length); err != nil {
				return 0, err
			}
			seen = true
		default:
			seen = true
		}
	}
}

// parseLength refuses what can't be followed. before is the length that an
// earlier header told, or -1.
func parseLength(text string, before int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > maxSkip || before >= 0 && n != before {
		if len(text) > 40 {
			text = text[:40] + "…"
		}
		return 0, fmt.Errorf("the header Content-Length is %q, which is no length of a message, so nothing after it can be read", text)
	}
	return n, nil
}

// encode puts a message into a frame.
func (f Framing) encode(body []byte) []byte {
	if f == FramingLines {
		return append(body, '\n') // JSON as encoding/json makes it has no line end in it
	}
	return append(fmt.Appendf(make([]byte, 0, len(body)+40), "Content-Length: %d\r\n\r\n", len(body)), body...)
}
