package lsp

import (
	"encoding/json"
	"slices"

	"go.lsp.dev/protocol"
)

// client is what the client can do, by its initialize.
type client struct {
	name     string
	encoding encoding

	review, approve bool // assent/review, assent/approve
	diagnostics     bool // assent/diagnostics
	asks            bool // window/showMessageRequest, as far as can be told
	syncsAll        bool // every file that is open there is told
	applyEdit       bool
	versioned       bool // documentChanges
	annotations     bool // of changes that need confirmation
	shows           bool // window/showDocument
	create          bool // resource operations
	rename          bool
	delete          bool
	progress        bool // window/workDoneProgress/create
}

func clientOf(p protocol.InitializeParams) client {
	caps := p.Capabilities
	c := client{name: p.ClientInfo.Name, encoding: utf16Units}
	if caps.General != nil {
		c.encoding = chooseEncoding(caps.General.PositionEncodings)
	}
	ours := abilitiesOf(caps.Experimental)
	c.review, c.approve, c.diagnostics, c.syncsAll = ours.Review, ours.Approve, ours.Diagnostics, ours.SyncsAll
	// There is no capability for it: every editor has it, a script has not.
	c.asks = caps.Window != nil || caps.TextDocument != nil
	if caps.Window != nil {
		c.progress = is(caps.Window.WorkDoneProgress)
		c.shows = caps.Window.ShowDocument != nil && caps.Window.ShowDocument.Support
	}
	w := caps.Workspace
	if w == nil {
		return c
	}
	c.applyEdit = is(w.ApplyEdit)
	if w.WorkspaceEdit != nil && is(w.WorkspaceEdit.DocumentChanges) {
		// Resource operations are documentChanges, whatever else a client says.
		operations := w.WorkspaceEdit.ResourceOperations
		c.versioned = true
		c.annotations = w.WorkspaceEdit.ChangeAnnotationSupport != nil // an empty object says yes
		c.create = slices.Contains(operations, protocol.ResourceOperationKindCreate)
		c.rename = slices.Contains(operations, protocol.ResourceOperationKindRename)
		c.delete = slices.Contains(operations, protocol.ResourceOperationKindDelete)
	}
	return c
}

// abilitiesOf reads experimental.assent. What is malformed there is not offered.
func abilitiesOf(experimental protocol.LSPAny) Abilities {
	var e struct {
		Assent Abilities `json:"assent"`
	}
	if len(experimental) == 0 || json.Unmarshal(experimental, &e) != nil {
		return Abilities{}
	}
	return e.Assent
}

func is(b *bool) bool { return b != nil && *b }
