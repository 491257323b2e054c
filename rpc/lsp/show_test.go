package lsp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/editors/fake"
)

// long is a text of so many lines, too many for one question if they are above 40.
func long(word string, lines int) string { return strings.Repeat(word+"\n", lines) }

func writes(id, path, text string) agent.ToolUse {
	return agenttest.Use(id, "write_file", map[string]any{"path": path, "content": text})
}

// shownDiff is what an editor without our review was shown, and asked.
type shownDiff struct {
	mu    sync.Mutex
	paths []string
	texts []string // as they were when they were shown
	modes []string
	asked []fake.MessageRequest
	there []bool // whether the file was there at each question
}

func (s *shownDiff) show(_ context.Context, uri string) (bool, error) {
	path := locate(uri).path
	text, err := os.ReadFile(path)
	info, err2 := os.Stat(path)
	dir, err3 := os.Stat(filepath.Dir(path))
	if err := errors.Join(err, err2, err3); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths, s.texts = append(s.paths, path), append(s.texts, string(text))
	s.modes = append(s.modes, fmt.Sprint(info.Mode(), dir.Mode()))
	return true, nil
}

func (s *shownDiff) ask(m fake.MessageRequest) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, m)
	_, err := os.Stat(strings.Join(s.paths[max(len(s.paths)-1, 0):], ""))
	s.there = append(s.there, err == nil)
	return len(s.asked)
}

// gone fails the test where something of what was shown is still there.
func (s *shownDiff) gone(t *testing.T) {
	t.Helper()
	for _, path := range s.paths {
		if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
}

func TestALongChangeIsShownInTheEditorWhereThatIsOffered(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		use    agent.ToolUse
		shown  bool
		want   string // in the editor
		diff   []string
	}{
		"short":          {sixLines, edits("c1", "a", "two", "2"), false, "one\n2\nthree\nfour\nfive\nsix\n", nil},
		"as many as fit": {sixLines, edits("c1", "a", "two\n", long("x", pageLines-1)), false, "one\n" + long("x", pageLines-1) + "three\nfour\nfive\nsix\n", nil},
		"one more":       {sixLines, edits("c1", "a", "two\n", long("x", pageLines)), true, "one\n" + long("x", pageLines) + "three\nfour\nfive\nsix\n", []string{"--- a/a\n+++ b/a\n@@ -1,5 +1,44 @@\n one\n-two\n+x\n"}},
		"more than ten pages hold, and what a terminal obeys": {sixLines, edits("c1", "a", "two\n", long("x\x1b[2J", 1000)+"rm\n"), true, "one\n" + long("x\x1b[2J", 1000) + "rm\nthree\nfour\nfive\nsix\n", []string{"+x␛[2J\n", "+rm\n three\n"}},
		"windows": {strings.ReplaceAll(sixLines, "\n", "\r\n"), edits("c1", "a", "two\n", long("x", pageLines)), true, strings.ReplaceAll("one\n"+long("x", pageLines)+"three\nfour\nfive\nsix\n", "\n", "\r\n"), []string{" one\n-two\n+x\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s shownDiff
			d := deskWith(t, fake.Options{NoReview: true, Show: s.show, Message: func(_ context.Context, m fake.MessageRequest) (string, error) {
				s.ask(m)
				return apply, nil
			}}, map[string]string{"a": c.before}, calls(c.use))
			uri := d.opened("a")
			d.say(fake.Prompt{})
			text, _, _ := d.Text(uri)
			same(t, "the text", text, c.want)
			if len(s.asked) != 1 || (len(s.paths) == 1) != c.shown {
				t.Fatalf("%d questions, shown %q", len(s.asked), s.paths)
			}
			if strings.Contains(s.asked[0].Message, "a.diff") != c.shown || c.shown && (!s.there[0] || s.modes[0] != "-rw------- drwx------" || lineCount(s.asked[0].Message) > pageLines+3) {
				t.Errorf("the question is %q; files %v, %v", s.asked[0].Message, s.there, s.modes)
			}
			if len(s.texts) > 0 {
				has(t, s.texts[0], c.diff...)
			}
			for _, path := range s.paths {
				if strings.HasPrefix(path, d.dir) {
					t.Errorf("%s is in the workspace", path)
				}
			}
			s.gone(t)
		})
	}
}

func TestWhatIsNotShownIsAskedInPages(t *testing.T) {
	asPages := func(name string, o fake.Options, file string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []fake.MessageRequest
			o.NoReview, o.SyncsAll = true, true
			o.Message = func(_ context.Context, m fake.MessageRequest) (string, error) {
				asked = append(asked, m)
				return m.Actions[0], nil
			}
			d := deskWith(t, o, nil, calls(writes("c1", file, long("x", 50))))
			d.say(fake.Prompt{})
			if len(asked) != 2 || !slices.Equal(asked[0].Actions, []string{goOn, rejectIt}) || strings.Contains(asked[0].Message, "The editor shows") {
				t.Errorf("the questions are %+v", asked)
			}
			has(t, d.results()[0].Output, file+" created.")
			if file == ".env" {
				has(t, asked[0].Message, "it may hold secrets")
				if len(d.Shown()) > 0 {
					t.Errorf("a secret was written to %q", d.Shown())
				}
			}
		})
	}
	asPages("not offered", fake.Options{NoShowDocument: true}, "x")
	asPages("no success", fake.Options{Show: func(context.Context, string) (bool, error) { return false, nil }}, "x")
	asPages("an error", fake.Options{Show: func(context.Context, string) (bool, error) { return true, &fake.Error{Code: 7, Message: "no"} }}, "x")
	asPages("no answer", fake.Options{Show: func(ctx context.Context, _ string) (bool, error) { <-ctx.Done(); return true, ctx.Err() }}, "x")
	asPages("a secret", fake.Options{}, ".env")
}

