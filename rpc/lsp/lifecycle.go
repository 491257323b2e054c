package lsp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"assent/agent"
	"assent/agent/workspace"
	"assent/rpc"

	"go.lsp.dev/protocol"
)

// life is how far the connection got.
type life int

const (
	starting life = iota // before initialize
	running
	down // after shutdown
)

// codeNotInitialized is LSP's ServerNotInitialized.
const codeNotInitialized = -32002

// admits says whether a request may come now.
func (l life) admits(method string) error {
	switch {
	case l == starting && method != protocol.MethodInitialize:
		return rpc.Errorf(codeNotInitialized, "%s came before initialize; send that first", method)
	case l == down:
		return rpc.Errorf(rpc.CodeInvalidRequest, "%s came after shutdown; only exit may follow", method)
	case l != starting && method == protocol.MethodInitialize:
		return rpc.Errorf(rpc.CodeInvalidRequest, "initialize came a second time")
	}
	return nil
}

// initialize takes what the client is and can. It touches neither disk nor network,
// so that the editor has its answer at once.
func (s *Server) initialize(raw json.RawMessage) rpc.Work {
	var other struct {
		ProtocolVersion *json.Number `json:"protocolVersion"`
	}
	if json.Unmarshal(raw, &other) == nil && other.ProtocolVersion != nil {
		return rpc.Fail(rpc.Errorf(rpc.CodeInvalidRequest, "this is the initialize of the Agent Client Protocol, which assent does not speak yet; use an LSP client"))
	}
	var p protocol.InitializeParams
	if len(raw) > 0 {
		if err := protocol.Unmarshal(raw, &p); err != nil {
			return rpc.Fail(rpc.Errorf(rpc.CodeInvalidParams, "the params of initialize do not fit: %v", inWords(err)))
		}
	}
	s.life, s.client = running, clientOf(p)
	s.readSettings(json.RawMessage(p.InitializationOptions))
	s.readFolders(raw)
	if p.ProcessID != nil && !s.conn.WatchProcess(int(*p.ProcessID)) {
		s.log.Info("the client's process can't be seen from here, so its end is not watched", "pid", *p.ProcessID)
	}
	s.log.Info("initialize", "client", s.client.name, "encoding", string(s.client.encoding))
	return func() (any, error) {
		result, err := protocol.Marshal(s.capabilities())
		return json.RawMessage(result), err
	}
}

// capabilities are what we offer.
func (s *Server) capabilities() *protocol.InitializeResult {
	yes, incremental := true, protocol.TextDocumentSyncKindIncremental
	lands := agent.SourceDisk
	if s.client.applyEdit {
		lands = agent.SourceBuffer
	}
	ours, _ := json.Marshal(map[string]any{"assent": Abilities{Version: Version, Review: true, Approve: true, Diagnostics: true, Lands: string(lands)}}) // can be encoded
	caps := protocol.ServerCapabilities{
		PositionEncoding: s.client.encoding,
		TextDocumentSync: &protocol.TextDocumentSyncOptions{
			OpenClose: &yes, Change: &incremental,
			// The whole text, since it mends what could not be followed.
			Save: &protocol.SaveOptions{IncludeText: &yes},
		},
		Workspace: &protocol.WorkspaceOptions{
			WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{Supported: &yes, ChangeNotifications: protocol.Boolean(true)},
		},
		Experimental: protocol.LSPAny(ours),
	}
	if s.client.asks && !s.client.review { // an editor; a plugin has commands of its own, maybe with these names
		caps.CodeActionProvider = protocol.Boolean(true)
		caps.ExecuteCommandProvider = protocol.ExecuteCommandOptions{Commands: commands()}
	}
	return &protocol.InitializeResult{Capabilities: caps, ServerInfo: protocol.ServerInfo{Name: "assent", Version: protocol.NewOptional(s.opts.Version)}}
}

// readSettings takes initializationOptions. What is not known there may be a
// mistake of the person, who is told.
func (s *Server) readSettings(raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s.settings); err != nil {
		s.settings = InitializationOptions{}
		s.warnings = append(s.warnings, fmt.Sprintf("the initializationOptions do not fit (%s), so none of them is used; known are provider, baseUrl, model, maxTurns and tools.", misfit(err)))
	}
}

