package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"assent/agent"
	"assent/agent/host"
	"assent/rpc"

	"go.lsp.dev/protocol"
)

// Engine is what sessions are made with.
type Engine struct {
	Host     *host.Host
	Provider string
	Model    string
	Journal  string // directory
	Tools    []agent.Tool
	Warnings []string // for the person, about the settings
}

// Options of a [Server].
type Options struct {
	Version string // of assent
	Dir     string // workspace folder of a client that names none
	Log     *slog.Logger

	// Open makes the engine. It is called when the first session needs one, and
	// again as long as it fails, so that a person can mend the settings meanwhile.
	Open func(InitializationOptions) (*Engine, error)
}

// Server is the daemon's side of one connection. It implements [rpc.Handler].
type Server struct {
	opts Options
	log  *slog.Logger
	conn *rpc.Conn
	docs *documents

	// These belong to the goroutine that reads; work sees what was set before it
	// began.
	life     life
	client   client
	settings InitializationOptions
	warnings []string // to be shown once the client is ready
	command  *turn    // the newest that a command began, or nil

	folders  folders
	sessions sessions
	waits    waits
	untold   atomic.Bool // the client failed to tell its diagnostics

	// patience makes what waits between two questions about a change, see patient.
	patience func() func(context.Context) bool

	mu     sync.Mutex
	engine *Engine
	closed bool
	exit   *int // set by exit
}

// New makes the server of a connection, which then has to be given to
// [rpc.Conn.Serve] as its handler.
func New(conn *rpc.Conn, opts Options) *Server {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opts: opts, log: opts.Log, conn: conn, docs: newDocuments(), patience: patient}
	s.sessions.open = map[string]*session{}
	return s
}

// Close closes the sessions, once the connection has ended.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.engine == nil {
		return nil
	}
	err := s.engine.Host.Close()
	s.engine = nil
	return err
}

// ExitCode is that of the process, as LSP has it: 0 after shutdown and exit, 1
// after exit alone. Where the input just ended it is 0 if served is nil, the error
// of [rpc.Conn.Serve], and no question was left open.
func (s *Server) ExitCode(served error) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.exit != nil:
		return *s.exit
	case served != nil || s.waits.lost():
		return 1
	}
	return 0
}

// acceptor takes a request on the goroutine that reads.
type acceptor func(s *Server, ctx context.Context, params json.RawMessage) rpc.Work

// requests are those of our own that the server answers while it is running.
func requests() map[string]acceptor {
	return map[string]acceptor{
		methodPrompt:        params((*Server).acceptPrompt),
		methodSteer:         params((*Server).acceptSteer),
		methodSessionNew:    params((*Server).acceptSessionNew),
		methodSessionList:   params((*Server).acceptSessionList),
		methodSessionDelete: params((*Server).acceptSessionDelete),
		methodSessionSet:    params((*Server).acceptSessionSet),
		methodStatus:        params((*Server).acceptStatus),
	}
}

// params decodes what an acceptor takes.
func params[P any](accept func(*Server, context.Context, P) rpc.Work) acceptor {
	return func(s *Server, ctx context.Context, raw json.RawMessage) rpc.Work {
		var p P
		if err := decode(raw, &p); err != nil {
			return rpc.Fail(err)
		}
		return accept(s, ctx, p)
	}
}

func decode(raw json.RawMessage, p any) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, p); err != nil {
		return rpc.Errorf(rpc.CodeInvalidParams, "the params do not fit: %s", misfit(err))
	}
	return nil
}

// Accept implements [rpc.Handler].
func (s *Server) Accept(ctx context.Context, method string, raw json.RawMessage) rpc.Work {
	if err := s.life.admits(method); err != nil {
		return rpc.Fail(err)
	}
	switch method {
	case protocol.MethodInitialize:
		return s.initialize(raw)
	case protocol.MethodShutdown:
		return s.shutdown()
	}
	accept, known := requests()[method]
	switch method {
	case protocol.MethodTextDocumentCodeAction:
		accept, known = params((*Server).acceptCodeAction), true
	case protocol.MethodWorkspaceExecuteCommand:
		accept, known = params((*Server).acceptExecuteCommand), true
	}
	if known {
		return accept(s, ctx, raw)
	}
	return rpc.Fail(rpc.Errorf(rpc.CodeMethodNotFound, "there is no method %s", method))
}

// Notify implements [rpc.Handler]. What is not known is passed over.
func (s *Server) Notify(method string, raw json.RawMessage) {
	if method == protocol.MethodExit {
		s.exitNow()
		return
	}
	if s.life != running {
		s.log.Debug("a notification was passed over, as the server is not running", "method", method)
		return
	}
	switch method {
	case protocol.MethodInitialized:
		s.ready()
	case protocol.MethodTextDocumentDidOpen:
		s.didOpen(raw)
	case protocol.MethodTextDocumentDidChange:
		s.didChange(raw)
	case protocol.MethodTextDocumentDidSave:
		s.didSave(raw)
	case protocol.MethodTextDocumentDidClose:
		s.didClose(raw)
	case protocol.MethodWorkspaceDidChangeWatchedFiles:
		s.docs.nudge() // an open review looks at its files at once, which it does each second anyway
	case protocol.MethodWorkspaceDidChangeWorkspaceFolders:
		s.didChangeFolders(raw)
	case methodCancel:
		s.cancelSession(raw)
	case protocol.MethodWindowWorkDoneProgressCancel:
		s.cancelProgress(raw)
	default:
		s.log.Debug("a notification was passed over", "method", method)
	}
}

// tell shows the person a message.
func (s *Server) tell(kind protocol.MessageType, text string) {
	s.notify(protocol.MethodWindowShowMessage, &protocol.ShowMessageParams{Type: kind, Message: text})
}

// notify sends a notification of LSP itself.
func (s *Server) notify(method string, params any) {
	raw, err := protocol.Marshal(params)
	if err == nil {
		err = s.conn.Notify(method, json.RawMessage(raw))
	}
	if err != nil {
		s.log.Debug("a notification could not be sent", "method", method, "error", err)
	}
}

// call sends a request of LSP itself.
func (s *Server) call(ctx context.Context, method string, params, result any) error {
	raw, err := protocol.Marshal(params)
	if err != nil {
		return err
	}
	return s.conn.Call(ctx, method, json.RawMessage(raw), result)
}

// open is the engine, made when it is first needed.
func (s *Server) open() (*Engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, failed(errors.New("the server is shutting down"))
	case s.engine != nil:
		return s.engine, nil
	}
	engine, err := s.opts.Open(s.settings)
	if err != nil {
		return nil, failed(err)
	}
	s.engine = engine
	for _, w := range engine.Warnings {
		s.log.Warn(w)
		s.tell(protocol.MessageTypeWarning, "assent: "+w)
	}
	return engine, nil
}

// codeFailed is LSP's RequestFailed: the request was right and could not be done.
const codeFailed = -32803

// failed is an error whose sentence is for the person.
func failed(err error) error { return rpc.Errorf(codeFailed, "%v", err) }
