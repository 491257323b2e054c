package lsp

import (
	"encoding/json"

	"go.lsp.dev/protocol"
)

// The structs in this file and in event.go are our own part of the protocol, as it
// is on the wire. PROTOCOL.md describes them, and a test holds it to them.

// Our methods. Those of LSP itself have their names in package protocol.
const (
	methodPrompt        = "assent/prompt"
	methodSteer         = "assent/steer"
	methodCancel        = "assent/cancel"
	methodSessionNew    = "assent/session/new"
	methodSessionList   = "assent/session/list"
	methodSessionDelete = "assent/session/delete"
	methodSessionSet    = "assent/session/set"
	methodStatus        = "assent/status"

	methodEvent   = "assent/event"
	methodReview  = "assent/review"
	methodApprove = "assent/approve"

	methodDiagnostics = "assent/diagnostics"
)

// Version of our part of the protocol.
const Version = 1

// Abilities are what client and server tell each other in
// capabilities.experimental.assent.
type Abilities struct {
	Version  int    `json:"version"`
	Review   bool   `json:"review,omitempty"`
	Approve  bool   `json:"approve,omitempty"`
	SyncsAll bool   `json:"syncsAll,omitempty"`
	Lands    string `json:"lands,omitempty"`

	Diagnostics bool `json:"diagnostics,omitempty"`
}

// PromptParams are those of assent/prompt.
type PromptParams struct {
	SessionID     string          `json:"sessionId,omitempty"`
	Text          string          `json:"text"`
	Context       []ContextItem   `json:"context,omitempty"`
	Images        []Image         `json:"images,omitempty"`
	Model         string          `json:"model,omitempty"`
	Mode          string          `json:"mode,omitempty"`
	MaxTurns      int             `json:"maxTurns,omitempty"`
	WorkDoneToken json.RawMessage `json:"workDoneToken,omitempty"`
}

// ContextItem is a text that goes with a prompt.
type ContextItem struct {
	URI   string          `json:"uri"`
	Range *protocol.Range `json:"range,omitempty"`
}

// Image is an image that goes with a prompt.
type Image struct {
	MIMEType string `json:"mimeType,omitempty"` // not heeded
	Data     string `json:"data"`
}

// PromptResult answers assent/prompt.
type PromptResult struct {
	SessionID  string `json:"sessionId"`
	StopReason string `json:"stopReason"`
	Message    string `json:"message"`
	Turns      int    `json:"turns"`
	Usage      Usage  `json:"usage"`
	Denied     int    `json:"denied"`

	Unheard []string `json:"unheard,omitempty"` // steers that came too late
}

// Usage counts tokens, as the model server does; 0 is unknown.
type Usage struct {
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"`
}

// SteerParams are those of assent/steer.
type SteerParams struct {
	SessionID string `json:"sessionId"`
	Text      string `json:"text"`
}

// SteerResult answers assent/steer.
type SteerResult struct {
	Queued bool   `json:"queued"`
	After  string `json:"after"` // what it waits for: "review" or "results"
}

// SessionParams name a session: assent/cancel, assent/session/delete.
type SessionParams struct {
	SessionID string `json:"sessionId"`
}

// SessionNewParams are those of assent/session/new.
type SessionNewParams struct {
	Cwd   string `json:"cwd,omitempty"`
	Model string `json:"model,omitempty"`
	Mode  string `json:"mode,omitempty"`
}

// SessionNewResult answers assent/session/new.
type SessionNewResult struct {
	SessionID string `json:"sessionId"`
}

// SessionListParams are those of assent/session/list.
type SessionListParams struct {
	Cwd string `json:"cwd,omitempty"`
}

// SessionListResult answers assent/session/list.
type SessionListResult struct {
	Sessions []SessionInfo `json:"sessions"`
}

// SessionInfo is a session in a list.
type SessionInfo struct {
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
	Cwd       string `json:"cwd"`
	Started   string `json:"started"`
	Ended     string `json:"ended"`
	Turns     int    `json:"turns"`
	Outcome   string `json:"outcome,omitempty"`
	Open      bool   `json:"open"`
}

// SessionSetParams are those of assent/session/set.
type SessionSetParams struct {
	SessionID string `json:"sessionId"`
	Model     string `json:"model,omitempty"`
	Mode      string `json:"mode,omitempty"`
}

// SessionSetResult answers assent/session/set.
type SessionSetResult struct {
	Model string `json:"model"`
	Mode  string `json:"mode"`
}

// Empty is the result of what has none, and the params of what needs none.
type Empty struct{}

// StatusResult answers assent/status.
type StatusResult struct {
	Version  string        `json:"version"`
	Model    string        `json:"model"`
	Provider string        `json:"provider"`
	Tools    []ToolInfo    `json:"tools"`
	MCP      []string      `json:"mcp"`
	Sessions []SessionBusy `json:"sessions"`
	Journal  string        `json:"journal"`
	Waiting  []Wait        `json:"waiting"`
	Trouble  string        `json:"trouble,omitempty"`
}

