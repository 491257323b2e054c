package fake

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// versioned is an applyEdit that makes the first two characters of a document
// "XY". The version is JSON text.
func versioned(uri, version string) string {
	return fmt.Sprintf(`{"edit":{"documentChanges":[{"textDocument":{"uri":%q,"version":%s},"edits":[
		{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":2}},"newText":"XY"}]}]}}`, uri, version)
}

// opened returns an initialized editor with one open document of version 1.
func opened(t *testing.T, o Options) (e *Editor, p *peer, path, uri string) {
	t.Helper()
	e, p = start(t, o, full)
	path = file(t, "a.txt", "one  \ntwo")
	if err := e.OpenFile(path); err != nil {
		t.Fatal(err)
	}
	p.expect("textDocument/didOpen")
	return e, p, path, URI(path)
}

// wantReply checks what an applyEdit was answered with.
func wantReply(t *testing.T, m peerMessage, applied bool, reason string) {
	t.Helper()
	var r applyResult
	if err := json.Unmarshal(m.Result, &r); err != nil || r.Applied != applied || !strings.Contains(r.FailureReason, reason) {
		t.Errorf("got %s %v, want applied %v, reason %q", m.Result, m.Error, applied, reason)
	}
}

const edited = `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":2}},"text":"XY"}]`

// wantChange checks one didChange.
func wantChange(t *testing.T, m peerMessage, version int, changes string) {
	t.Helper()
	var got struct {
		TextDocument   struct{ Version int }
		ContentChanges json.RawMessage
	}
	if err := json.Unmarshal(m.Params, &got); err != nil || got.TextDocument.Version != version {
		t.Errorf("got %s, want version %d", m.Params, version)
	}
	wantJSON(t, got.ContentChanges, changes)
}

func TestTheChangeComesBeforeTheReplyAsInVSCode(t *testing.T) {
	e, p, path, uri := opened(t, Options{})
	id := p.ask("workspace/applyEdit", versioned(uri, "1"))
	wantChange(t, p.expect("textDocument/didChange"), 2, edited)
	wantReply(t, p.response(id), true, "")
	wantText(t, e, uri, "XYe  \ntwo", 2)
	wantDisk(t, path, "one  \ntwo")
}

func TestTheChangeComesLateAsInNeovim(t *testing.T) {
	e, p, _, uri := opened(t, Options{Changes: Late})
	id := p.ask("workspace/applyEdit", versioned(uri, "1"))
	wantReply(t, p.response(id), true, "")
	replied := time.Now()
	wantText(t, e, uri, "XYe  \ntwo", 2)
	wantChange(t, p.expect("textDocument/didChange"), 2, edited)
	if late := time.Since(replied); late < lateBy/2 {
		t.Errorf("didChange came %v after the reply", late)
	}
}

func TestTypingSendsALateChangeAtOnceAndInOrder(t *testing.T) {
	e, p, _, uri := opened(t, Options{Changes: Late})
	p.response(p.ask("workspace/applyEdit", versioned(uri, "1")))
	if err := e.Type(uri, at(0, 2, 2), "!"); err != nil {
		t.Fatal(err)
	}
	wantChange(t, p.expect("textDocument/didChange"), 3, edited[:len(edited)-1]+
		`,{"range":{"start":{"line":0,"character":2},"end":{"line":0,"character":2}},"text":"!"}]`)
}

func TestALateChangeIsNotSentForAClosedDocument(t *testing.T) {
	e, p, _, uri := opened(t, Options{Changes: Late})
	p.response(p.ask("workspace/applyEdit", versioned(uri, "1")))
	if err := e.CloseFile(uri); err != nil {
		t.Fatal(err)
	}
	p.expect("textDocument/didChange") // closing says what is unsaid
	p.expect("textDocument/didClose")
	id := p.ask("workspace/applyEdit", versioned(uri, "null")) // opens it again; its timer is the later one
	p.expect("textDocument/didOpen")
	wantReply(t, p.response(id), true, "")
	wantChange(t, p.expect("textDocument/didChange"), 2, edited)
}

