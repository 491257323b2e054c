package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"assent/rpc"
)

const (
	// lastPing has an ID that no input makes by chance.
	lastPing = `{"jsonrpc":"2.0","id":"the last of all","method":"ping"}`
	lastPong = `{"jsonrpc":"2.0","id":"the last of all","result":"pong"}`

	fuzzMax = 4 << 10
)

// fuzzed are methods that call back and echo, so that an input can also answer.
type fuzzed struct {
	methods
	conn **rpc.Conn
}

func newFuzzed(conn **rpc.Conn) fuzzed {
	h := standard()
	delete(h, "wait") // would wait for ever after the end of input
	h["ask"] = func(ctx context.Context, params json.RawMessage) (any, error) {
		var result json.RawMessage
		err := (*conn).Call(ctx, "ask", params, &result)
		return result, err
	}
	return fuzzed{h, conn}
}

// Notify does not run what waits.
func (h fuzzed) Notify(method string, params json.RawMessage) {
	if method != "ask" {
		h.methods.Notify(method, params)
	}
}

// fuzz serves an input to its end and returns what was written, checked by unframe.
func fuzz(t *testing.T, in []byte, framing rpc.Framing) ([]string, error) {
	var conn *rpc.Conn
	h := newFuzzed(&conn)
	var out bytes.Buffer
	conn = rpc.New(bytes.NewReader(in), &out, rpc.Options{Framing: framing, MaxMessage: fuzzMax})
	hang := time.AfterFunc(20*time.Second, func() {
		debug.SetTraceback("all")
		panic("Serve hangs")
	})
	defer hang.Stop()
	err := conn.Serve(t.Context(), h)
	return unframe(t, out.String()), err
}

func seeds(f *testing.F, lines bool) {
	put := func(text string) {
		if lines {
			f.Add([]byte(text + "\n"))
		} else {
			f.Add([]byte(frame(text)))
		}
	}
	for _, c := range framed {
		if len(c.in) < 2*fuzzMax {
			f.Add([]byte(c.in))
		}
	}
	for _, c := range envelopes {
		put(c.in)
	}
	const ask = `{"jsonrpc":"2.0","id":1,"method":"ask"}`
	for _, answer := range []string{`"result":1e400`, `"result":{}`, `"error":{"code":1,"message":"a"}`, `"error":[]`} {
		answer = `{"jsonrpc":"2.0","id":"s1",` + answer + `}`
		if lines {
			put(ask + "\n" + answer)
		} else {
			f.Add([]byte(frame(ask) + frame(answer)))
		}
	}
}

func FuzzLines(f *testing.F) {
	seeds(f, true)
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("the last of all")) {
			t.Skip()
		}
		got, err := fuzz(t, append(slices.Clone(data), "\n"+lastPing+"\n"...), rpc.FramingLines)
		if err != nil || !slices.Contains(got, lastPong) {
			t.Errorf("%q: Serve = %v, written: %q", data, err, got)
		}
	})
}

func FuzzHeaders(f *testing.F) {
	seeds(f, false)
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("the last of all")) {
			t.Skip()
		}
		_, _ = fuzz(t, data, rpc.FramingAuto)
		got, err := fuzz(t, append(slices.Clone(data), frame(lastPing)...), rpc.FramingHeaders)
		if whole(string(data)) && (err != nil || !slices.Contains(got, lastPong)) {
			t.Errorf("%q: Serve = %v, written: %q", data, err, got)
		}
	})
}

var anyHeaders = regexp.MustCompile(`^(?:[\w-]+: ?[\w ]*\r?\n)*Content-Length: ?([0-9]{1,6})\r?\n(?:X-\w+: ?[\w ]*\r?\n)*\r?\n`)

// whole reports whether an input is whole frames with one length each.
func whole(in string) bool {
	for in != "" {
		h := anyHeaders.FindStringSubmatch(in)
		if h == nil || strings.Count(strings.ToLower(h[0]), "content-length") > 1 {
			return false
		}
		n, _ := strconv.Atoi(h[1])
		if in = in[len(h[0]):]; n > len(in) {
			return false
		}
		in = in[n:]
	}
	return true
}
