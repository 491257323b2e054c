package workspace

import (
	"context"
	"errors"
	"fmt"

	"assent/agent"
)

// Hold is the sole right to land one edit, while an editor does it in its buffer.
type Hold struct {
	w       *Workspace
	edit    agent.Edit
	release func()
}

// Hold waits for the right to land an edit elsewhere than on disk, under the same
// rules as [Workspace.Apply]: it is approved, well formed, its path leads where it
// led when it was planned, and no other landing touches the path meanwhile. An
// error that is not [agent.ErrNotApproved] is a sentence for the Landing's Note.
func (w *Workspace) Hold(ctx context.Context, ok agent.Approval, e agent.Edit) (*Hold, error) {
	if !ok.Covers(e) {
		return nil, fmt.Errorf("%s %s: this was %w; propose it first", e.Kind, e.Path, agent.ErrNotApproved)
	}
	l := &lander{w: w, edit: e}
	if err := e.Check(); err != nil {
		return nil, malformed(err)
	}
	release, err := w.exclude(ctx, l.paths()...)
	if err != nil {
		return nil, err
	}
	for _, path := range l.paths() {
		if _, err := l.find(path); err != nil {
			release()
			return nil, err
		}
	}
	return &Hold{w, e, release}, nil
}

// Release ends the hold.
func (h *Hold) Release() { h.release() }

// OnDisk is what is at a path of the edit on disk, whatever an editor shows. The
// error is io/fs.ErrNotExist if nothing is.
func (h *Hold) OnDisk(path string) (agent.File, error) {
	if path != h.edit.Path && path != h.edit.To {
		return agent.File{}, errors.New("it is not the file of the edit")
	}
	t, err := h.w.find(path)
	if err != nil {
		return agent.File{}, err
	}
	return h.w.readDisk(t)
}

// Resolve is an absolute path with every symbolic link in it followed, as paths are
// named in an [agent.Info]. What does not exist is kept as spelled.
func Resolve(path string) (string, error) { return resolve(path) }
