package lsp_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/agent/agenttest"
	"assent/agent/host"
	"assent/editors/fake"
	"assent/rpc"
	"assent/rpc/lsp"
	"assent/tools"

	"pgregory.net/rapid"
)

// TestRandomEdits lets random models and people meet in editors of every kind: the person
// types, formats, saves, closes and opens while the model proposes, and answers in every
// way that there is. Whatever they do, no character of the person is lost, none lands that
// nobody accepted or wrote, what is accepted and not touched does land, and the model is
// told the truth; see [account].
//
// ASSENT_STEPS is how many steps are taken, about, and -rapid.checks of how many worlds.
// All choices are read off a tape of bytes, since the person and the model are asked on
// goroutines of the server and the editor.
func TestRandomEdits(t *testing.T) {
	steps, err := strconv.Atoi(cmp.Or(os.Getenv("ASSENT_STEPS"), "1500"))
	if err != nil {
		t.Fatal(err)
	}
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		_ = checks.Value.Set(strconv.Itoa(1 + steps/worldSteps)) // it is a number
		defer func() { _ = checks.Value.Set(checks.DefValue) }()
	}
	var sum tally
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{Tape: agenttest.NewTape(rapid.Uint64().Draw(rt, "seed"), 1500-rapid.IntRange(0, 1499).Draw(rt, "cut")), steps: worldSteps}
		synctest.Test(t, func(t *testing.T) { // no wait for an editor takes time
			w.begin(t)
			w.live()
			w.end()
		})
		sum.add(w.tally)
		if len(w.faults) > 0 {
			rt.Fatalf("promise broken in %s:\n%s\nthe story:\n%s", w.kind(), strings.Join(w.faults, "\n"), strings.Join(w.story, "\n"))
		}
	})
	t.Logf("%+v", sum)
	if !t.Failed() && sum.Landed*10 < sum.Owed*9 {
		t.Errorf("promise broken: of %d hunks that were accepted, and that the person came nowhere near, %d landed", sum.Owed, sum.Landed)
	}
}

// worldSteps are those of one world.
const worldSteps = 40

// tally counts what happened.
type tally struct {
	Worlds, Steps, Reviews      int
	Again, Revisions, Conflicts int // reviews that ask again, revisions after the first, hunks in conflict
	Owed, Landed                int // hunks that have to land, and those of them that did
}

func (t *tally) add(o tally) {
	t.Worlds++
	t.Steps += o.Steps
	t.Reviews += o.Reviews
	t.Again += o.Again
	t.Revisions += o.Revisions
	t.Conflicts += o.Conflicts
	t.Owed += o.Owed
	t.Landed += o.Landed
}

// world is one editor with its person, and one session with its model. Only one of the two
// acts at a time.
type world struct {
	*fake.Editor
	*agenttest.Tape
	account
	tally
	t       *testing.T
	dir     string
	options fake.Options

	steps  int // that are left
	words  int
	faults []string
	story  []string // for who reads a fault

	shown   map[string]map[int][]shownFile // proposals, by revision
	answers []given
	owed    map[string]debt
	spoken  map[string]bool            // words that there were when the model spoke
	touched map[string]map[string]bool // words near what the person did since the model spoke, by file
	undo    map[string][]string        // earlier texts of a buffer
	last    map[string]int             // how long the log was when the person did something to a file
	heard   int                        // events that were looked at
	pages   []string                   // of a question so far
	about   []string                   // files that are asked about
	asked   map[string]bool            // words of the lines that are asked about
	outcome heardOf
}

var names = []string{"a.txt", "b.txt", "c.txt", "sub/d.txt"}

func one[T any](w *world, from ...T) T { return from[w.Pick(len(from))] }

func (w *world) fault(format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
	w.tell("FAULT: "+format, args...)
}

func (w *world) tell(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf(format, args...))
}

func (w *world) must(err error) {
	if err != nil {
		w.fault("%v", err)
	}
}

// kind names the editor.
func (w *world) kind() string {
	o := w.options
	return fmt.Sprintf("an editor with changes %d, apply %d, encodings %v, full sync %t, syncsAll %t, and without review %t, message request %t, applyEdit %t, documentChanges %t, resource operations %t",
		o.Changes, o.Apply, o.Encodings, o.FullSync, o.SyncsAll, o.NoReview, o.NoMessageRequest, o.NoApplyEdit, o.NoDocumentChanges, o.NoResourceOperations)
}

