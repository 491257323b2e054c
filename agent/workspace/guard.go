package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Guard makes paths of our own, and all below them, protected and secret in this
// workspace, wherever they are: the file with the key, the journals. Names alone
// can't tell them. It is called before the workspace is used.
func (w *Workspace) Guard(paths ...string) {
	for _, p := range paths {
		real, err := resolve(p)
		if err != nil {
			real = filepath.Clean(p) // a path that can't be followed can't be reached either
		}
		w.guarded = append(w.guarded, real)
	}
}

// linkable are the names of the tables that are worth following where they are
// links: what they lead to is what runs, or what is secret, under another name.
var linkable = []string{
	".git", ".git/hooks", ".git/config", ".githooks", ".husky", ".github", ".github/workflows", ".vscode", ".idea",
	".devcontainer", ".envrc", ".bashrc", ".zshrc", ".profile", ".gitconfig", ".ssh", ".config", ".env", ".env.local", ".netrc",
}

// warn adds what is known of a resolved path besides its name.
func (w *Workspace) warn(t *target) {
	for _, g := range w.guarded {
		if within(g, t.Path) {
			t.Protected, t.Secret = true, true
		}
	}
	for _, f := range w.folders {
		for _, name := range linkable {
			link := filepath.Join(f.path, filepath.FromSlash(name))
			info, err := os.Lstat(link)
			if err != nil || info.Mode()&fs.ModeSymlink == 0 {
				continue
			}
			if real, err := resolve(link); err == nil && within(real, t.Path) {
				t.Protected = t.Protected || Protected(name)
				t.Secret = t.Secret || Secret(name)
			}
		}
	}
}

// within reports whether a path is dir or below it. Case is folded, as for every
// rule that only adds to what is asked.
func within(dir, path string) bool {
	rel, err := filepath.Rel(strings.ToLower(dir), strings.ToLower(path))
	return err == nil && filepath.IsLocal(rel)
}
