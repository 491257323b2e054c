package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/workspace"
)

func TestAnEditLandsAndEveryOtherByteStays(t *testing.T) {
	for _, c := range []struct{ name, before, text, after string }{
		{"LF", "a\nb\n", "a\nB\n", "a\nB\n"},
		{"CRLF", "a\r\nb\r\nc\r\n", "a\r\nB\r\nX\r\nc\r\n", "a\r\nB\r\nX\r\nc\r\n"},
		{"mixed line ends", "a\r\nb\nc\r", "a\r\nB\nc\r", "a\r\nB\nc\r"},
		{"no final newline", "def f():\n    pass", "def f():\n    return 1", "def f():\n    return 1"},
		{"a byte-order mark", "\xef\xbb\xbfimport os\nx:1\n", "import sys\nx:1\n", "\xef\xbb\xbfimport sys\nx:1\n"},
		{"Latin-1 far from the edit", "x = 1;\n// caf\xe9\n", "x = 2;\n// caf\xe9\n", "x = 2;\n// caf\xe9\n"},
		{"UTF-16", string(utf16Bytes("ä\r\nb", false)), "ä\r\n😀", string(utf16Bytes("ä\r\n😀", false))},
		{"UTF-16, big end first", string(utf16Bytes("ä\r\nb", true)), "ä\r\n😀", string(utf16Bytes("ä\r\n😀", true))},
		{"two places", "1\n2\n3\n", "1\n1b\n1c\n2\nthree\n", "1\n1b\n1c\n2\nthree\n"},
		{"an empty file", "", "a", "a"},
		{"all of it removed", "a\nb", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"d/f": c.before})
			e := w.edit("d/f", c.text)
			l := w.apply(e)
			w.landed(l, e)
			if l.Before != e.Base {
				t.Errorf("landing = %+v", l)
			}
			w.has("d/f", c.after)
			w.clean("d")
		})
	}
}

func TestAnEditOfBytesThatAreNoTextIsRefused(t *testing.T) {
	for _, c := range []struct{ name, before, text, note string }{
		{"on the line", "x = 1;\n// caf\xe9\n", "x = 1;\n// tea\n", "not valid UTF-8 (byte offset 13)"},
		{"after a byte-order mark", "\xef\xbb\xbfcaf\xe9", "tea", "not valid UTF-8 (byte offset 6)"},
		{"together with a good hunk", "a\nb\ncaf\xe9\n", "A\nb\ntea\n", "not valid UTF-8 (byte offset 7)"},
		{"put in", "a\n", "\xe9\n", "not valid UTF-8 (byte offset 0)"},
		{"put into UTF-16", string(utf16Bytes("a", false)), "\xe9", "not valid UTF-8"},
		{"a NUL byte put in", "a\n", "a\x00\n", "binary"},
		{"a byte-order mark put in", "a\n", "\ufeffa\n", "byte-order mark"},
		{"a text that is too large", "a\n", strings.Repeat("b", workspace.MaxSize+1), "more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"f": c.before})
			l := w.apply(w.edit("f", c.text))
			w.failed(l, c.note)
			w.has("f", c.before)
			w.clean(".")
		})
	}
}

func TestNothingLandsWithoutAYesForJustThat(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\nb\n"})
	e := w.edit("f", "A\nB\n")
	other := e
	other.Hunks = []agent.Hunk{agent.NewHunk(0, "a\nb\n", "A\nevil\n")}
	ok := agenttest.Approve(t, other)
	for name, ok := range map[string]agent.Approval{"nothing": {}, "another edit": ok} {
		l, err := w.Apply(t.Context(), ok, e)
		if !errors.Is(err, agent.ErrNotApproved) || l.Status != agent.LandFailed {
			t.Errorf("with a yes to %s: %+v, %v", name, l, err)
		}
	}
	w.has("f", "a\nb\n")
}

func TestAChangedFileGetsTheHunksThatStillFit(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\nb\nc\nd\n"})
	e := w.edit("f", "A\nb\nc\nD\n")

	w.put("f", "a\nb\nnew\nc\nd\n")
	l := w.apply(e)
	if l.Status != agent.LandComplete || len(l.Landed) != 2 || !strings.Contains(l.Foreign, "+1 −0 lines") {
		t.Errorf("landing = %+v", l)
	}
	if l.Before != agent.HashText("a\nb\nnew\nc\nd\n") || l.After != agent.HashText("A\nb\nnew\nc\nD\n") {
		t.Errorf("landing = %+v", l)
	}
	w.has("f", "A\nb\nnew\nc\nD\n")

	w.put("f", "a\nb\nc\ndee\n")
	l = w.apply(e)
	if l.Status != agent.LandPartial || !slices.Equal(l.Landed, []string{e.Hunks[0].ID}) || !slices.Equal(l.Conflicts, []string{e.Hunks[1].ID}) {
		t.Errorf("landing = %+v", l)
	}
	w.has("f", "A\nb\nc\ndee\n")

	w.put("f", "ay\nb\nc\ndee\n")
	l = w.apply(e)
	w.failed(l, "changed meanwhile")
	if len(l.Conflicts) != 2 || l.After != agent.HashText("ay\nb\nc\ndee\n") {
		t.Errorf("landing = %+v", l)
	}
	w.has("f", "ay\nb\nc\ndee\n")
}

