package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"assent/agent"
)

// MaxSize is the largest file, in bytes on disk, that is read or edited.
const MaxSize = 16 << 20

// Read implements [agent.Files].
func (w *Workspace) Read(ctx context.Context, ok agent.Approval, path string) (agent.File, error) {
	if err := ctx.Err(); err != nil {
		return agent.File{}, err
	}
	t, err := w.find(path)
	if err != nil {
		return agent.File{}, fmt.Errorf("read %w", err)
	}
	if t.Outside && !ok.Covers(agent.OutsideRead{Path: t.Path}) {
		return agent.File{}, fmt.Errorf("read %s: it is outside the workspace, at %s, and reading it was %w; ask them first",
			path, t.Path, agent.ErrNotApproved)
	}
	if t.Secret && !ok.Covers(agent.SecretRead{Path: t.Path}) {
		return agent.File{}, fmt.Errorf("read %s: it may hold keys or credentials, and reading it was %w; ask them first",
			path, agent.ErrNotApproved)
	}
	if text, open, err := w.buffer(t.Path); open || err != nil {
		if err != nil {
			return agent.File{}, fmt.Errorf("read %s: %w", path, err)
		}
		return agent.File{Info: t.Info, Text: text, Hash: agent.HashText(text), Source: agent.SourceBuffer}, nil
	}
	f, err := w.readDisk(t)
	if err != nil {
		return agent.File{}, fmt.Errorf("read %s: %w", path, err)
	}
	return f, nil
}

func (w *Workspace) readDisk(t target) (agent.File, error) {
	at, err := w.open(t)
	if err != nil {
		return agent.File{}, err
	}
	defer at.close()
	found, err := at.read()
	if err != nil {
		return agent.File{}, err
	}
	t.Exists, t.Size = true, int64(len(found.data))
	return agent.File{Info: t.Info, Text: found.text, Hash: found.hash, Source: agent.SourceDisk}, nil
}

// spot is a file's own directory, held open, and the file's name in it: what
// happens to the names above it no longer matters.
type spot struct {
	dir  *os.Root
	base string
}

func (s spot) close() { s.dir.Close() }

// open opens the directory of what was found, through the root of its folder
// or, for a file outside, as a root of its own.
func (w *Workspace) open(t target) (spot, error) {
	name := filepath.Dir(t.Path)
	if t.broken != nil {
		return spot{}, t.broken
	}
	if t.Dir {
		return spot{}, errDir
	}
	var dir *os.Root
	var err error
	if t.folder == nil {
		dir, err = os.OpenRoot(name)
	} else {
		dir, err = t.folder.root.OpenRoot(filepath.Dir(t.rel))
	}
	if err != nil {
		return spot{}, missing(err)
	}
	// A directory on the way may have become a link since the path was resolved.
	opened, err1 := dir.Lstat(".")
	named, err2 := os.Lstat(name)
	real, err3 := resolve(name)
	if err := errors.Join(err1, err2, err3); err != nil {
		dir.Close()
		return spot{}, missing(err)
	}
	if real != name || !os.SameFile(opened, named) {
		dir.Close()
		return spot{}, errMoved
	}
	return spot{dir, filepath.Base(t.Path)}, nil
}

var errMoved = errors.New("its directory was replaced meanwhile; look at the path again")

// missing is an error of opening, in a sentence.
func missing(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sentence{fs.ErrNotExist, "there is no such file; check the name"}
	case errors.Is(err, fs.ErrPermission):
		return sentence{plain(err), "the system does not permit it; change the permissions or leave the file alone"}
	}
	return fmt.Errorf("%w; check the file", plain(err))
}

// content is a text file as it was met.
type content struct {
	info fs.FileInfo
	data []byte
	text string
	enc  encoding
	hash agent.Hash // of text
}

func (c content) equal(o content) bool { return bytes.Equal(c.data, o.data) }

// read reads the file, if it is one and is text.
func (s spot) read() (content, error) {
	info, data, err := s.bytes()
	if err != nil {
		return content{}, err
	}
	text, enc, err := decode(data)
	if err != nil {
		return content{}, err
	}
	return content{info, data, text, enc, agent.HashText(text)}, nil
}

// bytes reads what is in the file. It opens nothing but a regular file, since
// opening a device can have effects and opening a pipe waits for a writer.
func (s spot) bytes() (fs.FileInfo, []byte, error) {
	info, err := s.regular()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() > MaxSize {
		return nil, nil, tooLarge(info.Size())
	}
	f, err := s.dir.OpenFile(s.base, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, nil, missing(err)
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, nil, missing(err)
	}
	if !os.SameFile(info, opened) {
		return nil, nil, errors.New("it was replaced while it was opened; try again")
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading it failed (%w); check the file", plain(err))
	}
	if len(data) > MaxSize {
		return nil, nil, tooLarge(opened.Size())
	}
	return opened, data, nil
}

// regular looks at the file and refuses what is none.
func (s spot) regular() (fs.FileInfo, error) {
	info, err := s.dir.Lstat(s.base)
	switch {
	case err != nil:
		return nil, missing(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errors.New("it became a symbolic link meanwhile; look at the path again")
	case info.IsDir():
		return nil, errDir
	case !info.Mode().IsRegular():
		return nil, errors.New("it is a device, a pipe or a socket; name a file")
	}
	return info, nil
}

var errDir = errors.New("it is a directory; name a file in it")

func tooLarge(size int64) error {
	return fmt.Errorf("it has %d bytes, more than the %d that a text may have; use a smaller file", size, MaxSize)
}