func TestAnEditorThatTellsNoChanges(t *testing.T) {
	e, p, _, uri := opened(t, Options{Changes: Never})
	wantReply(t, p.response(p.ask("workspace/applyEdit", versioned(uri, "1"))), true, "")
	if err := e.Replace(uri, "two", "2"); err != nil {
		t.Fatal(err)
	}
	wantReply(t, p.response(p.ask("workspace/applyEdit", versioned(uri, "1"))), false, "has version 3, the edit is for version 1")
	if err := e.Flush(uri); err != nil {
		t.Fatal(err)
	}
	wantChange(t, p.expect("textDocument/didChange"), 3, edited[:len(edited)-1]+
		`,{"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":3}},"text":"2"}]`)
}

func TestAnEditorThatTellsNothingOpensNothing(t *testing.T) {
	e, p := start(t, Options{Changes: Never}, full)
	path := file(t, "a.txt", "one")
	wantReply(t, p.response(p.ask("workspace/applyEdit", versioned(URI(path), "null"))), true, "")
	wantText(t, e, URI(path), "XYe", 2)
	if err := e.Flush(URI(path)); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, p.expect("textDocument/didOpen").Params,
		`{"textDocument":{"uri":"`+URI(path)+`","languageId":"plaintext","version":2,"text":"XYe"}}`)
}

func TestVersionsAreCheckedByThoseWhoCheck(t *testing.T) {
	tests := []struct {
		name    string
		apply   ApplyMode
		version string
		reason  string // "": applied
	}{
		{"the right one", Honest, "2", ""},
		{"none", Honest, "null", ""},
		{"an older one", Honest, "1", "has version 2, the edit is for version 1"},
		{"a newer one", Honest, "3", "has version 2, the edit is for version 3"},
		{"an older one, before it would be saved", FormatsOnSave, "1", "has version 2"},
		{"an older one, where nobody looks", AnyVersion, "1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, p, path, uri := opened(t, Options{Apply: tt.apply, Changes: Never})
			if err := e.Type(uri, at(0, 0, 0), "the "); err != nil {
				t.Fatal(err)
			}
			m := p.response(p.ask("workspace/applyEdit", versioned(uri, tt.version)))
			wantReply(t, m, tt.reason == "", tt.reason)
			want, version := "the one  \ntwo", 2
			if tt.reason == "" {
				want, version = "XYe one  \ntwo", 3
			}
			wantText(t, e, uri, want, version)
			wantDisk(t, path, "one  \ntwo")
		})
	}
}

func TestAVersionOfADocumentThatIsNotOpenIsRefused(t *testing.T) {
	_, p := start(t, Options{}, full)
	uri := URI(file(t, "a.txt", "one"))
	wantReply(t, p.response(p.ask("workspace/applyEdit", versioned(uri, "1"))), false, "is not open")
}

func TestThePersonTypesBeforeTheEditArrives(t *testing.T) {
	var e *Editor
	var seen []string
	o := Options{BeforeApply: func(uri string) {
		seen = append(seen, uri)
		if err := e.Type(uri, at(1, 0, 0), "!"); err != nil {
			t.Error(err)
		}
	}}
	e, p, _, uri := opened(t, o)
	id := p.ask("workspace/applyEdit", versioned(uri, "1"))
	p.expect("textDocument/didChange")
	wantReply(t, p.response(id), false, "version")
	if !slices.Equal(seen, []string{uri}) {
		t.Errorf("called for %v", seen)
	}
}

func TestEditorsThatDoNotApply(t *testing.T) {
	for _, tt := range []struct {
		name  string
		apply ApplyMode
		want  string
	}{
		{"a liar", Liar, `{"applied":true}`},
		{"one that refuses", Refuses, `{"applied":false,"failureReason":"the person said no"}`},
		{"one that fails", Fails, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, p, _, uri := opened(t, Options{Apply: tt.apply})
			m := p.response(p.ask("workspace/applyEdit", versioned(uri, "1")))
			if tt.want != "" {
				wantJSON(t, m.Result, tt.want)
			} else if m.Error == nil || m.Error.Code != CodeInternalError {
				t.Errorf("got %+v", m)
			}
			wantText(t, e, uri, "one  \ntwo", 1)
			e.SetModes(BeforeReply, Honest)
			id := p.ask("workspace/applyEdit", versioned(uri, "1"))
			p.expect("textDocument/didChange")
			wantReply(t, p.response(id), true, "")
		})
	}
}

