package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"assent/agent"
	"assent/agent/journal"
	"assent/agent/workspace"
)

// Options are what all sessions of a process share.
type Options struct {
	JournalDir string // base of all journals; each workspace has a folder in it
	Version    string // of assent, for the journal
	Provider   string
	ModelName  string
	Model      agent.Model
	NewModel   func(name string) (agent.Model, error) // for a session that wants another; nil: there is no other
	Tools      []agent.Tool
	Secrets    []string // never to be written down: the key of the model server
	Guarded    []string // paths of our own: changing and reading them asks in every mode

	MaxTurns int // as in agent.Config
	Window   int // ... of Model; that of another is not known
	Parallel int

	Now    func() time.Time // nil: time.Now
	Random io.Reader        // of session IDs; nil: crypto/rand
}

// Host is the registry of the sessions that this process has open.
type Host struct {
	opts Options

	mu       sync.Mutex
	sessions map[string]*Session
}

// New makes a registry. It opens nothing.
func New(opts Options) *Host {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Random == nil {
		opts.Random = rand.Reader
	}
	return &Host{opts: opts, sessions: map[string]*Session{}}
}

// Setup is what one session is made of.
type Setup struct {
	Folders []string // of the workspace, the first is where relative paths start
	Mode    Mode
	Model   string // name of another model than that of the Options; "": that one

	MaxTurns int // other than that of the Options; 0: that one

	// Editor makes the person's side of the workspace that was opened.
	Editor func(*workspace.Workspace) agent.Editor
}

// Session is an open session and its journal.
type Session struct {
	*agent.Session
	ID       string
	Journal  string   // path of the file
	Warnings []string // what was wrong with the journal that was taken up

	host     *Host
	recorder *journal.Recorder
	files    *workspace.Workspace

	mu  sync.Mutex
	set Setup // as it is now
}

// Start begins a session and its journal.
func (h *Host) Start(ctx context.Context, setup Setup) (*Session, error) {
	files, err := h.workspace(setup.Folders)
	if err != nil {
		return nil, err
	}
	s, err := h.start(ctx, setup, files)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return s, nil
}

func (h *Host) start(ctx context.Context, setup Setup, files *workspace.Workspace) (*Session, error) {
	if _, err := h.settings(setup); err != nil { // before there is a journal
		return nil, err
	}
	id, err := journal.NewID(h.opts.Now(), h.opts.Random)
	if err != nil {
		return nil, err
	}
	file, err := journal.Path(h.dir(files), id)
	if err != nil {
		return nil, err
	}
	recorder, err := journal.Create(file, h.journalOptions())
	if err != nil {
		return nil, err
	}
	if err := recorder.Append(h.started(id, setup, files)); err != nil {
		return nil, errors.Join(err, recorder.Close())
	}
	return h.open(ctx, id, setup, files, recorder, nil)
}

// started is the record of what a session works with.
func (h *Host) started(id string, setup Setup, files *workspace.Workspace) agent.Started {
	r := agent.Started{
		ID: id, Version: h.opts.Version, Dir: files.Folders()[0],
		Model: cmp.Or(setup.Model, h.opts.ModelName), Provider: h.opts.Provider,
	}
	for _, t := range setup.Mode.tools(h.opts.Tools) {
		r.ToolNames = append(r.ToolNames, t.Spec().Name)
	}
	return r
}

// workspace opens the folders of a session. Landings exclude each other across
// all sessions and processes that share the journal directory.
func (h *Host) workspace(folders []string) (*workspace.Workspace, error) {
	files, err := workspace.Open(folders...)
	if err != nil {
		return nil, err
	}
	for _, path := range append(slices.Clip(h.opts.Guarded), h.opts.JournalDir) {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, errors.Join(err, files.Close())
		}
		files.Guard(abs)
	}
	if err := files.ShareLandings(filepath.Join(h.opts.JournalDir, ".locks")); err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return files, nil
}

// Resume takes up the session with an ID in the workspace of setup. A call that
// had no result when its process ended gets one that says so; it is not run
// again. If another process has the session, the error names that process.
func (h *Host) Resume(ctx context.Context, id string, setup Setup) (*Session, error) {
	files, err := h.workspace(setup.Folders)
	if err != nil {
		return nil, err
	}
	s, err := h.resume(ctx, id, setup, files)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return s, nil
}

func (h *Host) resume(ctx context.Context, id string, setup Setup, files *workspace.Workspace) (*Session, error) {
	file, err := journal.Path(h.dir(files), id)
	if err != nil {
		return nil, err
	}
	recorder, entries, warnings, err := journal.Open(file, h.journalOptions())
	if err != nil {
		return nil, err
	}
	s, err := h.open(ctx, id, setup, files, recorder, journal.History(entries))
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		s.Warnings = append(s.Warnings, w.String())
	}
	return s, nil
}

