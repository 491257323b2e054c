package lsp_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"assent/editors/fake"
)

// what a landing leads to, in the editor, on disk, and in words.
type outcome struct{ editor, disk, landed string }

func (b *bench) check(name string, want outcome) {
	b.t.Helper()
	last := ""
	if landings := b.landings(); len(landings) > 0 {
		last = landings[len(landings)-1]
	}
	if got := (outcome{b.text(name), b.disk(name), ""}); got.editor != want.editor || got.disk != want.disk || !strings.HasPrefix(last, want.landed) {
		b.t.Errorf("%s: the editor has %q, the disk %q, said to be %q\nwant %+v; the model was told %q", name, got.editor, got.disk, last, want, b.told())
	}
}

func TestAnOpenFileIsChangedInTheEditorAndAClosedOneByWhoCan(t *testing.T) {
	const old, new = "one\ntwo\n", "ONE\ntwo\n"
	cases := map[string]struct {
		open bool
		o    fake.Options
		want outcome
	}{
		"open":                             {true, fake.Options{}, outcome{new, old, "landed buffer it is in an unsaved buffer"}},
		"open, everything is told":         {true, fake.Options{SyncsAll: true}, outcome{new, old, "landed buffer"}},
		"closed":                           {false, fake.Options{}, outcome{new, old, "landed buffer it is in an unsaved buffer"}},
		"closed, late":                     {false, fake.Options{Changes: fake.Late}, outcome{new, old, "landed buffer it is in an unsaved buffer"}},
		"closed, everything is told":       {false, fake.Options{SyncsAll: true}, outcome{"-", new, "landed disk"}},
		"closed, no versions":              {false, fake.Options{NoDocumentChanges: true}, outcome{new, old, "landed buffer"}},
		"closed, never told":               {false, fake.Options{Changes: fake.Never}, outcome{new, old, "unconfirmed"}},
		"open, no applyEdit":               {true, fake.Options{NoApplyEdit: true}, outcome{old, new, "landed disk"}},
		"closed, no applyEdit":             {false, fake.Options{NoApplyEdit: true}, outcome{"-", new, "landed disk"}},
		"open, positions in utf-8":         {true, fake.Options{Encodings: []string{"utf-8"}}, outcome{new, old, "landed buffer"}},
		"open, whole texts":                {true, fake.Options{FullSync: true}, outcome{new, old, "landed buffer"}},
		"open, saves and formats":          {true, fake.Options{Apply: fake.FormatsOnSave}, outcome{new, new, "landed buffer"}},
		"closed, saves, and is never told": {false, fake.Options{Apply: fake.FormatsOnSave, Changes: fake.Never}, outcome{new, new, "landed"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"a.txt": old}, []string{call("edit_file", change("a.txt", "one", "ONE")), say("ok")}, c.o)
			if c.open {
				b.must(b.OpenFile(b.path("a.txt")))
			}
			b.prompt(fake.Prompt{Text: "go"})
			b.check("a.txt", c.want)
		})
	}
}

func TestFilesAreMadeDeletedAndRenamedByWhoCan(t *testing.T) {
	create := call("write_file", object{"path": "new/dir/b.txt", "content": "fresh\n"})
	remove := call("delete_file", object{"path": "a.txt"})
	rename := call("move_file", object{"from": "a.txt", "to": "b.txt"})
	const old = "one\n"
	cases := map[string]struct {
		reply, name string
		open        bool
		o           fake.Options
		want        outcome
	}{
		"created in the editor":               {create, "new/dir/b.txt", false, fake.Options{}, outcome{"fresh\n", "", "landed buffer it is in an unsaved buffer"}},
		"created on disk, all is told":        {create, "new/dir/b.txt", false, fake.Options{SyncsAll: true}, outcome{"-", "fresh\n", "landed disk"}},
		"created on disk, no operations":      {create, "new/dir/b.txt", false, fake.Options{NoResourceOperations: true}, outcome{"-", "fresh\n", "landed disk"}},
		"created by an editor that is silent": {create, "new/dir/b.txt", false, fake.Options{Changes: fake.Never}, outcome{"fresh\n", "", "unconfirmed"}},
		"created by a liar":                   {create, "new/dir/b.txt", false, fake.Options{Apply: fake.Liar}, outcome{"-", "-", "unconfirmed"}},
		"deleted in the editor":               {remove, "a.txt", true, fake.Options{}, outcome{"-", "-", "landed buffer"}},
		"deleted while closed":                {remove, "a.txt", false, fake.Options{}, outcome{"-", "-", "landed buffer"}},
		"deleted on disk":                     {remove, "a.txt", false, fake.Options{SyncsAll: true}, outcome{"-", "-", "landed disk"}},
		"deleted by a liar":                   {remove, "a.txt", false, fake.Options{Apply: fake.Liar}, outcome{"-", old, "unconfirmed"}},
		"deletion refused by the editor":      {remove, "a.txt", true, fake.Options{Apply: fake.Refuses}, outcome{old, old, "failed buffer the editor did not make the change: the person said no"}},
		"renamed in the editor":               {rename, "b.txt", true, fake.Options{}, outcome{old, old, "landed buffer"}},
		"renamed on disk":                     {rename, "b.txt", false, fake.Options{NoApplyEdit: true}, outcome{"-", old, "landed disk"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"a.txt": old}, []string{c.reply, say("ok")}, c.o)
			if c.open {
				b.must(b.OpenFile(b.path("a.txt")))
			}
			b.prompt(fake.Prompt{Text: "go"})
			b.check(c.name, c.want)
		})
	}
}

