package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assent/editors/fake"

	"pgregory.net/rapid"
)

// open and change send notifications that the fake editor itself would not.
func (d *desk) open(uri, text string) {
	d.t.Helper()
	d.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "x", "version": 1, "text": text}})
}

func (d *desk) change(uri, version, changes string) {
	d.t.Helper()
	name, err := json.Marshal(uri)
	if err != nil {
		d.t.Fatal(err)
	}
	d.tell("textDocument/didChange", json.RawMessage(`{"textDocument":{"uri":`+string(name)+`,"version":`+version+`},"contentChanges":`+changes+`}`))
}

func (d *desk) tell(method string, params any) {
	d.t.Helper()
	if err := d.Notify(method, params); err != nil {
		d.t.Fatal(err)
	}
}

// held is what the server has of a document.
func (d *desk) held(uri string) document {
	d.t.Helper()
	d.settle()
	doc, open := d.server.docs.get(uri)
	if !open {
		d.t.Fatalf("%s is not open", uri)
	}
	return doc
}

// warned is how often the person was told that a text can't be followed.
func (d *desk) warned() int {
	d.settle()
	n := 0
	for _, m := range d.Messages() {
		if strings.Contains(m.Text, "can't follow") && !m.Logged {
			n++
		}
	}
	return n
}

func ranged(l1, c1, l2, c2, text string) string {
	return `{"range":{"start":{"line":` + l1 + `,"character":` + c1 + `},"end":{"line":` + l2 + `,"character":` + c2 + `}},"text":"` + text + `"}`
}

func TestChangesAreFollowed(t *testing.T) {
	for _, c := range []struct{ name, before, changes, after string }{
		{"the whole text", "a\nb\n", `[{"text":"new\r\n"}]`, "new\r\n"},
		{"the whole text, with range null", "a\n", `[{"range":null,"text":"b"}]`, "b"},
		{"the whole text, twice", "a\n", `[{"text":"x"},{"text":"y"}]`, "y"},
		{"an insertion", "ab\n", "[" + ranged("0", "1", "0", "1", "-") + "]", "a-b\n"},
		{"a deletion over lines", "ab\ncd\nef\n", "[" + ranged("0", "1", "2", "1", "") + "]", "af\n"},
		{"with the length that old clients send", "ab\n", `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"rangeLength":1,"text":"x"}]`, "xb\n"},
		{"each on the text before it", "abc\n", "[" + ranged("0", "0", "0", "1", "") + "," + ranged("0", "0", "0", "1", "x") + "," + ranged("0", "2", "0", "2", "!") + "]", "xc!\n"},
		{"a part after the whole", "a\n", `[{"text":"one\ntwo\n"},` + ranged("1", "0", "1", "3", "2") + "]", "one\n2\n"},
		{"behind an astral character", "🙂a\n", "[" + ranged("0", "2", "0", "3", "b") + "]", "🙂b\n"},
		{"an astral character", "a🙂b\n", "[" + ranged("0", "1", "0", "3", "") + "]", "ab\n"},
		{"before CRLF", "ab\r\ncd\r\n", "[" + ranged("0", "2", "0", "2", "!") + "]", "ab!\r\ncd\r\n"},
		{"over CRLF", "ab\r\ncd\r\n", "[" + ranged("0", "2", "1", "0", "") + "]", "abcd\r\n"},
		{"after a lone CR", "ab\rcd", "[" + ranged("1", "0", "1", "1", "x") + "]", "ab\rxd"},
		{"beyond the end of a line", "ab\ncd\n", "[" + ranged("0", "1", "0", "99", "") + "]", "a\ncd\n"},
		{"to the line after the last", "ab\ncd", "[" + ranged("0", "0", "2", "0", "x\\n") + "]", "x\n"},
		{"in an empty text", "", "[" + ranged("0", "0", "0", "0", "x") + "]", "x"},
		{"no change at all", "a\n", "[]", "a\n"},
		{"changes that are null", "a\n", "null", "a\n"},
		{"a pair of escapes", "a\n", `[{"text":"\ud83d\ude01 \\ud83d!"}]`, "😁 \\ud83d!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := deskWith(t, fake.Options{}, nil)
			d.open(d.uri("a"), c.before)
			d.change(d.uri("a"), "5", c.changes)
			doc := d.held(d.uri("a"))
			if doc.text != c.after || doc.version != 5 || doc.broken != "" {
				t.Errorf("it is %q, version %d, %s", doc.text, doc.version, doc.broken)
			}
		})
	}
}

