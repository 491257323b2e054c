//go:build unix

package tools_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/tools"
)

// onDisk is a person who says yes to everything, with real files.
type onDisk struct{ world }

func (onDisk) Review(_ context.Context, p agent.Proposal, _ func(agent.Proposal) error) (agent.Decision, error) {
	return agenttest.AcceptAll(p), nil
}

// kinds are the kinds of files, and what each tool says of them. "done" is an outcome
// without an error. This table is the policy, see the doc of package workspace.
var kinds = []struct {
	name   string
	make   func(w world, path string) error
	read   string
	search string
	edit   string // replaces "word" by "$1\\"
	write  string
	move   string
	delete string
}{
	{"CRLF", text("word\r\nb\r\n"), "CRLF line ends", "1 matching", "done", "done", "done", "done"},
	{"mixed line ends", text("word\r\nb\n"), "mixed line ends", "1 matching", "done", "done", "done", "done"},
	{"lone CR", text("a\rword\rb\r"), "lines 1-1 of 1", "1 matching", "done", "done", "done", "done"},
	{"no final newline", text("word"), "no newline at the end", "1 matching", "done", "done", "done", "done"},
	{"BOM", text("\xef\xbb\xbfword\n"), "lines 1-1 of 1\nword", "1 matching", "done", "done", "done", "done"},
	{"UTF-16", text("\xff\xfew\x00o\x00r\x00d\x00\n\x00"), "lines 1-1 of 1\nword", "1 matching", "done", "done", "done", "done"},
	{"UTF-16 without its half", text("\xff\xfew\x00\x00\xd8"), "not valid UTF-16 (byte offset 4)", "no matches", "not valid UTF-16", "not valid UTF-16", "done", "not valid UTF-16"},
	{"Latin-1", text("word\ncaf\xe9\n"), "shown as U+FFFD", "1 matching", "done", "not valid UTF-8 (byte offset 8)", "done", "done"},
	{"GBK", text("word\n\xc4\xe3\xba\xc3\n"), "shown as U+FFFD", "1 matching", "done", "not valid UTF-8 (byte offset 5)", "done", "done"},
	{"binary", text("word\x00"), "it is binary", "no matches", "it is binary", "it is binary", "done", "it is binary"},
	{"empty", text(""), "empty file", "no matches", "is not in", "done", "done", "done"},
	{"200 MB", func(_ world, path string) error {
		f, err := os.Create(path)
		if err == nil {
			err = f.Truncate(200 << 20)
			f.Close()
		}
		return err
	}, "it has 209715200 bytes", "skipped", "it has 209715200 bytes", "it has 209715200 bytes", "done", "it has 209715200 bytes"},
	{"pipe", func(_ world, path string) error { return syscall.Mkfifo(path, 0o644) },
		"a pipe or a socket", "skipped", "a pipe or a socket", "a pipe or a socket", "a pipe or a socket", "a pipe or a socket"},
	{"device", func(_ world, path string) error { return os.Symlink("/dev/zero", path) },
		"a device, a pipe or a socket", "outside the workspace", "can't be changed unread", "outside the workspace", "would leave the workspace", "can't be changed unread"},
	{"directory", func(_ world, path string) error { return os.Mkdir(path, 0o755) },
		"is a directory", "no matches", "is a directory", "is a directory", "is a directory", "is a directory"},
	{"read-only", func(_ world, path string) error { return os.WriteFile(path, []byte("word\n"), 0o444) },
		"word", "1 matching", "the file is read-only", "the file is read-only", "done", "the file is read-only"},
	{"hard link", func(w world, path string) error {
		if err := os.WriteFile(filepath.Join(w.dir, "other"), []byte("word\n"), 0o644); err != nil {
			return err
		}
		return os.Link(filepath.Join(w.dir, "other"), path)
	}, "word", "1 matching", "had 2 names (hard links)", "had 2 names (hard links)", "done", "done"},
	{"link inside", link("word\n", "real"), "word", "1 matching", "done", "done", "done", "done"},
	{"absolute link inside", link("word\n", "DIR/real"), "word", "1 matching", "done", "done", "done", "done"},
	{"dangling link", link("", "none"), "there is no", "there is no", "there is no", "done", "there is no", "there is no"},
	{"link outside", func(_ world, path string) error { return os.Symlink("/etc/passwd", path) },
		"root", "outside the workspace", "can't be changed unread", "outside the workspace", "would leave the workspace", "can't be changed unread"},
	{"nothing", func(world, string) error { return nil }, "there is no", "there is no", "use write_file to create it", "done", "there is no", "there is no"},
}

func text(s string) func(world, string) error {
	return func(_ world, path string) error { return os.WriteFile(path, []byte(s), 0o644) }
}

// link makes a link and, with a text, the file "real" in the workspace.
func link(s, dest string) func(world, string) error {
	return func(w world, path string) error {
		if s != "" {
			if err := os.WriteFile(filepath.Join(w.dir, "real"), []byte(s), 0o644); err != nil {
				return err
			}
		}
		return os.Symlink(strings.Replace(dest, "DIR", w.dir, 1), path)
	}
}

// TestEachToolOnEachKindOfFile: none waits, as for a writer of a pipe, and each refusal
// is a sentence.
func TestEachToolOnEachKindOfFile(t *testing.T) {
	for _, k := range kinds {
		for _, c := range []struct {
			want, tool string
			input      args
		}{
			{k.read, "read_file", args{"path": "f"}},
			{k.search, "search", args{"pattern": "word", "path": "f"}},
			{k.edit, "edit_file", args{"path": "f", "edits": []args{{"old_string": "word", "new_string": `$1\`}}}},
			{k.write, "write_file", args{"path": "f", "content": "new\n"}},
			{k.move, "move_file", args{"from": "f", "to": "missing/g"}},
			{k.delete, "delete_file", args{"path": "f"}},
		} {
			t.Run(k.name+"/"+c.tool, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil)
				must(t, k.make(w, filepath.Join(w.dir, "f")))
				session, err := agent.New(agent.Config{
					Model: agenttest.NewScript(agenttest.Call(agenttest.Use("c1", c.tool, c.input)), agenttest.Say("done")),
					Tools: tools.Default(), Editor: onDisk{w}, Store: &agenttest.Memory{},
				})
				must(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a wait would have no end
				defer cancel()
				var got agent.ToolResult
				for e, err := range session.Run(ctx, agent.UserText("go")) {
					must(t, err)
					if a, ok := e.(agent.Answered); ok {
						got = a.Result
					}
				}
				if c.want == "done" && got.IsError || c.want != "done" && !strings.Contains(got.Output, c.want) {
					t.Errorf("it said %q, want %q", got.Output, c.want)
				}
				if c.want != "done" || c.tool != "edit_file" {
					return // not every kind can be read without a wait
				}
				if data, err := os.ReadFile(filepath.Join(w.dir, "f")); err != nil || !strings.Contains(strings.ReplaceAll(string(data), "\x00", ""), `$1\`) {
					t.Errorf("the file holds %q, %v", data, err)
				}
			})
		}
	}
}
