package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assent/agent/journal"
)

// List summarises the journals of a workspace folder, the newest first. One that
// can't be read is left out and told in the error, beside the others.
func List(journalDir, folder string) ([]journal.Summary, error) {
	real, err := realDir(folder)
	if err != nil {
		return nil, err
	}
	return listDir(journal.Dir(journalDir, real))
}

// ListAll summarises the journals of every workspace, the newest first.
func ListAll(journalDir string) ([]journal.Summary, error) {
	dirs, err := os.ReadDir(journalDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the journals could not be listed: %w", err)
	}
	var all []journal.Summary
	var errs []error
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		summaries, err := listDir(filepath.Join(journalDir, d.Name()))
		all, errs = append(all, summaries...), append(errs, err)
	}
	slices.SortStableFunc(all, func(a, b journal.Summary) int { return b.Started.Compare(a.Started) })
	return all, errors.Join(errs...)
}

func listDir(dir string) ([]journal.Summary, error) {
	ids, err := journal.List(dir)
	if err != nil {
		return nil, err
	}
	var out []journal.Summary
	var errs []error
	for _, id := range ids {
		s, err := readSummary(dir, id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.ID = id // the name of the file, also if its first line is damaged
		out = append(out, s)
	}
	return out, errors.Join(errs...)
}

func readSummary(dir, id string) (journal.Summary, error) {
	file, err := journal.Path(dir, id)
	if err != nil {
		return journal.Summary{}, err
	}
	f, err := os.Open(file)
	if err != nil {
		return journal.Summary{}, fmt.Errorf("the journal could not be read: %w", err)
	}
	defer f.Close()
	return journal.ReadSummary(f)
}

// Find is the path of the journal of a session of any workspace. The beginning
// of an ID is enough if there is only one.
func Find(journalDir, id string) (string, error) {
	dirs, err := os.ReadDir(journalDir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("the journals could not be listed: %w", err)
	}
	var found []string
	for _, d := range dirs {
		dir := filepath.Join(journalDir, d.Name())
		ids, err := journal.List(dir)
		if err != nil || id == "" {
			continue // not a folder of journals
		}
		for _, known := range ids {
			if file, err := journal.Path(dir, known); err == nil && strings.HasPrefix(known, id) {
				found = append(found, file)
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("there is no session %q; assent log list shows those that are", id)
	}
	return "", fmt.Errorf("%d sessions begin with %q; give more of the ID", len(found), id)
}

func realDir(folder string) (string, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("the workspace could not be opened: %w", err)
	}
	return real, nil
}

// Delete removes the journal of a session in the workspace of a folder. A session
// that is open, here or in another process, is not touched: the error says where.
func (h *Host) Delete(folder, id string) error {
	real, err := realDir(folder)
	if err != nil {
		return err
	}
	file, err := journal.Path(journal.Dir(h.opts.JournalDir, real), id)
	if err != nil {
		return err
	}
	err = journal.Remove(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no session %q in this workspace; check the ID", id)
	}
	return err
}
