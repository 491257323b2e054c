package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/workspace"
)

// A well-known name may be a link; then the file that it leads to is what the
// system runs or holds secret, whatever it is called.
func TestWhatAWellKnownNameLeadsToIsWhatItIsCalled(t *testing.T) {
	for _, c := range []struct {
		name, at  string
		files     map[string]string
		protected bool
		secret    bool
	}{
		{name: "hooks kept elsewhere", at: "myhooks/pre-commit", files: map[string]string{".git/hooks": "-> ../myhooks", "myhooks/pre-commit": "x"}, protected: true},
		{name: "the directory itself", at: "myhooks", files: map[string]string{".git/hooks": "-> ../myhooks", "myhooks/pre-commit": "x"}, protected: true},
		{name: "one hook kept elsewhere", at: "scripts/check", files: map[string]string{".git/hooks/pre-commit": "-> ../../scripts/check", "scripts/check": "x"}, protected: true},
		{name: "workflows kept elsewhere", at: "wf/ci.yml", files: map[string]string{".github/workflows": "-> ../wf", "wf/ci.yml": "x"}, protected: true},
		{name: "a workflow that is not there yet", at: "wf/new/ci.yml", files: map[string]string{".github/workflows": "-> ../wf"}, protected: true},
		{name: "one workflow kept elsewhere", at: "ci/build.yml", files: map[string]string{".github/workflows/b.yml": "-> ../../ci/build.yml", "ci/build.yml": "x"}, protected: true},
		{name: "another spelling of the same place", at: "WF/ci.yml", files: map[string]string{".github/workflows": "-> ../wf"}, protected: true},
		{name: "a repository kept elsewhere", at: "store/anything", files: map[string]string{".git": "-> store", "store/hooks/x": ""}, protected: true},
		{name: "hooks of that repository kept elsewhere", at: "h/x", files: map[string]string{".git": "-> store", "store/hooks": "-> ../h", "h/x": ""}, protected: true},
		{name: "a repository that a file points to", at: "store/config", files: map[string]string{".git": "gitdir: store\n", "store/config": ""}, protected: true},
		{name: "a link to a link", at: "c/x", files: map[string]string{".husky": "-> b", "b": "-> c", "c/x": ""}, protected: true},
		{name: "secrets kept elsewhere", at: "plain.txt", files: map[string]string{".env": "-> plain.txt", "plain.txt": "T=1"}, secret: true},
		{name: "a directory of secrets kept elsewhere", at: "k/x", files: map[string]string{".ssh": "-> k", "k/x": "T=1"}, secret: true, protected: true},
		{name: "both", at: "rc", files: map[string]string{".envrc": "-> rc", "rc": "T=1"}, secret: true, protected: true},
		{name: "a name that only begins like it", at: "wf2/ci.yml", files: map[string]string{".github/workflows": "-> ../wf", "wf2/ci.yml": "x"}},
		{name: "a link of no such name", at: "wf/ci.yml", files: map[string]string{"flows": "-> wf", "wf/ci.yml": "x"}},
		{name: "a loop", at: "a/x", files: map[string]string{".git/hooks": "-> hooks", "a/x": ""}},
		{name: "on the way, further down", at: "x/pre-commit", files: map[string]string{"x": "-> sub/.git/hooks", "sub/.git/hooks": "-> ../../myhooks", "myhooks/pre-commit": ""}, protected: true},
		{name: "on the way to a secret", at: "x", files: map[string]string{"x": "-> sub/.env", "sub/.env": "-> ../plain", "plain": ""}, secret: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.files)
			info, err := w.Stat(t.Context(), c.at)
			if err != nil || info.Protected != c.protected || info.Secret != c.secret {
				t.Errorf("info = %+v, %v; want protected %v, secret %v", info, err, c.protected, c.secret)
			}
			for info, err := range w.List(t.Context(), ".") {
				w.must(err)
				if info.Path == w.path(c.at) && (info.Protected != c.protected || info.Secret != c.secret) {
					t.Errorf("listed %+v; want protected %v, secret %v", info, c.protected, c.secret)
				}
			}
		})
	}
}

func TestAWellKnownNameInAnotherFolderCounts(t *testing.T) {
	w := newWorld(t, map[string]string{"../lib/.git/hooks": "-> DIR/app/h", "h/pre-commit": "x"})
	two, err := workspace.Open(w.app, filepath.Join(w.dir, "lib"))
	w.must(err)
	defer two.Close()
	if info, err := two.Stat(t.Context(), "h/pre-commit"); err != nil || !info.Protected {
		t.Errorf("info = %+v, %v", info, err)
	}
}

