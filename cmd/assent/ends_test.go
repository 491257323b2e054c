package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"assent/agent"
	"assent/agent/host"
	"assent/agent/model/replay"
	"assent/editors/fake"
	"assent/rpc/lsp"
)

// endsWithin is what invariant 2 gives the daemon.
const endsWithin = 2 * time.Second

const (
	hangs     = `{"text":"I think about it for ever.","hang":true}` + "\n"
	asksFirst = heloReplies
)

// lastRecord is the last line of the only journal.
func (d *daemon) lastRecord() string {
	files, err := filepath.Glob(filepath.Join(d.state, "assent", "sessions", "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		d.t.Fatalf("journals %q, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	d.must(err)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	var last struct{ Type, Reason string }
	d.must(json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	return last.Type + " " + last.Reason
}

// exits wants the end of the process, soon, with a code.
func (d *daemon) exits(code int) {
	d.t.Helper()
	began := time.Now()
	err := d.wait()
	got := 0
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failed.ExitCode()
	} else if err != nil {
		d.t.Fatal(err)
	}
	if took := time.Since(began); took > 2*endsWithin { // twice, since this machine may be busy
		d.t.Errorf("it took %v to end", took)
	}
	if got != code {
		d.t.Errorf("exit code %d, want %d", got, code)
	}
}

// Case E01: however the editor goes, the daemon goes too, and its journal is whole.
func TestTheDaemonEndsWithItsEditor(t *testing.T) {
	review := func(ctx context.Context, _ fake.Review) (fake.Answer, error) {
		<-ctx.Done() // the person does not answer
		return fake.Answer{}, ctx.Err()
	}
	text := func(e fake.Event) bool { return e.Type == "text" }
	proposed := func(e fake.Event) bool { return e.Type == "proposed" }
	closeIn := func(d *daemon) { d.must(d.in.Close()) }
	closeOut := func(d *daemon) { d.must(d.out.Close()) }
	cases := map[string]struct {
		replies string
		until   func(fake.Event) bool
		go_     func(*daemon)
		code    int
		last    string
	}{
		"both pipes closed while the model thinks":   {hangs, text, func(d *daemon) { closeOut(d); closeIn(d) }, 1, "done cancelled"},
		"both pipes closed while a review is open":   {asksFirst, proposed, func(d *daemon) { closeIn(d); closeOut(d) }, 1, "done interrupted"},
		"output closed while the model thinks":       {hangs, text, closeOut, 1, "done cancelled"},
		"output closed while a review is open":       {asksFirst, proposed, closeOut, 1, "done interrupted"},
		"input closed while a review is open":        {asksFirst, proposed, closeIn, 1, "done interrupted"},
		"a signal while the model thinks":            {hangs, text, func(d *daemon) { d.must(d.cmd.Process.Signal(syscall.SIGTERM)) }, 1, "done cancelled"},
		"a hangup while the model thinks":            {hangs, text, func(d *daemon) { d.must(d.cmd.Process.Signal(syscall.SIGHUP)) }, 1, "done cancelled"},
		"a hangup while a review is open":            {asksFirst, proposed, func(d *daemon) { d.must(d.cmd.Process.Signal(syscall.SIGHUP)) }, 1, "done interrupted"},
		"exit without shutdown while a review waits": {asksFirst, proposed, func(d *daemon) { d.must(d.Notify("exit", nil)) }, 1, "done interrupted"},
		"a signal while a review is open":            {asksFirst, proposed, func(d *daemon) { d.must(d.cmd.Process.Signal(syscall.SIGTERM)) }, 1, "done interrupted"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			d := newDaemon(t, map[string]string{"notes.txt": onDisk}, c.replies, fake.Options{Review: review})
			d.initialize(ctx)
			_, err := d.Start("assent/prompt", fake.Prompt{Text: "correct it"})
			d.must(err)
			_, err = d.Await(ctx, c.until)
			d.must(err)
			c.go_(d)
			d.exits(c.code)
			if last := d.lastRecord(); last != c.last {
				t.Errorf("the last record is %q, want %q", last, c.last)
			}
			if d.disk("notes.txt") != onDisk {
				t.Errorf("the file has %q", d.disk("notes.txt"))
			}
		})
	}
}

// A script writes its requests and closes the pipe: what needs no answer is done.
func TestAPromptOutlivesTheEndOfTheInput(t *testing.T) {
	t.Parallel()
	requests := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}
{"jsonrpc":"2.0","id":2,"method":"assent/prompt","params":{"text":"correct it","mode":"accept_edits"}}
`
	root := t.TempDir()
	write(t, filepath.Join(root, "ws", "notes.txt"), onDisk)
	write(t, filepath.Join(root, "replies.jsonl"), heloReplies)
	cmd := exec.Command(program(t), "--stdio", "--dir", filepath.Join(root, "ws"), "--provider", "replay", "--model", filepath.Join(root, "replies.jsonl"))
	cmd.Env = []string{"XDG_STATE_HOME=" + root, "HOME=" + root}
	cmd.Stdin = strings.NewReader(requests)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, `"id":2,"result":`) || !strings.Contains(last, `"stopReason":"complete"`) {
		t.Errorf("the last line is %s", last)
	}
	if data, err := os.ReadFile(filepath.Join(root, "ws", "notes.txt")); err != nil || string(data) != "hello world\n" {
		t.Errorf("the file has %q, %v", data, err)
	}
}

// A terminal that is closed ends a run as Ctrl-C does: the journal is whole.
func TestARunEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "ws", ".keep"), "")
	write(t, filepath.Join(root, "replies.jsonl"), hangs)
	cmd := exec.Command(program(t), "run", "--dir", filepath.Join(root, "ws"), "--provider", "replay", "--model", filepath.Join(root, "replies.jsonl"), "--json", "think")
	cmd.Env = []string{"XDG_STATE_HOME=" + filepath.Join(root, "state"), "HOME=" + root}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{t: t, state: filepath.Join(root, "state"), cmd: cmd}
	d.must(cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), `"type":"text"`) {
	}
	d.must(cmd.Process.Signal(syscall.SIGHUP))
	_, err = io.Copy(io.Discard, out)
	d.must(err)
	d.exits(130)
	if last := d.lastRecord(); last != "done cancelled" {
		t.Errorf("the last record is %q", last)
	}
}

// The process that started us is gone, though its pipes are still open: someone else
// has them.
func TestTheDaemonEndsWithTheProcessItWasToldOf(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	parent := exec.Command("sleep", "300")
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	d := newDaemon(t, nil, hangs, fake.Options{ProcessID: parent.Process.Pid})
	d.initialize(ctx)
	_, err := d.Start("assent/prompt", fake.Prompt{Text: "think"})
	d.must(err)
	_, err = d.Await(ctx, func(e fake.Event) bool { return e.Type == "text" })
	d.must(err)
	d.must(parent.Process.Kill())
	_ = parent.Wait()
	d.exits(1)
	if last := d.lastRecord(); last != "done cancelled" {
		t.Errorf("the last record is %q", last)
	}
}

// Case E06: shutdown while a turn runs. It is cancelled and on record before the
// answer comes.
func TestShutdownEndsWhatRunsFirst(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := newDaemon(t, nil, hangs, fake.Options{})
	d.initialize(ctx)
	prompt, err := d.Start("assent/prompt", fake.Prompt{Text: "think"})
	d.must(err)
	_, err = d.Await(ctx, func(e fake.Event) bool { return e.Type == "text" })
	d.must(err)
	d.must(d.Call(ctx, "shutdown", nil, nil))
	if last := d.lastRecord(); last != "done cancelled" {
		t.Errorf("when shutdown was answered, the last record was %q", last)
	}
	var result fake.PromptResult
	d.must(prompt.Wait(ctx, &result))
	if result.StopReason != "cancelled" {
		t.Errorf("the prompt was answered with %+v", result)
	}
	d.must(d.Notify("exit", nil))
	d.exits(0)
}

// noisy is assent --stdio with tools that print, to every place that is called
// standard output, and that crash.
func noisy() {
	std := streams{os.Stdin, os.Stdout, os.Stderr}
	err := runDaemon(std, ".", daemonFlags{framing: "auto", logLevel: "debug"}, func(lsp.InitializationOptions) (*lsp.Engine, error) {
		model, err := replay.Open(os.Args[len(os.Args)-1])
		if err != nil {
			return nil, err
		}
		tools := []agent.Tool{loud{"prints"}, loud{"crashes"}}
		h := host.New(host.Options{JournalDir: os.Getenv("XDG_STATE_HOME"), Model: model, Tools: tools, Random: rand.Reader})
		return &lsp.Engine{Host: h, Tools: tools}, nil
	})
	if err != nil {
		os.Exit(1)
	}
}

type loud struct{ name string }

func (l loud) Spec() agent.Spec {
	return agent.Spec{Name: l.name, Description: "makes noise", Schema: json.RawMessage(`{"type":"object"}`), Tier: agent.TierRead}
}

func (l loud) Plan(context.Context, agent.Files, json.RawMessage) (agent.Plan, error) {
	return agent.Plan{Run: func(context.Context, agent.Approval) (agent.Result, error) {
		fmt.Println("a print")
		fmt.Fprintln(os.Stdout, "Content-Length: 7")
		_, _ = syscall.Write(1, []byte("straight to the descriptor\n"))
		child := exec.Command("sh", "-c", "echo a child; echo its errors >&2")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Run(); err != nil {
			return agent.Result{}, err
		}
		println("a built-in print")
		if l.name == "crashes" {
			panic("on purpose")
		}
		return agent.Result{Output: "it was loud"}, nil
	}}, nil
}

// Case E03: standard output has frames and nothing else, whoever prints.
func TestStandardOutputIsForFramesAlone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	root := t.TempDir()
	replies := filepath.Join(root, "replies.jsonl")
	write(t, replies, `{"toolUses":[{"id":"c1","name":"prints","input":{}},{"id":"c2","name":"crashes","input":{}}]}
{"text":"What a noise."}
`)
	path, err := exec.LookPath("noisy")
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{t: t, dir: root, state: root}
	d.cmd = exec.Command(path, replies)
	d.cmd.Dir, d.cmd.Stderr = root, &d.stderr
	d.cmd.Env = []string{"XDG_STATE_HOME=" + root, "HOME=" + root, "PATH=" + os.Getenv("PATH")}
	in, err := d.cmd.StdinPipe()
	d.must(err)
	out, err := d.cmd.StdoutPipe()
	d.must(err)
	d.must(d.cmd.Start())
	d.Editor = fake.New(out, in, fake.Options{})
	t.Cleanup(func() { _ = d.Editor.Close() })
	d.initialize(ctx)
	result, err := d.Prompt(ctx, fake.Prompt{Text: "make noise"})
	d.must(err)
	if result.Message != "What a noise." || !strings.Contains(d.told(), "it was loud") || !strings.Contains(d.told(), "on purpose") {
		t.Errorf("%+v, the model was told %q", result, d.told())
	}
	d.end(ctx) // which checks every byte of the output
	for _, noise := range []string{"a print", "straight to the descriptor", "a child", "its errors", "a built-in print"} {
		if !strings.Contains(d.stderr.String(), noise) {
			t.Errorf("standard error lacks %q", noise)
		}
	}
}
