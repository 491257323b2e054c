package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links one path may lead through, as on Linux.
const maxLinks = 40

// resolve follows every symbolic link of an absolute path, also in the middle
// and also when nothing is at its end; what does not exist is kept as spelled.
//
// It is done here since [filepath.EvalSymlinks] fails at a missing file, and
// [os.Root] refuses absolute links even when they lead inside.
//
// With an error comes the path as far as it is known, the rest as spelled.
func resolve(name string) (string, error) { return follow(name, func(string) {}) }

// follow is resolve that tells each link on the way, by its own path with the
// rest that was still to come.
func follow(name string, onLink func(path string)) (string, error) {
	real, todo := split(name)
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case ".":
			continue
		case "..": // all before it is resolved, so its parent is what the name says
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, part)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			real = next
		case err != nil:
			return rest(next, todo), sentence{plain(err), "cannot look at " + next + " (" + plain(err).Error() + "); name another path"}
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return rest(next, todo), sentence{errTooManyLinks, "too many symbolic links; name the file that they should lead to"}
			}
			onLink(next + "/" + strings.Join(todo, "/")) // not cleaned: no name may be lost
			dest, err := os.Readlink(next)
			if err != nil {
				return rest(next, todo), sentence{plain(err), "cannot read the symbolic link " + next + "; name the file that it leads to"}
			}
			after := todo
			if filepath.IsAbs(dest) {
				real, todo = split(dest)
			} else {
				todo = parts(dest)
			}
			todo = append(todo, after...)
		case !info.IsDir() && leadsOn(todo):
			return rest(next, todo), sentence{errNotDir, next + " is a file, not a directory; nothing can be below it"}
		default:
			real = next
		}
	}
	return real, nil
}

func rest(path string, todo []string) string {
	return filepath.Join(append([]string{path}, todo...)...)
}

var (
	errTooManyLinks = errors.New("too many symbolic links")
	errNotDir       = errors.New("not a directory")
)

// split takes an absolute path apart: where it begins, and the names after it.
func split(abs string) (start string, rest []string) {
	vol := filepath.VolumeName(abs)
	return vol + string(filepath.Separator), parts(abs[len(vol):])
}

func parts(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

func leadsOn(todo []string) bool {
	for _, part := range todo {
		if part != "." {
			return true
		}
	}
	return false
}

// sentence is an error in words of its own; the cause stays for [errors.Is].
type sentence struct {
	cause error
	text  string
}

func (s sentence) Error() string { return s.text }
func (s sentence) Unwrap() error { return s.cause }

// plain strips the operation and the path from a system error; the sentence
// around it says what was tried, with the name that the caller knows.
func plain(err error) error {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		return pathErr.Err
	case errors.As(err, &linkErr):
		return linkErr.Err
	}
	return err
}
