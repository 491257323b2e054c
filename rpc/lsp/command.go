package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"assent/agent"
	"assent/agent/workspace"
	"assent/rpc"

	"go.lsp.dev/protocol"
)

// What LSP itself has for an editor without a plugin to begin a prompt: a command, and
// a code action that runs it.
const (
	commandPrompt = "assent.prompt"
	commandCancel = "assent.cancel"
)

// around is how many lines above and below go along with a code action.
const around = 200

// action is one that the editor offers: LSP's Command, which also clients take that
// know no CodeAction.
type action struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments"` // never null: vim's ALE takes it for there
}

// acceptCodeAction offers what can be done at a place, to a person who asks. An editor
// that asks by itself, or for one kind of action, gets none.
func (s *Server) acceptCodeAction(_ context.Context, p struct {
	TextDocument named          `json:"textDocument"`
	Range        protocol.Range `json:"range"`
	Context      struct {
		Only        []string `json:"only"`
		TriggerKind int      `json:"triggerKind"`
	} `json:"context"`
}) rpc.Work {
	actions := []action{}
	if len(p.Context.Only) == 0 && p.Context.TriggerKind != int(protocol.CodeActionTriggerKindAutomatic) {
		if s.command.runs() {
			actions = append(actions, action{"assent: stop", commandCancel, []any{}})
		} else if prompt, ok := s.promptAt(p.TextDocument.URI, p.Range); ok {
			actions = append(actions, action{"assent: do what this says", commandPrompt, []any{prompt}})
		}
	}
	return func() (any, error) { return actions, nil }
}

// promptAt is what the lines of a range ask for. They count whole: to some editors the
// cursor is a selection of one character.
func (s *Server) promptAt(uri string, r protocol.Range) (p PromptParams, ok bool) {
	doc, open := s.docs.get(uri)
	if !open || doc.trouble() != nil || workspace.Secret(locate(uri).name()) {
		return p, false
	}
	lines := splitLines(doc.text)
	from, to := int(r.Start.Line), int(r.End.Line)
	if r.End.Character > 0 || from == to {
		to++ // the line of its end is a part of it
	}
	if to = min(to, len(lines)); from >= to {
		return p, false
	}
	p.Text = strings.Join(lines[from:to], "")
	if strings.TrimSpace(p.Text) == "" {
		return p, false
	}
	first, end := max(from-around, 0), min(to+around, len(lines))
	shown := protocol.Range{Start: protocol.Position{Line: uint32(first)}, End: protocol.Position{Line: uint32(end)}}
	if end == len(lines) {
		shown.End = newPositions(doc.text, s.client.encoding).of(len(doc.text))
	}
	p.Context = []ContextItem{{URI: uri, Range: &shown}}
	return p, true
}

// acceptExecuteCommand begins what a command asks for and answers at once: some editors
// wait for the answer, and others only for seconds.
func (s *Server) acceptExecuteCommand(ctx context.Context, p struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}) rpc.Work {
	var err error
	switch p.Command {
	case commandPrompt:
		err = s.promptByCommand(ctx, p.Arguments)
	case commandCancel:
		s.sessions.cancel(func(t *turn) bool { return t == s.command })
	default:
		err = rpc.Errorf(rpc.CodeInvalidParams, "there is no command %q; use one of %q", p.Command, commands())
	}
	return func() (any, error) { return nil, err }
}

func commands() []string { return []string{commandPrompt, commandCancel} }

// promptByCommand begins a turn of the one session that commands have, and tells the
// person what came of it.
func (s *Server) promptByCommand(ctx context.Context, arguments []json.RawMessage) error {
	p, err := promptOf(arguments)
	if err != nil {
		return err
	}
	if p.SessionID == "" && s.command != nil {
		if s.command.runs() {
			return failed(fmt.Errorf("assent is still answering; wait, or stop it with the command %s", commandCancel))
		}
		if _, gone := s.sessions.get(s.command.session); gone == nil {
			p.SessionID = s.command.session
		}
	}
	t, work, err := s.take(context.WithoutCancel(ctx), p)
	if err != nil {
		return err
	}
	s.command = t
	s.conn.Go(commandPrompt, func(ctx context.Context) {
		defer context.AfterFunc(ctx, func() { t.cancel(context.Cause(ctx)) })()
		result, err := work()
		if err != nil {
			s.tell(protocol.MessageTypeError, "assent: "+err.Error())
			return
		}
		r := result.(PromptResult)
		kind := protocol.MessageTypeInfo
		if r.StopReason != string(agent.StopComplete) {
			kind = protocol.MessageTypeWarning
		}
		s.tell(kind, "assent: "+r.Message)
	})
	return nil
}

// promptOf reads the arguments of a command: params of assent/prompt, or words.
func promptOf(arguments []json.RawMessage) (p PromptParams, err error) {
	var words []string
	for _, a := range arguments {
		var word string
		if json.Unmarshal(a, &word) != nil {
			words = nil
			break
		}
		words = append(words, word)
	}
	if words != nil {
		p.Text = strings.Join(words, " ")
		return p, nil
	}
	if len(arguments) != 1 {
		return p, rpc.Errorf(rpc.CodeInvalidParams, "%s takes one argument, the params of %s or a text", commandPrompt, methodPrompt)
	}
	return p, decode(arguments[0], &p)
}

// runs says whether a turn is not over yet.
func (t *turn) runs() bool {
	if t == nil {
		return false
	}
	select {
	case <-t.done:
		return false
	default:
		return true
	}
}
