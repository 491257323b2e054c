package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"assent/agent"
	"assent/agent/host"
	"assent/agent/workspace"
	"assent/rpc"
)

// session is an open session of this connection.
type session struct {
	*host.Session
	editor *editor
	events Events
	seq    int64 // of the last event; belongs to the turn that runs
}

func (s *Server) cancelSession(raw json.RawMessage) {
	var p SessionParams
	if err := json.Unmarshal(raw, &p); err != nil || p.SessionID == "" {
		s.badNotification(methodCancel, errors.Join(err, errors.New("it needs a sessionId")))
		return
	}
	s.sessions.cancel(func(t *turn) bool { return t.session == p.SessionID })
}

// newSession begins a session for a turn, or for nothing yet.
func (s *Server) newSession(ctx context.Context, cwd string, setup host.Setup, t *turn) (*session, error) {
	engine, err := s.open()
	if err != nil {
		return nil, err
	}
	if setup.Folders, err = s.foldersFor(cwd); err != nil {
		return nil, err
	}
	e := &editor{s: s}
	setup.Editor = func(files *workspace.Workspace) agent.Editor {
		files.Overlay(s.docs)
		e.Workspace = files
		return e
	}
	opened, err := engine.Host.Start(ctx, setup)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) { // a session holds some
		err = fmt.Errorf("no more files can be opened, since too many sessions are open (%d); restart assent, or remove some with %s", s.sessions.count(), methodSessionDelete)
	}
	if err != nil {
		return nil, failed(err)
	}
	sess := &session{Session: opened, editor: e, events: Events{Place: s.place}}
	e.session = opened.ID
	s.sessions.add(sess, t)
	return sess, nil
}

// discard takes back a session in which nothing happened.
func (s *Server) discard(sess *session, t *turn) {
	s.sessions.mu.Lock()
	delete(s.sessions.open, sess.ID)
	t.session = ""
	s.sessions.mu.Unlock()
	engine, err := s.open()
	if err == nil {
		err = errors.Join(sess.Close(), engine.Host.Delete(sess.Folders()[0], sess.ID))
	}
	if err != nil {
		s.log.Warn("an empty session could not be removed", "error", err)
	}
}

// foldersFor are the folders of a session that begins in cwd, a path or a file:
// URI, or "" for those of the client.
func (s *Server) foldersFor(cwd string) ([]string, error) {
	if cwd == "" {
		return s.folders.paths(s.opts.Dir)
	}
	if filepath.IsAbs(cwd) {
		return []string{cwd}, nil
	}
	l := locate(cwd)
	if l.path == "" {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "cwd %q has to be an absolute path or a file: URI of a folder on this machine", cwd)
	}
	return []string{l.path}, nil
}

// place says how the client spells a file, and the version that it has open.
func (s *Server) place(path string) (uri string, version *int32) {
	if doc, open := s.docs.at(path); open {
		return doc.uri, &doc.version
	}
	return fileURI(s.folders.spell(path)), nil
}

func (s *Server) acceptSessionNew(ctx context.Context, p SessionNewParams) rpc.Work {
	mode, err := host.ParseMode(p.Mode)
	if err != nil {
		return rpc.Fail(rpc.Errorf(rpc.CodeInvalidParams, "%v", err))
	}
	return func() (any, error) {
		sess, err := s.newSession(ctx, p.Cwd, host.Setup{Mode: mode, Model: p.Model}, nil)
		if err != nil {
			return nil, err
		}
		return SessionNewResult{sess.ID}, nil
	}
}

func (s *Server) acceptSessionList(_ context.Context, p SessionListParams) rpc.Work {
	return func() (any, error) {
		engine, err := s.open()
		if err != nil {
			return nil, err
		}
		dirs, err := s.foldersFor(p.Cwd)
		if err != nil {
			return nil, err
		}
		// A journal that can't be read is left out, and the others are listed.
		summaries, err := host.List(engine.Journal, dirs[0])
		if err != nil {
			s.log.Warn("sessions could not be listed", "error", err)
			if len(summaries) == 0 {
				return nil, failed(err)
			}
		}
		result := SessionListResult{Sessions: []SessionInfo{}}
		for _, sum := range summaries {
			_, missing := s.sessions.get(sum.ID)
			result.Sessions = append(result.Sessions, SessionInfo{
				SessionID: sum.ID, Title: sum.Title, Cwd: sum.Dir, Turns: sum.Turns, Outcome: string(sum.Outcome), Open: missing == nil,
				Started: sum.Started.UTC().Format(time.RFC3339), Ended: sum.Ended.UTC().Format(time.RFC3339),
			})
		}
		return result, nil
	}
}

