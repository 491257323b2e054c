package fake

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func readAll(f Framing, r io.Reader) (bodies []string, err error) {
	br := bufio.NewReader(r)
	for {
		body, err := f.read(br)
		if err != nil {
			return bodies, err
		}
		bodies = append(bodies, string(body))
	}
}

func TestFramesSurviveAnyChunking(t *testing.T) {
	bodies := []string{`{}`, `{"a":"ä€𝄞"}`, `{"long":"` + strings.Repeat("é", 5000) + `"}`}
	readers := map[string]func(io.Reader) io.Reader{
		"one byte at a time": iotest.OneByteReader,
		"half reads":         iotest.HalfReader,
		"data with the end":  iotest.DataErrReader,
	}
	for _, f := range []Framing{Headers, Lines} {
		for name, chunk := range readers {
			t.Run(fmt.Sprint(f, " ", name), func(t *testing.T) {
				var wire bytes.Buffer
				for _, b := range bodies {
					wire.Write(f.frame([]byte(b)))
				}
				got, err := readAll(f, chunk(&wire))
				if err != errEnd || !slices.Equal(got, bodies) {
					t.Errorf("got %q, %v", got, err)
				}
			})
		}
	}
}

func TestContentLengthCountsBytes(t *testing.T) {
	if got, want := string(Headers.frame([]byte(`"é𝄞"`))), "Content-Length: 8\r\n\r\n\"é𝄞\""; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHeaderNamesHaveAnyCaseAndContentTypeIsKnown(t *testing.T) {
	wire := "content-type: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-LENGTH:2\r\n\r\n{}"
	got, err := readAll(Headers, strings.NewReader(wire))
	if err != errEnd || !slices.Equal(got, []string{"{}"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestBrokenFramesAreErrors(t *testing.T) {
	tests := []struct {
		name    string
		framing Framing
		wire    string
		part    string
		cut     bool
	}{
		{"text on stdout", Headers, "panic: oh\n", "no frame", false},
		{"text that looks like a header", Headers, "warning: oh\r\n\r\n", "no frame", false},
		{"text without a line end", Headers, strings.Repeat("x", 1<<17), "no frame", false},
		{"a header that ends in a bare LF", Headers, "Content-Length: 2\n\n{}", "no frame", false},
		{"no length", Headers, "Content-Type: x\r\n\r\n{}", "without Content-Length", false},
		{"two lengths", Headers, "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "two Content-Length", false},
		{"a length that is no number", Headers, "Content-Length: two\r\n\r\n", "bad Content-Length", false},
		{"a negative length", Headers, "Content-Length: -2\r\n\r\n", "bad Content-Length", false},
		{"a length beyond reason", Headers, "Content-Length: 2000000000\r\n\r\n", "bad Content-Length", false},
		{"a header that is cut", Headers, "Content-Le", "inside a header", true},
		{"a body that is cut", Headers, "Content-Length: 20\r\n\r\n{}", "after 2 of 20 bytes", true},
		{"a line that is cut", Lines, "{}", "inside a line", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readAll(tt.framing, iotest.OneByteReader(strings.NewReader(tt.wire)))
			if err == errEnd || !strings.Contains(err.Error(), tt.part) {
				t.Errorf("got %v, want %q", err, tt.part)
			}
			if errors.Is(err, io.ErrUnexpectedEOF) != tt.cut {
				t.Errorf("%v: cut is %v, want %v", err, !tt.cut, tt.cut)
			}
		})
	}
}

func TestMessagesThatAreNotJSONRPCAreErrors(t *testing.T) {
	for body, part := range map[string]string{
		`nonsense`:                     "no JSON object",
		`null`:                         "no JSON object",
		`[]`:                           "no JSON object",
		"{\"jsonrpc\":\"\xff\"}":       "no UTF-8",
		`{"method":"a"}`:               "without jsonrpc",
		`{"jsonrpc":"2.0","method":7}`: "no string",
		`{"jsonrpc":"2.0","id":1}`:     "exactly one",
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"},"result":null}`: "exactly one",
		`{"jsonrpc":"2.0","id":1,"error":"x"}`:                                    "broken error",
		`{"jsonrpc":"2.0","id":null,"method":"a"}`:                                "neither a string nor a number",
		`{"jsonrpc":"2.0","id":{},"method":"a"}`:                                  "neither a string nor a number",
	} {
		if _, err := parse([]byte(body)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: got %v, want %q", body, err, part)
		}
	}
}

func FuzzFraming(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"), false)
	f.Add([]byte("Content-Length: 3\r\nContent-Type: x\r\n\r\n{}"), false)
	f.Add([]byte("{}\n[]\n{"), true)
	f.Fuzz(func(t *testing.T, wire []byte, lines bool) {
		framing := Headers
		if lines {
			framing = Lines
		}
		whole, errWhole := readAll(framing, bytes.NewReader(wire))
		bytewise, errBytewise := readAll(framing, iotest.OneByteReader(bytes.NewReader(wire)))
		if !slices.Equal(whole, bytewise) || (errWhole == errEnd) != (errBytewise == errEnd) {
			t.Errorf("whole: %q, %v; a byte at a time: %q, %v", whole, errWhole, bytewise, errBytewise)
		}
		for _, body := range whole {
			_, _ = parse([]byte(body)) // must not panic
		}
	})
}
