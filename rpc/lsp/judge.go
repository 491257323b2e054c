package lsp

import "assent/agent"

// judge says what became of an edit that the client made, or says that it made, by
// what it shows now and what is on disk.
func (l *lander) judge(before, after state, hunks []agent.Hunk) agent.Landing {
	switch l.edit.Kind {
	case agent.EditDelete, agent.EditRename:
		return l.judgeMove(before, after, hunks)
	}
	closed := !after.open && l.e.s.docs.closedSince(l.edit.Path, before.rev)
	switch {
	case after.told(before):
		return l.judgeText(before, after, hunks)
	case closed && before.open, closed && after.disk.Hash != before.disk.Hash:
		// The client closed it and told its text no more: what it saved is there.
		l.out.Where = agent.SourceDisk
		after.doc.text = after.disk.Text
		return l.judgeText(before, after, hunks)
	case after.there && after.disk.Hash != before.disk.Hash && agent.FoldEnds(after.disk.Text) == agent.FoldEnds(wanted(before.text(), hunks)):
		l.out.Status, l.out.Where, l.out.Landed = agent.LandComplete, agent.SourceDisk, ids(hunks)
		l.out.After, l.out.Text = after.disk.Hash, after.disk.Text
		l.e.s.docs.hide(l.edit.Path, before.rev)
		if after.disk.Text != wanted(before.text(), hunks) {
			l.note(otherEnds)
		}
		return l.out
	}
	return l.unseen(after)
}

func wanted(base string, hunks []agent.Hunk) string {
	return agent.Edit{Kind: agent.EditText, Old: base, Hunks: hunks}.New()
}

// judgeText says what a text that is known has of the hunks.
func (l *lander) judgeText(before, after state, hunks []agent.Hunk) agent.Landing {
	found, other := compare(before.text(), hunks, after.doc.text)
	l.out.Landed, l.out.Foreign = found.Landed, found.Foreign
	l.out.After, l.out.Text = agent.HashText(after.doc.text), after.doc.text
	switch {
	case l.edit.Confirm && len(found.Landed) > 0 && len(found.Altered) == 0:
		l.confirmed(found.Missing)
	case len(found.Landed)+len(found.Altered) == 0:
		// It may still come: the client said that it made the change, or nothing. An edit
		// for the text as it is now would then meet another one. What is closed is over,
		// if it was answered.
		l.out.Status = agent.LandUnconfirmed
		l.out.Note = "the change was sent to the editor, and its text does not have it so far; read the file before proposing it again"
		if after.open || !l.answered {
			l.e.s.docs.doubt(l.edit.Path, after.disk.Hash, after.rev)
		}
		return l.out
	case len(found.Altered)+len(found.Missing)+len(l.out.Conflicts) > 0:
		l.out.Status = agent.LandPartial
		l.out.Note = "some of the lines are not as they were accepted: something else changed them, before or after; read the file"
	default:
		l.out.Status = agent.LandComplete
	}
	if !after.there || after.disk.Text != after.doc.text {
		l.note("it is in an unsaved buffer of the editor, not on disk yet")
	}
	if other {
		l.note(otherEnds)
	}
	return l.out
}

const otherEnds = "its line ends are those that the editor gives it"

// note adds to what else there is to know.
func (l *lander) note(what string) {
	if l.out.Note != "" {
		l.out.Note += "; "
	}
	l.out.Note += what
}

// judgeMove says what became of a file that was to be deleted or renamed.
func (l *lander) judgeMove(before, after state, hunks []agent.Hunk) agent.Landing {
	l.out.Status = agent.LandComplete
	if !l.done(before, after, hunks) {
		l.out.Status = agent.LandUnconfirmed
		l.out.Note = "the editor said that it did it, and the files are not so; look at them before doing it again"
	}
	if now, err := l.hold.OnDisk(l.edit.To); err == nil && l.edit.Kind == agent.EditRename {
		l.out.After = now.Hash
	} else if after.there {
		l.out.After = after.disk.Hash
	}
	return l.out
}

// unseen is for a client that made the change, as far as it says, and shows nothing.
// The next edit of the file waits until it tells its text.
func (l *lander) unseen(after state) agent.Landing {
	l.out.Status = agent.LandUnconfirmed
	l.out.Note = "the change was sent to the editor, which did not show its result; it may be in an unsaved buffer"
	l.e.s.docs.doubt(l.edit.Path, after.disk.Hash, after.rev)
	return l.out
}
