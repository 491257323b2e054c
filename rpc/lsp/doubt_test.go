package lsp_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"assent/editors/fake"
)

// The tests of this file are faults that a sceptic found: each lost a text, or called
// something landed that was not.

// Version and positions have to be of one text: the person types at the top all the
// time, in a file in which finding the place takes a while.
func TestTypingAllTheTimeLosesNothing(t *testing.T) {
	const lines, edits = 3000, 12
	var text strings.Builder
	for n := range lines {
		fmt.Fprintf(&text, "line %d\n", n)
	}
	var replies []string
	for n := range edits {
		old := fmt.Sprintf("line %d\n", 100*(n+1))
		replies = append(replies, call("edit_file", change("a.txt", old, strings.ToUpper(old))))
	}
	b := newBench(t, map[string]string{"a.txt": text.String()}, append(replies, say("ok")), fake.Options{})
	b.must(b.OpenFile(b.path("a.txt")))
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		typed := 0
		tick := time.NewTicker(10 * time.Millisecond) // a person is slower
		defer tick.Stop()
		for {
			select {
			case <-stop:
				stopped <- typed
				return
			case <-tick.C:
				if err := b.Type(b.uri("a.txt"), fake.Range{}, fmt.Sprintf("typed %d\n", typed)); err != nil {
					t.Error(err)
				}
				typed++
			}
		}
	}()
	b.prompt(fake.Prompt{Text: "go"})
	close(stop)
	typed := <-stopped
	got := b.text("a.txt")
	for n := range typed {
		if !strings.Contains(got, fmt.Sprintf("typed %d\n", n)) {
			t.Errorf("what was typed is gone: %d", n)
		}
	}
	landed := map[string]bool{}
	for n, l := range b.landings() {
		landed[fmt.Sprintf("line %d\n", 100*(n+1))] = strings.HasPrefix(l, "landed")
	}
	for n := range lines {
		line := fmt.Sprintf("line %d\n", n)
		if landed[line] {
			line = strings.ToUpper(line)
		}
		if !strings.Contains("\n"+got, "\n"+line) {
			t.Errorf("%q is not in the text", line)
		}
	}
	if len(landed) != edits {
		t.Errorf("landings %q", b.landings())
	}
}

func TestAFileThatIsOpenTwiceWithTwoTextsIsLeftAlone(t *testing.T) {
	for name, o := range map[string]fake.Options{"in the editor": {}, "on disk": {NoApplyEdit: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"a.txt": "one\n"}, []string{call("edit_file", change("a.txt", "one", "1")), say("ok")}, o)
			b.must(os.Symlink(b.path("a.txt"), b.path("link.txt")))
			b.must(b.OpenText(b.uri("link.txt"), "one\nmine\n"))
			b.must(b.OpenFile(b.path("a.txt")))
			b.prompt(fake.Prompt{Text: "go"})
			if told := b.told()[0]; !strings.Contains(told, "open twice") || b.disk("a.txt") != "one\n" || b.text("a.txt") != "one\n" || b.text("link.txt") != "one\nmine\n" {
				t.Errorf("the model was told %q; disk %q, buffers %q %q", told, b.disk("a.txt"), b.text("a.txt"), b.text("link.txt"))
			}
		})
	}
}

// during runs one edit, and does something while its review is open.
func during(t *testing.T, files map[string]string, reply string, o fake.Options, open []string, then func(b *bench)) *bench {
	t.Helper()
	var b *bench
	asked := false
	o.Review = func(context.Context, fake.Review) (fake.Answer, error) {
		if asked { // again, since the text changed
			return fake.Answer{Decision: "reject"}, nil
		}
		asked = true
		then(b)
		return fake.Answer{Decision: "accept"}, nil
	}
	b = newBench(t, files, []string{reply, say("ok")}, o)
	for _, name := range open {
		b.must(b.OpenFile(b.path(name)))
	}
	b.prompt(fake.Prompt{Text: "go"})
	return b
}

