package lsp

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/host"
	"assent/editors/fake"
	"assent/rpc"
	"assent/tools"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a server with a fake editor at it, and a model that a test scripts.
type desk struct {
	*fake.Editor
	t      *testing.T
	ctx    context.Context // ends before the test would hang
	dir    string          // workspace folder, resolved
	server *Server
	model  *reader
}

// deskWith connects an editor to a server. The files are named relative to the
// workspace folder.
func deskWith(t *testing.T, o fake.Options, files map[string]string, replies ...reply) *desk {
	t.Helper()
	d := deskUninitialized(t, o, files, replies...)
	if _, err := d.Initialize(d.ctx, d.dir); err != nil {
		t.Fatal(err)
	}
	return d
}

func deskUninitialized(t *testing.T, o fake.Options, files map[string]string, replies ...reply) *desk {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	d := &desk{t: t, ctx: ctx, dir: filepath.Join(root, "ws"), model: &reader{replies: replies}}
	d.disk("", files)
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	conn := rpc.New(fromClient, toClient, rpc.Options{})
	d.server = New(conn, Options{Version: "test", Dir: d.dir, Open: d.engine(filepath.Join(root, "journal"))})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = conn.Serve(context.Background(), d.server) // how it ends is looked at where it matters
		if err := d.server.Close(); err != nil {
			t.Error(err)
		}
		_ = toClient.Close()
		_ = fromClient.Close()
	}()
	d.Editor = fake.New(fromServer, toServer, o)
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			conn.Close() // what hangs is cancelled
		}
		_ = d.Close()
		<-served
		if err := d.Err(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// engine has all tools and the model of the test, by two names.
func (d *desk) engine(journal string) func(InitializationOptions) (*Engine, error) {
	return func(InitializationOptions) (*Engine, error) {
		all := tools.Default()
		h := host.New(host.Options{
			JournalDir: journal, Version: "test", Provider: "test", ModelName: "m1", Model: d.model, Tools: all, Random: rand.Reader,
			NewModel: func(string) (agent.Model, error) { return d.model, nil },
		})
		return &Engine{Host: h, Provider: "test", Model: "m1", Journal: journal, Tools: all}, nil
	}
}

// disk writes files.
func (d *desk) disk(below string, files map[string]string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Join(d.dir, below), 0o755); err != nil {
		d.t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(d.dir, below, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			d.t.Fatal(err)
		}
	}
}

// uri is that of a file of the workspace.
func (d *desk) uri(name string) string { return fake.URI(filepath.Join(d.dir, name)) }

// opened opens a file in the editor and returns its URI.
func (d *desk) opened(name string) string {
	d.t.Helper()
	if err := d.OpenFile(filepath.Join(d.dir, name)); err != nil {
		d.t.Fatal(err)
	}
	return d.uri(name)
}

// settle waits until the server has taken all that was said so far.
func (d *desk) settle() {
	d.t.Helper()
	if err := d.Call(d.ctx, methodStatus, Empty{}, nil); err != nil {
		d.t.Fatal(err)
	}
}

// say is a prompt that has to succeed.
func (d *desk) say(p fake.Prompt) fake.PromptResult {
	d.t.Helper()
	if p.Text == "" {
		p.Text = "go"
	}
	result, err := d.Prompt(d.ctx, p)
	if err != nil {
		d.t.Fatal(err)
	}
	return result
}

// session is the ID of a new session.
func (d *desk) session() string {
	d.t.Helper()
	var result SessionNewResult
	if err := d.Call(d.ctx, methodSessionNew, SessionNewParams{}, &result); err != nil {
		d.t.Fatal(err)
	}
	return result.SessionID
}

// begin sends a prompt and waits for the request to the model with that number,
// from 1.
func (d *desk) begin(p fake.Prompt, request int) *fake.Pending {
	d.t.Helper()
	if p.Text == "" {
		p.Text = "go"
	}
	pending := d.start(p)
	d.asked(request)
	return pending
}

// start sends a prompt.
func (d *desk) start(p fake.Prompt) *fake.Pending {
	d.t.Helper()
	pending, err := d.Start(methodPrompt, p)
	if err != nil {
		d.t.Fatal(err)
	}
	return pending
}

