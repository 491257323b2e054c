package lsp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"assent/agent"
	"assent/agent/host"
	"assent/agent/workspace"
	"assent/rpc"
)

// acceptPrompt answers a prompt.
func (s *Server) acceptPrompt(ctx context.Context, p PromptParams) rpc.Work {
	_, work, err := s.take(ctx, p)
	if err != nil {
		return rpc.Fail(err)
	}
	return work
}

// take begins a turn for a prompt, so that a cancel or a steer right behind it finds
// its turn. work goes through it.
func (s *Server) take(ctx context.Context, p PromptParams) (t *turn, work rpc.Work, err error) {
	if err := p.check(); err != nil {
		return nil, nil, err
	}
	var sess *session
	if p.SessionID != "" {
		if sess, err = s.sessions.get(p.SessionID); err != nil {
			return nil, nil, err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	token := string(p.WorkDoneToken)
	if token == "null" { // some clients send that for none
		token = ""
	}
	t = &turn{session: p.SessionID, token: token, done: make(chan struct{}), ctx: ctx, cancel: cancel}
	if err := s.sessions.begin(t); err != nil {
		cancel(nil)
		return nil, nil, err
	}
	return t, func() (any, error) {
		defer cancel(nil)
		defer s.sessions.end(t)
		result, err := s.prompt(ctx, p, t, sess)
		if ctx.Err() != nil && errors.Is(context.Cause(ctx), rpc.ErrCancelled) {
			return nil, rpc.ErrCancelled
		}
		return result, withUnheard(err, s.sessions.unheard(t))
	}, nil
}

// withUnheard keeps the code of an error.
func withUnheard(err error, said []string) error {
	e, ok := errors.AsType[*rpc.Error](err)
	if !ok || len(said) == 0 {
		return err
	}
	return rpc.Errorf(e.Code, "%v", agent.WithUnheard(errors.New(e.Message), said))
}

func (p PromptParams) check() error {
	switch {
	case strings.TrimSpace(p.Text) == "":
		return rpc.Errorf(rpc.CodeInvalidParams, "the prompt is empty; say what to do in text")
	case p.MaxTurns < 0:
		return rpc.Errorf(rpc.CodeInvalidParams, "maxTurns is %d; use 1 or more, or leave it out", p.MaxTurns)
	}
	if _, err := host.ParseMode(p.Mode); err != nil {
		return rpc.Errorf(rpc.CodeInvalidParams, "%v", err)
	}
	return nil
}

// prompt runs one turn, of a new session if sess is nil.
func (s *Server) prompt(ctx context.Context, p PromptParams, t *turn, sess *session) (any, error) {
	images, err := p.images()
	if err != nil {
		return nil, err
	}
	if !t.alone(ctx) {
		return s.unbegun(sess, t), nil
	}
	fresh := sess == nil
	if fresh {
		mode, _ := host.ParseMode(p.Mode) // checked
		if sess, err = s.newSession(ctx, "", host.Setup{Mode: mode, Model: p.Model, MaxTurns: p.MaxTurns}, t); err != nil {
			return nil, err
		}
	} else if err := set(sess, p.Model, p.Mode, p.MaxTurns); err != nil {
		return nil, err
	}
	text, err := s.text(ctx, sess, p)
	if err != nil {
		if errors.Is(context.Cause(ctx), errCancelled) { // a new session can go on as any other
			return s.unbegun(sess, t), nil
		}
		if fresh {
			s.discard(sess, t)
		}
		return nil, err
	}
	out := newOutbox(s.conn, sess)
	if sess.seq == 0 {
		out.send(ctx, SessionEvent{"session", sess.ID, sess.Journal})
	}
	progress := s.beginProgress(t, p.Text)
	done, said, err := s.run(s.sessions.runs(t, interrupted(ctx)), t, sess, images.Prompt(text), out, progress)
	sess.editor.asking.Wait() // what was asked is answered or taken back
	out.close()
	progress.end(done)
	return s.answer(sess, done, said, err)
}

// unbegun answers a prompt that was cancelled before anything of it began.
func (s *Server) unbegun(sess *session, t *turn) PromptResult {
	done := agent.Done{Reason: agent.StopCancelled}
	return PromptResult{SessionID: sess.ID, StopReason: string(done.Reason), Message: done.Explain(), Unheard: s.sessions.unheard(t)}
}

// interrupted is ctx for a run: if it ends with the connection, nobody has cancelled,
// and what was asked stays open.
func interrupted(ctx context.Context) context.Context {
	run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if !errors.Is(cause, errCancelled) && !errors.Is(cause, rpc.ErrCancelled) {
			cause = fmt.Errorf("%w (%w)", agent.ErrInterrupted, cause)
		}
		cancel(cause)
	})
	return run
}

