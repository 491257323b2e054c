package fake

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// exists tells whether something is at path, a broken link included.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// filePath is Path, or an error for what is no file.
func filePath(uri string) (string, error) {
	if p := Path(uri); p != "" {
		return p, nil
	}
	return "", fmt.Errorf("%q names no file", uri)
}

// createFile makes an empty file and the directories above it. A buffer of a
// file that is overwritten becomes empty too, and is returned.
func (e *Editor) createFile(c docChange) (*buffer, error) {
	path, err := filePath(c.URI)
	if err != nil {
		return nil, err
	}
	if exists(path) && !c.Options.Overwrite {
		if c.Options.IgnoreIfExists {
			return nil, nil
		}
		return nil, fmt.Errorf("%s exists already", c.URI)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		return nil, err
	}
	b := e.buffers[key(c.URI)]
	if b == nil {
		return nil, nil
	}
	b.saved, b.bom = "", false
	if b.text != "" {
		e.edit(b, []span{{0, len(b.text), ""}})
	}
	return b, nil
}

// deleteFile removes a file, or a directory where recursive is set, and closes
// the buffers of what is gone.
func (e *Editor) deleteFile(c docChange) error {
	path, err := filePath(c.URI)
	if err != nil {
		return err
	}
	if !exists(path) {
		if c.Options.IgnoreIfNotExists {
			return nil
		}
		return fmt.Errorf("%s does not exist", c.URI)
	}
	remove := os.Remove
	if c.Options.Recursive {
		remove = os.RemoveAll
	}
	if err := remove(path); err != nil {
		return err
	}
	return e.dropUnder(path)
}

// dropUnder closes the buffers of path and of what was below it.
func (e *Editor) dropUnder(path string) error {
	var err error
	for _, b := range e.buffersUnder(path) {
		err = errors.Join(err, e.drop(b))
	}
	return err
}

func (e *Editor) buffersUnder(path string) []*buffer {
	var out []*buffer
	for _, b := range e.buffers {
		if p := Path(b.uri); p != "" && under(p, path) {
			out = append(out, b)
		}
	}
	return out
}

// renameFile moves a file or a directory. Its open buffers are closed and
// opened anew under the new name, with the text that they had, saved or not.
func (e *Editor) renameFile(c docChange) error {
	from, err := filePath(c.OldURI)
	if err != nil {
		return err
	}
	to, err := filePath(c.NewURI)
	if err != nil {
		return err
	}
	if !exists(from) {
		return fmt.Errorf("%s does not exist", c.OldURI)
	}
	if exists(to) {
		switch {
		case c.Options.Overwrite:
			if err := e.dropUnder(to); err != nil {
				return err
			}
		case c.Options.IgnoreIfExists:
			return nil
		default:
			return fmt.Errorf("%s exists already", c.NewURI)
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	for _, b := range e.buffersUnder(from) {
		if err := e.reopen(b, to+Path(b.uri)[len(from):]); err != nil {
			return err
		}
	}
	return nil
}

// reopen closes b and opens its text under another name.
func (e *Editor) reopen(b *buffer, path string) error {
	if err := e.drop(b); err != nil {
		return err
	}
	moved := &buffer{uri: URI(path), text: b.text, saved: b.saved, bom: b.bom, version: 1}
	return e.add(moved, e.changes != Never)
}
