package workspace_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"assent/agent"
)

// listed is the names below a directory, directories with a slash.
func listed(w world, dir string) []string {
	w.Helper()
	var names []string
	for info, err := range w.List(w.Context(), dir) {
		w.must(err)
		name := info.Name
		if info.Dir {
			name += "/"
		}
		names = append(names, name)
	}
	return names
}

func TestListsAreInOrderAndComplete(t *testing.T) {
	w := newWorld(t, map[string]string{
		".assent-ABCDEFGHIJKLMNOPQRSTUVWXY2.tmp": "left", "a/.assent-x.tmp": "left", // by a process that was killed
		"b": "", "a/z": "", "a/b/c": "", "a.txt": "", ".hidden": "", "empty/": "", ".git/config": "", "a/.git": "gitdir: x",
	})
	want := []string{".hidden", "a/", "a/b/", "a/b/c", "a/z", "a.txt", "b", "empty/"}
	if got := listed(w, "."); !slices.Equal(got, want) {
		t.Errorf("listed %q", got)
	}
	if got := listed(w, w.path("a")); !slices.Equal(got, []string{"a/b/", "a/b/c", "a/z"}) {
		t.Errorf("listed %q in a", got)
	}
}

func TestAListSaysWhatTheFilesAre(t *testing.T) {
	w := newWorld(t, map[string]string{"d/.env": "T=abc"})
	var got []agent.Info
	for info, err := range w.List(t.Context(), "d") {
		w.must(err)
		got = append(got, info)
	}
	want := agent.Info{Path: w.path("d/.env"), Name: "d/.env", Exists: true, Size: 5, Secret: true}
	if len(got) != 1 || got[0] != want {
		t.Errorf("listed %+v, want %+v", got, want)
	}
}

func TestLinksAreListedOnlyWhenTheyLeadInsideAndNeverEntered(t *testing.T) {
	w := newWorld(t, map[string]string{
		"dir/f": "text", "sub/file": "-> ../dir/f", "sub/dir": "-> DIR/app/dir", "sub/top": "-> ..", "sub/env": "-> ../.env", ".env": "",
		"sub/out": "-> DIR/outside", "sub/l.txt": "-> DIR/outside/secret", "sub/none": "-> nothing", "sub/loop": "-> loop",
		"../outside/secret": "k",
	})
	if got := listed(w, "sub"); !slices.Equal(got, []string{"sub/dir/", "sub/env", "sub/file", "sub/top/"}) {
		t.Errorf("listed %q", got)
	}
	for info, err := range w.List(t.Context(), "sub") {
		w.must(err)
		if info.Name == "sub/file" && (info.Path != w.path("dir/f") || info.Size != 4) {
			t.Errorf("the link is listed as %+v", info)
		}
		if info.Name == "sub/env" && !info.Secret {
			t.Errorf("the link to a secret is listed as %+v", info)
		}
	}
}

