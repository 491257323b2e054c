package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"assent/agent"
)

func TestAFileIsMadeWithTheDirectoriesItNeeds(t *testing.T) {
	w := newWorld(t, map[string]string{"here/": ""})
	for name, text := range map[string]string{"a": "one\r\ntwo", "here/b": "ü\n", "new/deep/c": "x\n", "empty": ""} {
		e := w.creation(name, text)
		l := w.apply(e)
		w.landed(l, e)
		if l.Before != (agent.Hash{}) {
			t.Errorf("landing = %+v", l)
		}
		w.has(name, text)
	}
	w.clean(".")
	w.clean("new/deep")
}

func TestAFileIsNeverMadeOverAnother(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "human\n", "dir/": "", "link": "-> nothing", "file": ""})
	l := w.apply(w.creation("f", "agent\n"))
	w.failed(l, "something is there already")
	if l.Before != agent.HashText("human\n") || l.After != l.Before {
		t.Errorf("landing = %+v", l)
	}
	w.has("f", "human\n")
	w.failed(w.apply(w.creation("dir", "x")), "something is there already")
	w.failed(w.apply(w.creation("link", "x")), "the path now leads to")
	w.failed(w.apply(w.creation("file/x", "x")), "not a directory")
}

func TestAFileThatAppearsMeanwhileIsNotOverwritten(t *testing.T) {
	for _, c := range []struct{ name, put string }{
		{"a file", "human\n"},
		{"a link", "-> other"},
		{"a link to nothing", "-> nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"other": "human\n"})
			ctx := &meddler{Context: t.Context(), do: func(call int) {
				if call == 1 {
					w.put("f", c.put)
				}
			}}
			w.failed(w.applyIn(ctx, w.creation("f", "agent\n")), "something is there already")
			w.has("other", "human\n")
			w.gone("nothing")
			w.clean(".")
		})
	}
}

func TestATextThatNoFileCanHoldIsNotMade(t *testing.T) {
	w := newWorld(t, nil)
	for text, note := range map[string]string{
		"caf\xe9":   "not valid UTF-8 (byte offset 3)",
		"a\x00b":    "binary",
		"\ufeffa\n": "byte-order mark",
	} {
		w.failed(w.apply(w.creation("d/f", text)), note)
	}
	w.gone("d")
}

func TestWithoutLinksAFileIsStillNeverMadeOverAnother(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "human\n"})
	if err := w.CreateInPlace("f", []byte("agent\n")); err == nil {
		t.Error("a file was made over another")
	}
	w.has("f", "human\n")
	w.must(w.CreateInPlace("g", []byte("agent\n")))
	w.has("g", "agent\n")
}

func TestADeletionIsOfTheTextThatWasSeen(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n", "g": "\xef\xbb\xbfb\n", "changed": "a\n", "during": "a\n", "gone": "a\n", "ro": "a\n"})
	e := w.deletion("f")
	if l := w.apply(e); l.Status != agent.LandComplete || l.Before != e.Base || l.After != (agent.Hash{}) {
		t.Errorf("landing = %+v", l)
	}
	w.gone("f")

	marked := agent.Edit{Path: w.path("g"), Kind: agent.EditDelete, Base: agent.HashText("b\n"), Old: "b\n"}
	if l := w.apply(marked); l.Status != agent.LandComplete {
		t.Errorf("landing = %+v", l)
	}
	w.gone("g")

	changed, during, gone, ro := w.deletion("changed"), w.deletion("during"), w.deletion("gone"), w.deletion("ro")
	w.put("changed", "human\n")
	l := w.apply(changed)
	w.failed(l, "changed meanwhile")
	if l.After != agent.HashText("human\n") || l.Foreign == "" {
		t.Errorf("landing = %+v", l)
	}
	w.has("changed", "human\n")

	ctx := &meddler{Context: t.Context(), do: func(call int) {
		if call == 1 {
			w.put("during", "human\n")
		}
	}}
	w.failed(w.applyIn(ctx, during), "changed meanwhile")
	w.has("during", "human\n")

	w.must(os.Remove(w.path("gone")))
	w.failed(w.apply(gone), "no such file")

	w.must(os.Chmod(w.path("ro"), 0o444))
	w.failed(w.apply(ro), "read-only")
	w.has("ro", "a\n")
}

func TestARenameKeepsTheFileAsItIs(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "\xef\xbb\xbfa\r\n", "binary": "a\x00b"})
	w.must(os.Chmod(w.path("f"), 0o750))
	l := w.apply(w.renaming("f", "new/dir/g"))
	if l.Status != agent.LandComplete || l.Before != agent.HashText("a\r\n") || l.After != l.Before {
		t.Errorf("landing = %+v", l)
	}
	w.has("new/dir/g", "\xef\xbb\xbfa\r\n")
	w.gone("f")
	if info, err := os.Stat(w.path("new/dir/g")); err != nil || info.Mode() != 0o750 {
		t.Errorf("mode = %v, %v", info.Mode(), err)
	}

	if l := w.apply(w.renaming("binary", "moved")); l.Status != agent.LandComplete || l.After != (agent.Hash{}) {
		t.Errorf("landing = %+v", l)
	}
	w.has("moved", "a\x00b")

	if l := w.apply(w.renaming("moved", "MOVED")); l.Status != agent.LandComplete {
		t.Errorf("landing = %+v", l)
	}
	w.has("MOVED", "a\x00b")
}

func TestARenameNeverReplacesAnything(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n", "g": "human\n", "F": "human\n", "dir/": "", "link": "-> f"})
	w.failed(w.apply(w.renaming("f", "g")), "a file at g already")
	w.failed(w.apply(w.renaming("f", "dir")), "a file at dir already")
	w.failed(w.apply(w.renaming("f", "F")), "something is there already")
	w.failed(w.apply(w.renaming("f", "link")), "the path now leads to")
	w.failed(w.apply(w.renaming("none", "x/y")), "no such file")
	w.failed(w.apply(w.renaming("dir", "x/y")), "it is a directory")
	w.gone("x")
	for _, dest := range []string{"late", "new/late"} {
		ctx := &meddler{Context: t.Context(), do: func(call int) {
			if call == 1 {
				w.put(dest, "human\n")
			}
		}}
		w.failed(w.applyIn(ctx, w.renaming("f", dest)), "something is there already")
		w.has(dest, "human\n")
	}
	w.has("f", "a\n")
	w.has("g", "human\n")
	w.has("F", "human\n")
}

func TestDirectoriesThatSomebodyElseFilledStay(t *testing.T) {
	w := newWorld(t, nil)
	ctx := &meddler{Context: t.Context(), do: func(call int) {
		if call == 1 {
			w.put("new/late", "human\n")
		}
	}}
	w.failed(w.applyIn(ctx, w.creation("new/late", "agent\n")), "something is there already")
	w.has("new/late", "human\n")
	if _, err := os.Stat(w.path("new")); errors.Is(err, fs.ErrNotExist) {
		t.Error("the directory is gone")
	}
}