// open makes the session; it closes the recorder if it can't.
func (h *Host) open(ctx context.Context, id string, setup Setup, files *workspace.Workspace, recorder *journal.Recorder, history []agent.Message) (*Session, error) {
	settings, err := h.settings(setup)
	if err != nil {
		return nil, errors.Join(err, recorder.Close())
	}
	session, err := agent.New(agent.Config{
		Model:    settings.Model,
		Tools:    settings.Tools,
		Editor:   setup.Editor(files),
		Store:    recorder,
		Policy:   settings.Policy,
		System:   agent.SystemPrompt(facts(ctx, files)),
		ID:       id,
		Name:     settings.Name,
		History:  history,
		MaxTurns: settings.MaxTurns,
		Window:   settings.Window,
		Parallel: h.opts.Parallel,
	})
	if err != nil {
		return nil, errors.Join(err, recorder.Close())
	}
	s := &Session{Session: session, ID: id, Journal: recorder.Path(), host: h, recorder: recorder, files: files, set: setup}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions[id] = s
	return s, nil
}

// settings are what a setup comes to.
func (h *Host) settings(setup Setup) (agent.Settings, error) {
	set := agent.Settings{
		Model: h.opts.Model, Name: agent.ModelName{Provider: h.opts.Provider, Model: cmp.Or(setup.Model, h.opts.ModelName)},
		Tools: setup.Mode.tools(h.opts.Tools), Policy: setup.Mode.policy(),
		MaxTurns: cmp.Or(setup.MaxTurns, h.opts.MaxTurns), Window: h.opts.Window,
	}
	if setup.Model == "" || setup.Model == h.opts.ModelName {
		return set, nil
	}
	if h.opts.NewModel == nil {
		return set, fmt.Errorf("the model %q can't be had here; leave it out", setup.Model)
	}
	var err error
	set.Window = 0
	set.Model, err = h.opts.NewModel(setup.Model)
	return set, err
}

// Settings are the model, by name, and the mode of the session.
func (s *Session) Settings() (model string, mode Mode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.set.Model, s.host.opts.ModelName), cmp.Or(s.set.Mode, ModeAsk)
}

// Set changes model, mode and limit of a session that is not running, for all runs
// from the next one on, and puts that on record. What is "" or 0 stays.
func (s *Session) Set(model string, mode Mode, maxTurns int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.set
	next.Model = cmp.Or(model, next.Model)
	next.Mode = cmp.Or(mode, next.Mode)
	next.MaxTurns = cmp.Or(maxTurns, next.MaxTurns)
	if next.Model == s.set.Model && next.Mode == s.set.Mode && next.MaxTurns == s.set.MaxTurns {
		return nil
	}
	settings, err := s.host.settings(next)
	if err != nil {
		return err
	}
	if err := s.Configure(settings); err != nil {
		return err
	}
	s.set = next
	return s.recorder.Append(s.host.started(s.ID, next, s.files))
}

// Folders are those of the session's workspace.
func (s *Session) Folders() []string { return s.files.Folders() }

// Session is an open session of this process, nil if there is none with that ID.
func (h *Host) Session(id string) *Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[id]
}

// Close ends the session's hold on its journal and its files. The session must
// not be running.
func (s *Session) Close() error {
	s.host.mu.Lock()
	delete(s.host.sessions, s.ID)
	s.host.mu.Unlock()
	return errors.Join(s.recorder.Close(), s.files.Close())
}

// Close closes every open session.
func (h *Host) Close() error {
	h.mu.Lock()
	open := make([]*Session, 0, len(h.sessions))
	for _, s := range h.sessions {
		open = append(open, s)
	}
	h.mu.Unlock()
	var errs []error
	for _, s := range open {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// facts are what the model is told of the workspace. AGENTS.md is read as every
// file is; if it can't be, the session does without.
func facts(ctx context.Context, files *workspace.Workspace) agent.Facts {
	f := agent.Facts{Folders: files.Folders(), OS: runtime.GOOS}
	if notes, err := files.Read(ctx, agent.Approval{}, "AGENTS.md"); err == nil {
		f.Notes = notes.Text
	}
	return f
}

func (h *Host) dir(files *workspace.Workspace) string {
	return journal.Dir(h.opts.JournalDir, files.Folders()[0])
}

func (h *Host) journalOptions() journal.Options {
	return journal.Options{Now: h.opts.Now, Secrets: h.opts.Secrets}
}
