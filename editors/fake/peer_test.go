package fake

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMain fails when a goroutine of the editor outlives the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := leftovers(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines left:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leftovers returns the stacks of the package's goroutines. One that has just
// been waited for may still be on its last instruction, hence the patience.
func leftovers() string {
	for deadline := time.Now().Add(2 * time.Second); ; runtime.Gosched() {
		buf := make([]byte, 1<<20)
		var left []string
		for _, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")[1:] {
			if strings.Contains(stack, "assent/editors/fake") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
	}
}

// peer is a tiny server whose part the test speaks. It frames with
// net/textproto and not with the code under test.
type peer struct {
	t       *testing.T
	framing Framing
	out     io.WriteCloser
	in      chan peerMessage
	lastID  int
}

type peerMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// connect returns an editor and its peer, which are not initialized. At the
// end of the test both are closed and faults fail it; a test that wants a fault
// takes it with mustFault.
func connect(t *testing.T, o Options) (*Editor, *peer) {
	t.Helper()
	fromServer, out := io.Pipe()
	in, toServer := io.Pipe()
	e := New(fromServer, toServer, o)
	p := &peer{t: t, framing: o.Framing, out: out, in: make(chan peerMessage, 1000)}
	go p.read(in)
	t.Cleanup(func() {
		out.Close()
		if err := e.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		for range p.in { // the peer's reader has ended too
		}
		if err := e.Err(); err != nil {
			t.Errorf("faults of the server: %v", err)
		}
	})
	return e, p
}

// full is a server that wants to hear everything, in increments.
const full = `{"textDocumentSync":{"openClose":true,"change":2,"save":{"includeText":true}}}`

// start returns an editor that is initialized with a server's capabilities.
func start(t *testing.T, o Options, capabilities string) (*Editor, *peer) {
	t.Helper()
	e, p := connect(t, o)
	done := make(chan error, 1)
	go func() {
		_, err := e.Initialize(t.Context())
		done <- err
	}()
	p.answer(p.expect("initialize"), `{"capabilities":`+capabilities+`}`)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	p.expect("initialized")
	return e, p
}

func (p *peer) read(in io.Reader) {
	defer close(p.in)
	r := bufio.NewReader(in)
	for {
		body, err := p.body(r)
		if err != nil {
			return
		}
		var m peerMessage
		if err := json.Unmarshal(body, &m); err != nil {
			p.t.Errorf("the editor sent %q: %v", body, err)
		}
		p.in <- m
	}
}

func (p *peer) body(r *bufio.Reader) ([]byte, error) {
	if p.framing == Lines {
		return r.ReadBytes('\n')
	}
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		return nil, err
	}
	body := make([]byte, n)
	_, err = io.ReadFull(r, body)
	return body, err
}

// next returns the editor's next message.
func (p *peer) next() peerMessage {
	p.t.Helper()
	select {
	case m, ok := <-p.in:
		if !ok {
			p.t.Fatal("the editor closed the stream")
		}
		return m
	case <-time.After(10 * time.Second):
		p.t.Fatal("the editor says nothing")
	}
	panic("unreachable")
}

// expect returns the editor's next message, which must be of this method.
func (p *peer) expect(method string) peerMessage {
	p.t.Helper()
	m := p.next()
	if m.Method != method {
		p.t.Fatalf("got %+v, want a %s", m, method)
	}
	return m
}

// response returns the editor's next message, which must answer id.
func (p *peer) response(id int) peerMessage {
	p.t.Helper()
	m := p.next()
	if m.Method != "" || string(m.ID) != strconv.Itoa(id) {
		p.t.Fatalf("got %s %s %s, want a response to %d", m.ID, m.Method, m.Params, id)
	}
	return m
}

// write sends bytes as they are.
func (p *peer) write(data string) {
	p.t.Helper()
	if _, err := io.WriteString(p.out, data); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) send(body string) {
	p.t.Helper()
	if p.framing == Lines {
		p.write(body + "\n")
		return
	}
	p.write("Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

func (p *peer) answer(m peerMessage, result string) {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
}

// ask sends a request and returns its id.
func (p *peer) ask(method string, params any) int {
	p.t.Helper()
	p.lastID++
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.lastID, method, marshal(params)))
	return p.lastID
}

func (p *peer) notify(method string, params any) {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, marshal(params)))
}

// marshal takes JSON text, or a value.
func marshal(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// mustFault waits for a fault that says part, and takes the faults away.
func mustFault(t *testing.T, e *Editor, part string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var got []error
	_ = e.conn.await(ctx, func() bool {
		got = e.conn.faults
		if len(got) > 0 {
			e.conn.faults = nil
		}
		return len(got) > 0
	})
	if len(got) == 0 || !strings.Contains(got[0].Error(), part) {
		t.Fatalf("faults %v, want one that says %q", got, part)
	}
}

// file makes a file in a new directory and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantDisk compares a file.
func wantDisk(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("the disk has %q, %v, want %q", got, err, want)
	}
}

// wantText compares a buffer.
func wantText(t *testing.T, e *Editor, uri, want string, version int) {
	t.Helper()
	got, v, open := e.Text(uri)
	if !open || got != want || v != version {
		t.Errorf("the buffer has %q, version %d, open %v; want %q, version %d", got, v, open, want, version)
	}
}

// wantJSON compares JSON by its values.
func wantJSON(t *testing.T, got json.RawMessage, want string) {
	t.Helper()
	if g, w := canonical(t, string(got)), canonical(t, want); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

func canonical(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	b, _ := json.Marshal(v)
	return string(b)
}
