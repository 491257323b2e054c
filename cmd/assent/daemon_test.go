package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assent/editors/fake"
)

// daemon is assent --stdio in a real process, with an editor on its pipes.
type daemon struct {
	*fake.Editor
	t      *testing.T
	dir    string // workspace
	state  string // where the journals are
	cmd    *exec.Cmd
	in     io.WriteCloser // what it reads
	out    io.ReadCloser  // what it writes
	stderr lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newDaemon starts the daemon in a workspace with files. The replies are those of the
// model, one a line, in the form of provider replay; "" has the demo answer.
func newDaemon(t *testing.T, files map[string]string, replies string, o fake.Options, args ...string) *daemon {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{t: t, dir: filepath.Join(root, "ws"), state: filepath.Join(root, "state")}
	write(t, filepath.Join(d.dir, ".keep"), "")
	for name, text := range files {
		write(t, filepath.Join(d.dir, name), text)
	}
	env := []string{"XDG_STATE_HOME=" + d.state, "XDG_CONFIG_HOME=" + filepath.Join(root, "config"), "HOME=" + root, "PATH=" + os.Getenv("PATH")}
	if replies != "" {
		write(t, filepath.Join(root, "replies.jsonl"), replies)
		env = append(env, "ASSENT_PROVIDER=replay", "ASSENT_MODEL="+filepath.Join(root, "replies.jsonl"))
	}
	d.cmd = exec.Command(program(t), append([]string{"--stdio"}, args...)...)
	d.cmd.Dir, d.cmd.Env, d.cmd.Stderr = d.dir, env, &d.stderr
	in, err := d.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.in, d.out = in, out
	d.Editor = fake.New(out, in, o)
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		_ = d.Editor.Close()
		_ = d.cmd.Wait()
		if t.Failed() {
			t.Logf("standard error:\n%s", d.stderr.String())
		}
	})
	return d
}

