package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"assent/agent"
	"assent/editors/fake"
)

// linter is what the tools of a fake editor say: each question gets the next answer,
// and then the last one again and again.
type linter struct {
	answers [][]fake.Diagnostic

	mu    sync.Mutex
	asked []string // the uris
}

func (l *linter) tell(_ context.Context, uri string) (fake.DiagnosticsAnswer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.asked), len(l.answers)-1)
	l.asked = append(l.asked, uri)
	return fake.DiagnosticsAnswer{Items: l.answers[n]}, nil
}

func (l *linter) questions() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.asked)
}

// finding is an error of a tool in a line, from 0.
func finding(uri string, line int, message string) fake.Diagnostic {
	return fake.Diagnostic{
		URI: uri, Severity: 1, Message: message, Source: "vet",
		Range: fake.Range{Start: fake.Position{Line: line, Character: 1}, End: fake.Position{Line: line, Character: 3}},
	}
}

// rounds waits for nothing, so many times.
func rounds(n int) func() func(context.Context) bool {
	return func() func(context.Context) bool {
		left := n
		return func(ctx context.Context) bool { left--; return left >= 0 && ctx.Err() == nil }
	}
}

// linted is a desk whose editor offers diagnostics; patience is so many rounds.
func linted(t *testing.T, o fake.Options, patience int, files map[string]string, replies ...reply) *desk {
	t.Helper()
	d := deskUninitialized(t, o, files, replies...)
	d.server.patience = rounds(patience)
	if _, err := d.Initialize(d.ctx, d.dir); err != nil {
		t.Fatal(err)
	}
	return d
}

// problems are those of the landings so far, nil for a landing without.
func (d *desk) problems() []*Problems {
	d.t.Helper()
	var out []*Problems
	for _, e := range eventsOf[LandedEvent](d, "landed") {
		out = append(out, e.Files[0].Problems)
	}
	return out
}

// Some tools look at a change late, and say less before they say all: the answer counts
// that came twice. What only moved is not new.
func TestWhatTheToolsSayOfAChangeIsToldOnceItIsSettled(t *testing.T) {
	l := &linter{}
	d := linted(t, fake.Options{Diagnostics: l.tell}, 100, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2\n2½")))
	uri := d.opened("a")
	old, moved, fixed, broken, also := finding(uri, 4, "old"), finding(uri, 5, "old"), finding(uri, 1, "fixed"), finding(uri, 2, "broken"), finding(uri, 0, "also")
	was := []fake.Diagnostic{fixed, old}
	l.answers = [][]fake.Diagnostic{was, was, was, {moved}, {moved, broken, also}, {moved, broken, also}}
	d.say(fake.Prompt{})
	if asked := l.questions(); !slices.Equal(asked, []string{"", uri, uri, uri, uri, uri, ""}) {
		t.Errorf("asked for %q", asked)
	}
	p := d.problems()[0]
	if p == nil || len(p.New) != 2 || p.More != 0 || p.Gone != 1 {
		t.Fatalf("the person is told of %+v", p)
	}
	for i, want := range []fake.Diagnostic{also, broken} {
		got := p.New[i]
		if got.URI != uri || got.Message != want.Message || got.Source != "vet" || got.Severity != 1 || int(got.Range.Start.Line) != want.Range.Start.Line || got.Range.End.Character != 3 {
			t.Errorf("the person is told of %+v, not %+v", got, want)
		}
	}
	has(t, d.results()[0].Output, "a edited: 1 of 1 hunks landed.", "New problems the editor reports:\nline 1: \"also\" (error, vet)\nline 3: \"broken\" (error, vet)\n1 problem that the editor reported is gone.")
}

func TestWhereTheToolsSayTheSameNothingIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		o    fake.Options
		use  agent.ToolUse
		asks int
	}{
		"an edit":                   {"a", fake.Options{}, edits("c1", "a", "two", "2"), 5},
		"an edit on disk":           {"a", fake.Options{SyncsAll: true}, edits("c1", "a", "two", "2"), 5},
		"an edit that did not land": {"a", fake.Options{Apply: fake.Refuses}, edits("c1", "a", "two", "2"), 1},
		"an edit that was refused": {"a", fake.Options{Review: func(context.Context, fake.Review) (fake.Answer, error) {
			return fake.Answer{Decision: "reject"}, nil
		}}, edits("c1", "a", "two", "2"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &linter{answers: [][]fake.Diagnostic{{finding("file:///x", 1, "m"), finding("untitled:x", 1, "m")}}}
			c.o.Diagnostics = l.tell
			d := linted(t, c.o, 3, map[string]string{"a": sixLines}, calls(c.use))
			d.say(fake.Prompt{})
			if n := len(l.questions()); n != c.asks {
				t.Errorf("asked %d times, not %d", n, c.asks)
			}
			for _, p := range d.problems() {
				if p != nil {
					t.Errorf("told of %+v", p)
				}
			}
			if strings.Contains(d.results()[0].Output, "problem") {
				t.Errorf("the model is told %q", d.results()[0].Output)
			}
		})
	}
}

