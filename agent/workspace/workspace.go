// Package workspace is the files that a session works on: some folders on disk,
// each behind one [os.Root]. It is the one place that writes user files.
//
// A [Workspace] implements the file half of [agent.Editor]: Stat, Read, List and
// Apply. What it reads and writes is the disk.
//
// # Paths
//
// A path is relative to the first folder, or absolute, and nothing in it is
// decoded. Every symbolic link in it is resolved before anything is decided, so
// what counts as inside, as secret or as protected is the file itself and not
// the name that leads to it. All opens then go through the directory that really
// holds the file, which is itself opened through the folder's root.
//
// # Text
//
// A file is text in UTF-8 or, with a byte-order mark, in UTF-16. Bytes that are
// not text in its encoding are kept as they are, see [agent.File]; only an edit of
// the very lines that hold them is refused. Nothing is converted on the way to
// the disk: encoding, byte-order mark, line ends and permissions stay.
//
// # Landing
//
// [Workspace.Apply] writes what was approved and nothing else. If the file changed
// since the edit was planned, [Rebase] moves the hunks whose lines are still
// there; the texts of hunks never change.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"assent/agent"
)

// Workspace is some folders on disk. It may be used by several sessions at once.
type Workspace struct {
	folders []*folder
	landing locks  // by canonical path
	shared  string // directory of the locks shared with other workspaces, or ""
	guarded []string
}

// folder is a workspace folder. Its root stays on the same directory even if
// that is renamed.
type folder struct {
	path string // absolute, every link resolved
	root *os.Root
}

// ErrFolder says that a workspace folder can't be opened as named.
var ErrFolder = errors.New("no such workspace")

type folderError struct{ error }

func (e folderError) Unwrap() []error { return []error{ErrFolder, e.error} }

// Open opens the folders, of which there must be at least one. Relative paths
// are then relative to the first. Its errors are [ErrFolder].
func Open(folders ...string) (*Workspace, error) {
	if len(folders) == 0 {
		return nil, errors.New("open a workspace: no folder was given; name at least one directory")
	}
	w := &Workspace{}
	for _, name := range folders {
		f, err := openFolder(name)
		if err != nil {
			w.Close()
			return nil, folderError{err}
		}
		w.folders = append(w.folders, f)
	}
	return w, nil
}

func openFolder(name string) (*folder, error) {
	abs, err := filepath.Abs(name)
	if name == "" || err != nil {
		return nil, fmt.Errorf("workspace %q: not a path to a directory; name one that exists", name)
	}
	real, err := resolve(abs)
	if err != nil {
		return nil, fmt.Errorf("workspace %s: %w", name, err)
	}
	info, err := os.Stat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("workspace %s: %w", name, sentence{fs.ErrNotExist, "no such directory; make it or name another"})
	case err != nil:
		return nil, fmt.Errorf("workspace %s: %w; name a directory that you can open", name, plain(err))
	case !info.IsDir():
		return nil, fmt.Errorf("workspace %s: a file, not a directory; name the directory that holds it", name)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("workspace %s: %w; name a directory that you can open", name, plain(err))
	}
	return &folder{path: real, root: root}, nil
}

// Close closes the folders. Nothing can be read or written afterwards.
func (w *Workspace) Close() error {
	var errs []error
	for _, f := range w.folders {
		errs = append(errs, f.root.Close())
	}
	return errors.Join(errs...)
}

// Folders lists the folders: absolute, every symbolic link resolved.
func (w *Workspace) Folders() []string {
	var paths []string
	for _, f := range w.folders {
		paths = append(paths, f.path)
	}
	return paths
}

// Stat implements [agent.Files].
func (w *Workspace) Stat(ctx context.Context, path string) (agent.Info, error) {
	if err := ctx.Err(); err != nil {
		return agent.Info{}, err
	}
	t, err := w.find(path)
	return t.Info, err
}

// target is what a path leads to.
type target struct {
	agent.Info
	folder *folder // nil if outside
	rel    string  // in the folder, with the separators of the system
	mode   fs.FileMode
}

// find resolves a path and says what is there. Errors name the path as spelled.
func (w *Workspace) find(name string) (target, error) {
	if err := checkSpelling(name); err != nil {
		return target{}, err
	}
	spelled := filepath.FromSlash(name)
	if !filepath.IsAbs(spelled) {
		// Not filepath.Join, which would cut "link/.." before the link is known.
		spelled = w.folders[0].path + string(filepath.Separator) + spelled
	}
	real, err := resolve(spelled)
	if err != nil {
		return target{}, fmt.Errorf("%s: %w", name, err)
	}
	t := target{Info: agent.Info{Path: real}}
	t.folder, t.rel, t.Name = w.place(real)
	t.Outside = t.folder == nil
	// The whole path counts, so that a workspace in ~/.ssh is no way around. The
	// spelling counts because a link may hide, or a name fold to, either of them.
	t.Secret = Secret(filepath.ToSlash(real)) || Secret(filepath.ToSlash(spelled))
	t.Protected = Protected(filepath.ToSlash(real)) || Protected(filepath.ToSlash(spelled))
	w.warn(&t)

	info, err := os.Lstat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return target{}, fmt.Errorf("%s: %w; name a file that can be looked at", name, plain(err))
	}
	t.Exists, t.Dir, t.Size, t.mode = true, info.IsDir(), info.Size(), info.Mode()
	return t, nil
}

// place finds the folder that holds a resolved path, and the name there.
func (w *Workspace) place(real string) (f *folder, rel, name string) {
	for i, f := range w.folders {
		rel, err := filepath.Rel(f.path, real)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if i > 0 { // a relative name would be looked for in the first folder
			return f, rel, real
		}
		return f, rel, filepath.ToSlash(rel)
	}
	return nil, "", real
}

func checkSpelling(name string) error {
	if name == "" {
		return errors.New("an empty path: name a file, relative to the workspace or absolute")
	}
	if strings.ContainsRune(name, 0) {
		return fmt.Errorf("%q: a path with a NUL byte; name a file without it", name)
	}
	if runtime.GOOS == "windows" && strings.Contains(name[len(filepath.VolumeName(name)):], ":") {
		return fmt.Errorf("%s: a path with a stream name; name the file itself", name)
	}
	return nil
}
