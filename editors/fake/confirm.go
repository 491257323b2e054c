package fake

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// annotation is a ChangeAnnotation.
type annotation struct {
	Label             string `json:"label"`
	NeedsConfirmation bool   `json:"needsConfirmation"`
	Description       string `json:"description"`
}

// docEdit is a TextEdit that may be annotated.
type docEdit struct {
	TextEdit
	AnnotationID string
}

// UnmarshalJSON is strict about the TextEdit.
func (d *docEdit) UnmarshalJSON(data []byte) error {
	var wire struct {
		AnnotationID string `json:"annotationId"`
	}
	err := json.Unmarshal(data, &wire)
	d.AnnotationID = wire.AnnotationID
	return errors.Join(err, d.TextEdit.UnmarshalJSON(data))
}

func plain(edits []TextEdit) []docEdit {
	out := make([]docEdit, len(edits))
	for i, t := range edits {
		out[i].TextEdit = t
	}
	return out
}

func texts(edits []docEdit) []TextEdit {
	out := make([]TextEdit, len(edits))
	for i, d := range edits {
		out[i] = d.TextEdit
	}
	return out
}

// Confirmation is a change that the person is asked about before it is applied.
type Confirmation struct {
	URI, Label, Description string
	Edit                    TextEdit
}

// applies reports whether the mode is one that applies edits.
func (e *Editor) applies() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.apply == Honest || e.apply == AnyVersion || e.apply == FormatsOnSave
}

// confirmed asks the person about the text edits that need it, and leaves out those
// that are not ticked. If nothing is left, the edit is not applied, as in VS Code.
func (e *Editor) confirmed(ctx context.Context, edit *workspaceEdit, steps []docChange) ([]docChange, *applyResult) {
	var asked []Confirmation
	var left []docChange
	for _, c := range steps {
		for _, t := range c.Edits {
			note, known := edit.ChangeAnnotations[t.AnnotationID]
			switch {
			case t.AnnotationID == "":
			case !known || e.opts.Confirm == nil:
				return nil, &applyResult{FailureReason: "the annotation " + t.AnnotationID + " is unknown, or was not offered"}
			case note.NeedsConfirmation:
				asked = append(asked, Confirmation{c.TextDocument.URI, note.Label, note.Description, t.TextEdit})
			}
		}
	}
	if len(asked) == 0 {
		return steps, nil
	}
	ticked := e.opts.Confirm(ctx, slices.Clone(asked))
	n := 0
	for _, c := range steps {
		c.Edits = slices.DeleteFunc(slices.Clone(c.Edits), func(t docEdit) bool {
			if !edit.ChangeAnnotations[t.AnnotationID].NeedsConfirmation {
				return false
			}
			n++
			return n > len(ticked) || !ticked[n-1]
		})
		if c.TextDocument == nil || len(c.Edits) > 0 {
			left = append(left, c)
		}
	}
	if len(left) == 0 {
		return nil, &applyResult{}
	}
	return left, nil
}
