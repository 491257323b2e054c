package lsp

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"assent/agent"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// workspaceEdit is an approved edit as the client applies it, made for one state of
// the file: version and positions are of the same text. One to be confirmed has the person
// asked by the client about each hunk.
func (e *editor) workspaceEdit(edit agent.Edit, s state, hunks []agent.Hunk) protocol.WorkspaceEdit {
	where, version := fileURI(e.s.folders.spell(edit.Path)), (*int32)(nil)
	if s.open {
		where, version = s.doc.uri, &s.doc.version
	}
	at := uri.URI(where) // spelled as the client does, so not parsed
	var changes []protocol.DocumentChange
	switch edit.Kind {
	case agent.EditCreate:
		no := false
		changes = append(changes, &protocol.CreateFile{Kind: "create", URI: at, Options: &protocol.CreateFileOptions{Overwrite: &no, IgnoreIfExists: &no}})
	case agent.EditDelete:
		if s.open { // a deletion has no version, and what is typed meanwhile would go with the file
			changes = append(changes, textChange(at, version, []protocol.TextDocumentEditElement{}))
		}
		return protocol.WorkspaceEdit{DocumentChanges: append(changes, &protocol.DeleteFile{Kind: "delete", URI: at})}
	case agent.EditRename:
		to, _ := e.s.place(edit.To)
		return protocol.WorkspaceEdit{DocumentChanges: []protocol.DocumentChange{&protocol.RenameFile{Kind: "rename", OldURI: at, NewURI: uri.URI(to)}}}
	}
	texts := e.textEdits(s.text(), hunks)
	if !e.s.client.versioned {
		return protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{at: texts}}
	}
	var notes map[protocol.ChangeAnnotationIdentifier]protocol.ChangeAnnotation
	if len(texts) > 0 {
		elements := make([]protocol.TextDocumentEditElement, len(texts))
		for i := range texts {
			elements[i] = &texts[i]
		}
		if edit.Confirm {
			elements, notes = annotated(texts)
		}
		changes = append(changes, textChange(at, version, elements))
	}
	return protocol.WorkspaceEdit{DocumentChanges: changes, ChangeAnnotations: notes}
}

func textChange(at uri.URI, version *int32, edits []protocol.TextDocumentEditElement) *protocol.TextDocumentEdit {
	return &protocol.TextDocumentEdit{
		TextDocument: protocol.OptionalVersionedTextDocumentIdentifier{
			TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: at}, Version: version,
		},
		Edits: edits,
	}
}

// textEdits are hunks in positions of base.
func (e *editor) textEdits(base string, hunks []agent.Hunk) []protocol.TextEdit {
	edits := make([]protocol.TextEdit, 0, len(hunks))
	at := newPositions(base, e.s.client.encoding)
	for _, h := range hunks {
		from, to := narrowed(h.Old, h.New)
		span := protocol.Range{Start: at.of(h.At + from), End: at.of(h.At + len(h.Old) - to)}
		edits = append(edits, protocol.TextEdit{Range: span, NewText: h.New[from : len(h.New)-to]})
	}
	return edits
}

// narrowed is how much of the start and of the end of two texts is the same, in whole
// words: an editor keeps its marks and cursors where no text is replaced, and the last
// line needs no position after its end.
func narrowed(old, new string) (from, to int) {
	if old == "" || new == "" {
		return 0, 0
	}
	for i := 0; i < min(len(old), len(new)) && old[i] == new[i]; i++ {
		if between(old[i]) && old[i] != '\r' && startsClean(old[i+1:]) && startsClean(new[i+1:]) {
			from = i + 1
		}
	}
	for i := 1; i <= min(len(old), len(new))-from && old[len(old)-i] == new[len(new)-i]; i++ {
		head, other := old[:len(old)-i], new[:len(new)-i]
		if between(old[len(head)]) && !strings.HasSuffix(head, "\r") && !strings.HasSuffix(other, "\r") && startsClean(old[len(head)+1:]) {
			to = i
		}
	}
	return from, to
}

// between reports whether a byte stands between words, in every encoding of ASCII.
func between(c byte) bool {
	return c < utf8.RuneSelf && c != '_' && !unicode.IsLetter(rune(c)) && !unicode.IsDigit(rune(c))
}

// startsClean reports whether a text begins with a character of its own, not with a
// mark that belongs to the one before it.
func startsClean(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return !unicode.In(r, unicode.M, unicode.Cf)
}
