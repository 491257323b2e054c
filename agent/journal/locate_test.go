package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"assent/agent"
)

func TestDirIsAReadableNameAndAHash(t *testing.T) {
	for _, c := range []struct{ dir, want string }{
		{"/home/me/project", `project-[0-9a-f]{8}`},
		{"/home/me/project/", `project-[0-9a-f]{8}`},
		{"/home/me/my project.git", `my-project-git-[0-9a-f]{8}`},
		{"/home/me/проект", `проект-[0-9a-f]{8}`},
		{"/home/me/\xff..", `workspace-[0-9a-f]{8}`},
		{"/", `workspace-[0-9a-f]{8}`},
		{"/x/" + strings.Repeat("n", 300), `n{40}-[0-9a-f]{8}`},
	} {
		got := filepath.Base(Dir("/state", c.dir))
		if !regexp.MustCompile("^" + c.want + "$").MatchString(got) {
			t.Errorf("%q is %q, want %s", c.dir, got, c.want)
		}
	}
	if Dir("/state", "/a/x") == Dir("/state", "/b/x") {
		t.Error("two folders of one name have one place")
	}
	if Dir("/state", "/a/x/../x/") != Dir("/state", "/a/x") {
		t.Error("two spellings of one folder have two places")
	}
}

func TestAnIDSortsByTimeAndIsAFileName(t *testing.T) {
	at := time.Date(2026, 12, 1, 2, 2, 3, 0, time.FixedZone("", 3600))
	id, err := NewID(at, bytes.NewReader([]byte{1, 2, 3, 0xff}))
	if err != nil || id != "20261201T010203Z-010203ff" {
		t.Errorf("ID %q, error %v", id, err)
	}
	if path, err := Path("/j", id); err != nil || path != filepath.Join("/j", id+".jsonl") {
		t.Errorf("path %q, error %v", path, err)
	}
	if _, err := NewID(at, iotest.ErrReader(os.ErrClosed)); err == nil {
		t.Error("an ID without chance in it")
	}
}

func TestAnIDThatLeadsElsewhereIsRefused(t *testing.T) {
	for _, id := range []string{"", ".", "..", "../x", "a/b", `a\b`, "a.jsonl", "C:x", "a\x00", "a\n", strings.Repeat("a", 101)} {
		if path, err := Path("/j", id); err == nil {
			t.Errorf("%q is %q", id, path)
		}
	}
}

func TestListShowsTheNewestFirst(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"20261201T010203Z-aa.jsonl", "20261202T010203Z-bb.jsonl", "20261202T010203Z-bb.jsonl.lock", "20260101T010203Z-cc.jsonl", "notes.txt", "a b.jsonl"} {
		writeFile(t, filepath.Join(dir, name), "")
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := []string{"20261202T010203Z-bb", "20261201T010203Z-aa", "20260101T010203Z-cc"}
	if got, err := List(dir); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("list %v, error %v", got, err)
	}
	if got, err := List(filepath.Join(dir, "none")); err != nil || got != nil {
		t.Errorf("list %v, error %v", got, err)
	}
	if _, err := List(filepath.Join(dir, "notes.txt")); err == nil {
		t.Error("a file was listed as a folder")
	}
}

func TestSummarize(t *testing.T) {
	entries := entriesOf(t, journalOf(t, wholeSession()...))
	end := noon.Add(time.Minute)
	entries[len(entries)-1].Time = end
	want := Summary{
		ID: "s1", Dir: "/w", Model: "m", Provider: "demo", Title: `make it LOUD, "please" über alles`,
		Started: noon, Ended: end, Turns: 3, Outcome: agent.StopComplete,
	}
	if got := Summarize(entries); got != want {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	if got := Summarize(entries[:len(entries)-1]).Outcome; got != "" {
		t.Errorf("a run without end is %q", got)
	}
	if got := Summarize(nil); got != (Summary{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestASummaryIsReadWithoutPictures(t *testing.T) {
	journal := journalOf(t, wholeSession()...)
	got, err := ReadSummary(strings.NewReader(journal))
	if want := Summarize(entriesOf(t, journal)); err != nil || got != want {
		t.Errorf("\n got %+v, %v\nwant %+v", got, err, want)
	}
	prompt := agent.UserText("what is it?")
	prompt.Blocks = append(prompt.Blocks, agent.Image{MediaType: "image/png", Data: []byte("pixels")})
	journal = journalOf(t, agent.Appended{Message: prompt})
	if got, err := ReadSummary(strings.NewReader(journal)); err != nil || got.Title != "what is it?" {
		t.Errorf("%+v, %v", got, err)
	}
	entry, err := parse(1, []byte(strings.TrimSpace(journal)), decodeForSummary)
	for _, b := range entry.Record.(agent.Appended).Message.Blocks {
		if _, is := b.(agent.Image); is || err != nil {
			t.Errorf("%+v, %v", b, err)
		}
	}
}

func TestATitleIsOneShortLine(t *testing.T) {
	for _, c := range []struct{ prompt, want string }{
		{"", ""},
		{"  fix\n\tit  ", "fix it"},
		{"a\x1b[31mb\u200b\xffc\u202e", "a[31mbc"},
		{strings.Repeat("word ", 20), "word word word word word word word word word word word word…"},
		{strings.Repeat("слово ", 20), "слово слово слово слово слово слово слово слово слово слово…"},
		{strings.Repeat("x", 61), strings.Repeat("x", 59) + "…"},
		{strings.Repeat("x", 60), strings.Repeat("x", 60)},
	} {
		got := title(c.prompt)
		if got != c.want || utf8.RuneCountInString(got) > 60 {
			t.Errorf("title of %q is %q, want %q", c.prompt, got, c.want)
		}
	}
	if got := title(strings.Repeat("ж", 1<<20)); utf8.RuneCountInString(got) != 60 {
		t.Errorf("title of a long text: %q", got)
	}
}
