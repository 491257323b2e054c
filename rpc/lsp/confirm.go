package lsp

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"assent/agent"

	"go.lsp.dev/protocol"
)

// Some clients without assent.review have a preview of their own, in which the person
// ticks what they want of an edit whose changes need confirmation. There a yes to
// "review the hunks" is one to the edit as far as it is ticked, see [agent.Edit].

// confirms reports whether the client can have the person confirm an edit hunk by hunk.
// What we write ourselves, it can't.
func (e *editor) confirms(edit agent.Edit) bool {
	c := e.s.client
	return c.annotations && c.applyEdit && !c.syncsAll && edit.Kind == agent.EditText && utf8.ValidString(edit.Old)
}

// annotated are text edits that the client applies as far as the person confirms them.
func annotated(texts []protocol.TextEdit) ([]protocol.TextDocumentEditElement, map[protocol.ChangeAnnotationIdentifier]protocol.ChangeAnnotation) {
	yes := true
	elements := make([]protocol.TextDocumentEditElement, len(texts))
	notes := map[protocol.ChangeAnnotationIdentifier]protocol.ChangeAnnotation{}
	for i, text := range texts {
		id := protocol.ChangeAnnotationIdentifier(fmt.Sprintf("hunk-%d", i+1))
		elements[i] = &protocol.AnnotatedTextEdit{TextEdit: text, AnnotationID: id}
		notes[id] = protocol.ChangeAnnotation{
			Label:             fmt.Sprintf("Hunk %d of %d, line %d", i+1, len(texts), text.Range.Start.Line+1),
			NeedsConfirmation: &yes,
		}
	}
	return elements, notes
}

const notConfirmed = "the person did not confirm it in the editor's preview"

// leftOut is the outcome of an edit of which the person confirmed nothing.
func (l *lander) leftOut(now state, hunks []agent.Hunk, reason string) agent.Landing {
	l.out.LeftOut = ids(hunks)
	note := notConfirmed
	if reason != "" {
		note += fmt.Sprintf(", which says %q", agent.Printable(reason))
	}
	return l.failed(now, errors.New(note))
}

// ticked reports whether the state after has some hunks as they were accepted, and
// nothing else in the place of the others: those that the person left out.
func (l *lander) ticked(before, after state, hunks []agent.Hunk) bool {
	if !after.told(before) {
		return false
	}
	found, _ := compare(before.text(), hunks, after.doc.text)
	return len(found.Landed) > 0 && len(found.Altered) == 0
}

// confirmed sorts the hunks of an edit that the person confirmed in part.
func (l *lander) confirmed(missing []string) {
	l.out.LeftOut, l.out.Status = missing, agent.LandComplete
	if len(missing)+len(l.out.Conflicts) > 0 {
		l.out.Status = agent.LandPartial
	}
}
