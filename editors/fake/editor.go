package fake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// ChangeMode is when the server hears of an edit that it asked for.
type ChangeMode int

const (
	BeforeReply ChangeMode = iota // didChange, then the reply to applyEdit, as VS Code
	Late                          // the reply, then didChange 150 ms later, as Neovim
	Never                         // no didChange at all, whoever changed the text; see [Editor.Flush]
)

// ApplyMode is what the editor does with a workspace/applyEdit.
type ApplyMode int

const (
	Honest        ApplyMode = iota // applies it; a version that is not the buffer's is refused with a reason
	Liar                           // says applied:true and does nothing
	AnyVersion                     // ignores versions: applies the positions to whatever text it has now
	FormatsOnSave                  // as Honest, then saves; a formatter strips trailing blanks and adds the last line end on each save
	Refuses                        // applied:false, "the person said no"
	Silent                         // never answers
	Fails                          // error -32603, as an editor that is closing
)

// Options say which editor it is. The zero value is a capable and honest one
// whose person accepts everything.
type Options struct {
	Framing Framing
	Changes ChangeMode
	Apply   ApplyMode

	Encodings []string // offered general.positionEncodings; nil: not said, which means utf-16
	FullSync  bool     // didChange has the whole text, even where the server takes increments
	SyncsAll  bool     // experimental.assent.syncsAll
	ProcessID int      // 0: null

	// What the editor cannot do. It does not advertise it, and answers
	// -32601 or, inside a WorkspaceEdit, applied:false.
	NoReview, NoApprove, NoApplyEdit, NoDocumentChanges, NoResourceOperations, NoMessageRequest, NoProgress, NoShowDocument bool

	InitializationOptions any

	// What the person does. Each is called in a goroutine of its own, and
	// ctx ends when the server cancels the request or the connection ends.
	// An error is answered as an error: an *[Error] as it is, -32800 when
	// ctx ended, -32603 else.
	Review  func(ctx context.Context, r Review) (Answer, error)                   // nil: accept
	Approve func(ctx context.Context, a Approve) (ApproveAnswer, error)           // nil: allow
	Message func(ctx context.Context, m MessageRequest) (title string, err error) // nil: the first action; "" answers null

	// Show is called with each window/showDocument. nil: it is shown.
	Show func(ctx context.Context, uri string) (success bool, err error)

	// Diagnostics are what its tools say of a document, or of all for an empty URI.
	// nil: not offered.
	Diagnostics func(ctx context.Context, uri string) (DiagnosticsAnswer, error)

	// Confirm is the person in the preview of an edit whose changes need confirmation:
	// it returns which of them are ticked. nil: change annotations are not offered.
	Confirm func(ctx context.Context, changes []Confirmation) (ticked []bool)

	// Format is another formatter of FormatsOnSave than the one that strips blanks.
	Format func(text string) string

	// BeforeApply is called for each URI of an applyEdit before anything is
	// done about it, in every ApplyMode: here the person types.
	BeforeApply func(uri string)
}

// Editor is a fake editor. Its methods may be called at any time and from any
// goroutine, also from the functions of [Options], except Close from those.
type Editor struct {
	opts    Options
	conn    *conn
	done    chan struct{} // closed by stop: nobody waits for answers any more
	stop    func()
	owned   sync.WaitGroup
	applied chan struct{} // closed when the newest applyEdit is done; the reader's own

	mu      sync.Mutex // the rest; taken before conn.mu, never after it
	changes ChangeMode
	apply   ApplyMode
	enc     Encoding
	sync    syncOptions
	buffers map[string]*buffer // by key(uri)
}

// New returns an editor that speaks over the two streams, and starts to read
// at once. It owns toServer and closes it; it reads fromServer to its end.
func New(fromServer io.Reader, toServer io.WriteCloser, o Options) *Editor {
	e := &Editor{
		opts: o, conn: newConn(o.Framing, toServer), done: make(chan struct{}), applied: make(chan struct{}),
		changes: o.Changes, apply: o.Apply, enc: UTF16, buffers: map[string]*buffer{},
	}
	close(e.applied)
	ctx, cancel := context.WithCancel(context.Background())
	e.stop = sync.OnceFunc(func() { cancel(); close(e.done) })
	e.owned.Go(e.conn.write)
	e.owned.Go(func() {
		defer e.stop()
		e.conn.read(fromServer, func(m message) { e.handle(ctx, m) })
	})
	return e
}

// Close ends the editor as a crash would: handlers are cancelled without an
// answer, what is queued is written, the stream to the server is closed. Then
// it waits until the server has ended its own stream, and for all goroutines.
// Calls that are still open get their answer if the server gives one. Close
// returns an error when the server did not read its input to the end.
func (e *Editor) Close() error {
	err := e.conn.close()
	e.stop()
	e.owned.Wait()
	return err
}

// SetModes makes it another editor from now on.
func (e *Editor) SetModes(c ChangeMode, a ApplyMode) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changes, e.apply = c, a
}

// Initialize sends initialize and then initialized. The folders are absolute
// paths; none means a null rootUri. A position encoding that was not offered is
// an error.
func (e *Editor) Initialize(ctx context.Context, folders ...string) (InitializeResult, error) {
	var r InitializeResult
	if err := e.Call(ctx, "initialize", e.initializeParams(folders), &r); err != nil {
		return r, err
	}
	enc := r.Capabilities.PositionEncoding
	if enc == "" {
		enc = UTF16
	}
	if enc != UTF16 && !slices.Contains(e.opts.Encodings, string(enc)) {
		return r, fmt.Errorf("fake: the server chose the encoding %q out of %q", enc, e.opts.Encodings)
	}
	if !slices.Contains([]Encoding{UTF8, UTF16, UTF32}, enc) {
		return r, fmt.Errorf("fake: the encoding %q is unknown", enc)
	}
	sync, err := parseSync(r.Capabilities.TextDocumentSync)
	if err != nil {
		return r, err
	}
	e.mu.Lock()
	e.enc, e.sync = enc, sync
	e.mu.Unlock()
	return r, e.Notify("initialized", struct{}{})
}

// Shutdown sends shutdown, waits for its answer, and sends exit.
func (e *Editor) Shutdown(ctx context.Context) error {
	if err := e.Call(ctx, "shutdown", nil, nil); err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	return e.Notify("exit", nil)
}

// Prompt sends assent/prompt and waits until the turn is over.
func (e *Editor) Prompt(ctx context.Context, p Prompt) (PromptResult, error) {
	var r PromptResult
	err := e.Call(ctx, "assent/prompt", p, &r)
	return r, err
}

// Encoding returns the position encoding that was agreed on.
func (e *Editor) Encoding() Encoding {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.enc
}

// errNotOpen is returned for a document that is not open.
var errNotOpen = errors.New("the document is not open")
