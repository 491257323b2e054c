package lsp

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"assent/agent"
	"assent/agent/workspace"
)

// maxTries is how often an edit is sent again because its text had moved.
const maxTries = 3

// land has the client make the edit in its buffer, so that undo works there and
// unsaved text is safe. We write the disk ourselves only where the client can't, or
// has told that the file is not open.
func (e *editor) land(ctx context.Context, ok agent.Approval, edit agent.Edit) (agent.Landing, error) {
	hold, err := e.Hold(ctx, ok, edit)
	switch {
	case errors.Is(err, agent.ErrNotApproved):
		return agent.Landing{}, err
	case err != nil:
		return agent.Landing{Where: agent.SourceBuffer, Note: err.Error()}, nil
	}
	l := &lander{e: e, hold: hold, edit: edit}
	l.out.Where = agent.SourceBuffer
	before, err := l.look()
	switch {
	case err != nil:
		hold.Release()
		l.out.Note = err.Error()
		return l.out, nil
	case e.onDisk(edit, before):
		hold.Release() // Workspace.Apply has its own, and checks the buffers again
		landing, err := e.Workspace.Apply(ctx, ok, edit)
		if landing.Status != agent.LandFailed {
			e.s.docs.hide(edit.Path, before.rev)
		}
		return landing, err
	}
	defer hold.Release()
	return l.land(ctx)
}

// state is what is known of the file of an edit at one moment. An edit is made for
// one state, and what became of it is told by comparing it with the state after.
type state struct {
	doc   document
	open  bool
	rev   int        // of what the client told last, of any document
	disk  agent.File // zero if there is none
	there bool       // on disk
	to    bool       // of a rename: there is something at the new path
}

// look takes the state, or says why the file is better left alone.
func (l *lander) look() (state, error) {
	s := state{rev: l.e.s.docs.now()}
	if s.doc, s.open = l.e.s.docs.at(l.edit.Path); s.open {
		s.rev = max(s.rev, s.doc.rev)
	}
	disk, err := l.hold.OnDisk(l.edit.Path)
	s.disk, s.there = disk, !errors.Is(err, fs.ErrNotExist)
	if l.edit.Kind == agent.EditRename {
		_, err := l.hold.OnDisk(l.edit.To)
		s.to = !errors.Is(err, fs.ErrNotExist)
	}
	switch {
	case s.open && s.doc.trouble() != nil:
		return s, s.doc.trouble()
	case s.open && locate(s.doc.uri).real() != l.edit.Path:
		return s, errors.New("the document that the editor has open leads to another file now; close it and open it again")
	}
	return s, l.e.s.docs.unsureAt(l.edit.Path, disk.Hash)
}

// text is what the client has of the file, or would load.
func (s state) text() string {
	if s.open {
		return s.doc.text
	}
	return s.disk.Text
}

// onDisk reports whether we make the edit, not the client.
func (e *editor) onDisk(edit agent.Edit, s state) bool {
	c := e.s.client
	able := map[agent.EditKind]bool{agent.EditText: true, agent.EditCreate: c.create, agent.EditDelete: c.delete, agent.EditRename: c.rename}[edit.Kind]
	switch {
	case !c.applyEdit || !able:
		return true
	case s.open:
		return false
	case s.doc.hidden: // the client has the text from before we wrote it, and would edit that
		return true
	}
	// An editor might save what is no text in another encoding.
	return c.syncsAll || edit.Kind == agent.EditText && !utf8.ValidString(s.disk.Text)
}

// lander lands one edit through the client.
type lander struct {
	e    *editor
	hold *workspace.Hold
	edit agent.Edit
	out  agent.Landing

	applied  atomic.Bool // the client says that it made it
	answered bool        // the client has answered what was sent last
}

// land sends the edit, and again if the client had a newer text. The only error is
// the loss of the client.
func (l *lander) land(ctx context.Context) (agent.Landing, error) {
	for range maxTries {
		before, hunks, err := l.prepare()
		if err != nil {
			return l.failed(before, err), nil
		}
		if before.open {
			l.out.Before = agent.HashText(before.doc.text)
		} else {
			l.out.Before = before.disk.Hash
		}
		answer, after, err := l.send(ctx, before, hunks)
		l.answered = answer.err == nil
		switch {
		case errors.Is(err, agent.ErrInterrupted):
			return agent.Landing{}, err
		case err == nil || l.done(before, after, hunks):
			return l.judge(before, after, hunks), nil
		case l.edit.Kind != agent.EditText || answer.err != nil || !l.newer(ctx, before):
			if l.edit.Confirm && answer.err == nil {
				return l.leftOut(after, hunks, answer.FailureReason), nil
			}
			return l.failed(after, err), nil
		}
	}
	after, _ := l.look()
	return l.failed(after, errors.New("the text changed in the editor each time the change was sent; propose it again")), nil
}

