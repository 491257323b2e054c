package journal

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// LockedError says that another recorder, perhaps in this very process, writes
// the journal.
type LockedError struct {
	PID  int // of the process that has it, 0 if unknown
	Path string
}

func (e *LockedError) Error() string {
	switch e.PID {
	case 0:
		return fmt.Sprintf("the journal %s is being written by another process: end the session there, or fork it to go on here", e.Path)
	case os.Getpid():
		return fmt.Sprintf("the journal %s is already open in this process (%d): go on in the session that is running, or fork it", e.Path, e.PID)
	}
	return fmt.Sprintf("the journal %s is being written by process %d: end the session there, or fork it to go on here", e.Path, e.PID)
}

// fileLock makes its holder the one writer of a journal.
type fileLock struct{ f *flock.Flock }

// pidOffset leaves out the byte that Windows lets nobody else touch while the
// file is locked.
const pidOffset = 1

// lockJournal takes the lock of the journal at path, which has no symbolic link
// in it.
func lockJournal(path string) (fileLock, error) {
	name := path + ".lock"
	for {
		f := flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		ok, err := f.TryLock()
		if err != nil {
			return fileLock{}, fmt.Errorf("cannot lock the journal %s: %w; check that its folder can be written", path, err)
		}
		if !ok {
			return fileLock{}, &LockedError{PID: lockOwner(name), Path: path}
		}
		// The holder before may have removed the file between our opening and
		// our locking it; then the next process would lock another one.
		if !isFileAt(f, name) {
			if err := f.Unlock(); err != nil {
				return fileLock{}, fmt.Errorf("cannot lock the journal %s: %w", path, err)
			}
			continue
		}
		if err := writeOwner(name, os.Getpid()); err != nil {
			return fileLock{}, fmt.Errorf("cannot lock the journal %s: %w", path, withUnlock(err, f))
		}
		return fileLock{f}, nil
	}
}

func withUnlock(err error, f *flock.Flock) error {
	if e := f.Unlock(); e != nil {
		return fmt.Errorf("%w (and %w)", err, e)
	}
	return err
}

func isFileAt(f *flock.Flock, name string) bool {
	locked, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(name)
	return err == nil && os.SameFile(locked, there)
}

// release removes the file while it is still locked, so that nobody who waits
// for it takes away another's. On a system that can't do this it stays, and does
// no harm.
func (l fileLock) release() error {
	_ = os.Remove(l.f.Path())
	return l.f.Unlock()
}

// writeOwner writes the process ID at a fixed width, over the one before.
func writeOwner(name string, pid int) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(fmt.Appendf(nil, "%-20d\n", pid), pidOffset); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// lockOwner is the process ID in a lock file, 0 if there is none.
func lockOwner(name string) int {
	f, err := os.Open(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	b := make([]byte, 20)
	n, _ := f.ReadAt(b, pidOffset)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		return 0
	}
	return pid
}
