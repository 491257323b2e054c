package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assent/rpc"

	"go.uber.org/goleak"
)

// childEnv makes this binary a process of the tests in watch_test.go.
const childEnv = "ASSENT_RPC_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		os.Exit(child(role))
	}
	goleak.VerifyTestMain(m)
}

// methods is a Handler that runs a function for each method, on the goroutine that
// reads for a notification and as a Work for a request.
type methods map[string]func(ctx context.Context, params json.RawMessage) (any, error)

func (m methods) Notify(method string, params json.RawMessage) {
	if f := m[method]; f != nil {
		_, _ = f(context.Background(), params)
	}
}

func (m methods) Accept(ctx context.Context, method string, params json.RawMessage) rpc.Work {
	f := m[method]
	if f == nil {
		return rpc.Fail(rpc.Errorf(rpc.CodeMethodNotFound, "no method %s", method))
	}
	return func() (any, error) { return f(ctx, params) }
}

// standard are methods that most tests need.
func standard() methods {
	return methods{
		"ping":  func(context.Context, json.RawMessage) (any, error) { return "pong", nil },
		"echo":  func(_ context.Context, params json.RawMessage) (any, error) { return params, nil },
		"crash": func(context.Context, json.RawMessage) (any, error) { panic("boom") },
		"wait": func(ctx context.Context, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
}

const ping = `{"jsonrpc":"2.0","id":"ping","method":"ping"}`

const pong = `{"jsonrpc":"2.0","id":"ping","result":"pong"}`

// ping2 is for a second one while the first may not be answered yet.
const ping2 = `{"jsonrpc":"2.0","id":"pin2","method":"ping"}`

const pong2 = `{"jsonrpc":"2.0","id":"pin2","result":"pong"}`

// frame puts a message into a frame as clients do.
func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

// replay serves an input to its end and returns all that was written, taken out of
// its frames and sorted, since requests are answered as they get done.
func replay(t testing.TB, in io.Reader, opts rpc.Options, h rpc.Handler) ([]string, error) {
	t.Helper()
	var out bytes.Buffer
	err := rpc.New(in, &out, opts).Serve(t.Context(), h)
	got := unframe(t, out.String())
	slices.Sort(got)
	return got, err
}

// replayed is replay for an input that must not end the connection early, with
// the standard methods.
func replayed(t testing.TB, in string) []string {
	t.Helper()
	got, err := replay(t, strings.NewReader(in), rpc.Options{}, standard())
	if err != nil {
		t.Errorf("Serve = %v", err)
	}
	return got
}

var header = regexp.MustCompile(`^Content-Length: ([0-9]+)\r\n\r\n`)

// unframe takes an output apart, which has to be whole messages in one framing.
func unframe(t testing.TB, out string) (bodies []string) {
	t.Helper()
	lines := strings.HasPrefix(out, "{")
	for out != "" {
		var body string
		if lines {
			var ok bool
			if body, out, ok = strings.Cut(out, "\n"); !ok {
				t.Fatalf("the line %q does not end", body)
			}
		} else {
			h := header.FindStringSubmatch(out)
			if h == nil {
				t.Fatalf("no header at %.80q", out)
			}
			n, _ := strconv.Atoi(h[1])
			if out = out[len(h[0]):]; n > len(out) {
				t.Fatalf("the header says %d bytes, but there are %d", n, len(out))
			}
			body, out = out[:n], out[n:]
		}
		var m struct {
			Version string `json:"jsonrpc"`
		}
		if err := json.Unmarshal([]byte(body), &m); err != nil || m.Version != "2.0" {
			t.Fatalf("%q was written, which is no message: %v", body, err)
		}
		bodies = append(bodies, body)
	}
	return bodies
}

// same compares what was written with what has to be. A wanted text that ends in
// "…" is a beginning, for messages whose sentence does not matter.
func same(t testing.TB, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.EqualFunc(got, want, fits) {
		t.Errorf("written:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func fits(got, want string) bool {
	beginning, open := strings.CutSuffix(want, "…")
	return got == want || open && strings.HasPrefix(got, beginning)
}

// failed is the beginning of the reply with an error.
func failed(id string, code int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"…`, id, code)
}

// client is the other side of a connection, in the framing of lines.
type client struct {
	*rpc.Conn
	t      testing.TB
	in     *io.PipeWriter
	out    *io.PipeReader
	lines  *bufio.Reader
	served chan error // has what Serve returned
}

// connect begins a connection, which runs when it returns.
func connect(t testing.TB, opts rpc.Options, h rpc.Handler) *client {
	in, toIn := io.Pipe()
	fromOut, out := io.Pipe()
	c := serve(t, rpc.New(in, out, opts), h, toIn)
	c.out, c.lines = fromOut, bufio.NewReader(fromOut)
	t.Cleanup(func() { fromOut.Close() })
	c.send(`{"jsonrpc":"2.0","id":"begin","method":"begin"}`)
	c.expect(`{"jsonrpc":"2.0","id":"begin",…`)
	return c
}

// serve is connect without a handshake and without an output to read.
func serve(t testing.TB, conn *rpc.Conn, h rpc.Handler, in *io.PipeWriter) *client {
	c := &client{Conn: conn, t: t, in: in, served: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.served <- conn.Serve(ctx, h)
	}()
	t.Cleanup(func() {
		cancel()
		in.Close() // frees the goroutine that reads
		<-ended
	})
	return c
}

// send returns when the connection has taken the messages.
func (c *client) send(messages ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, strings.Join(messages, "\n")+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) next() string {
	c.t.Helper()
	line, err := c.lines.ReadString('\n')
	if err != nil {
		c.t.Fatalf("nothing more was written: %v (%q)", err, line)
	}
	return strings.TrimSuffix(line, "\n")
}

func (c *client) expect(want string) {
	c.t.Helper()
	if got := c.next(); !fits(got, want) {
		c.t.Fatalf("%s was written; want %s", got, want)
	}
}

// end ends the input and waits for Serve.
func (c *client) end() error {
	c.in.Close()
	return <-c.served
}