// prepare takes the state and the hunks as they are for it.
func (l *lander) prepare() (state, []agent.Hunk, error) {
	s, err := l.look()
	if err != nil {
		return s, nil, err
	}
	hunks := l.edit.Hunks
	switch l.edit.Kind {
	case agent.EditCreate:
		if s.open || s.there {
			err = errors.New("a file is there meanwhile; read it and propose an edit")
		}
	case agent.EditDelete:
		switch {
		case s.open && l.shown(s.doc.text, agent.HashText(s.doc.text)) && !l.shown(s.disk.Text, s.disk.Hash):
			err = errors.New("its text in the editor is not the one on disk, which nobody was shown; have the person save it, and propose the deletion again")
		case !l.shown(s.disk.Text, s.disk.Hash) || s.open && !l.shown(s.doc.text, agent.HashText(s.doc.text)):
			err = errors.New("the file was changed meanwhile; read it and propose the deletion again")
		}
	case agent.EditRename:
		if s.to {
			err = errors.New("there is a file at the new path already; choose another name")
		}
	case agent.EditText:
		return s, l.rebased(s), l.check(s)
	}
	if err == nil && l.edit.Kind != agent.EditCreate && !s.there {
		err = errors.New("there is no such file any more")
	}
	return s, hunks, err
}

// shown reports whether a text is the one of which the person saw that it is to go. The
// disk and an editor may have it with different line ends.
func (l *lander) shown(text string, hash agent.Hash) bool {
	return hash == l.edit.Base || agent.FoldEnds(text) == agent.FoldEnds(l.edit.Old) && text != ""
}

// rebased are the hunks in the text that the client has, as far as they fit.
func (l *lander) rebased(s state) []agent.Hunk {
	l.out.Conflicts = nil
	if agent.HashText(s.text()) == l.edit.Base {
		return l.edit.Hunks
	}
	hunks, conflicts := workspace.Rebase(l.edit, s.text())
	l.out.Conflicts = ids(conflicts)
	return hunks
}

func (l *lander) check(s state) error {
	if !s.open && !s.there {
		return errors.New("there is no such file any more")
	}
	if len(l.out.Conflicts) == len(l.edit.Hunks) {
		return errors.New("the lines to change were changed meanwhile; read the file and propose the edit again")
	}
	if _, unsure := workspace.Unsure(l.edit.Hunks); unsure {
		return errors.New("some of its lines hold bytes that are no text, and the editor can't tell which; edit other lines, or convert the file first")
	}
	return nil
}

// done reports whether the state after shows just what was wanted, and the state
// before did not.
func (l *lander) done(before, after state, hunks []agent.Hunk) bool {
	switch l.edit.Kind {
	case agent.EditDelete:
		return before.there && !after.there
	case agent.EditRename:
		return before.there && !after.there && after.to
	case agent.EditCreate:
		return after.told(before) && agent.FoldEnds(after.doc.text) == agent.FoldEnds(l.edit.New())
	}
	if !after.told(before) {
		return false
	}
	text := agent.FoldEnds(after.doc.text)
	for _, h := range hunks { // asked at each key that the person types, and a comparison is dear
		if !strings.Contains(text, strings.TrimRight(agent.FoldEnds(h.New), "\n")) {
			return false
		}
	}
	found, _ := compare(before.text(), hunks, after.doc.text)
	return len(found.Landed) == len(hunks)
}

// told reports whether the client has shown the text since.
func (s state) told(before state) bool {
	return s.open && s.doc.told > before.rev && s.doc.broken == ""
}

// failed is the outcome of an edit that was not made. What is there now is what the
// client shows, also if a person changed it meanwhile.
func (l *lander) failed(now state, err error) agent.Landing {
	l.out.Status, l.out.Landed, l.out.Note = agent.LandFailed, nil, err.Error()
	switch {
	case now.open:
		l.out.After, l.out.Text = agent.HashText(now.doc.text), now.doc.text
	case now.there:
		l.out.After, l.out.Text = now.disk.Hash, now.disk.Text
	}
	if l.out.Before == (agent.Hash{}) {
		l.out.Before = l.out.After
	}
	return l.out
}

func ids(hunks []agent.Hunk) []string {
	var out []string
	for _, h := range hunks {
		out = append(out, h.ID)
	}
	return out
}
