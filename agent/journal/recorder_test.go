package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"assent/agent"
)

func mustCreate(t testing.TB, path string, opts Options) *Recorder {
	t.Helper()
	r, err := Create(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustClose(t, r) })
	return r
}

func mustOpen(t testing.TB, path string, opts Options) (*Recorder, []Entry, []Warning) {
	t.Helper()
	r, entries, warnings, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustClose(t, r) })
	return r, entries, warnings
}

func mustAppend(t testing.TB, r *Recorder, records ...agent.Record) {
	t.Helper()
	for _, rec := range records {
		if err := r.Append(rec); err != nil {
			t.Fatal(err)
		}
	}
}

func mustClose(t testing.TB, r *Recorder) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestASessionIsRecordedAndGoneOnWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "s1.jsonl")
	want := wholeSession()
	r := mustCreate(t, path, Options{Now: clock()})
	mustAppend(t, r, want[:5]...)
	mustClose(t, r)

	r, entries, warnings := mustOpen(t, path, Options{Now: clock()})
	if len(warnings) > 0 || !reflect.DeepEqual(records(entries), want[:5]) {
		t.Fatalf("entries %+v, warnings %v", entries, warnings)
	}
	mustAppend(t, r, want[5:]...)
	mustClose(t, r)

	entries = entriesOf(t, readFile(t, path))
	if !reflect.DeepEqual(records(entries), want) {
		t.Errorf("got %+v", entries)
	}
	if problems := Verify(entries); len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	if entries[0].Time != noon.Add(1e9) {
		t.Errorf("recorded at %v", entries[0].Time)
	}
}

func TestFilesAndFoldersAreForTheirOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // permissions there are not in the mode
	}
	path := filepath.Join(t.TempDir(), "assent", "w", "s1.jsonl")
	r := mustCreate(t, path, Options{})
	checkModes := func(want map[string]fs.FileMode) {
		t.Helper()
		for name, mode := range want {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != mode {
				t.Errorf("%s has mode %v, want %v", name, info.Mode().Perm(), mode)
			}
		}
	}
	checkModes(map[string]fs.FileMode{
		path: 0o600, path + ".lock": 0o600, filepath.Dir(path): 0o700, filepath.Dir(filepath.Dir(path)): 0o700,
	})
	mustClose(t, r)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, path, Options{})
	checkModes(map[string]fs.FileMode{path: 0o600})
}

func TestErrorsNameTheFileAndItsCause(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there.jsonl")
	writeFile(t, there, "kept")
	closed := mustCreate(t, filepath.Join(dir, "closed.jsonl"), Options{})
	mustClose(t, closed)
	open := mustCreate(t, filepath.Join(dir, "open.jsonl"), Options{})
	second := func(_ *Recorder, _ []Entry, _ []Warning, err error) error { return err }
	_, exists := Create(there, Options{})
	_, noFolder := Create(filepath.Join(there, "x", "s.jsonl"), Options{})
	for _, c := range []struct {
		name  string
		err   error
		cause error
		says  string
	}{
		{"creating over a file", exists, fs.ErrExist, there},
		{"creating below a file", noFolder, nil, there},
		{"opening what is not there", second(Open(filepath.Join(dir, "no.jsonl"), Options{})), fs.ErrNotExist, "no.jsonl"},
		{"opening a folder", second(Open(dir, Options{})), nil, "not a regular file"},
		{"writing after the end", closed.Append(user("a")), os.ErrClosed, "closed.jsonl"},
		{"writing what has no place", open.Append(agent.Appended{}), nil, "open.jsonl"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.err == nil || !strings.Contains(c.err.Error(), c.says) || c.cause != nil && !errors.Is(c.err, c.cause) {
				t.Errorf("error %v", c.err)
			}
		})
	}
	if readFile(t, there) != "kept" {
		t.Error("the file was changed")
	}
	for _, name := range []string{there, dir} {
		if _, err := os.Stat(name + ".lock"); err == nil {
			t.Errorf("a lock of %s stays", name)
		}
	}
	mustAppend(t, open, user("a"))
	if got := entriesOf(t, readFile(t, open.Path())); len(got) != 1 || got[0].Seq != 1 {
		t.Errorf("a refused record leaves %+v", got)
	}
}

func TestOpeningAloneChangesNothing(t *testing.T) {
	text := journalOf(t, user("a")) + `{"v":1,"se`
	path := filepath.Join(t.TempDir(), "s.jsonl")
	writeFile(t, path, text)
	r, _, _ := mustOpen(t, path, Options{})
	mustClose(t, r)
	if got := readFile(t, path); got != text {
		t.Errorf("the file is now %q", got)
	}
}