func TestAChangeThatCantBeFollowedIsToldOnceAndMendedByAWholeText(t *testing.T) {
	whole := `[{"text":"whole\n"}]`
	for name, changes := range map[string]string{
		"a line that is not there":         "[" + ranged("9", "0", "9", "0", "x") + "]",
		"an end that is not there":         "[" + ranged("0", "0", "9", "1", "x") + "]",
		"an end before the start":          "[" + ranged("1", "0", "0", "0", "x") + "]",
		"a change without text":            `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}}]`,
		"a change that is null":            `[null]`,
		"changes that are no list":         `{"text":"x"}`,
		"a negative line":                  "[" + ranged("-1", "0", "0", "0", "x") + "]",
		"a line that is a fraction":        "[" + ranged("0.5", "0", "1", "0", "x") + "]",
		"a text that is a number":          `[{"text":7}]`,
		"the second half of a character":   `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"text":"\ude01"}]`,
		"a whole text with half a pair":    `[{"text":"x\ud83d\n"}]`,
		"an end inside of a character":     `[{"text":"😀\n"},` + ranged("0", "1", "0", "2", "") + "]",
		"the second of two changes":        "[" + ranged("0", "0", "0", "0", "x") + "," + ranged("9", "0", "9", "0", "x") + "]",
		"the whole text before a bad part": `[{"text":"a\n"},` + ranged("9", "0", "9", "0", "x") + "]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskWith(t, fake.Options{}, map[string]string{"a": "disk\n"}, calls(reads("c1", "a")))
			d.open(d.uri("a"), "a\nb\n")
			d.change(d.uri("a"), "2", changes)
			d.change(d.uri("a"), "3", changes)
			d.change(d.uri("a"), "4", "["+ranged("0", "0", "0", "0", "y")+"]") // would fit
			if doc := d.held(d.uri("a")); doc.broken == "" {
				t.Errorf("it is taken for %q", doc.text)
			}
			if n := d.warned(); n != 1 {
				t.Errorf("the person was told %d times", n)
			}
			d.say(fake.Prompt{})
			if r := d.results()[0]; !r.IsError {
				t.Errorf("the model read %q", r.Output)
			}
			d.change(d.uri("a"), "5", whole)
			if doc := d.held(d.uri("a")); doc.broken != "" || doc.text != "whole\n" {
				t.Errorf("after a whole text it is %q, %s", doc.text, doc.broken)
			}
			d.change(d.uri("a"), "6", changes)
			if n := d.warned(); n != 2 {
				t.Errorf("of a second fault the person was told %d times", n-1)
			}
			d.tell("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": d.uri("a")}, "text": "saved\n"})
			if doc := d.held(d.uri("a")); doc.broken != "" || doc.text != "saved\n" {
				t.Errorf("after a save it is %q, %s", doc.text, doc.broken)
			}
			d.change(d.uri("a"), "7", changes)
			d.open(d.uri("a"), "opened\n")
			if doc := d.held(d.uri("a")); doc.broken != "" || doc.text != "opened\n" {
				t.Errorf("after another open it is %q, %s", doc.text, doc.broken)
			}
		})
	}
}

