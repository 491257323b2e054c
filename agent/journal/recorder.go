package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"assent/agent"
)

// Options say how a [Recorder] records.
type Options struct {
	// Now is the clock, nil for time.Now.
	Now func() time.Time

	// Secrets are API keys and passwords, which never reach the file. Those
	// shorter than 6 bytes are not looked for.
	Secrets []string
}

// Recorder writes the journal of one session. It may be used by several
// goroutines at once.
type Recorder struct {
	path    string
	now     func() time.Time
	secrets redactor
	lock    fileLock
	longest int // of a line, with its end

	mu     sync.Mutex
	file   file // nil when closed
	seq    int64
	good   int64 // the size of the file without what failed
	rest   int64 // bytes of a failed write behind good, which could not be cut off
	torn   bool  // the file was found without a line end behind its last line
	buffer []byte
}

var _ agent.Store = (*Recorder)(nil)

// file is what a Recorder needs of an [*os.File] opened with O_APPEND. Tests put
// a failing disk under it.
type file interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
}

// keepBuffer is the size up to which the buffer stays for the next record.
const keepBuffer = 1 << 20

// Create begins a journal at path, and makes its folders. It fails if there is
// a file.
func Create(path string, opts Options) (*Recorder, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder of the journal %s: %w; check its permissions, or choose another with --journal-dir", path, err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("cannot find the folder of the journal %s: %w", path, err)
	}
	path = filepath.Join(dir, filepath.Base(path))
	lock, err := lockJournal(path)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot create the journal %s: %w; check the permissions and the free space of its folder", path, err), lock.release())
	}
	return newRecorder(path, opts, lock, &diskFile{File: f, fresh: true}), nil
}

// Open goes on with the journal at path. It returns what is in it, and changes
// nothing before the first Append. The error is a [*LockedError] if another
// recorder has the journal open.
func Open(path string, opts Options) (*Recorder, []Entry, []Warning, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("cannot open the journal %s: %w; check the session ID", path, err)
	}
	lock, err := lockJournal(resolved)
	if err != nil {
		return nil, nil, nil, err
	}
	r, entries, warnings, err := open(resolved, opts, lock)
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("cannot open the journal %s: %w", resolved, err), lock.release())
	}
	return r, entries, warnings, nil
}

func open(path string, opts Options, lock fileLock) (*Recorder, []Entry, []Warning, error) {
	// Before it is opened, which would wait for the other side of a pipe.
	if info, err := os.Stat(path); err != nil {
		return nil, nil, nil, err
	} else if !info.Mode().IsRegular() {
		return nil, nil, nil, fmt.Errorf("it is not a regular file")
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, nil, err
	}
	r := newRecorder(path, opts, lock, &diskFile{File: f})
	entries, warnings, err := r.load(f)
	if err != nil {
		return nil, nil, nil, errors.Join(err, f.Close())
	}
	return r, entries, warnings, nil
}

func newRecorder(path string, opts Options, lock fileLock, f file) *Recorder {
	now := opts.Now
	if now == nil {
		now = time.Now
	}
	return &Recorder{path: path, now: now, secrets: newRedactor(opts.Secrets), lock: lock, longest: maxLine, file: f}
}

// load reads what is there, to go on behind it.
func (r *Recorder) load(f *os.File) ([]Entry, []Warning, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Mode().Perm()&0o077 != 0 { // a copy or a backup may have opened it to others
		if err := f.Chmod(0o600); err != nil {
			return nil, nil, err
		}
	}
	r.good = info.Size()
	if r.good > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], r.good-1); err != nil {
			return nil, nil, err
		}
		r.torn = last[0] != '\n'
	}
	entries, warnings, err := Read(io.NewSectionReader(f, 0, r.good))
	for _, e := range entries {
		r.seq = max(r.seq, e.Seq)
	}
	return entries, warnings, err
}

// Path is the file, resolved.
func (r *Recorder) Path() string { return r.path }

// Append writes a record. If it fails, the record is not in the journal, unless
// the disk lets nothing be taken back any more.
func (r *Recorder) Append(rec agent.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return fmt.Errorf("the journal %s is closed: %w", r.path, os.ErrClosed)
	}
	r.cutRest()
	buf, err := r.encode(rec)
	if err != nil {
		return fmt.Errorf("cannot write the journal %s: %w; this is a fault of assent, please report it", r.path, err)
	}
	n, err := r.file.Write(buf)
	if err == nil && n < len(buf) {
		err = io.ErrShortWrite
	}
	if err == nil && accepts(rec) {
		err = r.file.Sync()
	}
	if err != nil {
		r.takeBack(n, n == len(buf))
		return r.failure(err)
	}
	r.accept(n)
	return nil
}

// encode makes the bytes to write: the record's line, and before it what ends a
// fragment.
func (r *Recorder) encode(rec agent.Record) ([]byte, error) {
	l := line{b: r.buffer[:0], secrets: r.secrets}
	switch {
	case r.rest > 0:
		// A record that was reported as failed may be complete but for its end;
		// the mark sees to it that it stays none.
		l.b = append(l.b, "#\n"...)
	case r.torn:
		l.b = append(l.b, '\n')
	}
	if err := l.record(r.seq+1, r.now(), rec); err != nil {
		return nil, err
	}
	l.b = append(l.b, '\n')
	if cap(l.b) <= keepBuffer {
		r.buffer = l.b
	}
	if len(l.b) > r.longest {
		return nil, fmt.Errorf("a record of %d bytes is longer than the %d that can be read back", len(l.b), r.longest)
	}
	return l.b, nil
}

// accept counts n bytes as written.
func (r *Recorder) accept(n int) {
	r.good += r.rest + int64(n)
	r.rest, r.torn = 0, false
	r.seq++
}

// cutRest cuts off what a failed write left, if the disk lets it.
func (r *Recorder) cutRest() {
	if r.rest > 0 && r.file.Truncate(r.good) == nil {
		r.rest = 0
	}
}

// takeBack undoes a write of n bytes: the caller will not do what the record
// announces. If a whole record can't be taken back, it stands and counts.
func (r *Recorder) takeBack(n int, whole bool) {
	before := r.rest
	r.rest += int64(n)
	r.cutRest()
	if whole && r.rest > 0 {
		r.rest = before
		r.accept(n)
	}
}

func (r *Recorder) failure(cause error) error {
	return fmt.Errorf("cannot write the journal %s: %w; make room on the disk or check its permissions, then try again", r.path, cause)
}

// accepts reports whether a record lets something happen.
func accepts(rec agent.Record) bool {
	decided, ok := rec.(agent.Decided)
	if !ok {
		return false
	}
	for _, p := range decided.Decision.Parts {
		if p.Accept || p.Rewrite != nil {
			return true
		}
		for _, h := range p.Hunks {
			if h.Accept {
				return true
			}
		}
	}
	return false
}

// Close ends the recording and lets others open the journal. Closing again does
// nothing.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := errors.Join(r.file.Close(), r.lock.release())
	r.file = nil
	if err != nil {
		return fmt.Errorf("cannot close the journal %s: %w", r.path, err)
	}
	return nil
}

// diskFile is the journal on the disk.
type diskFile struct {
	*os.File
	fresh bool // its name may not be on the disk yet
}

func (f *diskFile) Sync() error {
	if err := f.File.Sync(); err != nil {
		return err
	}
	if !f.fresh {
		return nil
	}
	f.fresh = false
	dir, err := os.Open(filepath.Dir(f.Name()))
	if err != nil {
		return err
	}
	_ = dir.Sync() // not every system can sync a folder, and one that can't needs no help
	return dir.Close()
}