// What git says to these is known from `git check-ignore` 2.39.
func TestIgnoredFilesAreNotListed(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"a name anywhere", map[string]string{".gitignore": "*.log\n", "a.log": "", "d/b.log": "", "d/c": ""}, ".gitignore d/ d/c"},
		{"a directory with all in it", map[string]string{".gitignore": "build/\n", "build/x": "", "d/build/y": "", "d/z": "", "e/build": ""},
			".gitignore d/ d/z e/ e/build"},
		{"a name at the top alone", map[string]string{".gitignore": "/x\n", "x": "", "d/x": ""}, ".gitignore d/ d/x"},
		{"an exception", map[string]string{".gitignore": "*.log\n!keep.log\n", "a.log": "", "keep.log": ""}, ".gitignore keep.log"},
		{"an exception in an ignored directory comes too late", map[string]string{".gitignore": "d/\n!d/keep\n", "d/keep": ""}, ".gitignore"},
		{"the order of lines counts", map[string]string{".gitignore": "!a.log\n*.log\n", "a.log": ""}, ".gitignore"},
		{"a directory is no exception for its files", map[string]string{".gitignore": "*.log\n!logs/\n", "logs/a.log": "", "logs/b": ""}, ".gitignore logs/ logs/b"},
		{"nor is one with its path", map[string]string{".gitignore": "*.log\n!d/logs\n", "d/logs/a.log": "", "d/logs/b": ""}, ".gitignore d/ d/logs/ d/logs/b"},
		{"all but one kind", map[string]string{".gitignore": "*\n!*/\n!*.go\n", "a.go": "", "a.txt": "", "d/b.go": "", "d/b.txt": ""}, "a.go d/ d/b.go"},
		{"what is in a directory but not one of it", map[string]string{".gitignore": "d/*\n!d/keep\n", "d/x": "", "d/keep": ""}, ".gitignore d/ d/keep"},
		{"all that is in a directory", map[string]string{".gitignore": "d/**\n!d/keep\n", "d/x": "", "d/keep": ""}, ".gitignore d/ d/keep"},
		{"any depth", map[string]string{".gitignore": "**/tmp\na/**/z\n", "tmp/x": "", "d/tmp": "", "a/z": "", "a/b/c/z": "", "a/y": ""}, ".gitignore a/ a/b/ a/b/c/ a/y d/"},
		{"any depth, found at the second try", map[string]string{".gitignore": "**/a/b\n", "x/a/c/a/b": "", "x/a/c/b": ""}, ".gitignore x/ x/a/ x/a/c/ x/a/c/a/ x/a/c/b"},
		{"only the directories in a directory", map[string]string{".gitignore": "a/**/\n", "a/x": "", "a/b/c": ""}, ".gitignore a/ a/x"},
		{"a class that excludes", map[string]string{".gitignore": "[!a.]\n", "a": "", "b": ""}, ".gitignore a"},
		{"blanks at the end", map[string]string{".gitignore": "a  \nb\\ \n", "a": "", "b ": "", "b": ""}, ".gitignore b"},
		{"a nested file wins", map[string]string{".gitignore": "*.log\n", "d/.gitignore": "!*.log\nx\n", "a.log": "", "d/a.log": "", "d/x": "", "x": ""}, ".gitignore d/ d/.gitignore d/a.log x"},
		{"a nested file is about its own directory", map[string]string{"d/.gitignore": "/x\n", "x": "", "d/x": "", "d/e/x": ""}, "d/ d/.gitignore d/e/ d/e/x x"},
		{"comments, blank lines, escapes and CRLF", map[string]string{".gitignore": "# no\r\n\r\n\\#yes\r\nb\r\n", "#yes": "", "# no": "", "b": ""}, "# no .gitignore"},
		{"a byte-order mark", map[string]string{".gitignore": "\xef\xbb\xbfa\n", "a": ""}, ".gitignore"},
		{"the repository's own exclude file", map[string]string{".git/info/exclude": "a\n", "a": "", "b": ""}, "b"},
		{"patterns that are none", map[string]string{".gitignore": "[\n!\n/\n\\\n\x00\n", "a": "", "[": ""}, ".gitignore [ a"},
		{"an ignore file that is a directory", map[string]string{".gitignore/": "", "a": ""}, ".gitignore/ a"},
		{"an ignore file that is a link", map[string]string{".gitignore": "-> rules", "rules": "a\n", "a": ""}, ".gitignore a rules"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.files)
			if got := strings.Join(listed(w, "."), " "); got != c.want {
				t.Errorf("listed %q\nwant   %q", got, c.want)
			}
		})
	}
}

func TestIgnoreFilesAboveADirectoryCountInIt(t *testing.T) {
	w := newWorld(t, map[string]string{".gitignore": "*.log\nd/e/x\n", "d/.gitignore": "y\n", "d/e/a.log": "", "d/e/x": "", "d/e/y": "", "d/e/z": ""})
	if got := listed(w, "d/e"); !slices.Equal(got, []string{"d/e/z"}) {
		t.Errorf("listed %q", got)
	}
}

func TestWhatCannotBeListed(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "", "esc": "-> DIR/outside", "../outside/x": ""})
	for dir, want := range map[string]string{
		"none":    "there is no such directory",
		"f":       "it is a file, not a directory",
		"esc":     "it is outside the workspace",
		w.outside: "it is outside the workspace",
		"":        "an empty path",
	} {
		n := 0
		for info, err := range w.List(t.Context(), dir) {
			if n++; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("List(%q) gives %+v, %v; want %q", dir, info, err, want)
			}
		}
		if n != 1 {
			t.Errorf("List(%q) gives %d results", dir, n)
		}
	}
}

func TestAListEndsWhereItsReaderOrItsContextDoes(t *testing.T) {
	w := newWorld(t, map[string]string{"a/b/c": "", "a/b/d": "", "e": ""})
	for stop := 1; stop <= 5; stop++ {
		n := 0
		for _, err := range w.List(t.Context(), ".") {
			w.must(err)
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("%d entries instead of %d", n, stop)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	n := 0
	for _, err := range w.List(ctx, ".") {
		n, last = n+1, err
		cancel()
	}
	if n != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d results, the last with %v", n, last)
	}
}