func TestADeletionIsForTheTextThatWasShown(t *testing.T) {
	remove := call("delete_file", object{"path": "a.txt"})
	b := during(t, map[string]string{"a.txt": "old\n"}, remove, fake.Options{}, []string{"a.txt"}, func(b *bench) { b.write("a.txt", "precious\n") })
	b.check("a.txt", outcome{"old\n", "precious\n", "failed"})
	b = during(t, map[string]string{"a.txt": "old\n"}, remove, fake.Options{}, []string{"a.txt"}, func(b *bench) { b.must(b.Replace(b.uri("a.txt"), "old", "mine")) })
	b.check("a.txt", outcome{"mine\n", "old\n", ""})
}

func TestANewFileIsNotPutIntoABufferThatThePersonOpened(t *testing.T) {
	create := call("write_file", object{"path": "new.txt", "content": "fresh\n"})
	b := during(t, nil, create, fake.Options{}, nil, func(b *bench) { b.must(b.OpenText(b.uri("new.txt"), "mine\n")) })
	b.check("new.txt", outcome{"mine\n", "-", "failed"})
}

func TestALinkThatLeadsElsewhereNowIsNotFollowed(t *testing.T) {
	files := map[string]string{"a.txt": "one\n", "b.txt": "one\n"}
	var b *bench
	o := fake.Options{Apply: fake.FormatsOnSave, Review: func(context.Context, fake.Review) (fake.Answer, error) {
		b.must(os.Remove(b.path("link.txt")))
		b.must(os.Symlink(b.path("b.txt"), b.path("link.txt")))
		return fake.Answer{Decision: "accept"}, nil
	}}
	b = newBench(t, files, []string{call("edit_file", change("link.txt", "one", "1")), say("ok")}, o)
	b.must(os.Symlink(b.path("a.txt"), b.path("link.txt")))
	b.must(b.OpenFile(b.path("link.txt")))
	b.prompt(fake.Prompt{Text: "go"})
	if b.disk("a.txt") != "one\n" || b.disk("b.txt") != "one\n" {
		t.Errorf("the files have %q and %q; the model was told %q", b.disk("a.txt"), b.disk("b.txt"), b.told())
	}
}

// A liar says applied:true and does nothing; the disk happens to have the text already.
func TestATextThatWasOnDiskBeforeProvesNothing(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "hello\n"}, []string{call("edit_file", change("a.txt", "helo", "hello")), say("ok")}, fake.Options{Apply: fake.Liar})
	b.must(b.OpenText(b.uri("a.txt"), "helo\n"))
	b.prompt(fake.Prompt{Text: "go"})
	b.check("a.txt", outcome{"helo\n", "hello\n", "unconfirmed"})
}

// The client shows another change at once, and the hunk late or never.
func TestAChangeThatMayStillComeIsNotCalledFailed(t *testing.T) {
	var b *bench
	b = newBench(t, map[string]string{"a.txt": "one\ntwo\n"}, []string{call("edit_file", change("a.txt", "one", "1")), say("ok")},
		fake.Options{Apply: fake.Liar, BeforeApply: func(uri string) { b.must(b.Replace(uri, "two\n", "two\nmine\n")) }})
	b.must(b.OpenFile(b.path("a.txt")))
	b.prompt(fake.Prompt{Text: "go"})
	b.check("a.txt", outcome{"one\ntwo\nmine\n", "one\ntwo\n", "unconfirmed"})
}

