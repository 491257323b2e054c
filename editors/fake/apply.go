package fake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// workspaceEdit is a WorkspaceEdit; DocumentChanges wins where both are given.
type workspaceEdit struct {
	Changes         map[string][]TextEdit `json:"changes"`
	DocumentChanges []docChange           `json:"documentChanges"`

	ChangeAnnotations map[string]annotation `json:"changeAnnotations"`
}

// docChange is one of TextDocumentEdit (Kind ""), create, rename and delete.
type docChange struct {
	Kind         string       `json:"kind"`
	TextDocument *versionedID `json:"textDocument"`
	Edits        []docEdit    `json:"edits"`
	URI          string       `json:"uri"`
	OldURI       string       `json:"oldUri"`
	NewURI       string       `json:"newUri"`
	Options      struct {
		Overwrite         bool `json:"overwrite"`
		IgnoreIfExists    bool `json:"ignoreIfExists"`
		Recursive         bool `json:"recursive"`
		IgnoreIfNotExists bool `json:"ignoreIfNotExists"`
	} `json:"options"`
}

type versionedID struct {
	URI     string `json:"uri"`
	Version *int   `json:"version"`
}

// applyResult is the answer to workspace/applyEdit.
type applyResult struct {
	Applied       bool   `json:"applied"`
	FailureReason string `json:"failureReason,omitempty"`
	FailedChange  *int   `json:"failedChange,omitempty"`
}

// steps returns the edit as a list, in an order that does not depend on chance.
func (w *workspaceEdit) steps() []docChange {
	if w.DocumentChanges != nil {
		return w.DocumentChanges
	}
	var out []docChange
	for _, uri := range slices.Sorted(maps.Keys(w.Changes)) {
		out = append(out, docChange{TextDocument: &versionedID{URI: uri}, Edits: plain(w.Changes[uri])})
	}
	return out
}

// uris returns what the step is about.
func (c *docChange) uris() []string {
	switch {
	case c.TextDocument != nil:
		return []string{c.TextDocument.URI}
	case c.Kind == "rename":
		return []string{c.OldURI, c.NewURI}
	}
	return []string{c.URI}
}

// applyEdit answers one workspace/applyEdit, with the order of didChange and
// reply that the modes ask for. The lock is held over both, so nothing that a
// person does comes between.
func (e *Editor) applyEdit(ctx context.Context, m message) {
	var p struct {
		Edit *workspaceEdit `json:"edit"`
	}
	if err := decode(m.params, &p); err != nil {
		e.conn.reply(m.id, nil, err)
		return
	}
	if p.Edit == nil {
		e.conn.reply(m.id, nil, &Error{Code: CodeInvalidParams, Message: "applyEdit without an edit"})
		return
	}
	steps := p.Edit.steps()
	if e.opts.BeforeApply != nil {
		for _, uri := range distinctURIs(steps) {
			e.opts.BeforeApply(uri)
		}
	}
	if e.applies() {
		var refusal *applyResult
		if steps, refusal = e.confirmed(ctx, p.Edit, steps); refusal != nil {
			e.conn.reply(m.id, refusal, nil)
			return
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.respond(ctx, m, p.Edit, steps)
}

func distinctURIs(steps []docChange) []string {
	var out []string
	for _, c := range steps {
		for _, uri := range c.uris() {
			if !slices.Contains(out, uri) {
				out = append(out, uri)
			}
		}
	}
	return out
}

// respond does and answers what the mode says. e.mu is held.
func (e *Editor) respond(ctx context.Context, m message, edit *workspaceEdit, steps []docChange) {
	switch {
	case e.apply == Silent:
		return
	case ctx.Err() != nil:
		e.conn.reply(m.id, nil, ctx.Err())
		return
	case e.apply == Liar:
		e.conn.reply(m.id, applyResult{Applied: true}, nil)
		return
	case e.apply == Refuses:
		e.conn.reply(m.id, applyResult{FailureReason: "the person said no"}, nil)
		return
	case e.apply == Fails:
		e.conn.reply(m.id, nil, &Error{Code: CodeInternalError, Message: "the editor is closing"})
		return
	}
	touched, result := e.applySteps(edit, steps)
	if e.changes == Late {
		e.conn.reply(m.id, result, nil)
		e.sayLater(touched)
		return
	}
	e.sayThese(touched)
	e.conn.reply(m.id, result, nil)
}

// applySteps applies the steps in order and stops at the first that fails;
// what was done before it stays ("abort"). Versions are checked before any
// step. It returns the buffers that have something to tell.
func (e *Editor) applySteps(edit *workspaceEdit, steps []docChange) ([]*buffer, applyResult) {
	if edit.DocumentChanges != nil && e.opts.NoDocumentChanges {
		return nil, applyResult{FailureReason: "this editor did not offer documentChanges"}
	}
	for i, c := range steps {
		if err := e.checkStep(c); err != nil {
			return nil, applyResult{FailureReason: err.Error(), FailedChange: &i}
		}
	}
	var touched []*buffer
	for i, c := range steps {
		b, err := e.applyStep(c)
		if b != nil && !slices.Contains(touched, b) {
			touched = append(touched, b)
		}
		if err != nil {
			return touched, applyResult{FailureReason: err.Error(), FailedChange: &i}
		}
	}
	return touched, applyResult{Applied: true}
}

// checkStep refuses a step that this editor could not do, or whose version is
// not that of the buffer.
func (e *Editor) checkStep(c docChange) error {
	switch {
	case c.Kind != "" && e.opts.NoResourceOperations:
		return fmt.Errorf("this editor did not offer the resource operation %q", c.Kind)
	case c.Kind != "":
		return nil
	case c.TextDocument == nil:
		return errors.New("a change that is neither a text edit nor a resource operation")
	case c.TextDocument.Version == nil || e.apply == AnyVersion:
		return nil
	}
	uri, want := c.TextDocument.URI, *c.TextDocument.Version
	b := e.buffers[key(uri)]
	if b == nil {
		return fmt.Errorf("%s is not open, so it has no version %d", uri, want)
	}
	if b.version != want {
		return fmt.Errorf("%s has version %d, the edit is for version %d", uri, b.version, want)
	}
	return nil
}

// applyStep does one step and returns the buffer that it changed, if any.
func (e *Editor) applyStep(c docChange) (*buffer, error) {
	switch c.Kind {
	case "":
		return e.editDocument(c.TextDocument.URI, texts(c.Edits))
	case "create":
		return e.createFile(c)
	case "rename":
		return nil, e.renameFile(c)
	case "delete":
		return nil, e.deleteFile(c)
	}
	return nil, fmt.Errorf("the resource operation %q is unknown", c.Kind)
}

// editDocument applies edits, all of them or none. A file that is not open is
// loaded into a buffer, where the edit stays unsaved.
func (e *Editor) editDocument(uri string, edits []TextEdit) (*buffer, error) {
	b := e.buffers[key(uri)]
	if b == nil {
		loaded, err := e.load(uri, e.changes != Never)
		if err != nil {
			return nil, err
		}
		b = loaded
	}
	spans, err := e.enc.spans(b.text, edits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", uri, err)
	}
	e.edit(b, spans)
	if e.apply != FormatsOnSave {
		return b, nil
	}
	if e.changes == BeforeReply {
		if err := e.say(b); err != nil {
			return b, err
		}
	}
	return b, e.save(b)
}