// Were it left out, the file would be written behind what the person has there.
func TestAnOpenThatCantBeReadLeavesTheFileAlone(t *testing.T) {
	for name, doc := range map[string]string{
		"without a text":              `"version":1`,
		"a text that is null":         `"version":1,"text":null`,
		"a text that is a number":     `"version":1,"text":7`,
		"half a surrogate pair":       `"version":1,"text":"mine \ud83d\n"`,
		"a version that is a part":    `"version":1.5,"text":"mine\n"`,
		"a version in a string":       `"version":"1","text":"mine\n"`,
		"a version that is too large": `"version":4294967296,"text":"mine\n"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskWith(t, fake.Options{NoApplyEdit: true}, map[string]string{"a": "disk\n"}, calls(edits("c1", "a", "disk", "ours")))
			d.tell("textDocument/didOpen", json.RawMessage(`{"textDocument":{"uri":"`+d.uri("a")+`","languageId":"x",`+doc+`}}`))
			if n := d.warned(); n != 1 {
				t.Errorf("the person was told %d times", n)
			}
			d.say(fake.Prompt{})
			has(t, d.results()[0].Output, "not known")
			if data, err := os.ReadFile(filepath.Join(d.dir, "a")); err != nil || string(data) != "disk\n" {
				t.Errorf("the disk has %q, %v", data, err)
			}
			d.change(d.uri("a"), "2", `[{"text":"whole\n"}]`)
			if doc := d.held(d.uri("a")); doc.broken != "" || doc.text != "whole\n" {
				t.Errorf("after a whole text it is %q, %s", doc.text, doc.broken)
			}
		})
	}
}

func TestACloseCountsWhateverItHasBesides(t *testing.T) {
	d := deskWith(t, fake.Options{}, nil)
	d.open(d.uri("a"), "a\n")
	d.tell("textDocument/didClose", json.RawMessage(`{"textDocument":{"uri":"`+d.uri("a")+`","version":"1","text":7}}`))
	d.settle()
	if doc, open := d.server.docs.get(d.uri("a")); open {
		t.Errorf("it is open: %+v", doc)
	}
}

func TestAWholeTextInTheSameNotificationMends(t *testing.T) {
	d := deskWith(t, fake.Options{}, nil)
	d.open(d.uri("a"), "a\n")
	d.change(d.uri("a"), "2", "["+ranged("9", "0", "9", "0", "x")+`,{"text":"whole"}]`)
	if doc := d.held(d.uri("a")); doc.text != "whole" || doc.broken != "" {
		t.Errorf("it is %q, %s", doc.text, doc.broken)
	}
	if n := d.warned(); n != 0 {
		t.Errorf("the person was told %d times", n)
	}
}

func TestASaveWithoutTextDoesNotMend(t *testing.T) {
	d := deskWith(t, fake.Options{}, nil)
	d.open(d.uri("a"), "a\n")
	d.change(d.uri("a"), "2", "["+ranged("9", "0", "9", "0", "x")+"]")
	d.tell("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": d.uri("a")}})
	if doc := d.held(d.uri("a")); doc.broken == "" {
		t.Errorf("it is taken for %q", doc.text)
	}
}

func TestWhatIsOpenCountsAndThenTheDiskAgain(t *testing.T) {
	read := func(id string) reply { return calls(reads(id, "a")) }
	d := deskWith(t, fake.Options{}, map[string]string{"a": "disk\n"}, read("c1"), says("1"), read("c2"), says("2"), read("c3"), says("3"))
	uri := d.opened("a")
	if err := d.Replace(uri, "disk", "unsaved"); err != nil {
		t.Fatal(err)
	}
	id := d.say(fake.Prompt{}).SessionID
	d.open(uri, "opened twice\n") // some clients do, after a reload
	d.say(fake.Prompt{SessionID: id})
	if err := d.CloseFile(uri); err != nil {
		t.Fatal(err)
	}
	d.say(fake.Prompt{SessionID: id})
	r := d.results()
	for i, want := range []string{"unsaved\n", "opened twice\n", "disk\n"} {
		same(t, "result", r[i].Output, "a: lines 1-1 of 1\n"+want)
	}
}

func TestAnotherSpellingIsTheSameDocumentAndTheFirstIsSentBack(t *testing.T) {
	var sent []string
	d := deskWith(t, fake.Options{Apply: fake.Honest, BeforeApply: func(uri string) { sent = append(sent, uri) }}, map[string]string{"a b é": "one\n"},
		calls(edits("c1", "a b é", "two", "three")))
	opened := strings.ReplaceAll(strings.Replace(d.uri("a b é"), "file://", "file://LocalHost", 1), "%C3%A9", "é")
	opened = strings.ReplaceAll(opened, "%20", " ")
	if err := d.OpenText(opened, "one\n"); err != nil {
		t.Fatal(err)
	}
	d.change(d.uri("a b é"), "2", `[{"text":"two\n"}]`)
	if doc := d.held(d.uri("a b é")); doc.text != "two\n" || doc.uri != opened {
		t.Errorf("it is %q of %s", doc.text, doc.uri)
	}
	d.say(fake.Prompt{})
	if len(sent) == 0 || slices.ContainsFunc(sent, func(uri string) bool { return uri != opened }) {
		t.Fatalf("the edit went to %q, not %s; %v", sent, opened, d.results())
	}
	review := eventsOf[ProposedEvent](d, "proposed")[0]
	same(t, "the URI in the review", review.Files[0].URI, opened)
}

func TestADocumentThroughALinkIsTheFile(t *testing.T) {
	d := deskWith(t, fake.Options{}, map[string]string{"real/a": "disk\n"},
		calls(reads("c1", "real/a"), reads("c2", "link/a")), calls(edits("c3", "real/a", "unsaved", "edited")), says("done"), calls(reads("c4", "real/a")))
	if err := os.Symlink("real", filepath.Join(d.dir, "link")); err != nil {
		t.Fatal(err)
	}
	uri := d.opened("link/a")
	if err := d.Replace(uri, "disk", "unsaved"); err != nil {
		t.Fatal(err)
	}
	id := d.say(fake.Prompt{}).SessionID
	for _, r := range d.results()[:2] {
		if !strings.HasSuffix(r.Output, "\nunsaved\n") {
			t.Errorf("%s read %q", r.ToolUseID, r.Output)
		}
	}
	if text, _, _ := d.Text(uri); text != "edited\n" {
		t.Errorf("the buffer has %q; %v", text, d.results())
	}
	// The same file by its own name, in a second buffer that is closed again: the
	// first is still open.
	real := d.opened("real/a")
	if err := d.CloseFile(real); err != nil {
		t.Fatal(err)
	}
	d.say(fake.Prompt{SessionID: id})
	r := d.results()
	same(t, "after the second buffer was closed the text", r[len(r)-1].Output, "real/a: lines 1-1 of 1\nedited\n")
}

func TestMalformedNotificationsAreLeftOut(t *testing.T) {
	d := deskWith(t, fake.Options{}, nil)
	d.open(d.uri("a"), "a\n")
	before := d.held(d.uri("a"))
	for _, method := range []string{"textDocument/didOpen", "textDocument/didChange", "textDocument/didSave", "textDocument/didClose", "workspace/didChangeWorkspaceFolders", methodCancel, "window/workDoneProgress/cancel", "$/unknown", "foo/bar"} {
		for _, params := range []string{`{}`, `[]`, `{"textDocument":null}`, `{"textDocument":7}`, `{"textDocument":{"uri":7,"text":"x"}}`, `{"textDocument":{"uri":"","version":1,"text":"x"}}`, `{"event":7}`, `{"token":null}`, `{"sessionId":7}`, `{"sessionId":""}`} {
			d.tell(method, json.RawMessage(params))
		}
	}
	d.change(d.uri("not-open"), "2", `[{"text":"x"}]`)
	d.tell("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": d.uri("not-open")}})
	if doc := d.held(d.uri("a")); doc != before {
		t.Errorf("it is %+v, was %+v", doc, before)
	}
	d.server.docs.mu.Lock()
	defer d.server.docs.mu.Unlock()
	if n := len(d.server.docs.byKey); n != 1 {
		t.Errorf("%d documents are open", n)
	}
}

func TestTheServerHasTheTextThatTheEditorHasAfterAnyEdits(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		enc := rapid.SampledFrom([]string{"utf-8", "utf-16", "utf-32"}).Draw(r, "encoding")
		d := deskWith(t, fake.Options{Encodings: []string{enc}, FullSync: rapid.Bool().Draw(r, "whole")}, nil)
		defer d.Close() // here, since a check runs many
		uri := "untitled:one"
		if err := d.OpenText(uri, texts().Draw(r, "text")); err != nil {
			r.Fatal(err)
		}
		for range rapid.IntRange(1, 8).Draw(r, "edits") {
			text, _, _ := d.Text(uri)
			from := rapid.IntRange(0, len([]rune(text))).Draw(r, "from")
			to := rapid.IntRange(from, len([]rune(text))).Draw(r, "to")
			place := func(n int) fake.Position { return d.Encoding().Position(text, len(string([]rune(text)[:n]))) }
			if err := d.Type(uri, fake.Range{Start: place(from), End: place(to)}, texts().Draw(r, "new")); err != nil {
				r.Fatal(err)
			}
			want, version, _ := d.Text(uri)
			if doc := d.held(uri); doc.text != want || int(doc.version) != version || doc.broken != "" {
				r.Fatalf("the server has %q, version %d, %s; the editor %q, version %d", doc.text, doc.version, doc.broken, want, version)
			}
		}
	})
}

func TestTheModelReadsTheTextThatThePersonTyped(t *testing.T) {
	d := deskWith(t, fake.Options{}, map[string]string{"a": "x"}, calls(reads("c1", "a")))
	uri := d.opened("a")
	const text = "🙂 one\ntwo é\n\n\tthree \n"
	if err := d.Type(uri, fake.Range{End: fake.Position{Line: 0, Character: 1}}, text); err != nil {
		t.Fatal(err)
	}
	d.say(fake.Prompt{})
	same(t, "the result", d.results()[0].Output, "a: lines 1-4 of 4\n"+text)
}
