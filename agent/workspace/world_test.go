package workspace_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/workspace"
)

// world is a workspace folder "app" with an empty folder "outside" beside it.
type world struct {
	*testing.T
	dir, app, outside string
	*workspace.Workspace
}

// newWorld fills the workspace: a name that ends in a slash is a directory, a
// text that begins with "-> " makes a link.
func newWorld(t *testing.T, files map[string]string) world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{T: t, dir: dir, app: filepath.Join(dir, "app"), outside: filepath.Join(dir, "outside")}
	w.must(os.Mkdir(w.app, 0o755))
	w.must(os.Mkdir(w.outside, 0o755))
	for name, text := range files {
		w.put(name, text)
	}
	ws, err := workspace.Open(w.app)
	w.must(err)
	t.Cleanup(func() { ws.Close() })
	w.Workspace = ws
	return w
}

func (w world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w world) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.app, name)
}

func (w world) put(name, text string) {
	w.Helper()
	path := w.path(name)
	if strings.HasSuffix(name, "/") {
		w.must(os.MkdirAll(path, 0o755))
		return
	}
	w.must(os.MkdirAll(filepath.Dir(path), 0o755))
	if dest, ok := strings.CutPrefix(text, "-> "); ok {
		w.must(os.Symlink(strings.ReplaceAll(dest, "DIR", w.dir), path))
		return
	}
	w.must(os.WriteFile(path, []byte(text), 0o644))
}

func (w world) get(name string) string {
	w.Helper()
	data, err := os.ReadFile(w.path(name))
	w.must(err)
	return string(data)
}

func (w world) has(name, want string) {
	w.Helper()
	if got := w.get(name); got != want {
		w.Errorf("%s holds %q, want %q", name, got, want)
	}
}

func (w world) gone(name string) {
	w.Helper()
	if _, err := os.Lstat(w.path(name)); !errors.Is(err, fs.ErrNotExist) {
		w.Errorf("%s is there (%v)", name, err)
	}
}

// clean checks that no temporary file was left in the directory.
func (w world) clean(dir string) {
	w.Helper()
	for _, name := range names(w, w.path(dir)) {
		if strings.HasPrefix(name, ".assent-") {
			w.Errorf("%s was left behind", name)
		}
	}
}

func names(w world, dir string) []string {
	w.Helper()
	entries, err := os.ReadDir(dir)
	w.must(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// edit is an edit of a file, planned on what decode makes of the file now.
func (w world) edit(name, newText string) agent.Edit {
	w.Helper()
	data, err := os.ReadFile(w.path(name))
	w.must(err)
	old, _, err := workspace.Decode(data)
	w.must(err)
	return agent.Edit{Path: w.path(name), Kind: agent.EditText, Base: agent.HashText(old), Old: old, Hunks: workspace.Diff(old, newText)}
}

func (w world) creation(name, text string) agent.Edit {
	e := agent.Edit{Path: w.path(name), Kind: agent.EditCreate}
	if text != "" {
		e.Hunks = []agent.Hunk{agent.NewHunk(0, "", text)}
	}
	return e
}

func (w world) deletion(name string) agent.Edit {
	w.Helper()
	text := w.get(name)
	return agent.Edit{Path: w.path(name), Kind: agent.EditDelete, Base: agent.HashText(text), Old: text}
}

func (w world) renaming(from, to string) agent.Edit {
	return agent.Edit{Path: w.path(from), Kind: agent.EditRename, To: w.path(to)}
}

// apply lands an edit that a person said yes to.
func (w world) apply(e agent.Edit) agent.Landing {
	w.Helper()
	return w.applyIn(w.Context(), e)
}

func (w world) applyIn(ctx context.Context, e agent.Edit) agent.Landing {
	w.Helper()
	landing, err := w.Apply(ctx, agenttest.Approve(w.T, e), e)
	w.must(err)
	return landing
}

func (w world) landed(l agent.Landing, e agent.Edit) {
	w.Helper()
	var want []string
	for _, h := range e.Hunks {
		want = append(want, h.ID)
	}
	if l.Status != agent.LandComplete || l.Where != agent.SourceDisk || !slices.Equal(l.Landed, want) || len(l.Conflicts) != 0 {
		w.Errorf("landing = %+v, want all of %q", l, want)
	}
	if e.Kind == agent.EditText || e.Kind == agent.EditCreate {
		if l.After != agent.HashText(e.New()) {
			w.Errorf("the hash afterwards is %v, not that of the new text; landing = %+v", l.After, l)
		}
	}
}

func (w world) failed(l agent.Landing, note string) {
	w.Helper()
	if l.Status != agent.LandFailed || len(l.Landed) != 0 || !strings.Contains(l.Note, note) {
		w.Errorf("landing = %+v, want a failure that says %q", l, note)
	}
}

// meddler is a context whose Err does something to the files. Apply asks it
// between the look at a file and the write.
type meddler struct {
	context.Context
	calls int
	do    func(call int)
}

func (m *meddler) Err() error {
	m.calls++
	m.do(m.calls)
	return m.Context.Err()
}