func TestAFileThatChangesDuringTheWriteIsReadAgain(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\nb\n"})
	e := w.edit("f", "a\nB\n")
	ctx := &meddler{Context: t.Context(), do: func(call int) {
		if call == 1 {
			w.put("f", "new\na\nb\n")
		}
	}}
	w.landed(w.applyIn(ctx, e), agent.Edit{Hunks: e.Hunks})
	w.has("f", "new\na\nB\n")
	w.clean(".")
}

func TestAFileThatNeverRestsIsLeftAlone(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\nb\n"})
	e := w.edit("f", "a\nB\n")
	text := "b\n"
	ctx := &meddler{Context: t.Context(), do: func(int) {
		text = "more\n" + text
		w.put("f", text)
	}}
	l := w.applyIn(ctx, e)
	w.failed(l, "3 times in a row")
	if l.After != agent.HashText(text) {
		t.Errorf("landing = %+v", l)
	}
	w.has("f", text)
	w.clean(".")
}

func TestAFileReplacedDuringTheWriteIsLeftAlone(t *testing.T) {
	for _, c := range []struct{ name, put, note string }{
		{"by nothing", "", "no such file"},
		{"by a directory", "f/", "it is a directory"},
		{"by a link", "-> secret", "a symbolic link"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"f": "a\n", "secret": "a\n"})
			e := w.edit("f", "b\n")
			ctx := &meddler{Context: t.Context(), do: func(call int) {
				if call != 1 {
					return
				}
				w.must(os.Remove(w.path("f")))
				switch c.put {
				case "":
				case "f/":
					w.put(c.put, "")
				default:
					w.put("f", c.put)
				}
			}}
			w.failed(w.applyIn(ctx, e), c.note)
			w.has("secret", "a\n")
			w.clean(".")
		})
	}
}

func TestWhatCannotBeEdited(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n", "gone": "a\n", "dir": "a\n", "binary": "a\n", "../outside/x": "a\n"})
	w.must(os.Chmod(w.path("f"), 0o444))
	edits := map[string]agent.Edit{}
	for _, name := range []string{"f", "gone", "dir", "binary"} {
		edits[name] = w.edit(name, "b\n")
	}
	w.must(os.Remove(w.path("gone")))
	w.must(os.Remove(w.path("dir")))
	w.put("dir/", "")
	w.put("binary", "a\x00")
	for name, note := range map[string]string{
		"f": "read-only", "gone": "no such file", "dir": "it is a directory", "binary": "it is binary",
	} {
		w.failed(w.apply(edits[name]), note)
	}
	w.has("f", "a\n")
	w.gone("gone")
}

func TestPermissionsAndLinksStay(t *testing.T) {
	w := newWorld(t, map[string]string{"run.sh": "a\n", "key.pem": "a\n", "shared.txt": "a\n", "link": "-> run.sh"})
	for name, mode := range map[string]os.FileMode{"run.sh": 0o755, "key.pem": 0o600, "shared.txt": 0o664} {
		w.must(os.Chmod(w.path(name), mode))
		e := w.edit(name, "b\n")
		w.landed(w.apply(e), e)
		info, err := os.Lstat(w.path(name))
		w.must(err)
		if info.Mode() != mode {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), mode)
		}
	}
	if dest, err := os.Readlink(w.path("link")); err != nil || dest != "run.sh" {
		t.Errorf("the link leads to %q, %v", dest, err)
	}
	w.has("link", "b\n")
}

func TestAPathThatLeadsElsewhereNowIsNotFollowed(t *testing.T) {
	w := newWorld(t, map[string]string{"d/f": "a\n", "other/f": "a\n", "../outside/f": "a\n"})
	edit, create, rename := w.edit("d/f", "b\n"), w.creation("d/new", "x"), w.renaming("other/f", "d/g")
	for _, dest := range []string{"-> other", "-> DIR/outside"} {
		w.must(os.RemoveAll(w.path("d")))
		w.put("d", dest)
		for _, e := range []agent.Edit{edit, create, rename} {
			w.failed(w.apply(e), "the path now leads to")
		}
	}
	w.has("other/f", "a\n")
	w.gone("other/new")
	if got := names(w, w.outside); !slices.Equal(got, []string{"f"}) {
		t.Errorf("outside there is %q", got)
	}
}

func TestADirectorySwappedDuringTheWriteIsNotFollowed(t *testing.T) {
	w := newWorld(t, map[string]string{"d/x": "", "../outside/x": ""})
	e := w.creation("d/new", "text")
	ctx := &meddler{Context: t.Context(), do: func(call int) {
		if call == 1 {
			w.must(os.RemoveAll(w.path("d")))
			w.put("d", "-> DIR/outside")
		}
	}}
	w.failed(w.applyIn(ctx, e), "")
	if got := names(w, w.outside); !slices.Equal(got, []string{"x"}) {
		t.Errorf("outside there is %q", got)
	}
}