// The client can't change its own buffer, and the person has typed in it: if we wrote
// the disk, their next save would lose one or the other.
func TestAFileWithUnsavedChangesIsNeverWrittenBehindTheEditor(t *testing.T) {
	for name, reply := range map[string]string{
		"edit":   call("edit_file", change("a.txt", "one", "ONE")),
		"delete": call("delete_file", object{"path": "a.txt"}),
		"rename": call("move_file", object{"from": "a.txt", "to": "b.txt"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"a.txt": "one\n"}, []string{reply, say("ok")}, fake.Options{NoApplyEdit: true})
			b.must(b.OpenFile(b.path("a.txt")))
			b.must(b.Replace(b.uri("a.txt"), "one\n", "one\nmine\n"))
			b.prompt(fake.Prompt{Text: "go"})
			b.check("a.txt", outcome{"one\nmine\n", "one\n", "failed disk it has unsaved changes in the editor"})
		})
	}
}

func TestTypingWhileTheChangeIsOnItsWay(t *testing.T) {
	cases := map[string]struct {
		mode fake.ApplyMode
		from string // replaced by the person when the edit arrives
		to   string
		want outcome
	}{
		"elsewhere: made anew on the newer text":  {fake.Honest, "five\n", "five, typed\n", outcome{"one\nTWO\nthree\nfour\nfive, typed\n", "one\ntwo\nthree\nfour\nfive\n", "landed buffer"}},
		"above: made anew at its new place":       {fake.Honest, "one\n", "zero\none\n", outcome{"zero\none\nTWO\nthree\nfour\nfive\n", "one\ntwo\nthree\nfour\nfive\n", "landed buffer"}},
		"on the same line: nothing is changed":    {fake.Honest, "two\n", "two, typed\n", outcome{"one\ntwo, typed\nthree\nfour\nfive\n", "one\ntwo\nthree\nfour\nfive\n", "failed"}},
		"above, by a client without versions":     {fake.AnyVersion, "one\n", "zero\none\n", outcome{"zero\nTWO\ntwo\nthree\nfour\nfive\n", "one\ntwo\nthree\nfour\nfive\n", "partial"}},
		"elsewhere, by a client without versions": {fake.AnyVersion, "five\n", "five, typed\n", outcome{"one\nTWO\nthree\nfour\nfive, typed\n", "one\ntwo\nthree\nfour\nfive\n", "landed buffer"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b *bench
			first := true
			o := fake.Options{Apply: c.mode, BeforeApply: func(uri string) {
				if first {
					b.must(b.Replace(uri, c.from, c.to))
				}
				first = false
			}}
			b = newBench(t, map[string]string{"a.txt": "one\ntwo\nthree\nfour\nfive\n"}, []string{call("edit_file", change("a.txt", "two", "TWO")), say("ok")}, o)
			b.must(b.OpenFile(b.path("a.txt")))
			b.prompt(fake.Prompt{Text: "go"})
			b.check("a.txt", c.want)
		})
	}
}

// The person goes on typing while the review is open.
func TestTypingDuringTheReview(t *testing.T) {
	var b *bench
	o := fake.Options{Review: func(_ context.Context, r fake.Review) (fake.Answer, error) {
		b.must(b.Replace(b.uri("a.txt"), "one\n", "zero\none\n"))
		return fake.Answer{Decision: "accept"}, nil
	}}
	b = newBench(t, map[string]string{"a.txt": "one\ntwo\n"}, []string{call("edit_file", change("a.txt", "two", "TWO")), say("ok")}, o)
	b.must(b.OpenFile(b.path("a.txt")))
	b.prompt(fake.Prompt{Text: "go"})
	b.check("a.txt", outcome{"zero\none\nTWO\n", "one\ntwo\n", "landed buffer"})
}