// B06: resume, run one turn, resume again.
func TestATornTailCostsOnlyItself(t *testing.T) {
	a, b := encodeLine(t, 1, user("a")), encodeLine(t, 2, user("b"))
	for _, c := range []struct {
		name  string
		text  string
		kept  int
		warns bool
	}{
		{"half a record", a + "\n" + b[:30], 1, true},
		{"half a character", a + "\n" + `{"v":1,"seq":2,"text":"` + "\xe6\xbc", 1, true},
		{"a whole record without line end", a + "\n" + b, 2, false},
		{"blank lines behind half a record", a + "\n" + b[:30] + "\n\n", 1, true},
		{"nothing", "", 0, false},
		{"only half a record", a[:9], 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			writeFile(t, path, c.text)
			r, entries, warnings := mustOpen(t, path, Options{Now: clock()})
			if len(entries) != c.kept || len(warnings) > 1 || (len(warnings) == 1) != c.warns {
				t.Fatalf("%d entries, warnings %v", len(entries), warnings)
			}
			turn := []agent.Record{user("go"), reply1(agent.Text{Text: "done"})}
			mustAppend(t, r, turn...)
			mustClose(t, r)
			if !strings.HasPrefix(readFile(t, path), c.text) {
				t.Error("what was there was changed")
			}
			_, entries, warnings = mustOpen(t, path, Options{Now: clock()})
			if len(entries) != c.kept+2 || len(warnings) > 1 || (len(warnings) == 1) != c.warns {
				t.Fatalf("again: %d entries, warnings %v", len(entries), warnings)
			}
			if !reflect.DeepEqual(records(entries[c.kept:]), turn) {
				t.Errorf("the turn came back as %+v", entries[c.kept:])
			}
			for i, e := range entries {
				if e.Seq != int64(i+1) {
					t.Errorf("seq %d at %d", e.Seq, i)
				}
			}
		})
	}
}

func TestEveryPrefixOfAJournalCanBeGoneOnWith(t *testing.T) {
	want := []agent.Record{
		agent.Started{ID: "s1", Dir: "/w"}, user("über\n\"x\""), reply1(agent.Thinking{Text: "hm"}, callRead),
		answer(callRead, "\xff{}"), agent.Decided{ProposalID: "p1", Decision: agent.Decision{Comment: "nö"}}, agent.Done{Reason: agent.StopComplete},
	}
	text := journalOf(t, want...)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	for n := 0; n <= len(text); n++ {
		whole := strings.Count(text[:n], "\n")
		if n < len(text) && text[n] == '\n' {
			whole++ // all but its end
		}
		writeFile(t, path, text[:n])
		r, entries, warnings, err := Open(path, Options{Now: clock()})
		if err != nil {
			t.Fatalf("prefix %d: %v", n, err)
		}
		if len(entries) != whole || len(warnings) > 1 {
			t.Fatalf("prefix %d: %d entries of %d, warnings %v", n, len(entries), whole, warnings)
		}
		mustAppend(t, r, user("go on"), agent.Done{Reason: agent.StopCancelled})
		mustClose(t, r)
		entries, _, err = Read(strings.NewReader(readFile(t, path)))
		if err != nil {
			t.Fatal(err)
		}
		all := append(append([]agent.Record{}, want[:whole]...), user("go on"), agent.Done{Reason: agent.StopCancelled})
		if !reflect.DeepEqual(records(entries), all) {
			t.Fatalf("prefix %d came back as %+v", n, entries)
		}
		if last := entries[len(entries)-1].Seq; last != int64(len(all)) {
			t.Fatalf("prefix %d: the last seq is %d, want %d", n, last, len(all))
		}
	}
}

func TestManyMayAppendAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	r := mustCreate(t, path, Options{})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 25 {
				if err := r.Append(user("text")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for i, e := range entriesOf(t, readFile(t, path)) {
		if e.Seq != int64(i+1) {
			t.Fatalf("seq %d at %d", e.Seq, i)
		}
	}
}

func TestADecisionCanBeTheFirstOnTheDisk(t *testing.T) {
	r := mustCreate(t, filepath.Join(t.TempDir(), "s.jsonl"), Options{})
	mustAppend(t, r, yes(), yes())
	if got := entriesOf(t, readFile(t, r.Path())); len(got) != 2 {
		t.Errorf("entries %+v", got)
	}
}

// D14: keys are in no file, whoever repeats them.
func TestSecretsNeverReachTheFile(t *testing.T) {
	secrets := []string{"sk-test-000111", "sk-test-000111-long", `pa"ss\word`, "p w/&9+x", "abc", "", "person"}
	in := `{"cmd": "curl -H sk-test-000111-long", "esc": "\u0073k-test\u002d000111", "q": "pa\"ss\\word", "n": 1.50, "sk-test-000111": "abc"}`
	use := call("c1", "run", in)
	raw := agent.ToolUse{ID: "c2", Name: "run", Invalid: "cut: sk-test-000111", RawInput: `{"q":"pa\"ss\\word`}
	all := []agent.Record{
		agent.Started{ID: "s", Model: "m-sk-test-000111", ToolNames: []string{"sk-test-000111"}},
		user("my key is sk-test-000111\xff and p%20w%2F&9+x or p+w%2F%269%2Bx"),
		reply1(agent.Text{Text: "abc sk-test-000111"}, use, raw, call("c3", "f", "{\n\"k\":\"sk-test-000111\"}")),
		agent.Proposed{Proposal: agent.Proposal{ID: "p", Title: "sk-test-000111", Parts: []agent.Part{
			{Use: use, Effect: agent.Remote{Server: "s", Tool: "t", Input: []byte(in)}},
			{Use: use, Effect: agent.Edit{Kind: agent.EditCreate, Path: "/w/sk-test-000111", Hunks: []agent.Hunk{{New: `pa"ss\word`}}}},
		}}},
		agent.Decided{ProposalID: "p", Decision: agent.Decision{By: agent.ByPerson, Comment: "sk-test-000111"}},
		agent.Requested{Attempt: 1, Model: "m-sk-test-000111"},
		agent.Responded{Attempt: 1, Finish: "sk-test-000111", Err: errors.New("bad key sk-test-000111")},
		reply1(agent.Thinking{Source: "person", Opaque: "sk-test-000111"}, agent.ToolUse{ID: "c4", Opaque: "sk-test-000111"}),
		agent.Appended{Message: agent.Message{Role: agent.RoleUser, Blocks: []agent.Block{agent.Image{MediaType: "image/png", Data: []byte("\x89 comment: sk-test-000111")}}}},
		answer(use, "output sk-test-000111-long"),
		agent.Done{Reason: agent.StopError, Err: &agent.ModelError{Kind: agent.ErrorAuth, Message: "bad key sk-test-000111"}},
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	r := mustCreate(t, path, Options{Secrets: secrets})
	mustAppend(t, r, all...)
	text := readFile(t, path)
	for _, leak := range []string{"sk-test", "k-test", "-long", "ss\\\\", "w/&9", "w%2F"} {
		if i := strings.Index(text, leak); i >= 0 {
			t.Errorf("%q is in …%s…", leak, text[max(0, i-40):min(len(text), i+40)])
		}
	}
	entries := entriesOf(t, text)
	for _, e := range entries {
		if !e.Redacted {
			t.Errorf("line %d is not marked", e.Line)
		}
	}
	got := entries[2].Record.(agent.Appended).Message
	if want := `{"cmd": "curl -H [redacted]", "esc": "[redacted]", "q": "[redacted]", "n": 1.50, "[redacted]": "abc"}`; string(got.ToolUses()[0].Input) != want {
		t.Errorf("arguments %s\nwant      %s", got.ToolUses()[0].Input, want)
	}
	if d := entries[4].Record.(agent.Decided).Decision; d.By != agent.ByPerson || d.Comment != redactedText {
		t.Errorf("decision %+v", d)
	}
	if thinking := entries[7].Record.(agent.Appended).Message.Blocks[0]; thinking != (agent.Thinking{Source: "person", Opaque: redactedText}) {
		t.Errorf("thinking %+v", thinking)
	}
	if image := entries[8].Record.(agent.Appended).Message.Blocks[0].(agent.Image); string(image.Data) != "\x89 comment: "+redactedText {
		t.Errorf("image %q", image.Data)
	}
	mustAppend(t, r, user("nothing secret"))
	if e := entriesOf(t, readFile(t, path)); e[len(e)-1].Redacted {
		t.Error("a line without secrets is marked")
	}
}

func TestATooLongRecordIsRefusedAndTheNextIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	r := mustCreate(t, path, Options{})
	r.longest = 1000
	if err := r.Append(user(strings.Repeat("x", 1000))); err == nil {
		t.Error("a line that can't be read back was written")
	}
	mustAppend(t, r, user("a"))
	if e := entriesOf(t, readFile(t, path)); len(e) != 1 || e[0].Seq != 1 {
		t.Errorf("entries %+v", e)
	}
}