func TestEditsOutsideLandOnlyWhereAFileIs(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n", "../outside/f": "a\n", "../outside/g": "g\n", "dang": "-> DIR/outside/new.txt"})
	far := filepath.Join(w.outside, "f")
	e := w.edit(far, "b\n")
	if l, err := w.Apply(t.Context(), agent.Approval{}, e); !errors.Is(err, agent.ErrNotApproved) {
		t.Errorf("without a yes: %+v, %v", l, err)
	}
	w.landed(w.apply(e), e)
	w.has(far, "b\n")

	w.failed(w.apply(w.creation(w.outside+"/new.txt", "x")), "outside the workspace")
	w.failed(w.apply(w.creation(w.outside+"/deep/new.txt", "x")), "outside the workspace")
	w.failed(w.apply(w.creation("dang", "x")), "the path now leads to")
	w.failed(w.apply(w.renaming("f", w.outside+"/h")), "out of the workspace or into it")
	w.failed(w.apply(w.renaming(w.outside+"/g", "h")), "out of the workspace or into it")
	if l := w.apply(w.deletion(w.outside + "/g")); l.Status != agent.LandComplete {
		t.Errorf("landing = %+v", l)
	}
	if got := names(w, w.outside); !slices.Equal(got, []string{"f"}) {
		t.Errorf("outside there is %q", got)
	}
}

func TestAMalformedEditDoesNotLand(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	e := w.edit("f", "b\n")
	ok := agenttest.Approve(t, e)
	e.Old = "something else\n" // which an approval does not compare, only its hash
	l, err := w.Apply(t.Context(), ok, e)
	w.must(err)
	w.failed(l, "the edit is malformed")
	w.has("f", "a\n")
}

func TestAWriteThatSomethingElseOvertookIsNotCalledLanded(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	e := w.edit("f", "b\n")
	w.landed(w.apply(e), e)
	l, err := w.Confirm("f", e.New(), e.Hunks)
	w.must(err)
	l.Where = agent.SourceDisk
	w.landed(l, e)

	w.put("f", "human\n")
	l, err = w.Confirm("f", e.New(), e.Hunks)
	w.must(err)
	if l.Status != agent.LandUnconfirmed || len(l.Landed) != 0 || l.After != agent.HashText("human\n") || l.Foreign == "" {
		t.Errorf("landing = %+v", l)
	}
	w.must(os.Remove(w.path("f")))
	l, err = w.Confirm("f", e.New(), e.Hunks)
	w.must(err)
	if l.Status != agent.LandUnconfirmed || len(l.Landed) != 0 || l.After != (agent.Hash{}) {
		t.Errorf("landing = %+v", l)
	}
	w.gone("f")
}

func TestACancelBeforeTheWriteLandsNothing(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n", "g": "a\n"})
	for _, e := range []agent.Edit{w.edit("f", "b\n"), w.creation("d/new", "x"), w.deletion("g"), w.renaming("g", "d/h")} {
		ok := agenttest.Approve(t, e)
		base, cancel := context.WithCancel(t.Context())
		ctx := &meddler{Context: base, do: func(int) { cancel() }}
		l, err := w.Apply(ctx, ok, e)
		w.must(err)
		w.failed(l, "cancelled before it landed")
	}
	w.has("f", "a\n")
	w.has("g", "a\n")
	w.gone("d")
	w.clean(".")
}

func TestEditsOfOneFileLandOneAfterTheOther(t *testing.T) {
	lines := make([]string, 16)
	for i := range lines {
		lines[i] = strings.Repeat("x", i+1) + "\n"
	}
	w := newWorld(t, map[string]string{"f": strings.Join(lines, "")})
	var edits []agent.Edit
	var oks []agent.Approval
	for i := range lines {
		changed := slices.Clone(lines)
		changed[i] = "changed\n"
		e := w.edit("f", strings.Join(changed, ""))
		edits, oks = append(edits, e), append(oks, agenttest.Approve(t, e))
	}
	var wg sync.WaitGroup
	for i, e := range edits {
		ok := oks[i]
		wg.Go(func() {
			if l, err := w.Apply(t.Context(), ok, e); err != nil || l.Status != agent.LandComplete {
				t.Errorf("landing = %+v, %v", l, err)
			}
		})
	}
	wg.Wait()
	w.has("f", strings.Repeat("changed\n", len(lines)))
	w.clean(".")
}

func TestAWaitForAnotherLandingEndsWithItsContext(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	e := w.edit("f", "b\n")
	ok := agenttest.Approve(t, e)
	waiting, cancel := context.WithCancel(t.Context())
	ctx := &meddler{Context: t.Context(), do: func(int) { // while the first landing holds the path
		cancel()
		second, err := w.Apply(waiting, ok, e)
		w.must(err)
		w.failed(second, "cancelled before it landed")
	}}
	w.landed(w.applyIn(ctx, e), e)
}
