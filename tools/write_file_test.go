package tools_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/tools"
)

func TestWriteFileCreatesAFile(t *testing.T) {
	w := newWorld(t, map[string]string{"notes.txt": "a\n"})
	for name, c := range map[string]struct{ path, content string }{
		"in a directory that is missing": {"x/y/z.txt", "one\ntwo\n"},
		"with nothing in it":             {"empty.txt", ""},
		"with CRLF, as it is given":      {"crlf.txt", "a\r\nb\r\n"},
		"in the workspace":               {"new.txt", "no newline"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := edit(t, tools.WriteFile(), w, args{"path": c.path, "content": c.content})
			must(t, err)
			wantText(t, e.New(), c.content)
			if e.Kind != agent.EditCreate || e.Base != (agent.Hash{}) || e.Path != filepath.Join(w.dir, filepath.FromSlash(c.path)) {
				t.Errorf("the edit is %+v", e)
			}
			if (len(e.Hunks) == 0) != (c.content == "") {
				t.Errorf("hunks %+v", e.Hunks)
			}
		})
	}
}

func TestWriteFileKeepsTheLineEndsOfAFile(t *testing.T) {
	for _, c := range []struct{ name, before, content, after string }{
		{"LF", "a\nb\n", "a\nc\n", "a\nc\n"},
		{"CRLF", "a\r\nb\r\n", "a\nb\nc\n", "a\r\nb\r\nc\r\n"},
		{"CRLF without one at the end", "a\r\nb", "a\nb\nc", "a\r\nb\r\nc"},
		{"mixed, where a line stays", "a\r\nb\nc\r\n", "a\nb\nX\n", "a\r\nb\nX\r\n"},
		{"CRLF that is asked for", "a\nb\n", "a\r\nb\r\n", "a\r\nb\r\n"},
		{"none", "a", "a\nb\n", "a\nb\n"},
		{"an empty file", "", "a\n", "a\n"},
		{"to nothing", "a\r\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"f.txt": c.before})
			e, err := edit(t, tools.WriteFile(), w, args{"path": "f.txt", "content": c.content})
			must(t, err)
			wantText(t, e.New(), c.after)
			if e.Kind != agent.EditText {
				t.Errorf("kind %v", e.Kind)
			}
		})
	}
}

func TestWriteFileSaysWhenNothingChanges(t *testing.T) {
	w := newWorld(t, map[string]string{"notes.txt": "a\nb\n", "crlf.txt": "a\r\nb\r\n", "mixed.txt": "a\r\nb\n", "bom.txt": "\xef\xbb\xbfa\nb\n", "empty.txt": ""})
	for path, content := range map[string]string{"notes.txt": "a\nb\n", "crlf.txt": "a\nb\n", "mixed.txt": "a\nb\n", "bom.txt": "a\nb\n", "empty.txt": ""} {
		got, err := ask(t, tools.WriteFile(), w, args{"path": path, "content": content})
		must(t, err)
		wantText(t, got, path+" already has exactly this text; nothing to change")
	}
}

