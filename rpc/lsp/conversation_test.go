package lsp_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assent/agent"
	"assent/agent/host"
	"assent/rpc"
	"assent/rpc/lsp"
	"assent/tools"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite what the server says in testdata/*.txtar")

// A conversation is a txtar file: what it shows, in words; the files of the
// workspace below ws/; the replies of the model in replies.jsonl; and, in talk, what
// is said. "C: " and a message is said by the client ("jsonrpc" is added), "S: " by
// the server, and "X: " is the exit code. The client says a request when those before
// it are answered, an answer when the request that it is for has come, and anything
// after "W: method" or "W: answer ID" when that has come. The workspace is $W.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			talk := fileIn(archive, "talk")
			got := converse(t, archive, string(talk.Data))
			if got == string(talk.Data) {
				return
			}
			if *update {
				talk.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("%s: another conversation (-update rewrites it):\n%s", file, firstDifference(string(talk.Data), got))
		})
	}
}

func fileIn(a *txtar.Archive, name string) *txtar.File {
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i]
		}
	}
	return &txtar.File{Name: name}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := "(the end)", "(the end)"
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n want %s\n got  %s", i+1, a, b)
		}
	}
	return ""
}

// talker is the client of a conversation.
type talker struct {
	t      *testing.T
	root   string
	in     io.WriteCloser
	out    chan string // lines of the server
	said   strings.Builder
	asked  map[string]bool // our requests that are not answered, by ID as JSON text
	seen   []string        // methods of the server's requests and notifications, and "id X"
	exited chan int
	later  []string // what the server said that has no fixed place among the rest
}

func converse(t *testing.T, archive *txtar.Archive, talk string) string {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(root, "ws")
	for _, f := range archive.Files {
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(ws, 0o700); err != nil {
		t.Fatal(err)
	}
	c := &talker{t: t, root: ws, out: make(chan string, 1000), asked: map[string]bool{}, exited: make(chan int, 1)}
	c.start(fileIn(archive, "replies.jsonl").Data, root)
	lines := strings.Split(strings.TrimRight(talk, "\n"), "\n")
	for i := 0; i < len(lines); {
		i = c.block(lines, i)
	}
	c.in.Close()
	code := <-c.exited
	for line := range c.out {
		c.hear(line)
	}
	fmt.Fprintf(&c.said, "X: %d\n", code)
	return c.said.String()
}

// start serves the client over pipes.
func (c *talker) start(replies []byte, root string) {
	fromClient, in := io.Pipe()
	fromServer, out := io.Pipe()
	c.in = in
	conn := rpc.New(fromClient, out, rpc.Options{})
	server := lsp.New(conn, lsp.Options{Version: "test", Dir: c.root, Open: testEngine(replies, filepath.Join(root, "journal"))})
	go func() {
		err := conn.Serve(c.t.Context(), server)
		if failed := server.Close(); failed != nil {
			c.t.Error(failed)
		}
		out.Close()
		c.exited <- server.ExitCode(err)
	}()
	go func() {
		defer close(c.out)
		r := bufio.NewReader(fromServer)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				c.out <- strings.TrimSpace(line)
			}
			if err != nil {
				return
			}
		}
	}()
}

// testEngine has the offline demo, or replies out of a file, at a fixed time.
func testEngine(replies []byte, journal string) func(lsp.InitializationOptions) (*lsp.Engine, error) {
	return func(lsp.InitializationOptions) (*lsp.Engine, error) {
		model, err := testModel(replies)
		if err != nil {
			return nil, err
		}
		all := tools.Default()
		clock := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
		h := host.New(host.Options{
			JournalDir: journal, Version: "test", Provider: "test", ModelName: "m1", Model: model, Tools: all, Now: clock, Random: &counter{},
			NewModel: func(name string) (agent.Model, error) {
				if name != "m2" {
					return nil, fmt.Errorf("there is no model %q", name)
				}
				return model, nil
			},
		})
		return &lsp.Engine{Host: h, Provider: "test", Model: "m1", Journal: journal, Tools: all}, nil
	}
}

// counter makes session IDs that end in 00000001, 00000002, …
type counter struct{ n atomic.Uint32 }

func (c *counter) Read(p []byte) (int, error) {
	return copy(p, binary.BigEndian.AppendUint32(nil, c.n.Add(1))), nil
}

// block says the client's next lines, then hears the server until the block after it
// can be said. It returns where that begins.
func (c *talker) block(lines []string, i int) int {
	for first := i; i < len(lines) && strings.HasPrefix(lines[i], "C: ") && (i == first || answers(c.t, lines[i]) == ""); i++ {
		if i > first && len(c.asked) > 0 && asks(c.t, lines[i]) != "" {
			break
		}
		c.say(lines[i])
	}
	wait := ""
	if i < len(lines) && strings.HasPrefix(lines[i], "W: ") {
		wait = strings.TrimPrefix(lines[i], "W: ")
		fmt.Fprintln(&c.said, lines[i])
		i++
	}
	for i < len(lines) && !strings.HasPrefix(lines[i], "C: ") {
		i++
	}
	if wait == "" && i < len(lines) {
		wait = answers(c.t, lines[i])
	}
	defer c.sayLater()
	for wait != "" && !slices.Contains(c.seen, wait) || wait == "" && len(c.asked) > 0 {
		select {
		case line, ok := <-c.out:
			if !ok {
				c.t.Fatalf("the server ended; so far:\n%s", c.said.String())
			}
			c.hear(line)
		case <-time.After(20 * time.Second):
			c.t.Fatalf("waited for %q and %v; so far:\n%s", wait, c.asked, c.said.String())
		}
	}
	return i
}

// asks is the ID of a request, as JSON text: of the null that what is no message is
// answered with, and "" for what is not answered.
func asks(t *testing.T, line string) string {
	switch m := members(t, line[3:]); {
	case m == nil:
		return "null"
	case m["method"] != nil:
		return string(m["id"])
	}
	return ""
}

// answers is what a line of the client waits for if it is an answer, else "".
func answers(t *testing.T, line string) string {
	m := members(t, line[3:])
	if id := string(m["id"]); m["method"] == nil && strings.HasPrefix(id, `"s`) {
		return "id " + id
	}
	return ""
}

func members(t *testing.T, text string) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return nil // said as it is: not every message is well formed
	}
	return m
}

func (c *talker) say(line string) {
	fmt.Fprintln(&c.said, line)
	text := strings.ReplaceAll(line[3:], "$W", filepath.ToSlash(c.root))
	if id := asks(c.t, line); id != "" {
		c.asked[id] = true
	}
	if members(c.t, text) != nil {
		text = `{"jsonrpc":"2.0",` + strings.TrimPrefix(text, "{")
	}
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		c.t.Fatalf("saying %s: %v", line, err)
	}
}

var (
	measures = regexp.MustCompile(`"(ms|firstByteMs|tokens)":\d+`)
	journal  = regexp.MustCompile(`"journal":"[^"]*"`)
)

func (c *talker) hear(line string) {
	m := members(c.t, line)
	if m["method"] == nil {
		delete(c.asked, string(m["id"]))
		c.seen = append(c.seen, "answer "+string(m["id"]))
	} else {
		var method string
		if err := json.Unmarshal(m["method"], &method); err != nil {
			c.t.Fatal(err)
		}
		c.seen = append(c.seen, method, "id "+string(m["id"]))
	}
	text := strings.ReplaceAll(line, filepath.ToSlash(c.root), "$W")
	text = strings.ReplaceAll(text, `"jsonrpc":"2.0",`, "")
	text = measures.ReplaceAllString(text, `"$1":0`)
	text = journal.ReplaceAllString(text, `"journal":"$$J"`)
	text = "S: " + string(sorted(c.t, text))
	if string(m["method"]) == `"$/cancelRequest"` {
		c.later = append(c.later, text)
		return
	}
	fmt.Fprintln(&c.said, text)
}

func (c *talker) sayLater() {
	for _, text := range c.later {
		fmt.Fprintln(&c.said, text)
	}
	c.later = nil
}

// sorted is a message with the members that jsonrpc2 puts in the order of a map in
// the usual one.
func sorted(t *testing.T, text string) []byte {
	m := members(t, text)
	var b bytes.Buffer
	for _, name := range []string{"id", "method", "params", "result", "error"} {
		if raw, ok := m[name]; ok {
			fmt.Fprintf(&b, `,%q:%s`, name, raw)
		}
	}
	return append(append([]byte("{"), bytes.TrimPrefix(b.Bytes(), []byte(","))...), '}')
}