func (w *world) editor() fake.Options {
	return fake.Options{
		Apply:                one(w, fake.Honest, fake.FormatsOnSave, fake.Honest, fake.AnyVersion, fake.FormatsOnSave, fake.Honest, fake.Liar, fake.Refuses, fake.Silent, fake.Fails),
		Changes:              one(w, fake.BeforeReply, fake.Late, fake.BeforeReply, fake.Late, fake.Never),
		Encodings:            one(w, nil, []string{"utf-8"}, []string{"utf-32"}),
		FullSync:             w.Rarely(4),
		SyncsAll:             w.Rarely(3),
		NoReview:             w.Rarely(5),
		NoMessageRequest:     w.Rarely(10),
		NoApplyEdit:          w.Rarely(6),
		NoDocumentChanges:    w.Rarely(5),
		NoResourceOperations: w.Rarely(5),
		Review:               w.review,
		Message:              w.message,
		BeforeApply:          w.beforeApply,
	}
}

// begin starts the server and the editor.
func (w *world) begin(t *testing.T) {
	w.t = t
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.dir = filepath.Join(root, "ws")
	if err := os.MkdirAll(filepath.Join(w.dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.options = w.editor()
	w.shown, w.owed, w.touched = map[string]map[int][]shownFile{}, map[string]debt{}, map[string]map[string]bool{}
	w.undo, w.last = map[string][]string{}, map[string]int{}
	w.account = account{formats: w.options.Apply == fake.FormatsOnSave, grants: map[string][]grant{}}
	for _, name := range names[:2+w.Pick(2)] {
		w.must(os.WriteFile(w.path(name), []byte(w.newText()), 0o600))
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	conn := rpc.New(fromClient, toClient, rpc.Options{})
	server := lsp.New(conn, lsp.Options{Version: "test", Dir: w.dir, Open: func(lsp.InitializationOptions) (*lsp.Engine, error) {
		all, journal := tools.Default(), filepath.Join(root, "journal")
		h := host.New(host.Options{JournalDir: journal, Version: "test", Provider: "test", ModelName: "m1", Model: modelFunc(w.reply), Tools: all, Random: rand.Reader})
		return &lsp.Engine{Host: h, Provider: "test", Model: "m1", Journal: journal, Tools: all}, nil
	}})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = conn.Serve(context.Background(), server) // it ends with the input
		w.must(server.Close())
		_ = toClient.Close()
	}()
	w.Editor = fake.New(fromServer, toServer, w.options)
	t.Cleanup(func() {
		w.must(w.Close())
		<-served
		w.must(w.Err())
	})
	_, err = w.Initialize(t.Context(), w.dir)
	w.must(err)
	w.files = w.look()
}

// live is all that happens.
func (w *world) live() {
	session := ""
	for w.steps > 0 && len(w.faults) == 0 {
		for range w.Pick(4) {
			w.act(false)
		}
		if w.Rarely(6) {
			session = "" // a new one, that knows nothing of the files
		}
		w.tell("prompt")
		result, err := w.Prompt(w.t.Context(), fake.Prompt{SessionID: session, Text: "go"})
		if err != nil {
			w.fault("the prompt ended with %v", err)
			return
		}
		session = result.SessionID
		w.check()
	}
}

// end saves what the person has and looks a last time.
func (w *world) end() {
	for _, name := range names {
		if w.check(); w.files[name].open && len(w.faults) == 0 {
			w.save(name)
			w.acted(name, w.look()[name])
		}
	}
	w.check()
}

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }
func (w *world) uri(name string) string  { return fake.URI(w.path(name)) }

// name is the file that a URI is of.
func (w *world) name(uri string) string {
	rel, err := filepath.Rel(w.dir, fake.Path(uri))
	if err != nil || !slices.Contains(names, filepath.ToSlash(rel)) {
		w.fault("there is no file %s", uri)
	}
	return filepath.ToSlash(rel)
}

// look is what there is in the editor and on disk.
func (w *world) look() map[string]content {
	now := map[string]content{}
	unsaved := w.Unsaved()
	for _, name := range names {
		var c content
		text, _, open := w.Text(w.uri(name))
		data, err := os.ReadFile(w.path(name))
		c.open, c.buffer, c.unsaved = open, wordsOf(text), slices.Contains(unsaved, w.uri(name))
		c.there, c.disk = err == nil, wordsOf(string(data))
		now[name] = c
	}
	return now
}

// check holds the account to what there is, when all that was said has been heard.
func (w *world) check() {
	synctest.Wait()
	w.hear()
	w.allow()
	for _, fault := range w.settle(w.look()) {
		w.fault("%s", fault)
	}
}

// pass lets time go by.
func (w *world) pass(d time.Duration) {
	time.Sleep(d) // of the world, not ours
	synctest.Wait()
}
