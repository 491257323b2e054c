package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var (
	// errChanged says that the file is no longer what the new text was made from.
	errChanged = errors.New("the file changed while the edit was written")
	// errAppeared says that something is where a file was to be made.
	errAppeared = errors.New("something is there already and is not overwritten; look at it and propose the change again")
)

// writable refuses a file that is marked read-only or that this user may not
// write where it is: taking its name would get around both.
func (s spot) writable(met content) error {
	if met.info.Mode().Perm()&0o222 == 0 {
		return errors.New("the file is read-only; make it writable or leave it alone")
	}
	f, err := s.dir.OpenFile(s.base, os.O_WRONLY|noWait, 0)
	if err != nil {
		return fmt.Errorf("this user may not write the file (%w); change its permissions or leave it alone", plain(err))
	}
	return f.Close()
}

// replace puts new bytes in the place of a file, all of them or none: they are
// written beside it, then take its name. The file must still be as it was met.
func (s spot) replace(met content, data []byte, last func() error) error {
	temp, f, err := s.temporary(0o600) // not readable by others before it has the file's own mode
	if err != nil {
		return err
	}
	defer s.dir.Remove(temp)
	if err := fill(f, data, func() error { return s.dress(f, met.info) }); err != nil {
		return err
	}
	now, err := s.read()
	if err != nil {
		return err
	}
	if !now.equal(met) || !os.SameFile(now.info, met.info) {
		return errChanged
	}
	if err := last(); err != nil {
		return err
	}
	if err := s.dir.Rename(temp, s.base); err != nil {
		return writing(err)
	}
	return nil
}

const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// dress gives a new file all that decides who may do what with the old one. In
// this order: a change of owner takes bits of the mode away, and an access list
// sets some.
func (s spot) dress(f *os.File, old fs.FileInfo) error {
	from, err := s.dir.OpenFile(s.base, os.O_RDONLY|noWait, 0)
	if err != nil {
		return missing(err)
	}
	defer from.Close()
	opened, err := from.Stat()
	if err != nil {
		return missing(err)
	}
	if !os.SameFile(opened, old) {
		return errChanged
	}
	if err := keepOwner(f, old); err != nil {
		return err
	}
	if err := keepAttributes(f, from); err != nil {
		return err
	}
	if err := f.Chmod(old.Mode() & modeBits); err != nil {
		return cannotKeep("mode", err)
	}
	now, err := f.Stat()
	if err != nil {
		return writing(err)
	}
	if got, want := now.Mode()&modeBits, old.Mode()&modeBits; got != want && keepsMode {
		return cannotKeep("mode", fmt.Errorf("it would be %v instead of %v", got, want))
	}
	return nil
}

// cannotKeep refuses an edit that would change what it must not.
func cannotKeep(what string, err error) error {
	return fmt.Errorf("an edit would not keep the %s of the file (%w), so nothing was changed; let someone edit it who may", what, plain(err))
}

// create makes a file that must not exist.
func (s spot) create(data []byte) error {
	temp, f, err := s.temporary(0o666) // less what the umask takes
	if err != nil {
		return err
	}
	defer s.dir.Remove(temp)
	if err := fill(f, data, func() error { return nil }); err != nil {
		return err
	}
	// A link, unlike a rename, never replaces what is there.
	switch err := s.dir.Link(temp, s.base); {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return errAppeared
	}
	return s.createInPlace(data) // not every file system has links
}

// createInPlace makes a file under its own name, so that a reader can see it
// half written, but never over another.
func (s spot) createInPlace(data []byte) error {
	f, err := s.dir.OpenFile(s.base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return errAppeared
	}
	if err != nil {
		return writing(err)
	}
	if err := fill(f, data, func() error { return nil }); err != nil {
		s.dir.Remove(s.base)
		return err
	}
	return nil
}

// rename gives a file another name in the same folder, where nothing must be. It
// goes by the names in the folder, the only root that holds both directories.
func (s spot) rename(to spot, from, dest target) error {
	root := from.folder.root
	there, err := to.dir.Lstat(to.base)
	if err == nil {
		// A case-blind file system shows the file itself under the new name.
		here, err := s.dir.Lstat(s.base)
		if err == nil && os.SameFile(here, there) && strings.EqualFold(from.Path, dest.Path) {
			return writing(root.Rename(from.rel, dest.rel))
		}
		return errAppeared
	}
	switch err := root.Link(from.rel, dest.rel); {
	case err == nil:
		if err := s.dir.Remove(s.base); err != nil {
			to.dir.Remove(to.base)
			return writing(err)
		}
		return nil
	case errors.Is(err, fs.ErrExist):
		return errAppeared
	}
	return writing(root.Rename(from.rel, dest.rel)) // not every file system has links
}

// temporary makes an empty file beside the one to write.
func (s spot) temporary(mode fs.FileMode) (string, *os.File, error) {
	name := temporaryName()
	f, err := s.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", nil, writing(err)
	}
	return name, f, nil
}

// fill writes, finishes and closes a file; what it says is on disk is there.
func fill(f *os.File, data []byte, finish func() error) error {
	_, err := f.Write(data)
	if err != nil {
		f.Close()
		return writing(err)
	}
	if err := finish(); err != nil {
		f.Close()
		return err
	}
	err = f.Sync()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return writing(err)
}

// writing is an error of writing, in a sentence.
func writing(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("writing failed (%w) and left everything as it was; repair that and try again", plain(err))
}

// makeParents makes the directories that a new file needs, and returns what
// removes those that it made, should the file not come about.
func makeParents(t target) (undo func(), err error) {
	root := t.folder.root
	var made []string
	for dir := filepath.Dir(t.rel); dir != "."; dir = filepath.Dir(dir) {
		if _, err := root.Lstat(dir); err == nil {
			break
		}
		made = append(made, dir)
	}
	undo = func() {
		for _, dir := range made {
			root.Remove(dir) // fails, rightly, where somebody put something
		}
	}
	if len(made) == 0 {
		return undo, nil
	}
	if err := root.MkdirAll(made[0], 0o777); err != nil {
		undo()
		return nil, fmt.Errorf("making the directory %s failed (%w); make it or choose another", filepath.Dir(t.Name), plain(err))
	}
	return undo, nil
}
