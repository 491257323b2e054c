package lsp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assent/agent"
	"assent/rpc"

	"go.lsp.dev/protocol"
)

const (
	// applyLimit is how long a client may take to answer workspace/applyEdit. Some
	// ask their person once more.
	applyLimit = time.Minute
	// showLimit is how long it may take to show the result. Neovim sends changes
	// 150 ms late.
	showLimit = 2 * time.Second
	// retryLimit is how long to wait for the newer text on which an edit failed.
	retryLimit = 300 * time.Millisecond
)

// answer is what the client says of an edit. It is never believed alone.
type answer struct {
	Applied       bool   `json:"applied"`
	FailureReason string `json:"failureReason"`
	err           error  // instead of one
}

// send has the client apply the edit, and waits until its result shows, or the client
// has refused, or has had its time. after is the state then. The error says that the
// client did not make the edit.
func (l *lander) send(ctx context.Context, before state, hunks []agent.Hunk) (got answer, after state, err error) {
	label := "assent: " + string(l.edit.Kind)
	params := &protocol.ApplyWorkspaceEditParams{Label: &label, Edit: l.e.workspaceEdit(l.edit, before, hunks)}
	calling, giveUp := l.calling(ctx)
	defer giveUp()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if got.err = l.e.s.call(calling, protocol.MethodWorkspaceApplyEdit, params, &got); got.err != nil || !got.Applied {
			stop()
			return
		}
		l.applied.Store(true)
		l.e.s.docs.nudge() // what is seen on disk may be there now
		time.AfterFunc(showLimit, stop)
	}()
	l.e.s.docs.await(watching, l.edit.Path, func(document, bool) bool {
		now, _ := l.look()
		return l.done(before, now, hunks) || l.edit.Confirm && l.applied.Load() && l.ticked(before, now, hunks)
	})
	select {
	case <-answered:
	case <-ctx.Done():
	case <-time.After(showLimit): // it shows the result and does not answer
	}
	giveUp()
	<-answered
	after, _ = l.look()
	return got, after, l.refusal(ctx, got)
}

// calling is ctx for the request: only a person has no time limit.
func (l *lander) calling(ctx context.Context) (context.Context, context.CancelFunc) {
	if !l.edit.Confirm {
		return context.WithTimeoutCause(ctx, applyLimit, errSilent)
	}
	ctx, cancel := l.e.s.sessions.uncancelled(ctx, l.e.session)
	end := l.e.s.waitFor(l.e.session, "confirmation: "+shortLine(l.edit.Path, 80))
	return ctx, func() { end(); cancel() }
}

var errSilent = errors.New("the editor did not answer")

// refusal is the error for an answer that says that the edit was not made. A client
// that does not answer may still make it.
func (l *lander) refusal(ctx context.Context, a answer) error {
	if a.err != nil {
		switch err := l.e.lost(a.err); {
		case errors.Is(err, agent.ErrInterrupted):
			return err
		case errors.Is(err, errSilent), ctx.Err() != nil, errors.Is(err, context.Canceled), errors.Is(err, errCancelled), errors.Is(err, rpc.ErrCancelled):
			return nil
		default:
			if failed, ok := errors.AsType[*rpc.Error](err); ok {
				return fmt.Errorf("the editor answered with an error: %s", failed.Message)
			}
			return fmt.Errorf("the editor's answer could not be understood: %w", err)
		}
	}
	switch {
	case a.Applied:
		return nil
	case a.FailureReason != "":
		return fmt.Errorf("the editor did not make the change: %s", a.FailureReason)
	}
	return errors.New("the editor did not make the change, and said no reason")
}

// newer waits a moment for a text that is newer than the one that an edit was made
// for.
func (l *lander) newer(ctx context.Context, before state) bool {
	ctx, cancel := context.WithTimeout(ctx, retryLimit)
	defer cancel()
	newer := false
	l.e.s.docs.await(ctx, l.edit.Path, func(doc document, open bool) bool {
		newer = open && doc.told > before.rev
		return newer
	})
	return newer
}
