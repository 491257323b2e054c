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

// answer is what the client says of an edit. It is never believed alone.
type answer struct {
	protocol.ApplyWorkspaceEditResult
	err error
}

// send has the client apply an edit, and waits until there is true of the document,
// or the client has refused, or has had its time.
func (l *lander) send(ctx context.Context, base string, hunks []agent.Hunk, there func(document, bool) bool) answer {
	label := "assent: " + string(l.edit.Kind)
	params := &protocol.ApplyWorkspaceEditParams{Label: &label, Edit: l.e.workspaceEdit(l.edit, base, hunks)}
	calling, giveUp := context.WithTimeoutCause(ctx, applyLimit, errSilent)
	defer giveUp()
	watching, stop := context.WithCancel(ctx)
	defer stop()

	var got answer
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		var result struct { // package protocol's decoder is not needed for it
			Applied       bool    `json:"applied"`
			FailureReason *string `json:"failureReason"`
		}
		got.err = l.e.s.call(calling, protocol.MethodWorkspaceApplyEdit, params, &result)
		got.Applied, got.FailureReason = result.Applied, result.FailureReason
		if got.err != nil || !got.Applied {
			stop()
			return
		}
		l.e.s.docs.nudge() // what is seen on disk may be there now
		time.AfterFunc(showLimit, stop)
	}()
	l.e.s.docs.await(watching, l.edit.Path, there)
	select {
	case <-answered:
	case <-ctx.Done():
	case <-time.After(showLimit): // it shows the result and does not answer
	}
	giveUp()
	<-answered
	return got
}

var errSilent = errors.New("the editor did not answer")

// refused is the error for an edit that the client did not make, nil if it made it
// or says so. shown: the text has it, whatever the answer is.
func (l *lander) refused(ctx context.Context, a answer, shown bool, rev int) error {
	if shown {
		return nil
	}
	if a.err != nil {
		switch err := l.e.lost(a.err); {
		case errors.Is(err, agent.ErrInterrupted):
			return err
		case errors.Is(err, errSilent), ctx.Err() != nil, errors.Is(err, context.Canceled):
			return nil // it may still do it: not seen
		default:
			if failed, ok := errors.AsType[*rpc.Error](err); ok {
				return fmt.Errorf("the editor answered with an error: %s", failed.Message)
			}
			return fmt.Errorf("the editor's answer could not be understood: %w", err)
		}
	}
	if a.Applied {
		return nil
	}
	if l.edit.Kind == agent.EditText && l.newer(ctx, rev) {
		return errMoved
	}
	if a.FailureReason != nil && *a.FailureReason != "" {
		return fmt.Errorf("the editor did not make the change: %s", *a.FailureReason)
	}
	return errors.New("the editor did not make the change, and said no reason")
}

// newer waits a moment for a text that is newer than the one that an edit was made
// for.
func (l *lander) newer(ctx context.Context, rev int) bool {
	ctx, cancel := context.WithTimeout(ctx, retryLimit)
	defer cancel()
	doc, open := l.e.s.docs.await(ctx, l.edit.Path, func(doc document, open bool) bool { return open && doc.rev > rev })
	return open && doc.rev > rev
}
