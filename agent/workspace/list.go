package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assent/agent"
)

// List implements [agent.Files]. A directory comes before what is in it. A
// symbolic link is listed under its own name with the Info of the file that it
// leads to, never entered, and left out when it leads outside or nowhere.
func (w *Workspace) List(ctx context.Context, dir string) iter.Seq2[agent.Info, error] {
	return func(yield func(agent.Info, error) bool) {
		t, err := w.find(dir)
		switch {
		case err != nil:
			err = fmt.Errorf("list %w", err)
		case t.Outside:
			err = fmt.Errorf("list %s: it is outside the workspace, at %s; name a directory inside", dir, t.Path)
		case !t.Exists:
			err = fmt.Errorf("list %s: %w", dir, sentence{fs.ErrNotExist, "there is no such directory; check the name"})
		case !t.Dir:
			err = fmt.Errorf("list %s: it is a file, not a directory; read it instead", dir)
		}
		if err != nil {
			yield(agent.Info{}, err)
			return
		}
		w.walkFrom(ctx, t, yield)
	}
}

// walkFrom opens the directory step by step, for the ignore files on the way.
func (w *Workspace) walkFrom(ctx context.Context, t target, yield func(agent.Info, error) bool) {
	at := level{w: w, reach: w.reach(), prefix: t.folder.nameIn(w)}
	root, err := t.folder.root.OpenRoot(".")
	if err != nil {
		yield(agent.Info{}, fmt.Errorf("list %s: %w", t.Name, missing(err)))
		return
	}
	at.root, at.real = root, t.folder.path
	at.rules = at.rules.with(root, ".git/info/exclude", nil).with(root, ".gitignore", nil)
	for _, name := range parts(t.rel) {
		if name == "." {
			continue
		}
		below, err := at.enter(name)
		at.root.Close()
		if err != nil {
			yield(agent.Info{}, fmt.Errorf("list %s: %w", t.Name, missing(err)))
			return
		}
		at = below
	}
	defer at.root.Close()
	at.walk(ctx, yield)
}

// nameIn is what the names of a folder's files begin with.
func (f *folder) nameIn(w *Workspace) string {
	if f == w.folders[0] {
		return ""
	}
	return filepath.Base(f.path)
}

// level is a directory in the middle of a walk.
type level struct {
	w      *Workspace
	reach  reach
	root   *os.Root
	real   string   // its path
	prefix string   // its name for people, "" for the first folder
	path   []string // in its folder
	rules  ignoreRules
}

// enter opens a directory one level down.
func (l level) enter(name string) (level, error) {
	root, err := l.root.OpenRoot(name)
	if err != nil {
		return level{}, err
	}
	l.root, l.real = root, filepath.Join(l.real, name)
	l.prefix = path.Join(l.prefix, name)
	l.path = append(slices.Clip(l.path), name)
	l.rules = l.rules.with(root, ".gitignore", l.path)
	return l, nil
}

// walk yields what is in the directory and below; false means to stop.
func (l level) walk(ctx context.Context, yield func(agent.Info, error) bool) bool {
	names, err := l.names()
	if err != nil && !yield(agent.Info{}, fmt.Errorf("list %s: %w", cmp.Or(l.prefix, "."), missing(err))) {
		return false
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			yield(agent.Info{}, err)
			return false
		}
		info, listed, err := l.look(name)
		if err != nil {
			if !yield(agent.Info{}, fmt.Errorf("list %s: %w", path.Join(l.prefix, name), missing(err))) {
				return false
			}
			continue
		}
		if !listed {
			continue
		}
		if !yield(info, nil) {
			return false
		}
		if info.Dir && info.Path == filepath.Join(l.real, name) && !l.descend(ctx, name, yield) {
			return false
		}
	}
	return true
}

func (l level) descend(ctx context.Context, name string, yield func(agent.Info, error) bool) bool {
	below, err := l.enter(name)
	if err != nil {
		return yield(agent.Info{}, fmt.Errorf("list %s: %w", path.Join(l.prefix, name), missing(err)))
	}
	defer below.root.Close()
	return below.walk(ctx, yield)
}

func (l level) names() ([]string, error) {
	dir, err := l.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// look says what an entry is, and whether it is to be listed.
func (l level) look(name string) (info agent.Info, listed bool, err error) {
	if strings.EqualFold(name, ".git") || isTemporary(name) {
		return agent.Info{}, false, nil
	}
	entry, err := l.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		return agent.Info{}, false, nil
	}
	if err != nil {
		return agent.Info{}, false, err
	}
	if l.rules.match(append(slices.Clip(l.path), name), entry.IsDir()) {
		return agent.Info{}, false, nil
	}
	real := filepath.Join(l.real, name)
	if entry.Mode()&fs.ModeSymlink != 0 {
		t, err := l.w.find(real)
		if err != nil || t.Outside || !t.Exists {
			return agent.Info{}, false, nil
		}
		t.Name = path.Join(l.prefix, name)
		return t.Info, true, nil
	}
	info = agent.Info{Path: real, Name: path.Join(l.prefix, name), Exists: true, Dir: entry.IsDir(), Size: entry.Size()}
	l.w.warn(&info, l.reach)
	return info, true, nil
}
