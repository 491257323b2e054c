package lsp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"assent/rpc"
)

// turn is a prompt from its arrival to its answer.
type turn struct {
	session string // ID; "" until a new one has it
	token   string // of its progress, as JSON text, or ""
	done    chan struct{}

	ctx     context.Context // the turn's own: it ends when the turn is cancelled
	cancel  context.CancelCauseFunc
	run     context.Context // of the session's run, nil before it
	before  []*turn         // of the session, that have to end first
	brief   bool            // a change of settings: a prompt behind it waits
	started bool            // its session takes steers
	early   []string        // steers that came before
}

// errCancelled is the cause of a turn's end that the person asked for.
var errCancelled = errors.New("cancelled by the person")

// sessions are the open sessions, and the turns of each, the newest last.
type sessions struct {
	mu    sync.Mutex
	open  map[string]*session
	turns []*turn
}

func (r *sessions) get(id string) (*session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.open[id]; s != nil {
		return s, nil
	}
	return nil, rpc.Errorf(rpc.CodeInvalidParams, "there is no open session %q; send a prompt without sessionId to begin one", id)
}

// latest is the newest turn of a session. The caller holds mu.
func (r *sessions) latest(id string) *turn {
	for _, t := range slices.Backward(r.turns) {
		if t.session == id && id != "" {
			return t
		}
	}
	return nil
}

// begin adds a turn. One session has one turn, but for those that are about to end:
// a new one waits for them.
func (r *sessions) begin(t *turn) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := r.latest(t.session); last != nil && last.ctx.Err() == nil && !last.brief {
		return failed(errors.New("the session is still answering; wait, or send assent/cancel or assent/steer"))
	}
	for _, o := range r.turns {
		if o.session == t.session && t.session != "" {
			t.before = append(t.before, o)
		}
	}
	r.turns = append(r.turns, t)
	return nil
}

// alone waits for the turns before, and reports false if this one is cancelled
// meanwhile.
func (t *turn) alone(ctx context.Context) bool {
	for _, o := range t.before {
		select {
		case <-o.done:
		case <-ctx.Done():
			return false
		}
	}
	t.before = nil
	return true
}

// end takes a turn away and lets go who waits for it.
func (r *sessions) end(t *turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turns = slices.DeleteFunc(r.turns, func(o *turn) bool { return o == t })
	close(t.done)
}

// add makes a new session known, as that of a turn if there is one.
func (r *sessions) add(s *session, t *turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[s.ID] = s
	if t != nil {
		t.session = s.ID
	}
}

// count is how many sessions are open.
func (r *sessions) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open)
}

// cancel cancels the turns that are meant, and returns all.
func (r *sessions) cancel(meant func(*turn) bool) []*turn {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.turns {
		if meant(t) {
			t.cancel(errCancelled) // a second time does nothing
		}
	}
	return slices.Clone(r.turns)
}

func (r *sessions) cancelAll() []*turn { return r.cancel(func(*turn) bool { return true }) }

// steer gives a text to the turn of a session, also to one that is about to start. It
// reports whether a review is open, whose answer has to come first.
func (r *sessions) steer(sess *session, text string) (afterReview bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.latest(sess.ID); t != nil && !t.started && !t.brief && t.ctx.Err() == nil {
		t.early = append(t.early, text)
		return false, nil
	}
	return sess.Steer(text)
}

// start notes that the session of a turn takes steers now.
func (r *sessions) start(t *turn, sess *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.started {
		return
	}
	t.started = true
	for _, text := range t.early {
		_, _ = sess.Steer(text) // it takes them now
	}
}

// runs notes the context of a turn's run.
func (r *sessions) runs(t *turn, ctx context.Context) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.run = ctx
	return ctx
}

// uncancelled is ctx, that of a landing, as long as the turn of the session is not
// cancelled: a landing may take a while longer, but not what waits for a person or
// tells what came of it.
func (r *sessions) uncancelled(ctx context.Context, id string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	stop := func() bool { return true }
	if t := r.latest(id); t != nil && t.run != nil {
		stop = context.AfterFunc(t.run, func() { cancel(context.Cause(t.run)) })
	}
	return ctx, func() { stop(); cancel(nil) }
}

// unheard are the steers of a turn that never started.
func (r *sessions) unheard(t *turn) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.started { // its session has them
		return nil
	}
	return t.early
}

// remove takes a session that has no turn away.
func (r *sessions) remove(id string) (*session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.latest(id) != nil {
		return nil, failed(errors.New("the session is still answering; cancel it first"))
	}
	s := r.open[id]
	delete(r.open, id)
	return s, nil
}

// busy tells of each open session whether it runs.
func (r *sessions) busy() []SessionBusy {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []SessionBusy{}
	for _, id := range slices.Sorted(maps.Keys(r.open)) {
		model, mode := r.open[id].Settings()
		out = append(out, SessionBusy{id, r.latest(id) != nil, model, string(mode)})
	}
	return out
}
