package lsp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
	"unicode/utf8"

	"assent/agent"
	"assent/agent/workspace"
)

const (
	// applyLimit is how long a client may take to answer workspace/applyEdit. Some
	// ask their person once more.
	applyLimit = time.Minute
	// showLimit is how long it may take to show the result. Neovim sends changes
	// 150 ms late.
	showLimit = 2 * time.Second
	// retryLimit is how long to wait for the newer text on which an edit failed.
	retryLimit = 300 * time.Millisecond
	// maxTries is how often an edit is sent again because its text had moved.
	maxTries = 3
)

// Apply implements the landing half of [agent.Editor]. The client makes the edit in
// its buffer, so that undo works there and unsaved text is safe. We write the disk
// ourselves only where the client can't, or has told that the file is not open.
func (e *editor) Apply(ctx context.Context, ok agent.Approval, edit agent.Edit) (agent.Landing, error) {
	hold, err := e.Hold(ctx, ok, edit)
	switch {
	case errors.Is(err, agent.ErrNotApproved):
		return agent.Landing{}, err
	case err != nil:
		return agent.Landing{Where: agent.SourceBuffer, Note: err.Error()}, nil
	}
	route, err := e.route(hold, edit)
	if err != nil {
		hold.Release()
		return agent.Landing{Where: agent.SourceBuffer, Note: err.Error()}, nil
	}
	if route == toDisk {
		hold.Release() // Workspace.Apply has its own
		landing, err := e.Workspace.Apply(ctx, ok, edit)
		e.s.docs.hide(edit.Path)
		return landing, err
	}
	defer hold.Release()
	l := &lander{e: e, hold: hold, edit: edit}
	l.out.Where = agent.SourceBuffer
	err = l.land(ctx)
	if errors.Is(err, agent.ErrInterrupted) {
		return agent.Landing{}, err
	}
	if err != nil {
		l.out.Status, l.out.Landed, l.out.After, l.out.Note = agent.LandFailed, nil, l.out.Before, err.Error()
	}
	return l.out, nil
}

// route is who makes an edit.
type route int

const (
	toClient route = iota
	toDisk
)

func (e *editor) route(hold *workspace.Hold, edit agent.Edit) (route, error) {
	c := e.s.client
	doc, open := e.s.docs.at(edit.Path)
	disk, diskErr := hold.OnDisk(edit.Path)
	if err := e.s.docs.unsureAt(edit.Path, disk.Hash); err != nil {
		return toClient, err
	}
	able := map[agent.EditKind]bool{agent.EditText: true, agent.EditCreate: c.create, agent.EditDelete: c.delete, agent.EditRename: c.rename}[edit.Kind]
	switch {
	case open && doc.trouble() != nil:
		return toClient, doc.trouble()
	case c.applyEdit && able && open:
		return toClient, nil
	case open && (diskErr != nil || disk.Text != doc.text):
		return toDisk, errors.New("it has unsaved changes in the editor, which can't make this change itself; save the file first")
	case !c.applyEdit || !able || c.syncsAll:
		return toDisk, nil
	case edit.Kind == agent.EditText && !utf8.ValidString(disk.Text):
		return toDisk, nil // an editor might save it in another encoding
	}
	return toClient, nil
}

// lander lands one edit through the client. Its methods return an error when nothing
// was changed.
type lander struct {
	e    *editor
	hold *workspace.Hold
	edit agent.Edit
	out  agent.Landing
}

func (l *lander) land(ctx context.Context) error {
	switch l.edit.Kind {
	case agent.EditCreate:
		return l.create(ctx)
	case agent.EditDelete, agent.EditRename:
		return l.move(ctx)
	}
	var err error
	for range maxTries {
		err = l.change(ctx)
		if !errors.Is(err, errMoved) {
			return err
		}
	}
	return err
}

var errMoved = errors.New("the text changed in the editor while the change was made; propose it again")

// base is the text that the client will put the hunks into.
func (l *lander) base() (text string, version int, err error) {
	doc, open := l.e.s.docs.at(l.edit.Path)
	if open {
		return doc.text, doc.rev, doc.trouble()
	}
	f, err := l.hold.OnDisk(l.edit.Path)
	return f.Text, 0, err
}

// change has the client make a text edit, and looks at what it then shows.
func (l *lander) change(ctx context.Context) error {
	base, rev, err := l.base()
	if err != nil {
		return err
	}
	l.out.Before = agent.HashText(base)
	hunks := l.edit.Hunks
	l.out.Conflicts = nil
	if l.out.Before != l.edit.Base {
		var conflicts []agent.Hunk
		hunks, conflicts = workspace.Rebase(l.edit, base)
		for _, h := range conflicts {
			l.out.Conflicts = append(l.out.Conflicts, h.ID)
		}
		if len(hunks) == 0 {
			return errors.New("the lines to change were changed meanwhile; read the file and propose the edit again")
		}
	}
	if h, unsure := workspace.Unsure(hunks); unsure {
		return fmt.Errorf("the lines at line %d hold bytes that are no text, and the editor can't tell which; edit other lines, or convert the file first", lineBreaks(base[:h.At])+1)
	}
	there := func(doc document, open bool) bool { // a hunk that is altered may be one that the person typed in before
		return open && doc.rev > rev && len(workspace.Compare(base, hunks, doc.text).Landed) == len(hunks)
	}
	answer := l.send(ctx, base, hunks, there)
	doc, open := l.e.s.docs.at(l.edit.Path)
	shown := open && doc.rev > rev
	if err := l.refused(ctx, answer, there(doc, open), rev); err != nil {
		return err
	}
	want := agent.Edit{Kind: agent.EditText, Old: base, Hunks: hunks}.New()
	if !shown {
		l.unseen(want, hunks)
		return nil
	}
	return l.judge(workspace.Compare(base, hunks, doc.text), doc)
}

