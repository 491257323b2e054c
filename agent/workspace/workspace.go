// Package workspace is the files that a session works on: some folders on disk,
// each behind one [os.Root]. It is the one place that writes user files.
//
// A [Workspace] implements the file half of [agent.Editor]: Stat, Read, List and
// Apply. What it reads and writes is the disk, but for the files that an editor
// has open, see [Workspace.Overlay] and [Workspace.Hold].
//
// # Paths
//
// A path is relative to the first folder, or absolute, and nothing in it is
// decoded. Every symbolic link in it is resolved before anything is decided: what
// counts as inside is the file itself and not the name that leads to it. Secret
// or protected is a file by its own name, by each name on the way to it, and if a
// well-known name such as .git/hooks leads to it. All opens then go through the directory that really
// holds the file, which is itself opened through the folder's root.
//
// # Text
//
// A file is text in UTF-8 or, with a byte-order mark, in UTF-16. Bytes that are
// not text in its encoding are kept as they are, see [agent.File]; only an edit of
// the very lines that hold them is refused. Nothing is converted on the way to
// the disk: encoding, byte-order mark and line ends stay.
//
// So Latin-1 and GBK are edited byte-exactly beside their own characters, and are not
// guessed: a line with one is refused with its offset. UTF-16 with half a character and
// a NUL byte are refused; a file of more than [MaxSize], a pipe and a device are so before
// they are opened. A file that can't be shown can be renamed, but not deleted.
// tools.TestEachToolOnEachKindOfFile has the table.
//
// # Landing
//
// [Workspace.Apply] writes what was approved and nothing else. If the file changed
// since the edit was planned, [Rebase] moves the hunks whose lines are still
// there; the texts of hunks never change.
//
// An edited file is a new one that takes the old one's name, so that nobody sees
// half of it. It keeps owner, group and mode with all its bits; on Linux also the
// access list and the user's attributes. If one of them can't be kept, or this
// user may not write the file where it is, the edit is refused. Other hard links
// keep the old text, which the Landing says.
//
// Landings on one path exclude each other, within a Workspace always, and across
// all of this machine that share a directory, see [Workspace.ShareLandings].
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"assent/agent"
)

// Workspace is some folders on disk. It may be used by several sessions at once.
type Workspace struct {
	folders []*folder
	landing locks    // by canonical path
	shared  string   // directory of the locks shared with other workspaces, or ""
	guarded []string // see Guard
	folded  []string // the folders as opened and as resolved, see foldPath
	buffers Buffers  // see Overlay
}

// Buffers are the texts of files that are open in an editor, saved or not.
type Buffers interface {
	// Buffer is the text of an open file, by its absolute path with every link
	// resolved. An error says why the text of an open file is not known.
	Buffer(path string) (text string, open bool, err error)
}

// Overlay makes the text of an open file count instead of the one on disk, for
// Stat and Read. It must be called before the workspace is used.
func (w *Workspace) Overlay(b Buffers) { w.buffers = b }

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
		w.folded = append(w.folded, foldPath(filepath.ToSlash(f.path)))
		if abs, err := filepath.Abs(name); err == nil {
			w.folded = append(w.folded, foldPath(filepath.ToSlash(abs)))
		}
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

// Now is the text that the file of a planned edit has at this moment, as an editor shows
// it or else on disk. It is for the person who decides on the edit: what a tool may
// read goes through Read.
func (w *Workspace) Now(e agent.Edit) (text string, known bool) {
	t, err := w.find(e.Path)
	if err != nil || t.Path != e.Path {
		return "", false
	}
	if text, open, err := w.buffer(t.Path); open || err != nil {
		return text, err == nil
	}
	f, err := w.readDisk(t)
	return f.Text, err == nil
}
