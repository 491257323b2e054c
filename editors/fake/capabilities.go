package fake

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// initializeParams are those of initialize. A thing that the editor cannot do
// is left out, as real clients leave it out.
func (e *Editor) initializeParams(folders []string) map[string]any {
	p := map[string]any{
		"processId":        nil,
		"clientInfo":       map[string]string{"name": "fake"},
		"rootUri":          nil,
		"workspaceFolders": nil,
		"capabilities":     e.opts.capabilities(),
	}
	if e.opts.ProcessID != 0 {
		p["processId"] = e.opts.ProcessID
	}
	if e.opts.InitializationOptions != nil {
		p["initializationOptions"] = e.opts.InitializationOptions
	}
	if len(folders) > 0 {
		list := make([]map[string]string, 0, len(folders))
		for _, f := range folders {
			list = append(list, map[string]string{"uri": URI(f), "name": filepath.Base(f)})
		}
		p["rootUri"], p["workspaceFolders"] = list[0]["uri"], list
	}
	return p
}

func (o *Options) capabilities() map[string]any {
	window := map[string]any{"showDocument": map[string]bool{"support": !o.NoShowDocument}}
	if !o.NoMessageRequest {
		window["showMessage"] = map[string]any{"messageActionItem": map[string]bool{"additionalPropertiesSupport": true}}
	}
	if !o.NoProgress {
		window["workDoneProgress"] = true
	}
	c := map[string]any{
		"workspace": o.workspace(),
		"window":    window,
		"textDocument": map[string]any{
			"synchronization": map[string]bool{"didSave": true},
			"codeAction": map[string]any{"codeActionLiteralSupport": map[string]any{
				"codeActionKind": map[string]any{"valueSet": []string{"", "quickfix", "refactor", "source"}},
			}},
		},
	}
	if o.Encodings != nil {
		c["general"] = map[string]any{"positionEncodings": o.Encodings}
	}
	if own := o.experimental(); len(own) > 0 {
		own["version"] = 1
		c["experimental"] = map[string]any{"assent": own}
	}
	return c
}

func (o *Options) workspace() map[string]any {
	edit := map[string]any{"failureHandling": "abort"}
	if !o.NoDocumentChanges {
		edit["documentChanges"] = true
	}
	if !o.NoResourceOperations {
		edit["resourceOperations"] = []string{"create", "rename", "delete"}
	}
	if o.Confirm != nil {
		edit["changeAnnotationSupport"] = struct{}{} // empty, as some send it
	}
	w := map[string]any{"configuration": true, "workspaceFolders": true, "executeCommand": struct{}{}}
	if !o.NoApplyEdit {
		w["applyEdit"], w["workspaceEdit"] = true, edit
	}
	return w
}

// experimental is empty for an editor that has no plugin of ours.
func (o *Options) experimental() map[string]any {
	own := map[string]any{}
	if !o.NoReview {
		own["review"] = true
	}
	if !o.NoApprove {
		own["approve"] = true
	}
	if o.SyncsAll {
		own["syncsAll"] = true
	}
	if o.Diagnostics != nil {
		own["diagnostics"] = true
	}
	return own
}

// syncOptions is what the server wants to hear about documents. The zero value
// is a server that said nothing, and hears nothing.
type syncOptions struct {
	openClose bool
	change    int // 0 nothing, 1 whole texts, 2 increments
	save      bool
	saveText  bool // didSave has the text
}

// parseSync reads textDocumentSync in its three forms.
func parseSync(raw json.RawMessage) (syncOptions, error) {
	var s syncOptions
	if len(raw) == 0 || string(raw) == "null" {
		return s, nil
	}
	if json.Unmarshal(raw, &s.change) == nil {
		s.openClose = s.change != 0
		s.save = s.openClose // as VS Code does for the old form
		return s, nil
	}
	var wire struct {
		OpenClose bool            `json:"openClose"`
		Change    int             `json:"change"`
		Save      json.RawMessage `json:"save"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return s, fmt.Errorf("fake: textDocumentSync: %w", err)
	}
	s.openClose, s.change = wire.OpenClose, wire.Change
	if len(wire.Save) == 0 || json.Unmarshal(wire.Save, &s.save) == nil {
		return s, nil
	}
	var save struct {
		IncludeText bool `json:"includeText"`
	}
	if err := json.Unmarshal(wire.Save, &save); err != nil {
		return s, fmt.Errorf("fake: textDocumentSync.save: %w", err)
	}
	s.save, s.saveText = true, save.IncludeText
	return s, nil
}