func TestASilentEditorNeverAnswers(t *testing.T) {
	e, p, _, uri := opened(t, Options{Apply: Silent})
	id := p.ask("workspace/applyEdit", versioned(uri, "1"))
	p.notify("$/cancelRequest", map[string]int{"id": id})
	p.response(p.ask("window/showDocument", `{"uri":"file:///x"}`)) // others are answered
	e.SetModes(BeforeReply, Refuses)
	// The first one may be handled only now, or it stays unanswered.
	second := p.ask("workspace/applyEdit", versioned(uri, "1"))
	for m := p.next(); string(m.ID) != fmt.Sprint(second); m = p.next() {
		if m.Error == nil {
			t.Errorf("got %+v", m)
		}
	}
	wantText(t, e, uri, "one  \ntwo", 1)
}

func TestAFormatterRunsWhenTheEditIsSaved(t *testing.T) {
	e, p, path, uri := opened(t, Options{Apply: FormatsOnSave})
	id := p.ask("workspace/applyEdit", versioned(uri, "1"))
	wantChange(t, p.expect("textDocument/didChange"), 2, edited)
	wantChange(t, p.expect("textDocument/didChange"), 3, `[
		{"range":{"start":{"line":1,"character":3},"end":{"line":1,"character":3}},"text":"\n"},
		{"range":{"start":{"line":0,"character":3},"end":{"line":0,"character":5}},"text":""}]`)
	p.expect("textDocument/didSave")
	wantReply(t, p.response(id), true, "")
	wantText(t, e, uri, "XYe\ntwo\n", 3)
	wantDisk(t, path, "XYe\ntwo\n")
}

func TestALateFormatterIsToldInOneChange(t *testing.T) {
	_, p, path, uri := opened(t, Options{Apply: FormatsOnSave, Changes: Late})
	wantReply(t, p.response(p.ask("workspace/applyEdit", versioned(uri, "1"))), true, "")
	wantDisk(t, path, "XYe\ntwo\n")
	m := p.expect("textDocument/didChange")
	if !strings.Contains(string(m.Params), `"version":3`) {
		t.Errorf("got %s", m.Params)
	}
	p.expect("textDocument/didSave")
}

func TestAFileThatIsNotOpenIsEditedInABufferAndStaysUnsaved(t *testing.T) {
	e, p := start(t, Options{}, full)
	path := file(t, "a.txt", "one")
	uri := URI(path)
	id := p.ask("workspace/applyEdit", versioned(uri, "null"))
	wantJSON(t, p.expect("textDocument/didOpen").Params,
		`{"textDocument":{"uri":"`+uri+`","languageId":"plaintext","version":1,"text":"one"}}`)
	wantChange(t, p.expect("textDocument/didChange"), 2, edited)
	wantReply(t, p.response(id), true, "")
	wantText(t, e, uri, "XYe", 2)
	wantDisk(t, path, "one")
	if got := e.Unsaved(); !slices.Equal(got, []string{uri}) {
		t.Errorf("unsaved: %v", got)
	}
}

func TestPlainChangesCarryNoVersion(t *testing.T) {
	e, p := start(t, Options{NoDocumentChanges: true, Encodings: []string{"utf-8"}},
		`{"positionEncoding":"utf-8","textDocumentSync":1}`)
	for _, uri := range []string{"untitled:b", "untitled:a"} {
		if err := e.OpenText(uri, "€𝄞."); err != nil {
			t.Fatal(err)
		}
		p.expect("textDocument/didOpen")
	}
	edits := `[{"range":{"start":{"line":0,"character":7},"end":{"line":0,"character":8}},"newText":"!"},
		{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"newText":""}]`
	id := p.ask("workspace/applyEdit", `{"edit":{"changes":{"untitled:a":`+edits+`,"untitled:b":`+edits+`}}}`)
	for _, uri := range []string{"untitled:a", "untitled:b"} {
		wantJSON(t, p.expect("textDocument/didChange").Params,
			`{"textDocument":{"uri":"`+uri+`","version":2},"contentChanges":[{"text":"𝄞!"}]}`)
		wantText(t, e, uri, "𝄞!", 2)
	}
	wantReply(t, p.response(id), true, "")
	wantReply(t, p.response(p.ask("workspace/applyEdit", versioned("untitled:a", "2"))), false, "did not offer documentChanges")
}

