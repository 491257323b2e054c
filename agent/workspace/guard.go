package workspace

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"assent/agent"
)

// Guard makes paths of our own, and all below them, protected and secret in this
// workspace, wherever they are and whether or not they exist yet: the file with
// the key, the journals. Names alone can't tell them. Paths are absolute; what
// they lead to counts as well as they themselves. It must be called before the
// workspace is used.
func (w *Workspace) Guard(paths ...string) {
	for _, path := range paths {
		if abs, err := filepath.Abs(path); err == nil && path != "" {
			w.guarded = append(w.guarded, abs)
		}
	}
}

// linkable are the names at the top of a folder that are followed where they are
// links: what they lead to is what runs, or what is secret, under another name.
// What is in a directory comes after it, and is not looked for if that is missing.
var linkable = []string{
	".git", ".git/hooks", ".git/config", ".git/info", ".githooks", ".husky", ".github", ".github/workflows", ".gitlab",
	".gitlab-ci.yml", ".gitattributes", ".gitmodules", ".ci", ".circleci", ".vscode", ".idea", ".devcontainer", ".cursor",
	".clinerules", ".cursorrules", ".mcp.json", ".claude", ".claude/settings.json", ".claude/hooks", "AGENTS.md", "CLAUDE.md",
	".envrc", ".env", ".env.local", ".npmrc", ".netrc", ".ssh", ".gnupg", ".aws", ".config", ".bashrc", ".zshrc", ".profile", ".gitconfig",
}

// linkableDirs are those in which each entry is looked at.
var linkableDirs = []string{".git/hooks", ".githooks", ".husky", ".github/workflows"}

// maxLinkable is how many entries of such a directory are looked at.
const maxLinkable = 256

// reach is where well-known names lead at the moment: the protected and secret
// places that have harmless names. It is found anew for each call, since a link
// is made in no time, by a command or another program; that costs some dozens of
// Lstat, and a walk only for what is a link. Paths are folded.
type reach struct{ protected, secret []string }

func (w *Workspace) reach() reach {
	var r reach
	for _, path := range w.guarded {
		// As far as it can be followed: what can't be followed can't be reached.
		real, _ := resolve(path)
		for _, p := range []string{path, real} {
			r.add(p, true, true)
		}
	}
	for _, f := range w.folders {
		absent := "/"
		for _, name := range linkable {
			if !strings.HasPrefix(name, absent) && !r.follow(f.path, name) {
				absent = name + "/"
			}
		}
		for _, dir := range linkableDirs {
			for _, name := range linksIn(filepath.Join(f.path, filepath.FromSlash(dir))) {
				r.follow(f.path, dir+"/"+name)
			}
		}
		r.add(gitDir(f.path), true, false)
	}
	return r
}

func (r *reach) add(path string, protected, secret bool) {
	if path == "" {
		return
	}
	p := foldPath(filepath.ToSlash(path))
	if protected {
		r.protected = append(r.protected, p)
	}
	if secret {
		r.secret = append(r.secret, p)
	}
}

// follow adds where a name of the tables leads, if it is a link, and reports
// whether something is there.
func (r *reach) follow(folder, name string) bool {
	link := folder + string(filepath.Separator) + filepath.FromSlash(name)
	info, err := os.Lstat(link)
	if err != nil {
		return false
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return true
	}
	if real, err := resolve(link); err == nil {
		// ".config" itself is in no table, but places below it are.
		r.add(real, Protected(name) || name == ".config", Secret(name))
	}
	return true
}

// linksIn names the symbolic links in a directory.
func linksIn(dir string) []string {
	f, err := openDirectory(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxLinkable)
	var links []string
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			links = append(links, e.Name())
		}
	}
	return links
}

func openDirectory(dir string) (*os.File, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNotDir
	}
	return os.OpenFile(dir, os.O_RDONLY|noWait, 0)
}

// gitDir is where a folder's ".git" that is a file says the repository is, "" if
// it is none.
func gitDir(folder string) string {
	file := filepath.Join(folder, ".git")
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.OpenFile(file, os.O_RDONLY|noWait, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, 4096))
	dir, ok := strings.CutPrefix(string(data), "gitdir:")
	if dir = strings.TrimSpace(dir); !ok || dir == "" || strings.ContainsRune(dir, 0) {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(folder, dir)
	}
	real, _ := resolve(dir)
	return real
}

// warn marks what is secret or protected by where it is or by one of the names
// that led there.
//
// The whole path counts for secrets, so that a workspace in ~/.ssh is no way
// around. The names on the way count since a link may hide, or a name fold to,
// any of them: "hooks.d" that leads to ".git/hooks", which leads to "hooks.d2".
func (w *Workspace) warn(info *agent.Info, r reach, onTheWay ...string) {
	for _, path := range append(onTheWay, info.Path) {
		name := filepath.ToSlash(path)
		info.Secret = info.Secret || Secret(name)
		info.Protected = info.Protected || protectedBelow(name, w.folded)
	}
	p := foldPath(filepath.ToSlash(info.Path))
	info.Secret = info.Secret || inAny(p, r.secret)
	info.Protected = info.Protected || inAny(p, r.protected)
}

// inAny reports whether a folded path is one of some places or below one. Case is
// folded, as for every rule that only adds to what is asked.
func inAny(p string, places []string) bool {
	for _, place := range places {
		if strings.HasPrefix(p, place) {
			return true
		}
	}
	return false
}
