package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"assent/agent"

	"go.lsp.dev/protocol"
)

// progress shows a turn in the client's own way of showing work, with a button that
// cancels it.
type progress struct {
	s *Server

	mu    sync.Mutex
	token protocol.ProgressToken // nil until the client takes reports
	ended string                 // what is said at the end, which has come then
}

// createLimit is how long a client may take to agree to a progress. No person is
// asked for it.
const createLimit = 10 * time.Second

// beginProgress uses the token of the prompt or, if the client has the capability,
// one of ours. Neither it nor the turn waits for the client. A turn that is over sooner
// does not take the request back: Helix shows work from then on, until the end of it.
func (s *Server) beginProgress(t *turn, prompt string) *progress {
	p := &progress{s: s}
	title := "assent: " + shortLine(prompt, 60)
	if t.token != "" {
		var params protocol.WorkDoneProgressParams
		if err := protocol.Unmarshal([]byte(`{"workDoneToken":`+t.token+`}`), &params); err != nil || params.WorkDoneToken == nil {
			s.log.Warn("a workDoneToken was left out, it is neither string nor number")
			return p
		}
		p.begin(params.WorkDoneToken, title)
		return p
	}
	if !s.client.progress {
		return p
	}
	name := fmt.Sprintf("assent-%p", t)
	s.sessions.setToken(t, fmt.Sprintf("%q", name))
	s.conn.Go(protocol.MethodWindowWorkDoneProgressCreate, func(ctx context.Context) {
		ctx, stop := context.WithTimeout(ctx, createLimit)
		defer stop()
		if p.over() {
			return
		}
		token := protocol.String(name)
		if err := s.call(ctx, protocol.MethodWindowWorkDoneProgressCreate, &protocol.WorkDoneProgressCreateParams{Token: token}, nil); err == nil {
			p.begin(token, title)
		}
	})
	return p
}

func (r *sessions) setToken(t *turn, token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.token = token
}

func (p *progress) begin(token protocol.ProgressToken, title string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	yes := true
	p.token = token
	p.report(&protocol.WorkDoneProgressBegin{Kind: "begin", Title: title, Cancellable: &yes})
	if p.ended != "" {
		p.report(&protocol.WorkDoneProgressEnd{Kind: "end", Message: &p.ended})
	}
}

// report sends a value. The caller holds mu.
func (p *progress) report(value any) {
	raw, err := protocol.Marshal(value)
	if err != nil {
		p.s.log.Error("a progress could not be encoded", "error", err)
		return
	}
	p.s.notify(protocol.MethodProgress, &protocol.ProgressParams{Token: p.token, Value: protocol.LSPAny(raw)})
}

// event tells what the turn is at, where that takes time.
func (p *progress) event(e agent.Event) {
	var says string
	switch e := e.(type) {
	case agent.Appended:
		if uses := e.Message.ToolUses(); len(uses) > 0 {
			says = toolTitle(uses[0])
		}
	case agent.Answered:
		says = "thinking"
	case agent.Proposed:
		says = "waits for you: " + e.Proposal.Title
	case agent.Requested:
		if e.Compacting {
			says = "putting the conversation in short"
		}
	case agent.Retrying:
		says = fmt.Sprintf("the model server failed; attempt %d", e.Attempt)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if says == "" || p.token == nil || p.ended != "" {
		return
	}
	says = shortLine(says, 80)
	p.report(&protocol.WorkDoneProgressReport{Kind: "report", Message: &says})
}

func (p *progress) end(done agent.Done) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = "done"
	if ending := done.Explain(); ending != "" {
		p.ended = shortLine(ending, 80)
	}
	if p.token != nil {
		p.report(&protocol.WorkDoneProgressEnd{Kind: "end", Message: &p.ended})
	}
}

func (p *progress) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended != ""
}

func (s *Server) cancelProgress(raw json.RawMessage) {
	var p struct {
		Token json.RawMessage `json:"token"`
	}
	if err := json.Unmarshal(raw, &p); err != nil || len(p.Token) == 0 {
		s.badNotification(protocol.MethodWindowWorkDoneProgressCancel, errors.Join(err, errors.New("it lacks a token")))
		return
	}
	s.sessions.cancel(func(t *turn) bool { return t.token == string(p.Token) })
}

// shortLine is the first line of a text, cut to a number of characters.
func shortLine(text string, most int) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	runes := []rune(line)
	if len(runes) <= most && !more {
		return line
	}
	return string(runes[:min(len(runes), most-1)]) + "…"
}
