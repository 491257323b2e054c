package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

const extension = ".jsonl"

// Dir is the folder of the journals of a workspace: its name, for people, and a
// part of the hash of its path, which tells equal names apart. workspaceDir is
// absolute and resolved, so that each way to a folder leads to the same journals.
func Dir(base, workspaceDir string) string {
	clean := filepath.Clean(workspaceDir)
	sum := sha256.Sum256([]byte(clean))
	return filepath.Join(base, folderName(filepath.Base(clean))+"-"+hex.EncodeToString(sum[:4]))
}

// folderName keeps what every file system takes in a name.
func folderName(name string) string {
	const most = 40
	name = strings.Map(func(r rune) rune {
		if r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_') {
			return r
		}
		return '-'
	}, name)
	runes := []rune(strings.Trim(name, "-"))
	name = strings.Trim(string(runes[:min(len(runes), most)]), "-")
	if name == "" {
		return "workspace"
	}
	return name
}

// NewID makes the ID of a session: the time, so that names sort by age, and 32
// random bits.
func NewID(now time.Time, random io.Reader) (string, error) {
	var b [4]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("cannot make a session ID: %w", err)
	}
	return now.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:]), nil
}

// Path is the journal of a session in the folder dir. An ID comes from a client,
// so one that could lead out of the folder is refused.
func Path(dir, id string) (string, error) {
	if !validID(id) {
		return "", fmt.Errorf("%q is not a session ID: it may hold letters, digits, - and _ only", id)
	}
	return filepath.Join(dir, id+extension), nil
}

func validID(id string) bool {
	for _, c := range []byte(id) {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '-', c == '_':
		default:
			return false
		}
	}
	return id != "" && len(id) <= 100
}

// List is the IDs of the journals in a folder, the newest first. A folder that
// isn't there has none.
func List(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list the journals in %s: %w", dir, err)
	}
	var ids []string
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), extension)
		if ok && !f.IsDir() && validID(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

// Remove deletes a journal that nobody writes. The error is a [LockedError] if
// somebody does.
func Remove(path string) error {
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no journal %s: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return fmt.Errorf("cannot remove the journal %s: %w", path, err)
	}
	lock, err := lockJournal(resolved)
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(resolved), lock.release())
}
