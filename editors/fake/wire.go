package fake

import "encoding/json"

// InitializeResult is what the server says of itself.
type InitializeResult struct {
	Capabilities ServerCapabilities `json:"capabilities"`
	ServerInfo   ServerInfo         `json:"serverInfo"`
}

// ServerInfo is the server's name.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ServerCapabilities are those that the editor acts on or tests look at. All
// of them stand in [Editor.Log].
type ServerCapabilities struct {
	PositionEncoding       Encoding                   `json:"positionEncoding"`
	TextDocumentSync       json.RawMessage            `json:"textDocumentSync"`
	CodeActionProvider     json.RawMessage            `json:"codeActionProvider"`
	ExecuteCommandProvider json.RawMessage            `json:"executeCommandProvider"`
	Experimental           map[string]json.RawMessage `json:"experimental"`
}

// Prompt is the params of assent/prompt. Without SessionID a session begins.
type Prompt struct {
	SessionID     string    `json:"sessionId,omitempty"`
	Text          string    `json:"text"`
	Context       []Context `json:"context,omitempty"`
	Images        []Image   `json:"images,omitempty"`
	Model         string    `json:"model,omitempty"`
	Mode          string    `json:"mode,omitempty"` // ask, plan or accept_edits
	MaxTurns      int       `json:"maxTurns,omitempty"`
	WorkDoneToken any       `json:"workDoneToken,omitempty"`
}

// Context is a document, or a part of one, that a prompt is about.
type Context struct {
	URI   string `json:"uri"`
	Range *Range `json:"range,omitempty"`
}

// Image is a picture in base64.
type Image struct {
	MIMEType string `json:"mimeType"`
	Data     string `json:"data"`
}

// PromptResult is how a prompt ended.
type PromptResult struct {
	SessionID  string `json:"sessionId"`
	StopReason string `json:"stopReason"`
	Message    string `json:"message"`
	Turns      int    `json:"turns"`
	Usage      Usage  `json:"usage"`
	Denied     int    `json:"denied"`

	Unheard []string `json:"unheard"`
}

// Usage counts tokens.
type Usage struct {
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"`
}

// Review is the params of assent/review.
type Review struct {
	SessionID  string       `json:"sessionId"`
	ProposalID string       `json:"proposalId"`
	Revision   int          `json:"revision"`
	Title      string       `json:"title"`
	Files      []ReviewFile `json:"files"`
}

// ReviewFile is one file of a review. Kind is edit, create, delete or rename.
type ReviewFile struct {
	ToolUseID string `json:"toolUseId"`
	Title     string `json:"title"`
	URI       string `json:"uri"`
	Version   *int   `json:"version"`
	Kind      string `json:"kind"`
	NewURI    string `json:"newUri"`
	OldText   string `json:"oldText"`
	NewText   string `json:"newText"`
	Hunks     []Hunk `json:"hunks"`
	Alone     bool   `json:"alone"`    // a yes to several files does not cover it
	Conflict  bool   `json:"conflict"` // of a delete: the text was changed meanwhile
	Protected bool   `json:"protected"`
	Secret    bool   `json:"secret"`
	Outside   bool   `json:"outside"`
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
	Conflict bool   `json:"conflict"` // the person changed the lines meanwhile; takes a yes of its own
}

// Answer is the result of assent/review. Decision is accept, reject or
// partial. A value of Hunks is "accept", "reject" or a [HunkAnswer].
type Answer struct {
	Revision int               `json:"revision,omitempty"` // 0: not said, so the newest
	Decision string            `json:"decision"`
	Files    map[string]string `json:"files,omitempty"`  // by URI
	Hunks    map[string]any    `json:"hunks,omitempty"`  // by hunk id
	Edited   map[string]string `json:"edited,omitempty"` // the person's text, by URI
	Comment  string            `json:"comment,omitempty"`
	Remember string            `json:"remember,omitempty"`

	// Raw, when set, is the answer, whatever the fields above say: for
	// answers that are malformed.
	Raw json.RawMessage `json:"-"`
}

// HunkAnswer is the long form of an answer to one hunk.
type HunkAnswer struct {
	Verdict string  `json:"verdict"`
	NewText *string `json:"newText,omitempty"` // the person's own text for it
	Comment string  `json:"comment,omitempty"`
}

// Approve is the params of assent/approve.
type Approve struct {
	SessionID  string          `json:"sessionId"`
	ProposalID string          `json:"proposalId"`
	ToolUseID  string          `json:"toolUseId"`
	Title      string          `json:"title"`
	Effect     Effect          `json:"effect"`
	Rule       json.RawMessage `json:"rule"`
}

// Effect is what is to be approved. Kind is exec (Dir, Command), remote
// (Server, Tool, Input) or read (URI).
type Effect struct {
	Kind    string          `json:"kind"`
	Dir     string          `json:"dir"`
	Command string          `json:"command"`
	Server  string          `json:"server"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	URI     string          `json:"uri"`
	Outside bool            `json:"outside"`
	Secret  bool            `json:"secret"`
}

// ApproveAnswer is the result of assent/approve. Decision is allow or reject.
type ApproveAnswer struct {
	Decision string `json:"decision"`
	Comment  string `json:"comment,omitempty"`
	Remember string `json:"remember,omitempty"`

	Raw json.RawMessage `json:"-"` // as in Answer
}

// DiagnosticsAnswer is the result of assent/diagnostics.
type DiagnosticsAnswer struct {
	Items []Diagnostic `json:"items"`

	Raw json.RawMessage `json:"-"` // as in Answer
}

// Diagnostic is what a tool says of a document. Severity is 1 error, 2 warning, 3
// information, 4 hint.
type Diagnostic struct {
	URI      string `json:"uri"`
	Range    Range  `json:"range"`
	Severity int    `json:"severity,omitempty"`
	Message  string `json:"message"`
	Source   string `json:"source,omitempty"`
}

// MessageRequest is the params of window/showMessageRequest.
type MessageRequest struct {
	Type    int      // 1 error, 2 warning, 3 info, 4 log
	Message string   // what the person reads
	Actions []string // the titles of the buttons, in order
}

// MarshalJSON writes Raw when there is one.
func (a Answer) MarshalJSON() ([]byte, error) {
	if a.Raw != nil {
		return a.Raw, nil
	}
	type fields Answer
	return json.Marshal(fields(a))
}

// MarshalJSON writes Raw when there is one.
func (a DiagnosticsAnswer) MarshalJSON() ([]byte, error) {
	if a.Raw != nil {
		return a.Raw, nil
	}
	type fields DiagnosticsAnswer
	if a.Items == nil {
		a.Items = []Diagnostic{}
	}
	return json.Marshal(fields(a))
}

// MarshalJSON writes Raw when there is one.
func (a ApproveAnswer) MarshalJSON() ([]byte, error) {
	if a.Raw != nil {
		return a.Raw, nil
	}
	type fields ApproveAnswer
	return json.Marshal(fields(a))
}
