package lsp

import (
	"runtime"
	"strings"
	"testing"

	"assent/editors/fake"

	"pgregory.net/rapid"
)

func TestSpellingsOfOneFileAreOneDocument(t *testing.T) {
	for _, c := range [][2]string{
		{"file:///c%3A/p/a%20b.txt", "file:///C:/p/a b.txt"},
		{"file:///c%3a/p", "file:///C%3A/p"},
		{"file:///c:", "file:///C:"},
		{"file://srv/share/x", "file://SRV/share/x"},
		{"file:///w/%C3%A9.txt", "file:///w/é.txt"},
		{"file:///w/%c3%a9.txt", "file:///w/%C3%A9.txt"},
		{"file:///w/a", "FILE:///w/a"},
		{"file:///w/a", "File:///w/a"},
		{"file:///w/a", "file://localhost/w/a"},
		{"file:///w/a", "file://LOCALHOST/w/a"},
		{"file:///w/a", "file:/w/a"},
		{"file:///w/a", "file:///w//a"},
		{"file:///w/a/", "file:///w/a"},
		{"file:///w/a+b", "file:///w/a%2Bb"},
		{"file:///w/%7Ea", "file:///w/~a"},
		{"file:///w/a%25b", "file:///w/a%25b"},
		{"file:///w/%F0%9F%99%82", "file:///w/🙂"},
		{"vscode-remote://wsl%2Bubuntu/home/a", "vscode-remote://wsl+ubuntu/home/a"},
		{"vscode-remote://ssh/home/a%20b", "vscode-remote://ssh/home/a b"},
		{"untitled:Untitled-1", "untitled:Untitled-1"},
	} {
		if a, b := locate(c[0]), locate(c[1]); a.key != b.key {
			t.Errorf("%s has key %q, and %s has %q", c[0], a.key, c[1], b.key)
		}
	}
}

func TestDifferentFilesAreDifferentDocuments(t *testing.T) {
	for _, c := range [][2]string{
		{"file:///w/a%23b", "file:///w/a#b"},
		{"file:///w/a%2Fb", "file:///w/a/b"},
		{"file:///w/a%2fb", "file:///w/a/b"},
		{"file:///w/a%3Fb", "file:///w/a?b"},
		{"file:///w/a", "file:///w/A"},
		{"file:///w/a", "file://srv/w/a"},
		{"file:///w/a%2520b", "file:///w/a%20b"},
		{"file:///w/a+b", "file:///w/a%20b"},
		{"file:///w/e%CC%81", "file:///w/%C3%A9"}, // two names on Linux
		{"untitled:Untitled-1", "untitled:Untitled-2"},
		{"git:/w/a?x", "git:/w/a?y"},
		{"git:/w/a", "file:/w/a"},
		{"vscode-remote://a/w/x", "vscode-remote://b/w/x"},
		{"", "file:///"},
	} {
		if a, b := locate(c[0]), locate(c[1]); a.key == b.key {
			t.Errorf("%s and %s both have key %q", c[0], c[1], a.key)
		}
	}
}

func TestWhatIsNoFileHereHasNoPathAndAReason(t *testing.T) {
	for raw, why := range map[string]string{
		"file:///w/a%2Fb":                      "encoded slash",
		"file:///w/a%2fb":                      "encoded slash",
		"file:///w/a%00b":                      "NUL",
		"file:///w/%zz":                        "not well formed",
		"file:///w/%":                          "not well formed",
		"file:///w/%e":                         "not well formed",
		"file:///w/a?b":                        "no query",
		"file:///w/a#b":                        "no query and no fragment",
		"file:///w/a#":                         "fragment",
		"file://":                              "", // the root, or nothing: never a file
		"file:":                                "not well formed",
		"file:a":                               "not well formed",
		"file:./a":                             "not well formed",
		"file://srv/share/x":                   "another machine, srv",
		"file://127.0.0.1/w":                   "another machine",
		"untitled:Untitled-1":                  "no file on this machine",
		"vscode-remote://ssh-remote%2Bh/w/a":   "no file on this machine",
		"git:/w/a?%7B%22ref%22%3A%22~%22%7D":   "no file on this machine",
		"jar:file:///w/a.jar!/x":               "no file on this machine",
		"":                                     "no URI",
		"a":                                    "no URI",
		"/w/a":                                 "no URI",
		`C:\w\a`:                               "no URI",
		"C:/w/a":                               "no URI",
		":":                                    "no URI",
		"://":                                  "no URI",
		"\x00":                                 "no URI",
		"some words: and more":                 "no URI",
		"http://[::1":                          "no file on this machine",
		"%66ile:///w/a":                        "no file on this machine",
		strings.Repeat("file:///../", 3) + "%": "not well formed",
	} {
		l := locate(raw)
		if raw == "file://" {
			continue // only that it does not panic
		}
		if l.path != "" || !strings.Contains(l.why, why) {
			t.Errorf("locate(%q) = %+v", raw, l)
		}
	}
}