// Of other files only errors matter, and the model hears of none that it may not read
// unasked.
func TestOfOtherFilesOnlyNewErrorsAreTold(t *testing.T) {
	l := &linter{}
	d := linted(t, fake.Options{Diagnostics: l.tell}, 1, map[string]string{"a": sixLines, "b": "b\n", ".env": "KEY=x\n"}, calls(edits("c1", "a", "two", "2")))
	uri := d.opened("a")
	warning := finding(d.uri("b"), 0, "a warning")
	warning.Severity = 2
	hint := finding(uri, 0, "a hint")
	hint.Severity = 4
	gone := finding(d.uri("b"), 0, "gone")
	after := []fake.Diagnostic{finding(d.uri("b"), 6, "here\nin two lines"), warning, hint, finding(d.uri(".env"), 0, "KEY=x is wrong"), finding("file:///etc/hosts", 0, "outside"), {URI: "untitled:x", Message: "nowhere"}}
	l.answers = [][]fake.Diagnostic{{gone}, after}
	d.say(fake.Prompt{})
	out := d.results()[0].Output
	has(t, out, "\nb line 7: \"here in two lines\" (error, vet)\nline 1: \"a hint\" (hint, vet)")
	for _, no := range []string{"a warning", "KEY", "outside", "nowhere", "gone"} {
		if strings.Contains(out, no) {
			t.Errorf("the model is told %q", out)
		}
	}
	if p := d.problems()[0]; len(p.New) != 2 || p.New[0].URI != d.uri("b") || p.Gone != 0 {
		t.Errorf("the person is told of %+v", p)
	}
}

