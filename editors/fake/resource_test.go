package fake

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes files in a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestResourceOperations(t *testing.T) {
	tests := []struct {
		name   string
		op     string // $ is the directory's URI
		reason string // "": applied
		after  map[string]string
	}{
		{"create", `{"kind":"create","uri":"$/x/y/new"}`, "", map[string]string{"a": "A", "b": "B", "d/c": "C", "x/y/new": ""}},
		{"create what exists", `{"kind":"create","uri":"$/a"}`, "exists already", nil},
		{"create what exists, or not", `{"kind":"create","uri":"$/a","options":{"ignoreIfExists":true}}`, "", nil},
		{"create anew", `{"kind":"create","uri":"$/a","options":{"overwrite":true,"ignoreIfExists":true}}`, "", map[string]string{"a": "", "b": "B", "d/c": "C"}},
		{"delete", `{"kind":"delete","uri":"$/a"}`, "", map[string]string{"b": "B", "d/c": "C"}},
		{"delete what is not there", `{"kind":"delete","uri":"$/z"}`, "does not exist", nil},
		{"delete what is not there, or is", `{"kind":"delete","uri":"$/z","options":{"ignoreIfNotExists":true}}`, "", nil},
		{"delete a full directory", `{"kind":"delete","uri":"$/d"}`, "not empty", nil},
		{"delete all of a directory", `{"kind":"delete","uri":"$/d","options":{"recursive":true}}`, "", map[string]string{"a": "A", "b": "B"}},
		{"rename", `{"kind":"rename","oldUri":"$/a","newUri":"$/n/m"}`, "", map[string]string{"n/m": "A", "b": "B", "d/c": "C"}},
		{"rename a directory", `{"kind":"rename","oldUri":"$/d","newUri":"$/e"}`, "", map[string]string{"a": "A", "b": "B", "e/c": "C"}},
		{"rename onto a file", `{"kind":"rename","oldUri":"$/a","newUri":"$/b"}`, "exists already", nil},
		{"rename onto a file, or not", `{"kind":"rename","oldUri":"$/a","newUri":"$/b","options":{"ignoreIfExists":true}}`, "", nil},
		{"rename over a file", `{"kind":"rename","oldUri":"$/a","newUri":"$/b","options":{"overwrite":true}}`, "", map[string]string{"b": "A", "d/c": "C"}},
		{"rename what is not there", `{"kind":"rename","oldUri":"$/z","newUri":"$/y"}`, "does not exist", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := map[string]string{"a": "A", "b": "B", "d/c": "C"}
			dir := tree(t, before)
			_, p := start(t, Options{}, full)
			m := p.response(p.ask("workspace/applyEdit", docChanges(dir, tt.op)))
			wantReply(t, m, tt.reason == "", tt.reason)
			after := tt.after
			if after == nil {
				after = before
			}
			wantTree(t, dir, after)
		})
	}
}

func docChanges(dir string, ops ...string) string {
	return `{"edit":{"documentChanges":[` + strings.ReplaceAll(strings.Join(ops, ","), "$", URI(dir)) + `]}}`
}

func wantTree(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		got[strings.TrimPrefix(path, dir+"/")] = string(data)
		return err
	})
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the tree is %v, %v; want %v", got, err, want)
	}
}

func TestAFileIsCreatedAndFilledInOneEdit(t *testing.T) {
	dir := t.TempDir()
	e, p := start(t, Options{}, full)
	id := p.ask("workspace/applyEdit", docChanges(dir, `{"kind":"create","uri":"$/new"}`,
		`{"textDocument":{"uri":"$/new","version":null},"edits":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"é"}]}`))
	p.expect("textDocument/didOpen")
	p.expect("textDocument/didChange")
	wantReply(t, p.response(id), true, "")
	wantText(t, e, URI(dir)+"/new", "é", 2)
	wantTree(t, dir, map[string]string{"new": ""})
}

