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
	"unicode"

	"assent/agent"
)

// Stat implements [agent.Files]. Of a path outside that can't be followed it
// tells no more than of one at which nothing is: a read, once it is approved,
// says why.
func (w *Workspace) Stat(ctx context.Context, path string) (agent.Info, error) {
	if err := ctx.Err(); err != nil {
		return agent.Info{}, err
	}
	t, err := w.find(path)
	return t.Info, err
}

// buffer is the text of a file that is open in an editor, by its resolved path.
func (w *Workspace) buffer(path string) (text string, open bool, err error) {
	if w.buffers == nil {
		return "", false, nil
	}
	return w.buffers.Buffer(path)
}

// target is what a path leads to.
type target struct {
	agent.Info
	folder *folder // nil if outside
	rel    string  // in the folder, with the separators of the system
	mode   fs.FileMode
	broken error // outside: why the path can't be followed
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
	onTheWay := []string{spelled}
	real, err := follow(spelled, func(link string) { onTheWay = append(onTheWay, link) })
	t := target{Info: agent.Info{Path: real}}
	t.folder, t.rel, t.Name = w.place(real)
	t.Outside = t.folder == nil
	w.warn(&t.Info, w.reach(), onTheWay...)
	if err != nil && !t.Outside {
		return target{}, fmt.Errorf("%s: %w", name, err)
	}
	info, statErr := os.Lstat(real)
	if errors.Is(statErr, fs.ErrNotExist) && !t.Outside {
		if text, open, _ := w.buffer(real); open { // not saved yet
			t.Exists, t.Size = true, int64(len(text))
			return t, nil
		}
	}
	switch {
	case err != nil:
		t.broken = err // not told: nobody agreed to a look there
	case errors.Is(statErr, fs.ErrNotExist):
		if t.Outside { // where none is made, and what is there is not told
			return t, nil
		}
		return t, checkNew(name, t.rel)
	case statErr != nil && t.Outside:
		t.broken = missing(statErr)
	case statErr != nil:
		return target{}, fmt.Errorf("%s: %w; name a file that can be looked at", name, plain(statErr))
	default:
		t.Exists, t.Dir, t.Size, t.mode = true, info.IsDir(), info.Size(), info.Mode()
	}
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

// checkNew refuses a new name that would not show as it is: a line break or an
// escape sequence in it can make a question look like another one. What exists
// under such a name stays readable, and can be renamed.
func checkNew(name, rel string) error {
	if filepath.IsAbs(name) {
		name = "" // the folder may have such a name itself
	}
	for _, text := range []string{name, rel} {
		if i := strings.IndexFunc(text, invisible); i >= 0 {
			return fmt.Errorf("%q: a name with a character that does not show, %q; no such file is made, leave the character out", text, []rune(text[i:])[0])
		}
	}
	return nil
}

// invisible reports whether a character breaks the line, controls a terminal or
// turns the direction of writing.
func invisible(r rune) bool {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029', r == '\u061c', r == '\u200e', r == '\u200f':
		return true
	}
	return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}
