package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/workspace"
)

func TestPathsLeadWhereTheFileReallyIs(t *testing.T) {
	w := newWorld(t, map[string]string{
		"a/b":               "text",
		"secret.env":        "-> .env",
		".env":              "T=abc",
		"esc":               "-> DIR/outside",
		"dang":              "-> DIR/outside/new.txt",
		"in":                "-> DIR/app/a",
		"up":                "-> a/..",
		"chain":             "-> in/b",
		"git":               "-> .git",
		".git/config":       "",
		"%2e%2e/x":          "",
		"../app-secret/k":   "key",
		"../outside/secret": "",
	})
	for _, c := range []struct {
		name, path string
		want       agent.Info // with DIR in Path and Name
	}{
		{"a file", "a/b", agent.Info{Path: "DIR/app/a/b", Name: "a/b", Exists: true, Size: 4}},
		{"dots on the way", "./a/./b", agent.Info{Path: "DIR/app/a/b", Name: "a/b", Exists: true, Size: 4}},
		{"an absolute path", "DIR/app/a/b", agent.Info{Path: "DIR/app/a/b", Name: "a/b", Exists: true, Size: 4}},
		{"the folder", ".", agent.Info{Path: "DIR/app", Name: ".", Exists: true, Dir: true}},
		{"the folder, absolute", "DIR/app", agent.Info{Path: "DIR/app", Name: ".", Exists: true, Dir: true}},
		{"up and down again", "a/../a/b", agent.Info{Path: "DIR/app/a/b", Name: "a/b", Exists: true, Size: 4}},
		{"nothing yet", "new/dir/f", agent.Info{Path: "DIR/app/new/dir/f", Name: "new/dir/f"}},
		{"up from what is missing", "new/../a/b", agent.Info{Path: "DIR/app/a/b", Name: "a/b", Exists: true, Size: 4}},
		{"out through what is missing", "new/../../outside/x", agent.Info{Path: "DIR/outside/x", Name: "DIR/outside/x", Outside: true}},
		{"out with a link after what is missing", "new/../esc/x", agent.Info{Path: "DIR/outside/x", Name: "DIR/outside/x", Outside: true}},
		{"a neighbour with the same beginning", "DIR/app-secret/k", agent.Info{Path: "DIR/app-secret/k", Name: "DIR/app-secret/k", Exists: true, Size: 3, Outside: true}},
		{"the neighbour, relative", "../app-secret/k", agent.Info{Path: "DIR/app-secret/k", Name: "DIR/app-secret/k", Exists: true, Size: 3, Outside: true}},
		{"the neighbour, from below", "a/../../app-secret/k", agent.Info{Path: "DIR/app-secret/k", Name: "DIR/app-secret/k", Exists: true, Size: 3, Outside: true}},
		{"percent signs are letters", "%2e%2e/app-secret/k", agent.Info{Path: "DIR/app/%2e%2e/app-secret/k", Name: "%2e%2e/app-secret/k"}},
		{"a link in the middle that leads out", "esc/a.txt", agent.Info{Path: "DIR/outside/a.txt", Name: "DIR/outside/a.txt", Outside: true}},
		{"what is missing behind it", "esc/missing/deep.txt", agent.Info{Path: "DIR/outside/missing/deep.txt", Name: "DIR/outside/missing/deep.txt", Outside: true}},
		{"up from where the link leads", "esc/../outside/secret", agent.Info{Path: "DIR/outside/secret", Name: "DIR/outside/secret", Exists: true, Outside: true}},
		{"a link to nothing outside", "dang", agent.Info{Path: "DIR/outside/new.txt", Name: "DIR/outside/new.txt", Outside: true}},
		{"an absolute link inside", "in/b", agent.Info{Path: "DIR/app/a/b", Name: "a/b", Exists: true, Size: 4}},
		{"a link to a link", "chain", agent.Info{Path: "DIR/app/a/b", Name: "a/b", Exists: true, Size: 4}},
		{"a link that goes up", "up/a/b", agent.Info{Path: "DIR/app/a/b", Name: "a/b", Exists: true, Size: 4}},
		{"a secret", ".env", agent.Info{Path: "DIR/app/.env", Name: ".env", Exists: true, Size: 5, Secret: true}},
		{"a link to a secret", "secret.env", agent.Info{Path: "DIR/app/.env", Name: ".env", Exists: true, Size: 5, Secret: true}},
		{"a secret in other case", ".ENV", agent.Info{Path: "DIR/app/.ENV", Name: ".ENV", Secret: true}},
		{"a link to protected files", "git/config", agent.Info{Path: "DIR/app/.git/config", Name: ".git/config", Exists: true, Protected: true, Secret: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := w.Stat(t.Context(), strings.ReplaceAll(c.path, "DIR", w.dir))
			c.want.Path = strings.ReplaceAll(c.want.Path, "DIR", w.dir)
			c.want.Name = strings.ReplaceAll(c.want.Name, "DIR", w.dir)
			if got.Dir {
				got.Size = 0
			}
			if err != nil || got != c.want {
				t.Errorf("Stat(%q) = %+v, %v\nwant %+v", c.path, got, err, c.want)
			}
		})
	}
}