// The client does not heed a cancel, and makes the edit when another one, for the text
// before it, would be under way: without versions that one would land elsewhere.
func TestNoEditIsMadeWhileAnotherMayStillCome(t *testing.T) {
	var b *bench
	arrived, release, applied := make(chan struct{}), make(chan struct{}), make(chan struct{})
	pending := sync.OnceFunc(func() {
		b.must(b.Replace(b.uri("a.txt"), "three\n", "three, typed\n"))
		close(arrived)
		<-release
		b.must(b.Type(b.uri("a.txt"), fake.Range{End: fake.Position{Line: 1}}, "1\n1b\n"))
		close(applied)
	})
	o := fake.Options{NoDocumentChanges: true, Apply: fake.AnyVersion, BeforeApply: func(string) { pending() }}
	second := call("edit_file", change("a.txt", "two", "TWO"))
	b = newBench(t, map[string]string{"a.txt": "one\ntwo\nthree\n"}, []string{call("edit_file", change("a.txt", "one\n", "1\n1b\n")), second, say("ok"), second, say("ok")}, o)
	b.must(b.OpenFile(b.path("a.txt")))
	var s struct{ SessionID string }
	b.must(b.Call(b.ctx, "assent/session/new", object{}, &s))
	first, err := b.Start("assent/prompt", fake.Prompt{SessionID: s.SessionID, Text: "go"})
	b.must(err)
	<-arrived
	b.must(b.Call(b.ctx, "assent/status", object{}, nil)) // what was typed is taken
	b.must(b.Notify("assent/cancel", object{"sessionId": s.SessionID}))
	b.must(first.Wait(b.ctx, nil))
	b.check("a.txt", outcome{"one\ntwo\nthree, typed\n", "one\ntwo\nthree\n", "unconfirmed buffer"})
	b.prompt(fake.Prompt{SessionID: s.SessionID, Text: "on"})
	if told := b.told(); !strings.Contains(told[len(told)-1], "has not told its text since") {
		t.Errorf("the landings are %q; the model was told %q", b.landings(), told)
	}
	close(release)
	<-applied
	b.prompt(fake.Prompt{SessionID: s.SessionID, Text: "again"})
	b.check("a.txt", outcome{"1\n1b\nTWO\nthree, typed\n", "one\ntwo\nthree\n", "landed buffer"})
}

// A save says that there is a newer text, and not which.
func TestASaveWithoutItsTextShowsNoChange(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "one\ntwo\n"}, []string{call("edit_file", change("a.txt", "one", "1")), call("edit_file", change("a.txt", "two", "2")), say("ok")},
		fake.Options{Changes: fake.Never, Apply: fake.AnyVersion, NoDocumentChanges: true})
	b.must(b.OpenFile(b.path("a.txt")))
	go func() {
		if _, err := b.AwaitEntry(b.ctx, func(e fake.Entry) bool { return e.Response && e.Method == "workspace/applyEdit" }); err != nil {
			return
		}
		_ = b.Notify("textDocument/didSave", object{"textDocument": object{"uri": b.uri("a.txt")}})
	}()
	b.prompt(fake.Prompt{Text: "go"})
	b.check("a.txt", outcome{"1\ntwo\n", "one\ntwo\n", "unconfirmed"})
	if told := b.told(); len(b.landings()) != 1 || !strings.Contains(told[1], "has not told its text since") {
		t.Errorf("the landings are %q; the model was told %q", b.landings(), told)
	}
}

// Line ends are the editor's; what is in the lines is not.
func TestLineEndsThatTheEditorChangesAreNoOtherText(t *testing.T) {
	edit := func(from, to string) string { return call("edit_file", change("a.txt", from, to)) }
	create := call("write_file", object{"path": "a.txt", "content": "one\ntwo\n"})
	const landed = "landed buffer it is in an unsaved buffer of the editor, not on disk yet; its line ends are"
	for name, c := range map[string]struct{ disk, reply, shown, landed, foreign string }{
		"a file with CRLF is loaded with LF":     {"one\r\ntwo\r\n", edit("two", "2"), "one\n2\n", landed, ""},
		"a new file gets CRLF":                   {"-", create, "one\r\ntwo\r\n", landed, ""},
		"a new file gets CRLF, and a line":       {"-", create, "one\r\ntwo\r\nmine\r\n", landed, "+1 −0"},
		"a mixed file is made CRLF":              {"a\r\nb\r\nc\nd\r\n", edit("c", "C"), "a\r\nb\r\nC\r\nd\r\n", landed, ""},
		"a mixed file is made LF":                {"a\r\nb\r\nc\nd\r\n", edit("b", "B"), "a\nB\nc\nd\n", landed, ""},
		"a file with LF is made CRLF":            {"a\nb\n", edit("a\nb\n", "A\nB\n"), "A\r\nB\r\n", landed, ""},
		"only the line ends change":              {"a\nb\n", edit("b", "B"), "a\r\nb\r\n", "unconfirmed", ""},
		"line ends change and the hunk is other": {"a\nb\n", edit("b", "B"), "a\r\nx\r\n", "partial", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"a.txt": c.disk}
			if c.disk == "-" {
				files = nil
			}
			var b *bench
			b = newBench(t, files, []string{c.reply, say("ok")}, fake.Options{Apply: fake.Liar, BeforeApply: func(uri string) { b.must(b.OpenText(uri, c.shown)) }})
			b.prompt(fake.Prompt{Text: "go"})
			b.check("a.txt", outcome{c.shown, c.disk, c.landed})
			if told := b.told()[0]; c.landed == landed && strings.Contains(told, "Besides") != (c.foreign != "") || !strings.Contains(told, c.foreign) {
				t.Errorf("the model was told %q", told)
			}
		})
	}
}