func (s *Server) acceptSessionDelete(_ context.Context, p SessionParams) rpc.Work {
	if p.SessionID == "" {
		return rpc.Fail(rpc.Errorf(rpc.CodeInvalidParams, "%s needs a sessionId", methodSessionDelete))
	}
	sess, err := s.sessions.remove(p.SessionID)
	if err != nil {
		return rpc.Fail(err)
	}
	return func() (any, error) {
		engine, err := s.open()
		if err != nil {
			return nil, err
		}
		dirs, err := s.foldersFor("")
		if sess != nil {
			dirs = sess.Folders()
			err = sess.Close()
		}
		if err != nil {
			return nil, err
		}
		if err := engine.Host.Delete(dirs[0], p.SessionID); err != nil {
			return nil, failed(err)
		}
		return Empty{}, nil
	}
}

// acceptSessionSet takes its turn, so that it counts for the prompts that come after it
// and for no other.
func (s *Server) acceptSessionSet(ctx context.Context, p SessionSetParams) rpc.Work {
	sess, err := s.sessions.get(p.SessionID)
	if err != nil {
		return rpc.Fail(err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	t := &turn{session: p.SessionID, brief: true, done: make(chan struct{}), ctx: ctx, cancel: cancel}
	if err := s.sessions.begin(t); err != nil {
		cancel(nil)
		return rpc.Fail(err)
	}
	return func() (any, error) {
		defer cancel(nil)
		defer s.sessions.end(t)
		if !t.alone(ctx) {
			return nil, rpc.ErrCancelled
		}
		if err := set(sess, p.Model, p.Mode, 0); err != nil {
			return nil, err
		}
		model, mode := sess.Settings()
		return SessionSetResult{model, string(mode)}, nil
	}
}

// set changes what is given and leaves the rest.
func set(sess *session, model, mode string, maxTurns int) error {
	var m host.Mode
	if mode != "" {
		var err error
		if m, err = host.ParseMode(mode); err != nil {
			return rpc.Errorf(rpc.CodeInvalidParams, "%v", err)
		}
	}
	if err := sess.Set(model, m, maxTurns); err != nil {
		return failed(err)
	}
	return nil
}

func (s *Server) acceptSteer(_ context.Context, p SteerParams) rpc.Work {
	sess, err := s.sessions.get(p.SessionID)
	if err != nil {
		return rpc.Fail(err)
	}
	if strings.TrimSpace(p.Text) == "" {
		return rpc.Fail(rpc.Errorf(rpc.CodeInvalidParams, "%s needs a text", methodSteer))
	}
	afterReview, err := s.sessions.steer(sess, p.Text) // here, to keep the order of several
	if err != nil {
		return rpc.Fail(failed(err))
	}
	after := "results"
	if afterReview {
		after = "review"
	}
	return func() (any, error) { return SteerResult{true, after}, nil }
}

func (s *Server) acceptStatus(context.Context, Empty) rpc.Work {
	return func() (any, error) {
		result := StatusResult{Version: s.opts.Version, Tools: []ToolInfo{}, MCP: []string{}, Sessions: s.sessions.busy(), Waiting: s.waits.list()}
		engine, err := s.open()
		if err != nil {
			result.Trouble = err.Error()
			return result, nil
		}
		result.Model, result.Provider, result.Journal = engine.Model, engine.Provider, engine.Journal
		for _, t := range engine.Tools {
			spec := t.Spec()
			result.Tools = append(result.Tools, ToolInfo{spec.Name, spec.Tier.String()})
		}
		return result, nil
	}
}