func TestARenameReopensWhatIsOpen(t *testing.T) {
	dir := tree(t, map[string]string{"d/c": "C", "e": "E"})
	e, p := start(t, Options{}, full)
	old, moved := URI(dir)+"/d/c", URI(dir)+"/f/c"
	if err := e.OpenFile(filepath.Join(dir, "d/c")); err != nil {
		t.Fatal(err)
	}
	if err := e.Replace(old, "C", "unsaved"); err != nil {
		t.Fatal(err)
	}
	p.expect("textDocument/didOpen")
	p.expect("textDocument/didChange")
	id := p.ask("workspace/applyEdit", docChanges(dir, `{"kind":"rename","oldUri":"$/d","newUri":"$/f"}`))
	wantJSON(t, p.expect("textDocument/didClose").Params, `{"textDocument":{"uri":"`+old+`"}}`)
	wantJSON(t, p.expect("textDocument/didOpen").Params,
		`{"textDocument":{"uri":"`+moved+`","languageId":"plaintext","version":1,"text":"unsaved"}}`)
	wantReply(t, p.response(id), true, "")
	wantTree(t, dir, map[string]string{"f/c": "C", "e": "E"})
	if got := e.Unsaved(); len(got) != 1 || got[0] != moved {
		t.Errorf("unsaved: %v", got)
	}
}

func TestWhatIsGoneIsClosedAndHearsNoMore(t *testing.T) {
	dir := tree(t, map[string]string{"a": "A", "b": "B"})
	e, p := start(t, Options{}, full)
	for _, name := range []string{"a", "b"} {
		if err := e.OpenFile(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		p.expect("textDocument/didOpen")
	}
	id := p.ask("workspace/applyEdit", docChanges(dir,
		`{"textDocument":{"uri":"$/a","version":1},"edits":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"x"}]}`,
		`{"kind":"delete","uri":"$/a"}`, `{"kind":"rename","oldUri":"$/b","newUri":"$/c"}`))
	p.expect("textDocument/didClose")
	p.expect("textDocument/didClose")
	p.expect("textDocument/didOpen")
	wantReply(t, p.response(id), true, "")
	if _, _, open := e.Text(URI(dir) + "/a"); open {
		t.Error("it is still open")
	}
}

func TestAnOverwrittenFileEmptiesItsBuffer(t *testing.T) {
	e, p, path, uri := opened(t, Options{})
	id := p.ask("workspace/applyEdit", docChanges(filepath.Dir(path), `{"kind":"create","uri":"$/a.txt","options":{"overwrite":true}}`))
	p.expect("textDocument/didChange")
	wantReply(t, p.response(id), true, "")
	wantText(t, e, uri, "", 2)
	wantDisk(t, path, "")
}

func TestAnEditStopsAtTheFirstStepThatFails(t *testing.T) {
	dir := tree(t, map[string]string{"a": "A"})
	_, p := start(t, Options{}, full)
	m := p.response(p.ask("workspace/applyEdit", docChanges(dir,
		`{"kind":"create","uri":"$/new"}`, `{"kind":"delete","uri":"$/none"}`, `{"kind":"delete","uri":"$/a"}`)))
	wantReply(t, m, false, "does not exist")
	if !strings.Contains(string(m.Result), `"failedChange":1`) {
		t.Errorf("got %s", m.Result)
	}
	wantTree(t, dir, map[string]string{"a": "A", "new": ""})
}

func TestAWrongVersionIsSeenBeforeAnyStep(t *testing.T) {
	dir := tree(t, map[string]string{"a": "A"})
	e, p := start(t, Options{}, full)
	if err := e.OpenFile(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	p.expect("textDocument/didOpen")
	m := p.response(p.ask("workspace/applyEdit", docChanges(dir, `{"kind":"create","uri":"$/new"}`,
		`{"textDocument":{"uri":"$/a","version":7},"edits":[]}`)))
	wantReply(t, m, false, "has version 1, the edit is for version 7")
	wantTree(t, dir, map[string]string{"a": "A"})
}

func TestOperationsThatWereNotOfferedAreRefused(t *testing.T) {
	dir := t.TempDir()
	_, p := start(t, Options{NoResourceOperations: true}, full)
	wantReply(t, p.response(p.ask("workspace/applyEdit", docChanges(dir, `{"kind":"create","uri":"$/new"}`))), false, "did not offer")
	wantTree(t, dir, map[string]string{})
}
