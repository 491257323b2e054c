package agent

import (
	"context"
	"fmt"
	"io/fs"
)

// scratch is the workspace as it would be if the edits planned so far in a batch
// were all accepted, so that a later edit can build on an earlier one.
type scratch struct {
	Files
	reads Approval          // what the person already let the session read
	files map[string]File   // by path; without Exists: gone
	moved map[string]string // new paths of renamed files, to the old
}

func newScratch(files Files, reads Approval) *scratch {
	return &scratch{Files: files, reads: reads, files: map[string]File{}, moved: map[string]string{}}
}

func (s *scratch) Stat(ctx context.Context, path string) (Info, error) {
	info, err := s.Files.Stat(ctx, path)
	if f, planned := s.files[info.Path]; planned && err == nil {
		info.Exists, info.Dir, info.Size = f.Exists, false, int64(len(f.Text))
	}
	if _, moved := s.moved[info.Path]; moved && err == nil {
		info.Exists, info.Dir = true, false
	}
	return info, err
}

func (s *scratch) Read(ctx context.Context, ok Approval, path string) (File, error) {
	info, err := s.Files.Stat(ctx, path)
	if err != nil {
		return File{}, err
	}
	if old, moved := s.moved[info.Path]; moved {
		return File{}, fmt.Errorf("read %s: an earlier call of this reply moves %s there; change it in your next reply, once that is decided", path, old)
	}
	f, planned := s.files[info.Path]
	if !planned {
		return s.Files.Read(ctx, ok.and(s.reads), path)
	}
	if !f.Exists {
		return File{}, fmt.Errorf("read %s: an earlier call of this reply removes it: %w", path, fs.ErrNotExist)
	}
	return f, nil
}

// plan adds an edit.
func (s *scratch) plan(e Edit, info Info) {
	delete(s.moved, e.Path)
	f := File{Info: info, Text: e.New(), Source: SourceDisk}
	f.Exists = e.Kind != EditDelete && e.Kind != EditRename
	f.Hash = HashText(f.Text)
	s.files[e.Path] = f
	if e.Kind == EditRename {
		s.moved[e.To] = info.Name
	}
}
