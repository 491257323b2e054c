package lsp

import (
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
		return protocol.WorkspaceEdit{DocumentChanges: []protocol.DocumentChange{&protocol.DeleteFile{Kind: "delete", URI: at}}}
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
		changes = append(changes, &protocol.TextDocumentEdit{
			TextDocument: protocol.OptionalVersionedTextDocumentIdentifier{
				TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: at}, Version: version,
			},
			Edits: elements,
		})
	}
	return protocol.WorkspaceEdit{DocumentChanges: changes, ChangeAnnotations: notes}
}

// textEdits are hunks in positions of base.
func (e *editor) textEdits(base string, hunks []agent.Hunk) []protocol.TextEdit {
	edits := make([]protocol.TextEdit, 0, len(hunks))
	at := newPositions(base, e.s.client.encoding)
	for _, h := range hunks {
		span := protocol.Range{Start: at.of(h.At), End: at.of(h.At + len(h.Old))}
		edits = append(edits, protocol.TextEdit{Range: span, NewText: h.New})
	}
	return edits
}