func TestPathsThatLeadNowhere(t *testing.T) {
	w := newWorld(t, map[string]string{"loop": "-> loop", "ping": "-> pong", "pong": "-> ping", "f": "text"})
	for path, want := range map[string]string{
		"":                       "empty path",
		"a\x00b":                 "NUL",
		"loop":                   "too many symbolic links",
		"ping/x":                 "too many symbolic links",
		"f/x":                    "not a directory",
		"f/../f":                 "not a directory",
		strings.Repeat("x", 300): "name another path",
	} {
		if info, err := w.Stat(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Stat(%.20q) = %+v, %v; want %q", path, info, err, want)
		}
	}
}

func TestNamesInSeveralFolders(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "1", "../lib/sub/g": "2"})
	lib := filepath.Join(w.dir, "lib")
	two, err := workspace.Open(w.app, lib)
	w.must(err)
	defer two.Close()
	for path, want := range map[string]string{
		"f":          "f",
		"../lib":     lib, // a relative name would be looked for in the first folder
		lib:          lib,
		lib + "/new": lib + "/new",
	} {
		info, err := two.Stat(t.Context(), path)
		if err != nil || info.Name != want || info.Outside {
			t.Errorf("Stat(%q) = %+v, %v; want the name %q", path, info, err, want)
		}
	}
	var got []string
	for info, err := range two.List(t.Context(), lib) {
		w.must(err)
		got = append(got, info.Name)
	}
	if strings.Join(got, " ") != "lib/sub lib/sub/g" {
		t.Errorf("listed %q", got)
	}
}

func TestAWorkspaceInASecretPlaceIsNoWayAround(t *testing.T) {
	w := newWorld(t, map[string]string{"../.ssh/config": "Host x"})
	ssh, err := workspace.Open(filepath.Join(w.dir, ".ssh"))
	w.must(err)
	defer ssh.Close()
	if info, err := ssh.Stat(t.Context(), "config"); err != nil || !info.Secret || !info.Protected || info.Outside {
		t.Errorf("info = %+v, %v", info, err)
	}
}

func TestWhatCannotBeOpened(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "", "loop": "-> loop"})
	for _, c := range []struct {
		name    string
		folders []string
		want    string
	}{
		{"no folder", nil, "no folder was given"},
		{"an empty name", []string{""}, "not a path"},
		{"a missing directory", []string{w.path("none")}, "workspace " + w.path("none") + ": no such directory; make it or name another"},
		{"a file", []string{w.path("f")}, "a file, not a directory"},
		{"a loop of links", []string{w.path("loop")}, "too many symbolic links"},
		{"a good one and a missing one", []string{w.app, w.path("none")}, "no such directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := workspace.Open(c.folders...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want %q", err, c.want)
			}
		})
	}
	if _, err := workspace.Open(w.path("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error %v hides its cause", err)
	}
}

func TestAFolderIsOpenedByWhereItsLinkLeads(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "text"})
	link := filepath.Join(w.dir, "link")
	w.must(os.Symlink(w.app, link))
	ws, err := workspace.Open(link)
	w.must(err)
	defer ws.Close()
	if got := ws.Folders(); len(got) != 1 || got[0] != w.app {
		t.Errorf("folders = %q", got)
	}
	for _, path := range []string{"f", filepath.Join(link, "f"), w.path("f")} {
		if info, err := ws.Stat(t.Context(), path); err != nil || info.Outside || info.Name != "f" {
			t.Errorf("Stat(%q) = %+v, %v", path, info, err)
		}
	}
}