func TestOfManyProblemsTheGravestAreTold(t *testing.T) {
	l := &linter{answers: [][]fake.Diagnostic{{}, nil}}
	d := linted(t, fake.Options{Diagnostics: l.tell}, 1, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2")))
	uri := d.opened("a")
	for n := range 14 {
		one := finding(uri, n, fmt.Sprintf("number %d", n))
		one.Severity = 1 + n%2
		l.answers[1] = append(l.answers[1], one, one) // twice is two
	}
	d.say(fake.Prompt{})
	p := d.problems()[0]
	if len(p.New) != maxProblems || p.More != 18 || slices.ContainsFunc(p.New, func(d Diagnostic) bool { return d.Severity != 1 }) {
		t.Errorf("the person is told of %+v", p)
	}
	has(t, d.results()[0].Output, "\nand 18 more.")
}

func TestOfASecretFileNoMessageIsTold(t *testing.T) {
	l := &linter{}
	d := linted(t, fake.Options{Diagnostics: l.tell}, 1, map[string]string{".env": "KEY=hush\nB=1\n"}, calls(reads("c0", ".env")), calls(edits("c1", ".env", "B=1", "B=2")))
	uri := d.opened(".env")
	l.answers = [][]fake.Diagnostic{nil, {finding(uri, 0, "KEY=hush is weak")}}
	d.say(fake.Prompt{})
	if out := d.results()[1].Output; strings.Contains(out, "hush") || !strings.Contains(out, "line 1: not shown") {
		t.Errorf("the model is told %q", out)
	}
}

// A client that fails costs one question, and never the landing.
func TestAClientThatFailsToTellItsDiagnosticsIsNotAskedAgain(t *testing.T) {
	raw := func(text string) func(context.Context) (fake.DiagnosticsAnswer, error) {
		return func(context.Context) (fake.DiagnosticsAnswer, error) {
			return fake.DiagnosticsAnswer{Raw: json.RawMessage(text)}, nil
		}
	}
	for name, answer := range map[string]func(context.Context) (fake.DiagnosticsAnswer, error){
		"an error": func(context.Context) (fake.DiagnosticsAnswer, error) {
			return fake.DiagnosticsAnswer{}, &fake.Error{Code: 7, Message: "no"}
		},
		"an unknown method": func(context.Context) (fake.DiagnosticsAnswer, error) {
			return fake.DiagnosticsAnswer{}, &fake.Error{Code: fake.CodeMethodNotFound}
		},
		"silence": func(ctx context.Context) (fake.DiagnosticsAnswer, error) {
			<-ctx.Done()
			return fake.DiagnosticsAnswer{}, ctx.Err()
		},
		"null": raw(`null`), "a list": raw(`[]`), "no items": raw(`{}`), "items that are null": raw(`{"items":null}`), "a string": raw(`"x"`),
		"items that are none": raw(`{"items":[7]}`), "a line below 0": raw(`{"items":[{"uri":"file:///a","range":{"start":{"line":-1}}}]}`),
	} {
		for asks, after := range map[int]bool{1: false, 2: true} {
			t.Run(fmt.Sprint(name, " at question ", asks), func(t *testing.T) {
				t.Parallel()
				asked := make(chan string, 100)
				o := fake.Options{Diagnostics: func(ctx context.Context, uri string) (fake.DiagnosticsAnswer, error) {
					asked <- uri
					if after && uri == "" {
						return fake.DiagnosticsAnswer{}, nil
					}
					return answer(ctx)
				}}
				d := linted(t, o, 100, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2")), calls(edits("c2", "a", "five", "5")))
				uri := d.opened("a")
				d.say(fake.Prompt{})
				text, _, _ := d.Text(uri)
				same(t, "the text", text, "one\n2\nthree\nfour\n5\nsix\n")
				if len(asked) != asks {
					t.Errorf("asked %d times, not %d", len(asked), asks)
				}
				if p := d.problems(); p[0] != nil || p[1] != nil {
					t.Errorf("told of %+v", p)
				}
			})
		}
	}
}

// What has landed has landed, and a cancel waits for nobody's tools.
func TestACancelEndsTheWaitForTheTools(t *testing.T) {
	l := &linter{answers: [][]fake.Diagnostic{{}}}
	d := deskUninitialized(t, fake.Options{Diagnostics: l.tell}, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2")))
	waits := make(chan struct{})
	d.server.patience = func() func(context.Context) bool {
		return func(ctx context.Context) bool {
			close(waits)
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, errCancelled) { // not the end of what a landing may take
				t.Errorf("the wait ends with %v", cause)
			}
			return false
		}
	}
	if _, err := d.Initialize(d.ctx, d.dir); err != nil {
		t.Fatal(err)
	}
	uri, session := d.opened("a"), d.session()
	pending := d.start(fake.Prompt{SessionID: session, Text: "go"})
	<-waits
	if err := d.Notify(methodCancel, SessionParams{session}); err != nil {
		t.Fatal(err)
	}
	if result := d.ended(pending); result.StopReason != "cancelled" {
		t.Errorf("the result is %+v", result)
	}
	text, _, _ := d.Text(uri)
	same(t, "the text", text, "one\n2\nthree\nfour\nfive\nsix\n")
	if n := len(l.questions()); n != 1 {
		t.Errorf("asked %d times", n)
	}
	has(t, d.results()[0].Output, "1 of 1 hunks landed")
}

func TestThePatienceOfTheDaemonHasAnEnd(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if patient()(ended) {
		t.Error("it waits after a cancel")
	}
	wait := patient()
	n := 0
	for wait(t.Context()) {
		n++
	}
	if n < 2 || n > 20 {
		t.Errorf("it asks %d times", n)
	}
}

func TestAClientThatDoesNotOfferDiagnosticsIsNotAsked(t *testing.T) {
	d := deskWith(t, fake.Options{}, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2")))
	d.opened("a")
	d.say(fake.Prompt{})
	for _, e := range d.Log() {
		if e.Method == methodDiagnostics {
			t.Errorf("it was asked: %s", e.Raw)
		}
	}
	has(t, d.results()[0].Output, "1 of 1 hunks landed")
}
