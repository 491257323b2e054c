package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Editors without a plugin of ours, each in a terminal, with what editors/README.md
// tells their people to configure. .ci/editors DIR gets them.

const doThis, stopThat = "assent: do what this says", "assent: stop"

// seat is a person at an editor that has notes.txt open.
type seat struct {
	*pane
	board keyboard
	root  string
	line  string // that the person wrote above the text, and did not save
	disk  string // the text that was saved
}

// sit has an editor open a file, whose model gives the replies. Programs are found in
// PATH.
func sit(t *testing.T, board keyboard, text, replies, path string) *seat {
	t.Helper()
	program := os.Getenv(board.variable)
	if program == "" {
		missing(t, "editor in "+board.variable+"; .ci/editors DIR gets them all")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		missing(t, "tmux")
	}
	root := leftAlone(t)
	write(t, filepath.Join(root, "ws", "notes.txt"), text)
	write(t, filepath.Join(root, "ws", ".git", "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(root, "replies.jsonl"), replies)
	for file, config := range board.config {
		text, own := strings.CutPrefix(config, "\n")
		if !own {
			text = told(t, config)
		}
		write(t, filepath.Join(root, "config", file), text)
	}
	env := []string{
		"HOME=" + root, "TMPDIR=" + root, "PATH=" + path, "LANG=C.UTF-8", "XDG_CONFIG_HOME=" + filepath.Join(root, "config"),
		"XDG_STATE_HOME=" + root, "XDG_CACHE_HOME=" + root, "XDG_DATA_HOME=" + root,
		"ASSENT_PROVIDER=replay", "ASSENT_MODEL=" + filepath.Join(root, "replies.jsonl"),
	}
	s := &seat{board: board, root: root, line: "please do " + random(), disk: text}
	s.pane = newPane(t, filepath.Join(root, "ws"), env, append(append([]string{program}, board.args...), "notes.txt")...)
	s.await(text[:strings.Index(text, "\n")])
	s.keys(board.above(s.line)...)
	s.await(s.line)
	if board.normal != nil && !eventually(patience, func() bool { return board.normal(s.screen()) }) {
		t.Fatal("the editor does not take commands")
	}
	return s
}

// leftAlone is a directory that is removed when the programs that a terminal hung up on
// have stopped writing there.
func leftAlone(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "editor")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !eventually(patience, func() bool { return os.RemoveAll(dir) == nil }) {
			t.Errorf("%s can't be removed", dir)
		}
	})
	return dir
}

// told is the first fenced block under a heading of editors/README.md.
func told(t *testing.T, heading string) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(moduleDir, "editors", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(readme), "\n## "+heading)
	section, _, _ = strings.Cut(section, "\n## ")
	_, block, fenced := strings.Cut(section, "\n```")
	_, block, _ = strings.Cut(block, "\n")
	block, _, closed := strings.Cut(block, "```\n")
	if !found || !fenced || !closed {
		t.Fatalf("editors/README.md has no block under %q", heading)
	}
	return block
}

func random() string { return strings.ToLower(rand.Text()[:12]) }

// acts runs the code action with a title, and reports false if it is never offered.
// An editor that has not met the server yet has none, and is asked again.
func (s *seat) acts(title string, limit time.Duration) bool {
	offered := eventually(limit, func() bool {
		s.keys(s.board.act...)
		if s.shows(title, min(limit, 10*time.Second)) {
			return true
		}
		s.keys(s.board.clear...)
		return false
	})
	if offered {
		s.keys(s.board.take...)
	}
	return offered
}

// answers waits for a question with a text and answers it with the i-th title. Until
// then nothing may be written.
func (s *seat) answers(question string, titles []string, i int) {
	s.t.Helper()
	s.await(question)
	if got := s.saved(); got != s.disk {
		s.t.Errorf("while the question was open the disk became %q", got)
	}
	s.keys(s.board.answer(titles, i)...)
}

// saved is the file on disk.
func (s *seat) saved() string {
	data, err := os.ReadFile(filepath.Join(s.root, "ws", "notes.txt"))
	if err != nil {
		s.t.Error(err)
	}
	return string(data)
}

// buffer is the text that the editor has.
func (s *seat) buffer() string {
	s.t.Helper()
	path := filepath.Join(s.root, "buffer-"+random())
	s.keys(s.board.write(path)...)
	var text []byte
	if !eventually(patience, func() bool { text, _ = os.ReadFile(path); return len(text) > 0 }) {
		s.t.Fatal("the editor did not write its buffer")
	}
	return string(text)
}

// holds checks buffer and disk: the person's line is above the text in the one, and
// nothing was saved.
func (s *seat) holds(text string) {
	s.t.Helper()
	if got, want := s.buffer(), s.line+"\n"+text; got != want {
		s.t.Errorf("the buffer is %q, not %q", got, want)
	}
	if got := s.saved(); got != s.disk {
		s.t.Errorf("the disk has %q, not %q", got, s.disk)
	}
}

// record is what counts here of a line of the journal.
type record struct {
	Type   string
	Text   string
	Output string
	Reason string
}

// journal are the records of the only session, of one type.
func (s *seat) journal(kind string) (all []string) {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.root, "assent", "sessions", "*", "*.jsonl"))
	if err != nil || len(files) > 1 {
		s.t.Fatalf("the journals are %q, %v", files, err)
	}
	if len(files) == 0 { // not yet
		return nil
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			s.t.Fatal(err)
		}
		if r.Type == kind {
			all = append(all, string(line))
		}
	}
	return all
}

// task is a text of twelve lines and a model that changes two of them, far apart. All
// of it is random, so that nothing on a screen is there by chance.
type task struct {
	lines            []string
	first, last      string // the two new lines, 3 and 10
	question, answer string
	replies          string
}