// asked waits for a request to the model.
func (d *desk) asked(request int) {
	d.t.Helper()
	select {
	case <-d.model.begun(request):
	case <-d.ctx.Done():
		d.t.Fatalf("request %d to the model did not come", request)
	}
}

// ended is the result of a prompt.
func (d *desk) ended(p *fake.Pending) fake.PromptResult {
	d.t.Helper()
	var result fake.PromptResult
	if err := p.Wait(d.ctx, &result); err != nil {
		d.t.Fatal(err)
	}
	return result
}

// awaitRequest waits for a message of the server.
func (d *desk) awaitRequest(method string) fake.Entry {
	d.t.Helper()
	e, err := d.AwaitEntry(d.ctx, func(e fake.Entry) bool { return e.FromServer && !e.Response && e.Method == method })
	if err != nil {
		d.t.Fatalf("%s did not come: %v", method, err)
	}
	return e
}

// results are the results of calls so far.
func (d *desk) results() []ToolResultEvent {
	d.t.Helper()
	return eventsOf[ToolResultEvent](d, "tool_result")
}

func eventsOf[E any](d *desk, kind string) []E {
	d.t.Helper()
	var out []E
	for _, e := range d.Events() {
		if e.Type != kind {
			continue
		}
		var one E
		if err := e.Decode(&one); err != nil {
			d.t.Fatal(err)
		}
		out = append(out, one)
	}
	return out
}

// reply is one reply of a model.
type reply func(ctx context.Context) (agent.Message, error)

func says(text string) reply {
	return func(context.Context) (agent.Message, error) { return agenttest.Say(text), nil }
}

func calls(uses ...agent.ToolUse) reply {
	return func(context.Context) (agent.Message, error) { return agenttest.Call(uses...), nil }
}

// held is a reply that comes when the channel is closed, or never if it is nil.
func held(until <-chan struct{}, then reply) reply {
	return func(ctx context.Context) (agent.Message, error) {
		select {
		case <-until:
			return then(ctx)
		case <-ctx.Done():
			return agent.Message{}, ctx.Err()
		}
	}
}

// stubborn is as held, and does not heed a cancel.
func stubborn(until <-chan struct{}, then reply) reply {
	return func(ctx context.Context) (agent.Message, error) { <-until; return then(ctx) }
}

// reads is a call of read_file.
func reads(id, path string) agent.ToolUse {
	return agenttest.Use(id, "read_file", map[string]any{"path": path})
}

// edits replaces texts, which come in pairs of an old and a new one.
func edits(id, path string, pairs ...string) agent.ToolUse {
	var list []map[string]any
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]any{"old_string": pairs[i], "new_string": pairs[i+1]})
	}
	return agenttest.Use(id, "edit_file", map[string]any{"path": path, "edits": list})
}

// reader is a model with a list of replies. After the last it says "done".
type reader struct {
	replies []reply

	mu       sync.Mutex
	requests []agent.Request
	waiting  map[int]chan struct{}
}

// begun is closed when the request with a number, from 1, has come.
func (m *reader) begun(n int) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.signal(n)
}

func (m *reader) signal(n int) chan struct{} {
	if m.waiting == nil {
		m.waiting = map[int]chan struct{}{}
	}
	if m.waiting[n] == nil {
		m.waiting[n] = make(chan struct{})
	}
	return m.waiting[n]
}

func (m *reader) asked(n int) agent.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[n-1]
}

// Stream implements [agent.Model].
func (m *reader) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		m.mu.Lock()
		m.requests = append(m.requests, req)
		n := len(m.requests)
		close(m.signal(n))
		m.mu.Unlock()
		next := says("done")
		if n <= len(m.replies) {
			next = m.replies[n-1]
		}
		message, err := next(ctx)
		if err != nil {
			yield(agent.Chunk{}, err)
			return
		}
		if text := message.Text(); text != "" && !yield(agent.Chunk{Text: text}, nil) {
			return
		}
		yield(agent.Chunk{Reply: &message}, nil)
	}
}

// same fails the test where two texts differ.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s is\n%q, not\n%q", what, got, want)
	}
}

// has fails the test where a text lacks a part.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
}

// codeOf is the code of an error of the wire, 0 for none.
func codeOf(err error) int {
	if failed, ok := err.(*fake.Error); ok {
		return failed.Code
	}
	if err != nil {
		panic(fmt.Sprint("no error of the wire: ", err))
	}
	return 0
}