func TestOnlyNamesInsideAFolderProtectButForSecretPlaces(t *testing.T) {
	for _, c := range []struct {
		folder, at string
		want       bool
	}{
		{".github/app", "main.go", false},
		{".github", "main.go", false},
		{".github", "workflows/ci.yml", true},
		{".config/nvim", "init.lua", false},
		{".config", "autostart/x.desktop", true},
		{".vscode/extensions/mine", "main.js", false},
		{".vscode/extensions/mine", ".vscode/tasks.json", true},
		{".windsurf/app", "main.go", false},
		{".windsurf/app", ".windsurfrules", true},
		{".git/worktree", "main.go", true},
		{".ssh/app", "main.go", true},
		{".gnupg", "main.go", true},
		{".config/assent", "config.toml", true},
		{"plain", "AGENTS.md", true},
	} {
		t.Run(c.folder+" "+c.at, func(t *testing.T) {
			w := newWorld(t, map[string]string{filepath.Join("..", c.folder, c.at): ""})
			folder := filepath.Join(w.dir, c.folder)
			w.must(os.Symlink(folder, filepath.Join(w.dir, "alias")))
			for _, opened := range []string{folder, filepath.Join(w.dir, "alias")} {
				ws, err := workspace.Open(opened)
				w.must(err)
				defer ws.Close()
				for _, spelled := range []string{c.at, filepath.Join(opened, c.at), filepath.Join(folder, c.at)} {
					if info, err := ws.Stat(t.Context(), spelled); err != nil || info.Protected != c.want || info.Outside {
						t.Errorf("%s in %s: %+v, %v", spelled, opened, info, err)
					}
				}
				for info, err := range ws.List(t.Context(), ".") {
					w.must(err)
					if !info.Dir && info.Protected != c.want {
						t.Errorf("listed in %s: %+v", opened, info)
					}
				}
			}
		})
	}
}

func TestGuardedPathsAreAskedWhateverTheyAreCalled(t *testing.T) {
	w := newWorld(t, map[string]string{
		"conf/settings.toml": "", "conf/deep/x": "", "confetti": "", "state/s.jsonl": "", "link": "-> state", "other.toml": "",
	})
	w.Guard(w.path("conf"), w.path("link"), w.path("later/my.toml"), "")
	for name, want := range map[string]bool{
		"conf": true, "conf/settings.toml": true, "CONF/Settings.toml": true, "conf/deep/x": true, "conf/new": true,
		"state/s.jsonl": true, "link/s.jsonl": true, "later/my.toml": true, "LATER/MY.toml": true,
		"later/other.toml": false, "confetti": false, "other.toml": false, ".": false,
	} {
		info, err := w.Stat(t.Context(), name)
		if err != nil || info.Protected != want || info.Secret != want {
			t.Errorf("%s: %+v, %v; want %v", name, info, err, want)
		}
	}
	w.put("later/my.toml", "-> ../other.toml")
	if info, err := w.Stat(t.Context(), "other.toml"); err != nil || !info.Protected || !info.Secret {
		t.Errorf("where the guarded name leads now: %+v, %v", info, err)
	}
	for info, err := range w.List(t.Context(), ".") {
		w.must(err)
		if strings.HasPrefix(info.Name, "conf/") && (!info.Protected || !info.Secret) {
			t.Errorf("listed %+v", info)
		}
	}
}

func TestControlCharactersMakeNoNewNames(t *testing.T) {
	odd := []string{"a\nb", "a\x1b[2Kb", "a\x7fb", "a\u2028b", "a\u2029b", "a\u202eb", "a\u2066b", "a\u009bb", "a\u200fb", "d\n/b"}
	w := newWorld(t, map[string]string{"f": "text", "there\n": "text", "link": "-> new\nname"})
	for _, name := range append(odd, "link") {
		if info, err := w.Stat(t.Context(), name); err == nil || !strings.Contains(err.Error(), "does not show") || strings.ContainsAny(err.Error(), "\n\x1b\u202e") {
			t.Errorf("%q: %+v, %v", name, info, err)
		}
		w.failed(w.apply(w.creation(name, "x")), "does not show")
		w.failed(w.apply(w.renaming("f", name)), "does not show")
	}
	if got, err := w.Read(t.Context(), agent.Approval{}, "there\n"); err != nil || got.Text != "text" {
		t.Errorf("an existing one reads as %q, %v", got.Text, err)
	}
	if l := w.apply(w.renaming("there\n", "there")); l.Status != agent.LandComplete {
		t.Errorf("it gets no better name: %+v", l)
	}
	for _, name := range []string{"naïve 文.txt", "👩‍💻.md"} {
		e := w.creation(name, "x")
		w.landed(w.apply(e), e)
	}
}

func TestWhatIsOutsideIsNotToldByAnError(t *testing.T) {
	w := newWorld(t, map[string]string{"../outside/f": "x", "../outside/loop": "-> loop", "esc": "-> DIR/outside/f"})
	for _, path := range []string{"f/x", "f/../g/x", "loop", "loop/x", strings.Repeat("n", 300)} {
		path = w.outside + "/" + path
		info, err := w.Stat(t.Context(), path)
		if err != nil || !info.Outside || info.Exists || info.Dir {
			t.Errorf("Stat(%.60q) = %+v, %v", path, info, err)
		}
		if _, err := w.Read(t.Context(), agent.Approval{}, path); err == nil || !strings.Contains(err.Error(), "not approved") {
			t.Errorf("Read(%.60q): %v", path, err)
		}
	}
	if info, err := w.Stat(t.Context(), "esc/x"); err != nil || !info.Outside || info.Path != w.outside+"/f/x" {
		t.Errorf("behind a link: %+v, %v", info, err)
	}
}