func TestAFileThatTheEditorShowsWithOtherLineEndsCanBeDeleted(t *testing.T) {
	for name, o := range map[string]fake.Options{"by the editor": {}, "on disk": {NoApplyEdit: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"a.txt": "one\r\ntwo\r\n"}, []string{call("delete_file", object{"path": "a.txt"}), say("ok")}, o)
			b.must(b.OpenText(b.uri("a.txt"), "one\ntwo\n"))
			b.prompt(fake.Prompt{Text: "go"})
			if b.disk("a.txt") != "-" {
				t.Errorf("the landings are %q; the model was told %q", b.landings(), b.told())
			}
		})
	}
}

// Typing that is told between the last look at the buffer and the write of the disk
// would make the next edit blind to it.
func TestWhatIsTypedAfterADiskWasWrittenIsSeen(t *testing.T) {
	edit := func(from, to string) string { return call("edit_file", change("a.txt", from, to)) }
	b := newBench(t, map[string]string{"a.txt": "one\ntwo\n"}, []string{edit("one", "1"), say("ok"), edit("two", "2"), say("ok")}, fake.Options{NoApplyEdit: true})
	b.must(b.OpenFile(b.path("a.txt")))
	first := b.prompt(fake.Prompt{Text: "go"})
	b.check("a.txt", outcome{"one\ntwo\n", "1\ntwo\n", "landed disk"})
	b.must(b.Replace(b.uri("a.txt"), "two\n", "two\nmine\n"))
	b.prompt(fake.Prompt{SessionID: first.SessionID, Text: "go on"})
	b.check("a.txt", outcome{"one\ntwo\nmine\n", "1\ntwo\n", "failed disk it has unsaved changes in the editor"})
}

func TestTheTextOfThePersonIsAllThatLandsWhereTwoCallsChangeAFile(t *testing.T) {
	two := call("edit_file", change("a.txt", "one", "1"), "edit_file", change("a.txt", "two", "2"))
	o := fake.Options{Review: func(_ context.Context, r fake.Review) (fake.Answer, error) {
		return fake.Answer{Decision: "partial", Edited: map[string]string{r.Files[0].URI: "one\ntwo\nmine\n"}}, nil
	}}
	b := newBench(t, map[string]string{"a.txt": "one\ntwo\n"}, []string{two, say("ok")}, o)
	b.must(b.OpenFile(b.path("a.txt")))
	b.prompt(fake.Prompt{Text: "go"})
	b.check("a.txt", outcome{"one\ntwo\nmine\n", "one\ntwo\n", "landed buffer"})
	if n := len(b.landings()); n != 1 {
		t.Errorf("%d landings: %q", n, b.told())
	}
}

// A yes is for what was shown: a long change comes in pages.
func TestAQuestionShowsAllOfAChange(t *testing.T) {
	content := strings.Repeat("harmless\n", 60) + "rm -rf /\n"
	for name, answers := range map[string]struct {
		refuse string // what is refused
		want   string
	}{
		"all pages seen":              {"", content},
		"refused on the second page":  {"page 2 of 2", "-"},
		"refused before what matters": {"page 1 of 2", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var shown strings.Builder
			o := fake.Options{NoReview: true, NoShowDocument: true, SyncsAll: true, Message: func(_ context.Context, m fake.MessageRequest) (string, error) {
				shown.WriteString(m.Message)
				if answers.refuse != "" && strings.Contains(m.Message, answers.refuse) {
					return "Reject", nil
				}
				return m.Actions[0], nil
			}}
			b := newBench(t, nil, []string{call("write_file", object{"path": "x.sh", "content": content}), say("ok")}, o)
			b.prompt(fake.Prompt{Text: "go"})
			if b.disk("x.sh") != answers.want {
				t.Errorf("the file has %q", b.disk("x.sh"))
			}
			if answers.refuse != "page 1 of 2" && !strings.Contains(shown.String(), "+rm -rf /") {
				t.Error("the last line was not shown")
			}
		})
	}
	o := fake.Options{NoReview: true, NoShowDocument: true, SyncsAll: true}
	b := newBench(t, nil, []string{call("write_file", object{"path": "x.sh", "content": strings.Repeat("x\n", 1000)}), say("ok")}, o)
	b.prompt(fake.Prompt{Text: "go"})
	if b.disk("x.sh") != "-" || !strings.Contains(b.told()[0], "too many to show") {
		t.Errorf("the file has %d bytes; the model was told %q", len(b.disk("x.sh")), b.told())
	}
}

