package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assent/editors/fake"
	"assent/rpc"
	"assent/rpc/lsp"
)

// bench is a server in this process with a fake editor on pipes.
type bench struct {
	*fake.Editor
	t      testing.TB
	ctx    context.Context
	dir    string // workspace
	served chan error
}

// newBench starts a server for a workspace with files, whose model gives the replies,
// and initializes it. The demo model answers if there are none.
func newBench(t testing.TB, files map[string]string, replies []string, o fake.Options) *bench {
	t.Helper()
	b := startBench(t, files, replies, o)
	_, err := b.Initialize(b.ctx, b.dir)
	b.must(err)
	return b
}

// startBench is newBench before initialize.
func startBench(t testing.TB, files map[string]string, replies []string, o fake.Options) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	b := &bench{t: t, ctx: ctx, dir: filepath.Join(root, "ws"), served: make(chan error, 1)}
	b.write(".keep", "")
	for name, text := range files {
		b.write(name, text)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	conn := rpc.New(fromClient, toClient, rpc.Options{})
	open := testEngine([]byte(strings.Join(replies, "\n")), filepath.Join(root, "journal"))
	server := lsp.New(conn, lsp.Options{Version: "test", Dir: b.dir, Open: open})
	go func() {
		err := conn.Serve(ctx, server)
		err = errors.Join(err, server.Close())
		toClient.Close()
		b.served <- err
	}()
	b.Editor = fake.New(fromServer, toServer, o)
	t.Cleanup(func() {
		if err := b.Editor.Close(); err != nil {
			t.Error(err)
		}
		<-b.served
		cancel()
		if err := b.Err(); err != nil {
			t.Errorf("the editor heard: %v", err)
		}
	})
	return b
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }
func (b *bench) uri(name string) string  { return fake.URI(b.path(name)) }

func (b *bench) write(name, text string) {
	b.t.Helper()
	b.must(os.MkdirAll(filepath.Dir(b.path(name)), 0o700))
	b.must(os.WriteFile(b.path(name), []byte(text), 0o600))
}

// disk is a file on disk, "-" if there is none.
func (b *bench) disk(name string) string {
	data, err := os.ReadFile(b.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	if err != nil {
		b.t.Error(err)
	}
	return string(data)
}

// text is an open document, "-" if it is not open.
func (b *bench) text(name string) string {
	text, _, open := b.Text(b.uri(name))
	if !open {
		return "-"
	}
	return text
}

func (b *bench) prompt(p fake.Prompt) fake.PromptResult {
	b.t.Helper()
	result, err := b.Prompt(b.ctx, p)
	b.must(err)
	return result
}

// landings are the files of all landings: "status where note".
func (b *bench) landings() []string {
	b.t.Helper()
	var all []string
	for _, e := range b.Events() {
		if e.Type != "landed" {
			continue
		}
		var landed struct {
			Files []struct{ Status, Where, Note string }
		}
		b.must(e.Decode(&landed))
		for _, f := range landed.Files {
			all = append(all, strings.TrimSpace(f.Status+" "+f.Where+" "+f.Note))
		}
	}
	return all
}

// told is what the model was told of its calls.
func (b *bench) told() []string {
	b.t.Helper()
	var all []string
	for _, e := range b.Events() {
		if e.Type == "tool_result" {
			var result struct{ Output string }
			b.must(e.Decode(&result))
			all = append(all, result.Output)
		}
	}
	return all
}

// call is a reply of the model that makes calls: name and input in turn.
func call(calls ...any) string {
	type use struct {
		ID    string `json:"id"`
		Name  any    `json:"name"`
		Input any    `json:"input"`
	}
	var uses []use
	for i := 0; i < len(calls); i += 2 {
		uses = append(uses, use{fmt.Sprintf("c%d", i/2+1), calls[i], calls[i+1]})
	}
	reply, err := json.Marshal(map[string]any{"toolUses": uses})
	if err != nil {
		panic(err)
	}
	return string(reply)
}

// say is a reply of plain text.
func say(text string) string {
	reply, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		panic(err)
	}
	return string(reply)
}

type object = map[string]any

// change is the input of edit_file that replaces a text by another.
func change(path, from, to string) object {
	return object{"path": path, "edits": []object{{"old_string": from, "new_string": to}}}
}