// run consumes the events of a turn. The session waits while an event can't be
// sent, so that a client that reads slowly slows the model and nothing piles up.
func (s *Server) run(ctx context.Context, t *turn, sess *session, message agent.Message, out *outbox, progress *progress) (done agent.Done, text string, err error) {
	for event, err := range sess.Run(ctx, message) {
		if err != nil {
			return done, text, err
		}
		s.sessions.start(t, sess)
		if d, ok := event.(agent.Delta); ok {
			err = out.delta(ctx, d)
		} else {
			err = out.events(ctx, event)
		}
		if err != nil {
			return done, text, err // the client is gone
		}
		progress.event(event)
		switch e := event.(type) {
		case agent.Appended:
			if e.Message.Role == agent.RoleAssistant {
				text = e.Message.Text()
			}
		case agent.Done:
			done = e
		}
	}
	return done, text, nil
}

// answer is what the prompt is answered with.
func (s *Server) answer(sess *session, done agent.Done, text string, err error) (any, error) {
	switch {
	case errors.Is(err, agent.ErrInterrupted), errors.Is(err, rpc.ErrClosed), errors.Is(err, rpc.ErrBroken):
		s.waits.lose()
		return nil, failed(fmt.Errorf("%w; nothing of the question was done", agent.ErrInterrupted))
	case err != nil:
		return nil, failed(err)
	}
	result := PromptResult{sess.ID, string(done.Reason), text, done.Turns, usage(done.Usage), done.Denied, done.Unheard}
	if ending := done.Explain(); ending != "" {
		result.Message = ending
	}
	return result, nil
}

// text is the prompt with its context, which is quoted after it.
func (s *Server) text(ctx context.Context, sess *session, p PromptParams) (string, error) {
	var b strings.Builder
	b.WriteString(strings.ToValidUTF8(p.Text, "�"))
	for _, item := range p.Context {
		text, name, err := s.contextText(ctx, sess, item)
		if err != nil {
			return "", rpc.Errorf(rpc.CodeInvalidParams, "the context %s can't be used: %v", item.URI, err)
		}
		fence := "```"
		for strings.Contains(text, fence) {
			fence += "`"
		}
		fmt.Fprintf(&b, "\n\nThe person shows you %s:\n%s\n%s\n%s", name, fence, strings.TrimSuffix(text, "\n"), fence)
	}
	return b.String(), nil
}

// contextText is a text that the client names: an open document, or a file that
// could be read unasked. A secret goes to the model only by a call that is asked.
func (s *Server) contextText(ctx context.Context, sess *session, item ContextItem) (text, name string, err error) {
	l := locate(item.URI)
	doc, open := s.docs.get(item.URI)
	name = item.URI
	switch {
	case open && doc.trouble() != nil:
		return "", "", doc.trouble()
	case workspace.Secret(l.name()): // also one of another scheme, such as git:
		return "", "", errors.New("it may hold keys or credentials; ask the model to read the file, and you will be asked")
	case l.path == "" && !open:
		return "", "", errors.New(l.why)
	case l.path == "":
		text = doc.text
	default:
		info, err := sess.editor.Stat(ctx, l.path)
		if err != nil {
			return "", "", err
		}
		name = info.Name
		if open && !info.Secret { // the client has given the text itself, wherever it is
			text = doc.text
			break
		}
		f, err := sess.editor.Read(ctx, agent.Approval{}, l.path)
		if err != nil {
			return "", "", err
		}
		text = f.Text
	}
	if item.Range == nil {
		return text, name, nil
	}
	at := newPositions(text, s.client.encoding)
	from, ok1 := at.offset(item.Range.Start)
	to, ok2 := at.offset(item.Range.End)
	if !ok1 || !ok2 || from > to {
		return "", "", errors.New("its range is not in the text")
	}
	return text[from:to], fmt.Sprintf("%s, lines %d to %d", name, item.Range.Start.Line+1, item.Range.End.Line+1), nil
}