func TestHunksOfAShownDiffAreOneQuestionEach(t *testing.T) {
	var s shownDiff
	d := deskWith(t, fake.Options{NoReview: true, Show: s.show, Message: func(_ context.Context, m fake.MessageRequest) (string, error) {
		return []string{reviewHunks, apply, rejectIt}[s.ask(m)-1], nil
	}}, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two\n", long("x", 60), "five\n", "5\n")))
	uri := d.opened("a")
	d.say(fake.Prompt{})
	text, _, _ := d.Text(uri)
	same(t, "the text", text, "one\n"+long("x", 60)+"three\nfour\nfive\nsix\n")
	if len(s.paths) != 1 || len(s.asked) != 3 || !slices.Equal(s.there, []bool{true, true, true}) {
		t.Fatalf("shown %q, there %v, asked %+v", s.paths, s.there, s.asked)
	}
	has(t, s.asked[1].Message, "change 1 of 2, line 2", "The editor shows all of it in a.diff")
	if strings.Contains(s.asked[2].Message, "a.diff") { // it is all there
		t.Errorf("the question is %q", s.asked[2].Message)
	}
	s.gone(t)
}

// Neovim, for one, asks so that nobody can scroll meanwhile.
func TestTheRestOfAShownDiffIsAskedForInPages(t *testing.T) {
	for name, c := range map[string]struct {
		answers []string
		lines   int
		want    string
	}{
		"seen and taken":     {[]string{showRest, goOn, apply}, 100, "x created."},
		"seen and refused":   {[]string{showRest, goOn, rejectIt}, 100, "x was not created"},
		"refused on the way": {[]string{showRest, rejectIt}, 100, "x was not created"},
		"taken without":      {[]string{apply}, 100, "x created."},
		"more than ten":      {append(append([]string{showRest}, slices.Repeat([]string{goOn}, 11)...), apply), 13 * pageLines, "x created."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s shownDiff
			d := deskWith(t, fake.Options{NoReview: true, SyncsAll: true, Show: s.show, Message: func(_ context.Context, m fake.MessageRequest) (string, error) {
				return c.answers[min(s.ask(m), len(c.answers))-1], nil
			}}, nil, calls(writes("c1", "x", long("x", c.lines))))
			d.say(fake.Prompt{})
			has(t, d.results()[0].Output, c.want)
			if len(s.asked) != len(c.answers) || !slices.Contains(s.asked[0].Actions, showRest) || slices.Contains(s.there, false) {
				t.Errorf("asked %+v, there %v", s.asked, s.there)
			}
			if len(s.asked) > 1 {
				has(t, s.asked[1].Message, fmt.Sprintf("(page 2 of %d)", (c.lines+pageLines-1)/pageLines))
			}
			s.gone(t)
		})
	}
}

// However the question ends, the file goes.
func TestAShownDiffGoesWithTheQuestion(t *testing.T) {
	for name, end := range map[string]func(d *desk, session string) error{
		"cancel":                func(d *desk, session string) error { return d.Notify(methodCancel, SessionParams{session}) },
		"end of the connection": func(d *desk, _ string) error { return d.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s shownDiff
			asked := make(chan struct{})
			d := deskWith(t, fake.Options{NoReview: true, Show: s.show, Message: func(ctx context.Context, _ fake.MessageRequest) (string, error) {
				close(asked)
				<-ctx.Done()
				return "", ctx.Err()
			}}, nil, calls(writes("c1", "x", long("x", 50))))
			session := d.session()
			pending := d.start(fake.Prompt{SessionID: session, Text: "go"})
			<-asked
			if len(s.paths) != 1 {
				t.Fatalf("shown %q", s.paths)
			}
			if err := end(d, session); err != nil {
				t.Fatal(err)
			}
			_ = pending.Wait(d.ctx, nil) // a cancelled prompt, or a lost one
			s.gone(t)
		})
	}
}

// Who opens the folder of temporary files as their workspace gets no files of ours
// in it.
func TestNoDiffIsWrittenIntoTheWorkspace(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp)
	var asked []fake.MessageRequest
	d := deskUninitialized(t, fake.Options{NoReview: true, SyncsAll: true, Message: func(_ context.Context, m fake.MessageRequest) (string, error) {
		asked = append(asked, m)
		return m.Actions[0], nil
	}}, nil, calls(writes("c1", "x", long("x", 50))))
	if _, err := d.Initialize(d.ctx, tmp); err != nil {
		t.Fatal(err)
	}
	d.say(fake.Prompt{})
	if len(asked) != 2 || len(d.Shown()) != 0 {
		t.Errorf("shown %q, asked %+v", d.Shown(), asked)
	}
	entries, err := os.ReadDir(tmp)
	if err != nil || len(entries) != 1 || entries[0].Name() != "x" {
		t.Errorf("in the workspace are %v, %v", entries, err)
	}
}