// ToolInfo is a tool that sessions have.
type ToolInfo struct {
	Name string `json:"name"`
	Tier string `json:"tier"`
}

// SessionBusy is an open session.
type SessionBusy struct {
	SessionID string `json:"sessionId"`
	Running   bool   `json:"running"`
	Model     string `json:"model"`
	Mode      string `json:"mode"`
}

// Wait is something that the client has been asked and not answered.
type Wait struct {
	SessionID string `json:"sessionId"`
	For       string `json:"for"`
	Seconds   int    `json:"seconds"`
}

// EventParams are those of assent/event.
type EventParams struct {
	SessionID string `json:"sessionId"`
	Seq       int64  `json:"seq"`
	Event     any    `json:"event"`
}

// ReviewParams are those of assent/review.
type ReviewParams struct {
	SessionID  string     `json:"sessionId"`
	ProposalID string     `json:"proposalId"`
	Revision   int        `json:"revision"`
	Title      string     `json:"title"`
	Files      []FileEdit `json:"files"`
}

// FileEdit is one file of a proposal.
type FileEdit struct {
	ToolUseID string `json:"toolUseId"`
	Title     string `json:"title"`
	URI       string `json:"uri"`
	Version   *int32 `json:"version"`
	Kind      string `json:"kind"`
	NewURI    string `json:"newUri,omitempty"`
	OldText   string `json:"oldText,omitempty"`
	NewText   string `json:"newText"`
	Hunks     []Hunk `json:"hunks"`
	Alone     bool   `json:"alone,omitempty"`
	Conflict  bool   `json:"conflict,omitempty"`
	Protected bool   `json:"protected,omitempty"`
	Secret    bool   `json:"secret,omitempty"`
	Outside   bool   `json:"outside,omitempty"`
}

// Hunk is one change of a file. Lines count from 0.
type Hunk struct {
	ID       string `json:"id"`
	OldStart int    `json:"oldStart"`
	OldLines int    `json:"oldLines"`
	NewStart int    `json:"newStart"`
	NewLines int    `json:"newLines"`
	OldText  string `json:"oldText"`
	NewText  string `json:"newText"`
	Conflict bool   `json:"conflict,omitempty"`
}

// ReviewResult is the client's answer to assent/review.
type ReviewResult struct {
	Revision *int                   `json:"revision,omitempty"`
	Decision string                 `json:"decision"`
	Files    table[string]          `json:"files,omitempty"`
	Hunks    table[json.RawMessage] `json:"hunks,omitempty"`
	Edited   table[string]          `json:"edited,omitempty"`
	Comment  string                 `json:"comment,omitempty"`
	Remember string                 `json:"remember,omitempty"`
}

// HunkVerdict is the long form of an answer to one hunk.
type HunkVerdict struct {
	Verdict string  `json:"verdict"`
	NewText *string `json:"newText,omitempty"`
	Comment string  `json:"comment,omitempty"`
}

// ApproveParams are those of assent/approve.
type ApproveParams struct {
	SessionID  string `json:"sessionId"`
	ProposalID string `json:"proposalId"`
	ToolUseID  string `json:"toolUseId"`
	Title      string `json:"title"`
	Effect     Effect `json:"effect"`
}

// Effect is something other than an edit that needs a yes.
type Effect struct {
	Kind      string          `json:"kind"`
	ToolUseID string          `json:"toolUseId"`
	Dir       string          `json:"dir,omitempty"`
	Command   string          `json:"command,omitempty"`
	Server    string          `json:"server,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	URI       string          `json:"uri,omitempty"`
	Outside   bool            `json:"outside,omitempty"`
	Secret    bool            `json:"secret,omitempty"`
}

// ApproveResult is the client's answer to assent/approve.
type ApproveResult struct {
	Decision string `json:"decision"`
	Comment  string `json:"comment,omitempty"`
	Remember string `json:"remember,omitempty"`
}

// DiagnosticsParams are those of assent/diagnostics.
type DiagnosticsParams struct {
	URI string `json:"uri,omitempty"`
}

// DiagnosticsResult is the client's answer to assent/diagnostics.
type DiagnosticsResult struct {
	Items *[]Diagnostic `json:"items"`
}

// Diagnostic is what a tool of the editor says of a document.
type Diagnostic struct {
	URI      string         `json:"uri"`
	Range    protocol.Range `json:"range"`
	Severity int            `json:"severity"`
	Message  string         `json:"message"`
	Source   string         `json:"source"`
}

// InitializationOptions are the settings that an editor may send.
type InitializationOptions struct {
	Provider string   `json:"provider,omitempty"`
	BaseURL  string   `json:"baseUrl,omitempty"`
	Model    string   `json:"model,omitempty"`
	MaxTurns int      `json:"maxTurns,omitempty"`
	Tools    []string `json:"tools,omitempty"`
}
