package host_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/host"
	"assent/agent/journal"
	"assent/agent/workspace"
)

// TestCases runs every case of testdata/cases.jsonl, which are public bug reports of
// tools like this one, on real sessions with a journal on the disk.
func TestCases(t *testing.T) {
	agenttest.Cases(t, "testdata/cases.jsonl", map[string]func(*testing.T, sharedCase){
		"B01": cancelledWhileAToolRuns, "B02": killedWhileAToolRuns, "B04": cutsOfAnySize, "B06": damagedJournals,
		"B08": twoProcessesOneSession, "B09": oneRefusedOneRead, "B10": saidWhileAToolRuns, "B12": emptyMessages,
		"B13": brokenArguments, "B15": reasoningAfterResume,
		"F01": sameCallAgainAndAgain, "F03": limitWithOpenCalls, "F04": emptyReplies, "F06": failuresAfterAnEffect,
		"F07": brokenStreams, "F09": saidBetweenCalls, "F10": windowSmallerThanSet, "F11": answersOfServers, "F13": hugeResults,
	})
}

// sharedCase is a line of the file. What a case is about stands in its input.
type sharedCase struct {
	ID    string
	Input struct {
		Steps      []string
		Model      []string
		Log        []wireMessage `json:"jsonl"`
		Messages   []wireMessage
		MaxSteps   int `json:"max_steps"`
		Variants   map[string]string
		Server     int `json:"server_window"`
		Configured int `json:"configured_window"`
		Answers    []string
	}
}

// wireMessage is a message of Chat Completions.
type wireMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Calls     []wireCall `json:"tool_calls,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
}

type wireCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (m wireMessage) text() string {
	if m.Content == nil {
		return ""
	}
	return *m.Content
}

// records are what a journal holds of such messages.
func records(list []wireMessage) (out []agent.Record) {
	uses := map[string]agent.ToolUse{}
	for _, w := range list {
		if w.Role == "tool" {
			out = append(out, agent.Answered{Use: uses[w.CallID], Result: agent.ToolResult{ID: w.CallID, Output: w.text()}})
			continue
		}
		m := agent.Message{Role: agent.Role(w.Role)}
		if w.Role == "assistant" {
			m.Stop = agent.StopComplete
		}
		if w.Content != nil {
			m.Blocks = append(m.Blocks, agent.Text{Text: *w.Content})
		}
		for _, call := range w.Calls {
			uses[call.ID] = agenttest.Use(call.ID, call.Function.Name, call.Function.Arguments)
			m.Blocks = append(m.Blocks, uses[call.ID])
		}
		out = append(out, agent.Appended{Message: m})
	}
	return out
}

// stage is a workspace, a person, a model and tools, for sessions of a case.
type stage struct {
	t       *testing.T
	dir     string
	options host.Options
	model   *strict
	host    *host.Host

	review func(agent.Proposal) agent.Decision // nil: yes to everything
	land   func(agent.Edit)                    // what happens before an edit lands
	shell  func(ctx context.Context, command string) (string, error)
	listed string // what ls says

	asked []agent.Proposal
	mu    sync.Mutex
	ran   []string // calls that were done, reads side by side
}

func newStage(t *testing.T, answers ...answer) *stage {
	t.Helper()
	dir, options := world(t)
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, dir: resolved, options: options, model: &strict{t: t, answers: answers}}
	s.shell = s.execute
	s.options.Model, s.options.Tools = s.model, s.tools()
	t.Cleanup(s.close)
	return s
}

func (s *stage) close() {
	if s.host != nil {
		closed(s.t, s.host)
	}
	s.host = nil
}

func (s *stage) setup() host.Setup {
	return host.Setup{Folders: []string{s.dir}, Editor: func(w *workspace.Workspace) agent.Editor { return onStage{w, s} }}
}

// open begins a session, or takes one up, in a process that has no other.
func (s *stage) open(id string) *host.Session {
	s.t.Helper()
	s.close()
	s.host = host.New(s.options)
	var session *host.Session
	var err error
	if id == "" {
		session, err = s.host.Start(s.t.Context(), s.setup())
	} else {
		session, err = s.host.Resume(s.t.Context(), id, s.setup())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return session
}

const recordedID = "20260101T000000Z-0000000a"

// recorded takes up a session with this past.
func (s *stage) recorded(past ...agent.Record) *host.Session {
	s.t.Helper()
	path, err := journal.Path(journal.Dir(s.options.JournalDir, s.dir), recordedID)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := journal.Create(path, journal.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, rec := range append([]agent.Record{agent.Started{ID: recordedID, Dir: s.dir}}, past...) {
		if err := r.Append(rec); err != nil {
			s.t.Fatal(err)
		}
	}
	closed(s.t, r)
	return s.open(recordedID)
}

// prompt is all that is yielded of a prompt; seen, if it is there, sees it at once.
func (s *stage) prompt(ctx context.Context, session *host.Session, text string, seen func(agent.Event)) (events []agent.Event, end agent.Done) {
	s.t.Helper()
	s.model.newest = text
	for e, err := range session.Run(ctx, agent.UserText(text)) {
		if err != nil {
			s.t.Fatal(err)
		}
		events = append(events, e)
		if seen != nil {
			seen(e)
		}
	}
	if len(events) > 0 {
		end, _ = events[len(events)-1].(agent.Done)
	}
	return events, end
}

// complete is a prompt that has to be answered.
func (s *stage) complete(session *host.Session, text string) []agent.Event {
	s.t.Helper()
	events, end := s.prompt(s.t.Context(), session, text, nil)
	if end.Reason != agent.StopComplete {
		s.t.Errorf("the prompt %.20q ended with %s: %v", text, end.Reason, end.Err)
	}
	return events
}

// kept are the records of the journal.
func (s *stage) kept(session *host.Session) (list []agent.Record) {
	s.t.Helper()
	f, err := os.Open(session.Journal)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	entries, _, err := journal.Read(f)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Record)
	}
	return list
}

// of picks those of one type.
func of[T, E any](list []E) (out []T) {
	for _, e := range list {
		if x, ok := any(e).(T); ok {
			out = append(out, x)
		}
	}
	return out
}

func outputs(events []agent.Event) (out []string) {
	for _, a := range of[agent.Answered](events) {
		out = append(out, a.Result.Output)
	}
	return out
}
