package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"
)

// Defaults of a [Config].
const (
	DefaultMaxTurns    = 50
	DefaultParallel    = 2
	DefaultToolTimeout = time.Minute
)

// Config says what a session is made of. Only Model is required: without an
// Editor every question is answered with no, without a Store none is asked.
type Config struct {
	Model   Model
	Tools   []Tool // a tool that is not here does not exist for the model
	Editor  Editor
	Store   Store
	Policy  Policy
	System  string    // see [SystemPrompt]
	ID      string    // of the session, for the model server's cache
	Name    ModelName // of Model, for the record
	History []Message // of a session that goes on

	// MaxTurns is the number of replies in one run after which the model is
	// asked for a last answer without tools. 0 means 50: coding tasks take 20 to
	// 40; the 5 to 10 of textbook loops suit a first toy.
	MaxTurns int

	// Window is the context of the model, in tokens, from which a request and its
	// reply have to take; 0: not known. What a server says that it can take counts.
	Window int

	Parallel    int           // reads at once, 0 means 2
	ToolTimeout time.Duration // for tools that name none, 0 means a minute
}

// ErrBusy says that a session already answers a prompt.
var ErrBusy = errors.New("the session is still answering; cancel it or wait for its end")

// ErrEmptyPrompt says that a prompt has neither words nor a picture.
var ErrEmptyPrompt = errors.New("the prompt is empty; say what to do")

// Session is one conversation. Its methods may be called from any goroutine;
// one run at a time.
type Session struct {
	running sync.Mutex // held by the run, guards what follows but for steers
	cfg     Config
	tools   map[string]Tool
	specs   []Spec
	tiers   map[string]Spec
	history []Message
	ids     map[string]bool             // tool use IDs in the history
	sent    map[string]bool             // ... of those that are known to be sound
	sound   int                         // messages at the start of the history that are known to be sound
	bytes   int                         // of the text in those
	window  int                         // tokens of the model's context; 0: not known yet
	counted struct{ bytes, tokens int } // what the server counted last
	density float64                     // bytes for a token, as the server counted last; 0: it did not yet
	reads   Approval                    // outside files and secrets that the person let us read

	known  known // files that the model knows
	steers steers
}

// New makes a session. It starts nothing and reads nothing.
func New(cfg Config) (*Session, error) {
	if cfg.Model == nil {
		return nil, errors.New("agent: a session needs a Model")
	}
	if cfg.MaxTurns < 0 || cfg.Window < 0 || cfg.Parallel < 0 || cfg.ToolTimeout < 0 {
		return nil, errors.New("agent: the limits of a session can't be negative")
	}
	if cfg.Editor == nil {
		cfg.Editor = nobody{}
	}
	if cfg.Store == nil {
		cfg.Store = noStore{}
	}
	cfg.MaxTurns = orDefault(cfg.MaxTurns, DefaultMaxTurns)
	cfg.Parallel = orDefault(cfg.Parallel, DefaultParallel)
	cfg.ToolTimeout = orDefault(cfg.ToolTimeout, DefaultToolTimeout)
	s := &Session{cfg: cfg, window: cfg.Window, history: slices.Clone(cfg.History), ids: map[string]bool{}, sent: map[string]bool{}}
	if err := s.setTools(cfg.Tools); err != nil {
		return nil, err
	}
	for _, m := range s.history {
		for _, u := range m.ToolUses() {
			s.ids[u.ID] = true
		}
	}
	return s, nil
}

// setTools replaces the tools, or fails and changes nothing.
func (s *Session) setTools(list []Tool) error {
	tools, tiers, specs := map[string]Tool{}, map[string]Spec{}, []Spec(nil)
	for _, tool := range list {
		spec := tool.Spec()
		if spec.Tier < TierRead || spec.Tier > TierRemote {
			return fmt.Errorf("agent: tool %q has no tier", spec.Name)
		}
		if _, twice := tools[spec.Name]; twice || spec.Name == "" {
			return fmt.Errorf("agent: tool name %q is empty or taken", spec.Name)
		}
		tools[spec.Name], tiers[spec.Name] = tool, spec
		specs = append(specs, spec)
	}
	s.tools, s.tiers, s.specs = tools, tiers, specs
	return nil
}

// ModelName says for the record which model answers.
type ModelName struct{ Provider, Model string }

// Settings are what of a [Config] can change between two runs.
type Settings struct {
	Model    Model
	Name     ModelName
	Tools    []Tool
	Policy   Policy
	MaxTurns int // 0: the default
	Window   int // of Model, 0: not known
}

// Configure changes the settings, all at once or, with an error, none of them. A
// run that is going on is not touched: the error is [ErrBusy].
func (s *Session) Configure(set Settings) error {
	if set.Model == nil || set.MaxTurns < 0 || set.Window < 0 {
		return errors.New("agent: a session needs a Model, and limits that are not negative")
	}
	if !s.running.TryLock() {
		return ErrBusy
	}
	defer s.running.Unlock()
	if err := s.setTools(set.Tools); err != nil {
		return err
	}
	if set.Name != s.cfg.Name || set.Window != s.cfg.Window { // what was learned is of another
		s.window, s.density, s.counted.bytes = set.Window, 0, 0
	}
	s.cfg.Window = set.Window
	s.cfg.Model, s.cfg.Name, s.cfg.Tools, s.cfg.Policy = set.Model, set.Name, set.Tools, set.Policy
	s.cfg.MaxTurns = orDefault(set.MaxTurns, DefaultMaxTurns)
	return nil
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// nobody is the editor of a session that has none.
type nobody struct{}

func (nobody) Stat(context.Context, string) (Info, error) {
	return Info{}, errors.New("this session has no workspace")
}

func (nobody) Read(context.Context, Approval, string) (File, error) {
	return File{}, errors.New("this session has no workspace")
}

func (nobody) List(context.Context, string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		yield(Info{}, errors.New("this session has no workspace"))
	}
}

func (nobody) Review(context.Context, Proposal, func(Proposal) error) (Decision, error) {
	return Decision{By: ByHeadless, Comment: "there is nobody to ask"}, nil
}

func (nobody) Apply(context.Context, Approval, Edit) (Landing, error) {
	return Landing{}, ErrNotApproved
}

// noStore keeps nothing, so it lets nothing happen that has to be kept.
type noStore struct{}

func (noStore) Append(r Record) error {
	if _, asks := r.(Proposed); asks {
		return errors.New("this session has no journal, and nothing is done without one")
	}
	return nil
}
