package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
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
	Tools      []agent.Tool
	Secrets    []string // never to be written down: the key of the model server
	Guarded    []string // paths of our own: changing and reading them asks in every mode

	MaxTurns int // as in agent.Config
	Parallel int

	Now    func() time.Time // nil: time.Now
	Random io.Reader        // of session IDs
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
	return &Host{opts: opts, sessions: map[string]*Session{}}
}

// Setup is what one session is made of.
type Setup struct {
	Folders []string // of the workspace, the first is where relative paths start
	Mode    Mode
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
	started := agent.Started{
		ID: id, Version: h.opts.Version, Dir: files.Folders()[0],
		Model: h.opts.ModelName, Provider: h.opts.Provider,
	}
	for _, t := range setup.Mode.tools(h.opts.Tools) {
		started.ToolNames = append(started.ToolNames, t.Spec().Name)
	}
	if err := recorder.Append(started); err != nil {
		return nil, errors.Join(err, recorder.Close())
	}
	return h.open(ctx, id, setup, files, recorder, nil)
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
	session, err := agent.New(agent.Config{
		Model:    h.opts.Model,
		Tools:    setup.Mode.tools(h.opts.Tools),
		Editor:   setup.Editor(files),
		Store:    recorder,
		Policy:   setup.Mode.policy(),
		System:   agent.SystemPrompt(facts(ctx, files)),
		History:  history,
		MaxTurns: h.opts.MaxTurns,
		Parallel: h.opts.Parallel,
	})
	if err != nil {
		return nil, errors.Join(err, recorder.Close())
	}
	s := &Session{Session: session, ID: id, Journal: recorder.Path(), host: h, recorder: recorder, files: files}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions[id] = s
	return s, nil
}

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

// List summarises the journals of a workspace folder, the newest first. One that
// can't be read is left out and told in the error, beside the others.
func List(journalDir, folder string) ([]journal.Summary, error) {
	real, err := realDir(folder)
	if err != nil {
		return nil, err
	}
	return listDir(journal.Dir(journalDir, real))
}

// ListAll summarises the journals of every workspace, the newest first.
func ListAll(journalDir string) ([]journal.Summary, error) {
	dirs, err := os.ReadDir(journalDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the journals could not be listed: %w", err)
	}
	var all []journal.Summary
	var errs []error
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		summaries, err := listDir(filepath.Join(journalDir, d.Name()))
		all, errs = append(all, summaries...), append(errs, err)
	}
	slices.SortStableFunc(all, func(a, b journal.Summary) int { return b.Started.Compare(a.Started) })
	return all, errors.Join(errs...)
}

func listDir(dir string) ([]journal.Summary, error) {
	ids, err := journal.List(dir)
	if err != nil {
		return nil, err
	}
	var out []journal.Summary
	var errs []error
	for _, id := range ids {
		entries, err := readJournal(dir, id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s := journal.Summarize(entries)
		s.ID = id // the name of the file, also if its first line is damaged
		out = append(out, s)
	}
	return out, errors.Join(errs...)
}

func readJournal(dir, id string) ([]journal.Entry, error) {
	file, err := journal.Path(dir, id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("the journal could not be read: %w", err)
	}
	defer f.Close()
	entries, _, err := journal.Read(f)
	return entries, err
}

// Find is the path of the journal of a session of any workspace. The beginning
// of an ID is enough if there is only one.
func Find(journalDir, id string) (string, error) {
	dirs, err := os.ReadDir(journalDir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("the journals could not be listed: %w", err)
	}
	var found []string
	for _, d := range dirs {
		dir := filepath.Join(journalDir, d.Name())
		ids, err := journal.List(dir)
		if err != nil || id == "" {
			continue // not a folder of journals
		}
		for _, known := range ids {
			if file, err := journal.Path(dir, known); err == nil && strings.HasPrefix(known, id) {
				found = append(found, file)
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("there is no session %q; assent log list shows those that are", id)
	}
	return "", fmt.Errorf("%d sessions begin with %q; give more of the ID", len(found), id)
}

func realDir(folder string) (string, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("the workspace could not be opened: %w", err)
	}
	return real, nil
}