func TestEditsThatMakeNoSenseAreRefusedWhole(t *testing.T) {
	e, p, _, uri := opened(t, Options{})
	overlap := `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":2}},"newText":"a"},
		{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":3}},"newText":"b"}`
	for params, reason := range map[string]string{
		`{"edit":{"changes":{"` + uri + `":[` + overlap + `]}}}`:                 "overlap",
		`{"edit":{"changes":{"file:///no/such/file":[]}}}`:                       "no such file",
		`{"edit":{"changes":{"untitled:none":[]}}}`:                              "names no file",
		`{"edit":{"documentChanges":[{"edits":[]}]}}`:                            "neither",
		`{"edit":{"documentChanges":[{"kind":"copy","uri":"file:///a"}]}}`:       "unknown",
		`{"edit":{"documentChanges":[{"kind":"create","uri":"untitled:none"}]}}`: "names no file",
	} {
		wantReply(t, p.response(p.ask("workspace/applyEdit", params)), false, reason)
	}
	for _, params := range []string{
		`{}`, `{"edit":7}`, `{"edit":{"changes":{"` + uri + `":[{"newText":"x"}]}}}`,
	} {
		if m := p.response(p.ask("workspace/applyEdit", params)); m.Error == nil || m.Error.Code != CodeInvalidParams {
			t.Errorf("%s: got %s", params, m.Result)
		}
	}
	wantText(t, e, uri, "one  \ntwo", 1)
}

func TestApplyEditsAreDoneInTheOrderInWhichTheyCame(t *testing.T) {
	gate := make(chan struct{})
	var once bool
	o := Options{BeforeApply: func(string) {
		if !once {
			once = true
			<-gate
		}
	}}
	e, p, _, uri := opened(t, o)
	var ids []int
	for version := 1; version <= 5; version++ {
		ids = append(ids, p.ask("workspace/applyEdit", versioned(uri, fmt.Sprint(version))))
	}
	p.response(p.ask("window/showDocument", `{"uri":"x:"}`)) // the reader waits for none of them
	close(gate)
	for _, id := range ids {
		p.expect("textDocument/didChange")
		wantReply(t, p.response(id), true, "")
	}
	wantText(t, e, uri, "XYe  \ntwo", 6)
}

func TestTheLogTellsWhatCameBeforeWhat(t *testing.T) {
	e, p, _, uri := opened(t, Options{})
	p.response(p.ask("assent/review", `{"proposalId":"p"}`))
	id := p.ask("workspace/applyEdit", versioned(uri, "1"))
	p.expect("textDocument/didChange")
	p.response(id)
	var got []string
	for _, en := range e.Log() {
		from := map[bool]string{true: "<-", false: "->"}[en.FromServer]
		got = append(got, from+en.Method+map[bool]string{true: " answered"}[en.Response])
	}
	want := []string{
		"->initialize", "<-initialize answered", "->initialized", "->textDocument/didOpen",
		"<-assent/review", "->assent/review answered",
		"<-workspace/applyEdit", "->textDocument/didChange", "->workspace/applyEdit answered",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestAURIIsTheSameDocumentInEverySpelling(t *testing.T) {
	e, p := start(t, Options{}, full)
	path := file(t, "a~b.txt", "one")
	odd := strings.Replace(URI(path), "~", "%7E", 1)
	text, _ := os.ReadFile(path)
	if err := e.OpenText(odd, string(text)); err != nil {
		t.Fatal(err)
	}
	p.expect("textDocument/didOpen")
	id := p.ask("workspace/applyEdit", versioned(URI(path), "1"))
	if m := p.expect("textDocument/didChange"); !strings.Contains(string(m.Params), odd) {
		t.Errorf("%s is not spelled as it was opened", m.Params)
	}
	wantReply(t, p.response(id), true, "")
}
