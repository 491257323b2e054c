package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"assent/agent"
)

// maxTries is how often an edit is made again when the file changes under it.
const maxTries = 3

// Apply implements the landing half of [agent.Editor], on the disk. The context
// is heeded until the write begins. The only error is that of an edit that is not
// approved; all else that fails changed nothing, and the Landing says so.
func (w *Workspace) Apply(ctx context.Context, ok agent.Approval, e agent.Edit) (agent.Landing, error) {
	if !ok.Covers(e) {
		return agent.Landing{}, fmt.Errorf("%s %s: this was %w; propose it first", e.Kind, e.Path, agent.ErrNotApproved)
	}
	l := &lander{w: w, edit: e}
	l.out.Where = agent.SourceDisk
	if e.Confirm {
		l.out.Note = "the person was to confirm it in a preview of the editor, which has none for this file any more; propose it again"
		return l.out, nil
	}
	if err := l.land(ctx); err != nil {
		l.out.After, l.out.Text = l.out.Before, l.met
		l.out.Note = err.Error()
	}
	return l.out, nil
}

// lander lands one edit. Its land methods return an error when nothing was
// changed.
type lander struct {
	w    *Workspace
	edit agent.Edit
	met  string // the text that Landing.Before is the hash of
	out  agent.Landing
}

func (l *lander) land(ctx context.Context) error {
	if err := l.edit.Check(); err != nil {
		return malformed(err)
	}
	unlock, err := l.w.exclude(ctx, l.paths()...)
	if err != nil {
		return err
	}
	defer unlock()
	t, err := l.find(l.edit.Path)
	if err != nil {
		return err
	}
	switch l.edit.Kind {
	case agent.EditCreate:
		return l.create(ctx, t)
	case agent.EditDelete:
		return l.delete(ctx, t)
	case agent.EditRename:
		return l.rename(ctx, t)
	}
	return l.change(ctx, t)
}

func malformed(err error) error {
	return fmt.Errorf("the edit is malformed (%w); propose it anew", err)
}

// unsaved is an error if an editor has another text of the file than the disk: were
// the disk written behind it, the person's next save would lose one of the two.
// Editors show line ends in their own way, so those do not count.
func (w *Workspace) unsaved(path, disk string) error {
	text, open, err := w.buffer(path)
	switch {
	case err != nil:
		return err
	case open && text != disk && agent.FoldEnds(text) != agent.FoldEnds(disk):
		return errors.New("it has unsaved changes in the editor, which did not make this change itself; save the file first")
	}
	return nil
}

var errCancelled = errors.New("it was cancelled before it landed")

// paths are those that no other landing may touch meanwhile.
func (l *lander) paths() []string {
	if l.edit.Kind == agent.EditRename {
		return []string{l.edit.Path, l.edit.To}
	}
	return []string{l.edit.Path}
}

// find resolves a path of the edit anew. It was resolved when the edit was
// planned, and the person said yes to that place.
func (l *lander) find(path string) (target, error) {
	t, err := l.w.find(path)
	if err == nil && t.Path != path {
		err = fmt.Errorf("the path now leads to %s, which is not what was approved; look at it again", t.Path)
	}
	return t, err
}

// meet notes the text that is there, if it is one.
func (l *lander) meet(at spot) {
	if met, err := at.read(); err == nil {
		l.out.Before, l.met = met.hash, met.text
	}
}

// change lands the hunks of an edit, again if the file changes meanwhile.
func (l *lander) change(ctx context.Context, t target) error {
	at, err := l.w.open(t)
	if err != nil {
		return err
	}
	defer at.close()
	for range maxTries {
		err = l.tryChange(ctx, at)
		if !errors.Is(err, errChanged) {
			return err
		}
	}
	l.meet(at)
	return fmt.Errorf("%w, %d times in a row; wait until nothing else writes it", err, maxTries)
}

func (l *lander) tryChange(ctx context.Context, at spot) error {
	met, err := at.read()
	if err != nil {
		return err
	}
	l.out.Before, l.met = met.hash, met.text
	if err := at.writable(met); err != nil {
		return err
	}
	if err := l.w.unsaved(l.edit.Path, met.text); err != nil {
		return err
	}
	hunks := l.edit.Hunks
	l.out.Conflicts, l.out.Foreign = nil, ""
	if met.hash != l.edit.Base {
		var conflicts []agent.Hunk
		hunks, conflicts = Rebase(l.edit, met.text)
		l.out.Conflicts = ids(conflicts)
		l.out.Foreign = foreign(l.edit.Old, met.text)
		if len(hunks) == 0 {
			return errors.New("the lines to change were changed meanwhile; read the file and propose the edit again")
		}
	}
	if err := checkText(hunks, met); err != nil {
		return err
	}
	want := agent.Edit{Kind: agent.EditText, Old: met.text, Hunks: hunks}.New()
	data, err := toBytes(met.enc, want)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errCancelled
	}
	if err := at.replace(met, data, func() error { return l.w.unsaved(l.edit.Path, met.text) }); err != nil {
		return err
	}
	l.confirm(at, want, hunks)
	if len(l.out.Conflicts) > 0 && l.out.Status == agent.LandComplete {
		l.out.Status = agent.LandPartial
		l.out.Note = "the lines of the other hunks were changed meanwhile; read the file and propose them again"
	}
	l.tellNames(met)
	return nil
}

// tellNames says that other hard links of the file keep the old text. To write it
// in place would change them too, but a reader could see half of it, and a crash
// leave it so.
func (l *lander) tellNames(met content) {
	n := hardLinks(met.info)
	if n < 2 || l.out.Status == agent.LandFailed {
		return
	}
	if l.out.Note != "" {
		l.out.Note += "; "
	}
	l.out.Note += fmt.Sprintf("the file had %d names (hard links), and only this one has the new text", n)
}