func newTask() task {
	k := task{first: random(), last: random(), answer: random(), question: "assent wants to change a file. Edit notes.txt: +2"}
	for range 12 {
		k.lines = append(k.lines, random())
	}
	input, err := json.Marshal(map[string]any{"path": "notes.txt", "edits": []map[string]string{
		{"old_string": k.lines[2], "new_string": k.first}, {"old_string": k.lines[9], "new_string": k.last},
	}})
	if err != nil {
		panic(err)
	}
	k.replies = fmt.Sprintf(`{"text":"I change it.","toolUses":[{"id":"c1","name":"edit_file","input":%s}]}`+"\n"+`{"text":"Done %s."}`+"\n", input, k.answer)
	return k
}

// text has the changes that were accepted.
func (k task) text(first, last bool) string {
	lines := slices.Clone(k.lines)
	if first {
		lines[2] = k.first
	}
	if last {
		lines[9] = k.last
	}
	return strings.Join(lines, "\n") + "\n"
}

var whole, part = []string{"Apply", "Review hunks", "Reject"}, []string{"Apply", "Reject"}

func TestEditorsWithoutAPlugin(t *testing.T) {
	t.Parallel()
	for name, board := range keyboards {
		for flow, c := range map[string]struct {
			answers     []int
			first, last bool
		}{
			"accept":     {[]int{0}, true, true},
			"reject":     {[]int{2}, false, false},
			"one of two": {[]int{1, 1, 0}, false, true},
		} {
			t.Run(name+"/"+flow, func(t *testing.T) {
				t.Parallel()
				k := newTask()
				s := sit(t, board, k.text(false, false), k.replies, os.Getenv("PATH"))
				if !s.acts(doThis, patience) {
					t.Fatal("the code action is not offered")
				}
				s.answers(k.question, whole, c.answers[0])
				for n, answer := range c.answers[1:] {
					s.answers(fmt.Sprintf("change %d of 2", n+1), part, answer)
				}
				s.await("Done " + k.answer)
				s.holds(k.text(c.first, c.last))
				if user := s.journal("user"); len(user) != 1 || !strings.Contains(user[0], s.line) {
					t.Errorf("the prompts are %q", user)
				}
			})
		}
	}
}

// ALE takes a question and shows nobody. The wait ends when the person cancels, nothing
// has landed, and the session goes on.
func TestAnEditorThatNeverAnswers(t *testing.T) {
	t.Parallel()
	k := newTask()
	after := random()
	s := sit(t, vimWithALE, k.text(false, false), k.replies[:strings.Index(k.replies, "\n")+1]+`{"text":"Done `+after+`."}`+"\n", os.Getenv("PATH"))
	if !s.acts(doThis, patience) {
		t.Fatal("the code action is not offered")
	}
	if !eventually(patience, func() bool { return len(s.journal("proposed")) == 1 }) {
		t.Fatal("nothing is proposed")
	}
	if !s.acts(stopThat, patience) {
		t.Fatal("the turn can't be stopped")
	}
	if !eventually(patience, func() bool { return len(s.journal("done")) == 1 }) {
		t.Fatal("the cancel did not free the wait")
	}
	s.holds(k.text(false, false))
	if !s.acts(doThis, patience) {
		t.Fatal("the session does not go on")
	}
	s.await("Done " + after)
	s.holds(k.text(false, false))
	if done := s.journal("done"); len(done) != 2 || !strings.Contains(done[0], `"cancelled"`) || !strings.Contains(done[1], `"complete"`) {
		t.Errorf("the turns ended so: %q", done)
	}
	if landed := s.journal("landed"); landed != nil {
		t.Errorf("landed is %q", landed)
	}
}

// Helix 25.01 answers that it does not know the method. Nothing lands, and the model
// hears how to allow edits.
func TestAnEditorThatCantAsk(t *testing.T) {
	t.Parallel()
	k := newTask()
	s := sit(t, helix("ASSENT_HELIX_MUTE"), k.text(false, false), k.replies, os.Getenv("PATH"))
	if !s.acts(doThis, patience) {
		t.Fatal("the code action is not offered")
	}
	s.await("Done " + k.answer)
	s.holds(k.text(false, false))
	results := s.journal("tool_result")
	if len(results) != 1 || !strings.Contains(results[0], "To allow edits") {
		t.Errorf("the model hears %q", results)
	}
	if landed := s.journal("landed"); landed != nil {
		t.Errorf("landed is %q", landed)
	}
}

// The same keys with a daemon that ends at once: no test above can pass then.
func TestEditorsWithoutTheDaemon(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	write(t, filepath.Join(bin, "assent"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(bin, "assent"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, board := range keyboards {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newTask()
			s := sit(t, board, k.text(false, false), k.replies, bin+":/usr/bin:/bin")
			if s.acts(doThis, 3*time.Second) {
				t.Error("a code action is offered")
			}
			s.holds(k.text(false, false))
		})
	}
}

// Helix has a command line, on which a prompt needs no line in a file.
func TestAPromptOnTheCommandLineOfHelix(t *testing.T) {
	t.Parallel()
	k := newTask()
	board, text := keyboards["helix"], random()
	board.act, board.take = pressed(":", `=lsp-workspace-command assent.prompt "`+text+`"`, "Enter"), nil
	s := sit(t, board, k.text(false, false), k.replies, os.Getenv("PATH"))
	if !s.acts(k.question, patience) {
		t.Fatal("there is no question")
	}
	s.answers(k.question, whole, 0)
	s.await("Done " + k.answer)
	s.holds(k.text(true, true))
	if user := s.journal("user"); len(user) != 1 || !strings.Contains(user[0], text) {
		t.Errorf("the prompts are %q", user)
	}
}