// A change of settings counts for what comes after it, also right behind it.
func TestSettingsCountForThePromptsThatFollow(t *testing.T) {
	const rounds = 20
	var replies []string
	for range rounds {
		replies = append(replies, call("write_file", object{"path": "x.txt", "content": "x\n"}), say("ok"))
	}
	reviews := 0
	o := fake.Options{SyncsAll: true, Review: func(context.Context, fake.Review) (fake.Answer, error) {
		reviews++
		return fake.Answer{Decision: "reject"}, nil
	}}
	b := newBench(t, nil, replies, o)
	for range rounds {
		var session struct{ SessionID string }
		b.must(b.Call(b.ctx, "assent/session/new", map[string]string{"mode": "accept_edits"}, &session))
		set, err := b.Start("assent/session/set", map[string]string{"sessionId": session.SessionID, "mode": "ask"})
		b.must(err)
		b.prompt(fake.Prompt{SessionID: session.SessionID, Text: "go"})
		b.must(set.Wait(b.ctx, nil))
	}
	if reviews != rounds || b.disk("x.txt") != "-" {
		t.Errorf("%d reviews of %d, the file has %q", reviews, rounds, b.disk("x.txt"))
	}
}

// A word is replaced everywhere, which an editor tells as ten thousand changes.
func TestTenThousandChangesAtOnceDoNotHoldTheServer(t *testing.T) {
	const lines = 10_000
	b := newBench(t, map[string]string{"a.txt": ""}, []string{call("read_file", object{"path": "a.txt", "start_line": lines, "end_line": lines}), say("ok")}, fake.Options{})
	b.must(b.OpenText(b.uri("a.txt"), strings.Repeat("word and more than that, to make the line longer than it need be\n", lines)))
	type span = map[string]map[string]int
	var changes []map[string]any
	for n := range lines {
		at := span{"start": {"line": n, "character": 0}, "end": {"line": n, "character": 4}}
		changes = append(changes, map[string]any{"range": at, "text": "other"})
	}
	began := time.Now()
	b.must(b.Notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": b.uri("a.txt"), "version": 2}, "contentChanges": changes}))
	b.must(b.Call(b.ctx, "assent/status", struct{}{}, nil))
	t.Logf("%v until the next answer", time.Since(began))
	b.prompt(fake.Prompt{Text: "go"})
	if !strings.Contains(b.told()[0], "other and more") {
		t.Errorf("the model was told %q", b.told())
	}
}

// The editor can't make new files, so it still shows the text from before when we have made
// the file anew: what is next to change is not there.
func TestABufferThatIsOlderThanWhatWeWroteIsNotEdited(t *testing.T) {
	replies := []string{
		call("delete_file", object{"path": "a.txt"}), call("write_file", object{"path": "a.txt", "content": "zero one two\n"}),
		call("edit_file", change("a.txt", "zero", "0")), say("ok"),
	}
	for name, o := range map[string]fake.Options{
		"with versions": {NoResourceOperations: true}, "without": {NoResourceOperations: true, NoDocumentChanges: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"a.txt": "one two\n"}, replies, o)
			b.must(b.OpenFile(b.path("a.txt")))
			b.prompt(fake.Prompt{Text: "go"})
			b.check("a.txt", outcome{"one two\n", "0 one two\n", "landed disk"})
		})
	}
}
