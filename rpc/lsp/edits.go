package lsp

import (
	"assent/agent"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// workspaceEdit is an approved edit as the client applies it: hunks are those to
// put into base, the text that it has or, of a file that is not open, will load.
func (e *editor) workspaceEdit(edit agent.Edit, base string, hunks []agent.Hunk) protocol.WorkspaceEdit {
	where, version := e.s.place(edit.Path)
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
	texts := e.textEdits(base, hunks)
	if !e.s.client.versioned {
		return protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{at: texts}}
	}
	if len(texts) > 0 {
		elements := make([]protocol.TextDocumentEditElement, len(texts))
		for i := range texts {
			elements[i] = &texts[i]
		}
		changes = append(changes, &protocol.TextDocumentEdit{
			TextDocument: protocol.OptionalVersionedTextDocumentIdentifier{
				TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: at}, Version: version,
			},
			Edits: elements,
		})
	}
	return protocol.WorkspaceEdit{DocumentChanges: changes}
}

// textEdits are hunks in positions of base.
func (e *editor) textEdits(base string, hunks []agent.Hunk) []protocol.TextEdit {
	edits := make([]protocol.TextEdit, 0, len(hunks))
	for _, h := range hunks {
		edits = append(edits, protocol.TextEdit{
			Range: protocol.Range{
				Start: positionAt(base, h.At, e.s.client.encoding),
				End:   positionAt(base, h.At+len(h.Old), e.s.client.encoding),
			},
			NewText: h.New,
		})
	}
	return edits
}