// judge says what the text that the client shows has of the hunks.
func (l *lander) judge(found workspace.Outcome, doc document) error {
	l.out.Landed, l.out.Foreign = found.Landed, found.Foreign
	l.out.After = agent.HashText(doc.text)
	switch {
	case len(found.Landed)+len(found.Altered) == 0:
		return errors.New("the editor said that it made the change, and its text does not have it; propose it again or leave it")
	case len(found.Altered)+len(found.Missing)+len(l.out.Conflicts) > 0:
		l.out.Status = agent.LandPartial
		l.out.Note = "some of the lines are not as they were accepted: something else, such as a formatter, changed them at once; read the file"
	default:
		l.out.Status = agent.LandComplete
	}
	l.tellUnsaved(doc.text)
	return nil
}

// tellUnsaved says that what landed is not on disk.
func (l *lander) tellUnsaved(text string) {
	disk, err := l.hold.OnDisk(l.edit.Path)
	if err == nil && disk.Text == text {
		return
	}
	if l.out.Note != "" {
		l.out.Note += "; "
	}
	l.out.Note += "it is in an unsaved buffer of the editor, not on disk yet"
}

// unseen is for a client that says that it made the change and shows nothing. If the
// disk does not have it either, nobody knows, and the next edit of the file waits
// until the client tells its text.
func (l *lander) unseen(want string, hunks []agent.Hunk) {
	disk, err := l.hold.OnDisk(l.edit.Path)
	if err == nil && disk.Text == want && want != "" {
		l.out.Status, l.out.Where, l.out.After = agent.LandComplete, agent.SourceDisk, disk.Hash
		for _, h := range hunks {
			l.out.Landed = append(l.out.Landed, h.ID)
		}
		l.e.s.docs.hide(l.edit.Path)
		return
	}
	l.out.Status = agent.LandUnconfirmed
	l.out.Note = "the change was sent to the editor, which did not show its result; it may be in an unsaved buffer"
	l.e.s.docs.doubt(l.edit.Path, disk.Hash)
}

// create has the client make a file, with its text.
func (l *lander) create(ctx context.Context) error {
	if _, err := l.hold.OnDisk(l.edit.Path); !errors.Is(err, fs.ErrNotExist) {
		return errors.New("a file is there meanwhile; read it and propose an edit")
	}
	want := l.edit.New()
	there := func(doc document, open bool) bool { return open && doc.text == want }
	answer := l.send(ctx, "", l.edit.Hunks, there)
	doc, open := l.e.s.docs.at(l.edit.Path)
	if err := l.refused(ctx, answer, there(doc, open), 0); err != nil {
		return err
	}
	disk, err := l.hold.OnDisk(l.edit.Path)
	switch {
	case open && doc.text == want:
		return l.judge(workspace.Outcome{Landed: ids(l.edit.Hunks)}, doc)
	case open:
		return l.judge(workspace.Compare("", l.edit.Hunks, doc.text), doc)
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the editor said that it made the file, and there is none; propose it again or leave it")
	case err == nil && disk.Text == want:
		l.out.Status, l.out.Where, l.out.After, l.out.Landed = agent.LandComplete, agent.SourceDisk, disk.Hash, ids(l.edit.Hunks)
	default:
		l.unseen(want, l.edit.Hunks)
	}
	return nil
}

// move has the client delete or rename a file, which can be seen on disk alone.
func (l *lander) move(ctx context.Context) error {
	before, err := l.hold.OnDisk(l.edit.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l.out.Before = before.Hash
	if doc, open := l.e.s.docs.at(l.edit.Path); open {
		l.out.Before = agent.HashText(doc.text)
	}
	if l.edit.Kind == agent.EditDelete && l.out.Before != l.edit.Base {
		return errors.New("the file was changed meanwhile; read it and propose the deletion again")
	}
	if l.edit.Kind == agent.EditRename {
		if _, err := l.hold.OnDisk(l.edit.To); !errors.Is(err, fs.ErrNotExist) {
			return errors.New("there is a file at the new path already; choose another name")
		}
	}
	answer := l.send(ctx, "", nil, func(document, bool) bool { return l.gone() })
	if err := l.refused(ctx, answer, l.gone(), 0); err != nil {
		return err
	}
	l.out.Status = agent.LandComplete
	if !l.gone() {
		l.out.Status = agent.LandUnconfirmed
		l.out.Note = "the editor said that it did it, and the file is still there"
	}
	if l.edit.Kind == agent.EditRename {
		now, _ := l.hold.OnDisk(l.edit.To)
		l.out.After = now.Hash
	}
	return nil
}

// gone reports whether a file that is to be deleted or renamed is no longer there.
func (l *lander) gone() bool {
	_, err := l.hold.OnDisk(l.edit.Path)
	return errors.Is(err, fs.ErrNotExist)
}

func ids(hunks []agent.Hunk) []string {
	var out []string
	for _, h := range hunks {
		out = append(out, h.ID)
	}
	return out
}
