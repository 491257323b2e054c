package fake

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func at(line, from, to int) Range { return Range{Position{line, from}, Position{line, to}} }

func TestEditsOfOneVersion(t *testing.T) {
	tests := []struct {
		name  string
		edits []TextEdit
		want  string // "": refused
	}{
		{"in the order of the text", []TextEdit{{at(0, 0, 1), "A"}, {at(0, 4, 5), "E"}}, "AbcdE"},
		{"in any order", []TextEdit{{at(0, 4, 5), "E"}, {at(0, 0, 1), "A"}}, "AbcdE"},
		{"that touch", []TextEdit{{at(0, 2, 4), "x"}, {at(0, 0, 2), "y"}}, "yxe"},
		{"inserts at one place keep their order", []TextEdit{{at(0, 1, 1), "1"}, {at(0, 1, 1), "2"}}, "a12bcde"},
		{"an insert where a replacement begins", []TextEdit{{at(0, 1, 3), "x"}, {at(0, 1, 1), "1"}}, "a1xde"},
		{"that overlap", []TextEdit{{at(0, 0, 3), "x"}, {at(0, 2, 4), "y"}}, ""},
		{"one inside the other", []TextEdit{{at(0, 0, 5), "x"}, {at(0, 2, 2), "y"}}, ""},
		{"a range that ends before it starts", []TextEdit{{at(0, 3, 1), "x"}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spans, err := UTF16.spans("abcde", tt.edits)
			if err != nil {
				if tt.want != "" {
					t.Error(err)
				}
				return
			}
			if got := splice("abcde", spans); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestChangesGoFromTheLastToTheFirst(t *testing.T) {
	got := UTF16.changes("a\nb\n", []span{{0, 1, "A"}, {2, 3, "B\nB"}})
	first, second := at(1, 0, 1), at(0, 0, 1)
	want := []contentChange{{&first, "B\nB"}, {&second, "A"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAChangeThatNoPositionCanSayIsToldAsTheWholeText(t *testing.T) {
	// The insert joins "\r" and "\n" to one line end, and then 1:0, where
	// the first edit ends, is another place.
	got := UTF16.changes("a\rb", []span{{0, 2, "x"}, {2, 2, "\n"}})
	if len(got) != 1 || got[0].Range != nil || got[0].Text != "x\nb" {
		t.Errorf("got %+v", got)
	}
}

func TestTheFormatter(t *testing.T) {
	for text, want := range map[string]string{
		"":               "",
		"a":              "a\n",
		"a \t\nb  ":      "a\nb\n",
		"a\n":            "a\n",
		"a \r\n b ":      "a\r\n b\r\n",
		"a\n  ":          "a\n",
		"\n\n \n":        "\n\n\n",
		"keep  inside\n": "keep  inside\n",
	} {
		got := splice(text, tidy(text))
		if got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if len(tidy(got)) != 0 {
			t.Errorf("%q is not tidy", got)
		}
	}
}

func TestATextEditMustHaveBothFields(t *testing.T) {
	for _, wire := range []string{
		`{"newText":"x"}`,
		`{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}}`,
		`{"range":{"start":{"line":-0.5,"character":0},"end":{}},"newText":"x"}`,
	} {
		if err := json.Unmarshal([]byte(wire), new(TextEdit)); err == nil {
			t.Errorf("%s was taken", wire)
		}
	}
}

func TestURIsAndPaths(t *testing.T) {
	for path, uri := range map[string]string{
		"/a b/ü#1?.go": "file:///a%20b/%C3%BC%231%3F.go",
		"/plain.go":    "file:///plain.go",
	} {
		if got := URI(path); got != uri {
			t.Errorf("URI(%q) is %q, want %q", path, got, uri)
		}
		if got := Path(uri); got != path {
			t.Errorf("Path(%q) is %q, want %q", uri, got, path)
		}
	}
	for _, uri := range []string{"untitled:Untitled-1", "http://x/y", "file:///%zz", ""} {
		if got := Path(uri); got != "" {
			t.Errorf("Path(%q) is %q", uri, got)
		}
	}
	if key("file:///a%7Eb") != key("file:///a~b") || key("untitled:a") == key("untitled:%61") {
		t.Error("two spellings of a file are one document, of anything else they are two")
	}
	if !under("/a/b", "/a") || under("/ab", "/a") || !strings.HasPrefix(languageOf("file:///x.go"), "go") {
		t.Error("under or languageOf")
	}
}