func TestAPathComesOutOfItsURI(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Linux")
	}
	for raw, path := range map[string]string{
		"file:///w/a%20b.txt":     "/w/a b.txt",
		"FILE:///w/a":             "/w/a",
		"file:/w/a":               "/w/a",
		"file://localhost/w/a":    "/w/a",
		"file:///w/a%23b":         "/w/a#b",
		"file:///w/a%3Fb":         "/w/a?b",
		"file:///w/%25zz":         "/w/%zz",
		"file:///w/%FF":           "/w/\xff",
		"file:///w/a%5Cb":         `/w/a\b`,
		"file:///w/a+b":           "/w/a+b",
		"file:///w/%C3%A9":        "/w/é",
		"file:///w/a;b=c,d@e:f&g": "/w/a;b=c,d@e:f&g",
	} {
		if l := locate(raw); l.path != path || l.why != "" {
			t.Errorf("locate(%q) = %+v, not %q", raw, l, path)
		}
	}
}

// paths are absolute and clean paths with strange names, also such as no program
// makes.
func paths() *rapid.Generator[string] {
	char := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "B", " ", "%", "%41", "%2F", "#", "?", "+", ":", "~", "\\", ";", "&", "é", "e\u0301", "🙂", "\xff", "\xc3", "\n", "\"", "[", "@", "c:", "'"}),
		rapid.StringMatching(`[^/\x00]`),
	)
	name := rapid.Map(rapid.SliceOfN(char, 1, 6), func(all []string) string { return strings.Join(all, "") }).
		Filter(func(s string) bool { return s != "." && s != ".." && !strings.ContainsAny(s, "/\x00") })
	return rapid.Map(rapid.SliceOfN(name, 1, 4), func(all []string) string { return "/" + strings.Join(all, "/") }).
		Filter(func(s string) bool { return !drive(s) }) // whose case is not kept
}

func TestEveryPathComesBackFromItsURI(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Linux")
	}
	rapid.Check(t, func(t *rapid.T) {
		path := paths().Draw(t, "path")
		ours, theirs := fileURI(path), fake.URI(path)
		for _, raw := range []string{ours, theirs} {
			if l := locate(raw); l.path != path || l.why != "" {
				t.Fatalf("%q is %s, which is %+v", path, raw, l)
			}
		}
		if a, b := locate(ours), locate(theirs); a.key != b.key {
			t.Fatalf("%s and %s have other keys: %q, %q", ours, theirs, a.key, b.key)
		}
		if back := fake.Path(ours); back != path {
			t.Fatalf("the editor takes %s for %q, not %q", ours, back, path)
		}
	})
}

func TestTwoPathsHaveTwoKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := paths().Draw(t, "a"), paths().Draw(t, "b")
		if (locate(fileURI(a)).key == locate(fileURI(b)).key) != (a == b) {
			t.Fatalf("%q and %q: %q and %q", a, b, locate(fileURI(a)).key, locate(fileURI(b)).key)
		}
	})
}

func FuzzLocate(f *testing.F) {
	for _, seed := range []string{"", "file:///w/a", "file:///c%3A/x", "file://h/x", "vscode-remote://a%2Bb/c", "untitled:x", "file:///%zz", "file://%41/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		l := locate(raw)
		if (l.path == "") == (l.why == "") {
			t.Errorf("locate(%q) = %+v: a path, or a reason", raw, l)
		}
		if runtime.GOOS != "windows" && l.path != "" && !strings.HasPrefix(l.path, "/") {
			t.Errorf("locate(%q) has the relative path %q", raw, l.path)
		}
	})
}