// After an edit that nobody saw land, the file is left alone until the editor tells its
// text.
func TestAFileInDoubtIsLeftAloneUntilTheEditorTellsItsText(t *testing.T) {
	for name, open := range map[string]bool{"open": true, "closed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit := call("edit_file", change("a.txt", "two", "2"))
			b := newBench(t, map[string]string{"a.txt": "one\ntwo\n"}, []string{
				call("edit_file", change("a.txt", "one", "1")), call("read_file", object{"path": "a.txt"}), edit, edit, say("ok"), edit, say("ok"),
			}, fake.Options{Changes: fake.Never})
			if open {
				b.must(b.OpenFile(b.path("a.txt")))
			}
			first := b.prompt(fake.Prompt{Text: "go"})
			b.check("a.txt", outcome{"1\ntwo\n", "one\ntwo\n", "unconfirmed"})
			for _, told := range b.told()[1:3] {
				if !strings.Contains(told, "has not told its text since") {
					t.Errorf("the model was told %q", told)
				}
			}
			b.SetModes(fake.BeforeReply, fake.Honest)
			b.must(b.Flush(b.uri("a.txt")))
			b.prompt(fake.Prompt{SessionID: first.SessionID, Text: "go on"})
			b.check("a.txt", outcome{"1\n2\n", "one\ntwo\n", "landed buffer"})
		})
	}
}

// An editor would decode the file, and save it in another encoding.
func TestAClosedFileThatIsNoTextIsWrittenByUs(t *testing.T) {
	b := newBench(t, map[string]string{"latin.txt": "caf\xe9\ntwo\n"}, []string{call("edit_file", change("latin.txt", "two", "2")), say("ok")}, fake.Options{})
	b.prompt(fake.Prompt{Text: "go"})
	b.check("latin.txt", outcome{"-", "caf\xe9\n2\n", "landed disk"})
}

// What the editor shows as a replacement character is another byte in the file.
func TestLinesThatTheEditorCouldNotDecodeAreNotEditedThere(t *testing.T) {
	b := newBench(t, map[string]string{"latin.txt": "caf\xe9\ntwo\n"}, []string{
		call("edit_file", change("latin.txt", "caf\uFFFD", "cafe")), call("edit_file", change("latin.txt", "two", "2")), say("ok"),
	}, fake.Options{})
	b.must(b.OpenText(b.uri("latin.txt"), "caf\uFFFD\ntwo\n"))
	b.prompt(fake.Prompt{Text: "go"})
	if got := b.landings(); len(got) != 2 || !strings.Contains(got[0], "bytes that are no text") || !strings.HasPrefix(got[1], "landed buffer") {
		t.Errorf("landings %q", got)
	}
	if b.text("latin.txt") != "caf\uFFFD\n2\n" {
		t.Errorf("the editor has %q", b.text("latin.txt"))
	}
}

func TestTwoSessionsOnOneFile(t *testing.T) {
	edit := func(from, to string) string { return call("edit_file", change("a.txt", from, to)) }
	both := make(chan struct{}, 2)
	meet := make(chan struct{})
	o := fake.Options{Review: func(context.Context, fake.Review) (fake.Answer, error) {
		both <- struct{}{}
		<-meet // both proposals rest on the same text
		return fake.Answer{Decision: "accept"}, nil
	}}
	b := newBench(t, map[string]string{"a.txt": "one\ntwo\nthree\n"}, []string{edit("one", "1"), edit("three", "3"), say("ok"), say("ok")}, o)
	b.must(b.OpenFile(b.path("a.txt")))
	var prompts []*fake.Pending
	for range 2 {
		p, err := b.Start("assent/prompt", fake.Prompt{Text: "go"})
		b.must(err)
		prompts = append(prompts, p)
	}
	<-both
	<-both
	close(meet)
	for _, p := range prompts {
		b.must(p.Wait(b.ctx, nil))
	}
	b.check("a.txt", outcome{"1\ntwo\n3\n", "one\ntwo\nthree\n", "landed buffer"})
}

func TestAFileBehindALinkIsChangedUnderTheNameThatTheEditorHasForIt(t *testing.T) {
	b := startBench(t, map[string]string{"a.txt": "one\n"}, []string{call("edit_file", change("a.txt", "one", "1")), say("ok")}, fake.Options{})
	link := b.dir + "-link"
	b.must(os.Symlink(b.dir, link))
	_, err := b.Initialize(b.ctx, link)
	b.must(err)
	b.prompt(fake.Prompt{Text: "go"})
	if text, _, open := b.Text(fake.URI(link + "/a.txt")); !open || text != "1\n" {
		t.Errorf("behind the link the editor has %q, open %v", text, open)
	}
}