// checkText refuses hunks on lines that are not text in the file's encoding:
// what they show the person is not what the file holds.
func checkText(hunks []agent.Hunk, met content) error {
	if met.enc.wide() {
		return nil // read as text, whole; what is new is checked when it is encoded
	}
	for _, h := range hunks {
		for _, text := range []string{h.Old, h.New} {
			if bad := invalidUTF8(text); bad >= 0 {
				return fmt.Errorf("not valid UTF-8 (byte offset %d) in the lines to change; edit other lines, or convert the file first",
					len(marks[met.enc])+h.At+bad)
			}
		}
	}
	return nil
}

// toBytes encodes a text, unless it could not be read again.
func toBytes(enc encoding, text string) ([]byte, error) {
	data, err := enc.encode(text)
	if err == nil && len(data) > MaxSize {
		err = tooLarge(int64(len(data)))
	}
	return data, err
}

// create makes a file and the directories that it needs.
func (l *lander) create(ctx context.Context, t target) error {
	if t.Outside {
		return errors.New("it is outside the workspace, where no file is made; name one inside")
	}
	if t.Exists {
		if at, err := l.w.open(t); err == nil {
			l.meet(at)
			at.close()
		}
		return errAppeared
	}
	want := l.edit.New()
	if bad := invalidUTF8(want); bad >= 0 {
		return fmt.Errorf("not valid UTF-8 (byte offset %d); give the file a text", bad)
	}
	data, err := toBytes(utf8Plain, want)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errCancelled
	}
	undo, err := makeParents(t)
	if err != nil {
		return err
	}
	at, err := l.w.open(t)
	if err != nil {
		undo()
		return err
	}
	defer at.close()
	if err := at.create(data); err != nil {
		l.meet(at)
		undo()
		return err
	}
	l.confirm(at, want, l.edit.Hunks)
	return nil
}

// delete removes a file that is still what the person saw.
func (l *lander) delete(ctx context.Context, t target) error {
	at, err := l.w.open(t)
	if err != nil {
		return err
	}
	defer at.close()
	met, err := at.read()
	if err != nil {
		return err
	}
	l.out.Before, l.met = met.hash, met.text
	if ctx.Err() != nil {
		return errCancelled
	}
	now, err := at.read()
	if err != nil {
		return err
	}
	l.out.Before, l.met = now.hash, now.text
	if err := l.w.unsaved(l.edit.Path, now.text); err != nil {
		return err
	}
	if now.hash != l.edit.Base && (now.text == "" || agent.FoldEnds(now.text) != agent.FoldEnds(l.edit.Old)) {
		l.out.Foreign = foreign(l.edit.Old, now.text)
		return errors.New("the file was changed meanwhile; read it and propose the deletion again")
	}
	if err := at.writable(now); err != nil {
		return err
	}
	if err := at.dir.Remove(at.base); err != nil {
		return writing(err)
	}
	l.out.Status = agent.LandComplete
	return nil
}

// rename moves a file, text or not, within its folder. The hashes are those of
// its text, zero if it is none.
func (l *lander) rename(ctx context.Context, t target) error {
	to, err := l.find(l.edit.To)
	if err != nil {
		return err
	}
	switch {
	case t.Outside || to.Outside:
		return errors.New("a file cannot be moved out of the workspace or into it; copy its text instead")
	case t.folder != to.folder:
		return errors.New("a file cannot be moved from one workspace folder to another; make a new one and delete the old")
	case to.Exists && !strings.EqualFold(t.Path, to.Path): // else perhaps the file itself
		return fmt.Errorf("there is a file at %s already; choose another name", to.Name)
	}
	at, err := l.w.open(t)
	if err != nil {
		return err
	}
	defer at.close()
	if _, err := at.regular(); err != nil {
		return err
	}
	if met, err := at.read(); err == nil {
		l.out.Before = met.hash
		if err := l.w.unsaved(l.edit.Path, met.text); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return errCancelled
	}
	undo, err := makeParents(to)
	if err != nil {
		return err
	}
	dest, err := l.w.open(to)
	if err != nil {
		undo()
		return err
	}
	defer dest.close()
	if err := at.rename(dest, t, to); err != nil {
		undo()
		return err
	}
	l.out.Status = agent.LandComplete
	if there, err := dest.read(); err == nil {
		l.out.After = there.hash
	}
	return nil
}

// confirm reads back what is there now: the hunks, if it is the text just written.
// Another text is told, and left as it is: it is someone's later work.
func (l *lander) confirm(at spot, want string, hunks []agent.Hunk) {
	now, err := at.read()
	switch {
	case err != nil:
		l.out.Status = agent.LandUnconfirmed
		l.out.Note = fmt.Sprintf("it was written, but could not be read back: %v", err)
	case now.text != want:
		l.out.Status, l.out.After, l.out.Text = agent.LandUnconfirmed, now.hash, now.text
		l.out.Note = "it was written, and changed again by something else at once; read the file"
		l.out.Foreign = foreign(want, now.text)
	default:
		l.out.Status, l.out.After, l.out.Text, l.out.Landed = agent.LandComplete, now.hash, now.text, ids(hunks)
	}
}

func ids(hunks []agent.Hunk) []string {
	var ids []string
	for _, h := range hunks {
		ids = append(ids, h.ID)
	}
	return ids
}

// foreign says in words what someone else did to a text.
func foreign(old, new string) string {
	added, removed := agent.Edit{Hunks: Diff(old, new)}.Lines()
	return fmt.Sprintf("the file had been changed by something else: +%d −%d lines", added, removed)
}