// ready is called when the client has the answer to initialize.
func (s *Server) ready() {
	for _, w := range s.warnings {
		s.tell(protocol.MessageTypeWarning, "assent: "+w)
	}
	s.warnings = nil
}

// shutdown cancels what runs, and is answered when all of that is on record.
func (s *Server) shutdown() rpc.Work {
	s.life = down
	turns := s.sessions.cancelAll()
	return func() (any, error) {
		for _, t := range turns {
			<-t.done
		}
		if err := s.Close(); err != nil {
			return nil, failed(err)
		}
		return nil, nil
	}
}

// exitNow ends the process, whatever came before.
func (s *Server) exitNow() {
	code := 1
	if s.life == down {
		code = 0
	}
	s.mu.Lock()
	s.exit = &code
	s.mu.Unlock()
	s.conn.Close()
}

// folder is a workspace folder.
type folder struct {
	key  string
	path string // as the client spells it
	real string // resolved
}

// folders are those of the client, as they are now.
type folders struct {
	mu      sync.Mutex
	list    []folder
	foreign []string // URIs of those that are not on this machine
}

// readFolders takes them from the params of initialize. Package protocol would
// respell their URIs.
func (s *Server) readFolders(raw json.RawMessage) {
	var p struct {
		WorkspaceFolders []item  `json:"workspaceFolders"`
		RootURI          *string `json:"rootUri"`
		RootPath         *string `json:"rootPath"`
	}
	_ = json.Unmarshal(raw, &p) // it could be decoded before
	switch {
	case len(p.WorkspaceFolders) > 0:
		s.changeFolders(p.WorkspaceFolders, nil)
	case p.RootURI != nil && *p.RootURI != "":
		s.changeFolders([]item{{URI: *p.RootURI}}, nil)
	case p.RootPath != nil && *p.RootPath != "":
		s.changeFolders([]item{{URI: fileURI(*p.RootPath)}}, nil)
	}
}

func (s *Server) didChangeFolders(raw json.RawMessage) {
	var p struct {
		Event struct {
			Added   []item `json:"added"`
			Removed []item `json:"removed"`
		} `json:"event"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		s.badNotification("workspace/didChangeWorkspaceFolders", err)
		return
	}
	s.changeFolders(p.Event.Added, p.Event.Removed)
}

func (s *Server) changeFolders(added, removed []item) {
	f := &s.folders
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, it := range removed {
		key := locate(it.URI).key
		f.list = slices.DeleteFunc(f.list, func(one folder) bool { return one.key == key })
		f.foreign = slices.DeleteFunc(f.foreign, func(uri string) bool { return locate(uri).key == key })
	}
	for _, it := range added {
		l := locate(it.URI)
		if l.path == "" {
			s.log.Warn("a workspace folder was left out", "uri", it.URI, "reason", l.why)
			f.foreign = append(f.foreign, it.URI)
			continue
		}
		one := folder{key: l.key, path: l.path, real: l.path}
		if real, err := workspace.Resolve(l.path); err == nil {
			one.real = real
		}
		f.list = append(f.list, one)
	}
}

// paths are the folders of a new session: those of the client, or dir.
func (f *folders) paths(dir string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var paths []string
	for _, one := range f.list {
		paths = append(paths, one.path)
	}
	switch {
	case len(paths) > 0:
		return paths, nil
	case len(f.foreign) > 0:
		return nil, failed(fmt.Errorf("the workspace %s is not on this machine; start assent where the files are", f.foreign[0]))
	}
	return []string{dir}, nil
}

// spell is a resolved path as the client spells it: below a folder that it reached
// through a link, the link is in the name.
func (f *folders) spell(path string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.list {
		if rest, ok := strings.CutPrefix(path, one.real); ok && one.real != one.path && (rest == "" || strings.ContainsAny(rest[:1], `/\`)) {
			return one.path + rest
		}
	}
	return path
}
