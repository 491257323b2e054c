package tools_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/workspace"
)

// tb is what the helpers need of a test, also of one by rapid.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// world is a workspace on disk with some files.
type world struct {
	*workspace.Workspace
	dir string
}

// newWorld makes files, by name with slashes; a name that ends in a slash is a
// directory.
func newWorld(t testing.TB, files map[string]string) world {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	w, err := workspace.Open(dir)
	must(t, err)
	t.Cleanup(func() { w.Close() })
	return world{w, w.Folders()[0]}
}

func must(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// with is the files of a world in which the person lets all be read.
type with struct {
	agent.Files
	ok agent.Approval
}

func (f with) Read(ctx context.Context, _ agent.Approval, path string) (agent.File, error) {
	return f.Files.Read(ctx, f.ok, path)
}

// args is the input of a call.
type args map[string]any

func (a args) json(t tb) json.RawMessage {
	t.Helper()
	input, err := json.Marshal(a)
	must(t, err)
	return input
}

// ask plans a call and runs it if it needs no consent.
func ask(t tb, tool agent.Tool, files agent.Files, a args) (string, error) {
	t.Helper()
	plan, err := tool.Plan(context.Background(), files, a.json(t))
	if err != nil {
		return "", err
	}
	if len(plan.Effects) > 0 {
		t.Fatalf("the call needs consent: %+v", plan.Effects)
	}
	result, err := plan.Run(context.Background(), agent.Approval{})
	return result.Output, err
}

// edit plans a call that changes one file and returns the change.
func edit(t tb, tool agent.Tool, files agent.Files, a args) (agent.Edit, error) {
	t.Helper()
	plan, err := tool.Plan(context.Background(), files, a.json(t))
	if err != nil {
		return agent.Edit{}, err
	}
	if len(plan.Effects) != 1 || plan.Run != nil {
		t.Fatalf("the plan is not one edit: %+v", plan)
	}
	e, ok := plan.Effects[0].(agent.Edit)
	if !ok {
		t.Fatalf("the effect is a %T", plan.Effects[0])
	}
	if err := e.Check(); err != nil {
		t.Fatalf("the edit is not well formed: %v", err)
	}
	return e, nil
}

// wantError checks that an error says each of some things.
func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q:\n%v", part, err)
		}
	}
}

func wantText(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// newFile is a world in which f.txt has a text, without a file on disk.
type newFile struct {
	world
	text string
}

func (f newFile) Stat(ctx context.Context, path string) (agent.Info, error) {
	info, err := f.world.Stat(ctx, path)
	if info.Name == "f.txt" {
		info.Exists, info.Size = true, int64(len(f.text))
	}
	return info, err
}

func (f newFile) Read(ctx context.Context, _ agent.Approval, path string) (agent.File, error) {
	info, err := f.Stat(ctx, path)
	return agent.File{Info: info, Text: f.text, Hash: agent.HashText(f.text), Source: agent.SourceBuffer}, err
}
