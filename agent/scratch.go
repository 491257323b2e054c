package agent

import (
	"context"
	"fmt"
	"io/fs"
	"sync"
)

// scratch is the workspace as it would be if the edits planned so far in a batch
// were all accepted, so that a later edit can build on an earlier one. It may be
// used after its time, by a Plan that outlived its limit.
type scratch struct {
	Files
	reads Approval // what the person already let the session read

	mu    sync.Mutex
	named map[string]Info   // by path: what the paths are that a tool spelled
	files map[string]File   // by path; without Exists: gone
	moved map[string]string // new paths of renamed files, to the old
}

func newScratch(files Files, reads Approval) *scratch {
	return &scratch{Files: files, reads: reads, named: map[string]Info{}, files: map[string]File{}, moved: map[string]string{}}
}

// stat looks a path up on disk and remembers how it was spelled: a harmless
// looking path may be what a protected link leads to.
func (s *scratch) stat(ctx context.Context, path string) (Info, error) {
	info, err := s.Files.Stat(ctx, path)
	if err != nil {
		return info, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.named[info.Path] = info.with(s.named[info.Path])
	return info, nil
}

// with adds the warnings of another spelling of the same file.
func (i Info) with(o Info) Info {
	i.Protected = i.Protected || o.Protected
	i.Secret = i.Secret || o.Secret
	i.Outside = i.Outside || o.Outside
	return i
}

// warned is info with what is known from other spellings of its path.
func (s *scratch) warned(info Info) Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return info.with(s.named[info.Path])
}

func (s *scratch) Stat(ctx context.Context, path string) (Info, error) {
	info, err := s.stat(ctx, path)
	if err != nil {
		return info, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, planned := s.files[info.Path]; planned {
		info.Exists, info.Dir, info.Size = f.Exists, false, int64(len(f.Text))
	}
	if _, moved := s.moved[info.Path]; moved {
		info.Exists, info.Dir = true, false
	}
	return info, nil
}

func (s *scratch) Read(ctx context.Context, ok Approval, path string) (File, error) {
	info, err := s.stat(ctx, path)
	if err != nil {
		return File{}, err
	}
	s.mu.Lock()
	f, planned := s.files[info.Path]
	old, moved := s.moved[info.Path]
	s.mu.Unlock()
	switch {
	case moved:
		return File{}, fmt.Errorf("read %s: an earlier call of this reply moves %s there; change it in your next reply, once that is decided", path, old)
	case !planned:
		return s.Files.Read(ctx, ok.and(s.reads), path)
	case !f.Exists:
		return File{}, fmt.Errorf("read %s: an earlier call of this reply removes it: %w", path, fs.ErrNotExist)
	}
	return f, nil
}

// plan adds an edit.
func (s *scratch) plan(e Edit, info Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.moved, e.Path)
	f := File{Info: info, Text: e.New(), Source: SourceDisk}
	f.Exists = e.Kind != EditDelete && e.Kind != EditRename
	f.Hash = HashText(f.Text)
	s.files[e.Path] = f
	if e.Kind == EditRename {
		s.moved[e.To] = info.Name
	}
}