// program is this test's own binary, under the name by which it is assent.
func program(t *testing.T) string {
	path, err := exec.LookPath("assent")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (d *daemon) path(name string) string { return filepath.Join(d.dir, name) }

func (d *daemon) disk(name string) string {
	data, err := os.ReadFile(d.path(name))
	if errors.Is(err, os.ErrNotExist) {
		return "(no file)"
	}
	if err != nil {
		d.t.Error(err)
	}
	return string(data)
}

func (d *daemon) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// initialize begins with the workspace as the only folder.
func (d *daemon) initialize(ctx context.Context) {
	d.t.Helper()
	_, err := d.Initialize(ctx, d.dir)
	d.must(err)
}

// end shuts the daemon down as an editor does, and checks all that it wrote.
func (d *daemon) end(ctx context.Context) {
	d.t.Helper()
	d.must(d.Shutdown(ctx))
	if err := d.wait(); err != nil {
		d.t.Errorf("after shutdown and exit: %v", err)
	}
	if err := d.Err(); err != nil {
		d.t.Errorf("on standard output: %v", err)
	}
}

// wait waits for the process, for as long as one that hangs should get.
func (d *daemon) wait() error {
	ended := make(chan error, 1)
	go func() { ended <- d.cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(20 * time.Second):
		_ = d.cmd.Process.Kill()
		<-ended
		return errors.New("it did not end")
	}
}

// landed is the file of the only landing.
func (d *daemon) landed() (file struct {
	URI, Status, Where, Foreign, Note string
	Hunks, Conflicts                  []string
}) {
	d.t.Helper()
	for _, e := range d.Events() {
		if e.Type == "landed" {
			var landed struct{ Files []json.RawMessage }
			d.must(e.Decode(&landed))
			d.must(json.Unmarshal(landed.Files[0], &file))
		}
	}
	return file
}

// told is what the model was told of its calls.
func (d *daemon) told() string {
	var all []string
	for _, e := range d.Events() {
		if e.Type == "tool_result" {
			var result struct{ Output string }
			d.must(e.Decode(&result))
			all = append(all, result.Output)
		}
	}
	return strings.Join(all, "\n")
}

const (
	heloReplies = `{"text":"I correct it.","toolUses":[{"id":"c1","name":"edit_file","input":{"path":"notes.txt","edits":[{"old_string":"helo","new_string":"hello"}]}}]}
{"text":"Done."}
`
	onDisk = "helo world\n"
	typed  = "helo world\nnot saved yet  \n"
)

// landing is what is to come of an accepted edit in one mode of the editor.
type landing struct {
	status string
	text   string // in the editor
	disk   string
	told   string // to the model
}

// wantLanding is the truth about each mode: what is called landed is in the text, and
// nobody calls landed what nobody saw.
func wantLanding(c fake.ChangeMode, a fake.ApplyMode) landing {
	const edited = "hello world\nnot saved yet  \n"
	const formatted = "hello world\nnot saved yet\n"
	unsaved := landing{"landed", edited, onDisk, "1 of 1 hunks landed.\nit is in an unsaved buffer"}
	switch a {
	case fake.Liar:
		return landing{"unconfirmed", typed, onDisk, "its result is unknown"}
	case fake.Refuses:
		return landing{"failed", typed, onDisk, "the person said no"}
	case fake.Fails:
		return landing{"failed", typed, onDisk, "the editor answered with an error"}
	case fake.Silent:
		return landing{"unconfirmed", typed, onDisk, "its result is unknown"}
	case fake.FormatsOnSave:
		return landing{"landed", formatted, formatted, "Besides, the file had been changed by something else"}
	}
	if c == fake.Never {
		return landing{"unconfirmed", edited, onDisk, "its result is unknown"}
	}
	return unsaved
}

// The editor has a text that is not saved. The diff is shown before any byte changed
// anywhere, and what the model is told afterwards is what happened.
func TestAnAcceptedEditInEveryKindOfEditor(t *testing.T) {
	framings := map[string]fake.Framing{"headers": fake.Headers, "lines": fake.Lines}
	changes := map[string]fake.ChangeMode{"change before reply": fake.BeforeReply, "change late": fake.Late, "no change": fake.Never}
	applies := map[string]fake.ApplyMode{
		"honest": fake.Honest, "liar": fake.Liar, "any version": fake.AnyVersion, "formats on save": fake.FormatsOnSave,
		"refuses": fake.Refuses, "silent": fake.Silent, "fails": fake.Fails,
	}
	for f, framing := range framings {
		for c, change := range changes {
			for a, apply := range applies {
				t.Run(fmt.Sprintf("%s/%s/%s", f, c, a), func(t *testing.T) {
					t.Parallel()
					editInMode(t, fake.Options{Framing: framing, Changes: change, Apply: apply, Encodings: []string{"utf-8", "utf-16"}})
				})
			}
		}
	}
}

func editInMode(t *testing.T, o fake.Options) {
	var d *daemon
	var uri string
	reviewed := 0
	o.Review = func(_ context.Context, r fake.Review) (fake.Answer, error) {
		reviewed++
		if text, _, _ := d.Text(uri); text != typed || d.disk("notes.txt") != onDisk {
			t.Errorf("changed before the review was answered: %q, %q", text, d.disk("notes.txt"))
		}
		if f := r.Files[0]; f.URI != uri || f.OldText != typed || len(f.Hunks) != 1 {
			t.Errorf("reviewed %+v", f)
		}
		return fake.Answer{Revision: r.Revision, Decision: "accept"}, nil
	}
	d = newDaemon(t, map[string]string{"notes.txt": onDisk}, heloReplies, o, "--log-level", "debug")
	uri = fake.URI(d.path("notes.txt"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d.initialize(ctx)
	d.must(d.OpenText(uri, typed))
	prompt, err := d.Start("assent/prompt", fake.Prompt{Text: "correct it"})
	d.must(err)
	if o.Apply == fake.Silent { // the person gives up
		_, err := d.AwaitEntry(ctx, func(e fake.Entry) bool { return e.Method == "workspace/applyEdit" })
		d.must(err)
		d.must(d.Notify("assent/cancel", map[string]string{"sessionId": d.Events()[0].SessionID}))
	}
	var result fake.PromptResult
	d.must(prompt.Wait(ctx, &result))
	want := wantLanding(o.Changes, o.Apply)
	got := d.landed()
	text, _, _ := d.Text(uri)
	if got.Status != want.status || text != want.text || d.disk("notes.txt") != want.disk {
		t.Errorf("%+v, the editor has %q, the disk %q; want %+v", got, text, d.disk("notes.txt"), want)
	}
	if !strings.Contains(d.told(), want.told) {
		t.Errorf("the model was told %q, want %q", d.told(), want.told)
	}
	if reviewed != 1 {
		t.Errorf("%d reviews", reviewed)
	}
	d.end(ctx)
}

// Each session holds some files, and an editor that begins one for each prompt comes to
// the limit of the system some day.
func TestTooManySessionsAreToldAsSuch(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, ".keep"), "")
	var requests strings.Builder
	requests.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}` + "\n")
	for id := range 100 {
		fmt.Fprintf(&requests, `{"jsonrpc":"2.0","id":%d,"method":"assent/session/new","params":{}}`+"\n", id+1)
	}
	cmd := exec.Command("sh", "-c", `ulimit -n 64; exec "$0" --stdio --dir "$1"`, program(t), root)
	cmd.Env = []string{"XDG_STATE_HOME=" + root, "HOME=" + root}
	cmd.Stdin = strings.NewReader(requests.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, `"error"`) {
			failed++
			if !strings.Contains(line, "too many sessions are open") || !strings.Contains(line, "assent/session/delete") {
				t.Errorf("it is told as %s", line)
			}
		}
	}
	if failed == 0 {
		t.Error("none failed")
	}
}