func TestChangesOfFilesSayWhatIsWrong(t *testing.T) {
	outside := newWorld(t, map[string]string{"o.txt": "x"})
	w := newWorld(t, map[string]string{"notes.txt": "a\n", "b.txt": "b\n", "dir/x.txt": "x", "bin": "\x00", ".env": "T=1\n"})
	must(t, os.Symlink(outside.dir, filepath.Join(w.dir, "esc")))
	must(t, os.Symlink(filepath.Join(outside.dir, "new.txt"), filepath.Join(w.dir, "dang")))
	write, move, remove := tools.WriteFile(), tools.MoveFile(), tools.DeleteFile()
	for _, c := range []struct {
		name string
		tool agent.Tool
		args args
		want []string
	}{
		{"a write to a directory", write, args{"path": "dir", "content": "x"}, []string{"dir is a directory"}},
		{"a write to a directory to be", write, args{"path": "new/", "content": "x"}, []string{"new/", "directory"}},
		{"a write below a file", write, args{"path": "notes.txt/x", "content": "x"}, []string{"notes.txt"}},
		{"a new file outside", write, args{"path": filepath.Join(outside.dir, "n.txt"), "content": "x"}, []string{"outside the workspace"}},
		{"D06: a new file through a link to a directory", write, args{"path": "esc/a.txt", "content": "x"}, []string{"esc/a.txt", "outside the workspace"}},
		{"D06: a new file through missing directories", write, args{"path": "esc/missing/deep.txt", "content": "x"}, []string{"outside the workspace"}},
		{"D06: a link that leads nowhere", write, args{"path": "dang", "content": "x"}, []string{"dang", "outside the workspace"}},
		{"a file outside that was not read", write, args{"path": "esc/o.txt", "content": "y"}, []string{"not approved", "read_file first"}},
		{"a secret that was not read", write, args{"path": ".env", "content": "y"}, []string{"not approved", "read_file first"}},
		{"a binary file", write, args{"path": "bin", "content": "y"}, []string{"binary"}},
		{"a NUL byte", write, args{"path": "n.txt", "content": "\x00"}, []string{"NUL"}},
		{"a byte-order mark in a new file", write, args{"path": "n.txt", "content": "\uFEFFx"}, []string{"byte-order mark"}},

		{"a move of nothing", move, args{"from": "note.txt", "to": "c.txt"}, []string{"there is no note.txt", "notes.txt"}},
		{"a move of a directory", move, args{"from": "dir", "to": "dir2"}, []string{"dir is a directory"}},
		{"a move onto a file", move, args{"from": "notes.txt", "to": "b.txt"}, []string{"b.txt already exists"}},
		{"a move onto itself", move, args{"from": "notes.txt", "to": "./notes.txt"}, []string{"the same file"}},
		{"a move into a directory", move, args{"from": "notes.txt", "to": "dir"}, []string{"dir is a directory", "dir/notes.txt"}},
		{"a move into a directory to be", move, args{"from": "notes.txt", "to": "new/"}, []string{"new/notes.txt"}},
		{"a move to the outside", move, args{"from": "notes.txt", "to": "esc/n.txt"}, []string{"leave the workspace"}},
		{"a move from the outside", move, args{"from": "esc/o.txt", "to": "o.txt"}, []string{"leave the workspace"}},

		{"a deletion of nothing", remove, args{"path": "note.txt"}, []string{"there is no note.txt", "notes.txt"}},
		{"a deletion of a directory", remove, args{"path": "dir"}, []string{"dir is a directory"}},
		{"a deletion of a binary file", remove, args{"path": "bin"}, []string{"binary"}},
		{"a deletion of a secret", remove, args{"path": ".env"}, []string{"not approved"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := edit(t, c.tool, w, c.args)
			wantError(t, err, c.want...)
		})
	}
}

func TestMoveFilePlansARename(t *testing.T) {
	w := newWorld(t, map[string]string{"notes.txt": "a\n", "bin": "\x00", "dir/": ""})
	for from, to := range map[string]string{"notes.txt": "x/y/notes.txt", "bin": "dir/bin"} {
		e, err := edit(t, tools.MoveFile(), w, args{"from": from, "to": to})
		must(t, err)
		if e.Kind != agent.EditRename || e.Path != filepath.Join(w.dir, from) || e.To != filepath.Join(w.dir, filepath.FromSlash(to)) {
			t.Errorf("the edit is %+v", e)
		}
	}
}

func TestDeleteFilePlansADeletionOfTheTextThatIsThere(t *testing.T) {
	w := newWorld(t, map[string]string{"notes.txt": "a\r\n"})
	e, err := edit(t, tools.DeleteFile(), w, args{"path": "notes.txt"})
	must(t, err)
	if e.Kind != agent.EditDelete || e.Old != "a\r\n" || e.Base != agent.HashText("a\r\n") || len(e.Hunks) != 0 {
		t.Errorf("the edit is %+v", e)
	}
}

func TestASecretThatWasReadCanBeChanged(t *testing.T) {
	w := newWorld(t, map[string]string{".env": "T=1\n"})
	files := with{w, agenttest.Approve(t, agent.SecretRead{Path: filepath.Join(w.dir, ".env")})}
	for _, c := range []struct {
		tool agent.Tool
		args args
		want string
	}{
		{tools.WriteFile(), args{"path": ".env", "content": "T=2\n"}, "T=2\n"},
		{tools.DeleteFile(), args{"path": ".env"}, ""},
	} {
		e, err := edit(t, c.tool, files, c.args)
		if errors.Is(err, agent.ErrNotApproved) {
			t.Fatal(err)
		}
		must(t, err)
		wantText(t, e.New(), c.want)
	}
}
