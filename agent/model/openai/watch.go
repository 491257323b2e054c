package openai

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Limits on silence. A server may load a model and read a long prompt before it
// says anything, and a model may think for minutes without a word.
const (
	defaultIdle = 5 * time.Minute // between two bytes, once a reply has begun
	lingerTime  = 3 * time.Second // of a stream whose reply said that it is finished
)

var (
	errSilence  = errors.New("the server fell silent")
	errLingered = errors.New("the reply is finished and the server does not end the stream")
)

// watch ends a stream that has fallen silent. Comments keep it alive, but only for
// twice the limit, as the wait for the first event: a proxy can send them for ever.
type watch struct {
	cancel context.CancelCauseFunc
	idle   time.Duration
	total  time.Duration

	mu    sync.Mutex
	timer *time.Timer
	last  time.Time // data came
	over  bool      // nothing more is needed
}

func newWatch(cancel context.CancelCauseFunc, idle time.Duration) *watch {
	w := &watch{cancel: cancel, idle: idle, total: 2 * idle, last: time.Now()}
	w.timer = time.AfterFunc(w.total, func() { cancel(errSilence) })
	return w
}

// line notes that something came, perhaps a comment.
func (w *watch) line() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.timer.Reset(min(w.idle, time.Until(w.last.Add(w.total))))
	}
}

// data notes that an event came.
func (w *watch) data() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = time.Now()
	if !w.over {
		w.timer.Reset(w.idle)
	}
}

// finished gives the rest of the stream, which is only a count of tokens, a moment.
func (w *watch) finished() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over && w.timer.Stop() {
		w.over = true
		w.timer = time.AfterFunc(lingerTime, func() { w.cancel(errLingered) })
	}
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
}
