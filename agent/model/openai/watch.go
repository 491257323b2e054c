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
	defaultIdle = 5 * time.Minute // between two events
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
	last  time.Time // data came, or the consumer took it
	begun bool      // there was data
	held  bool      // the consumer has it: nobody is silent
}

func newWatch(cancel context.CancelCauseFunc, idle time.Duration) *watch {
	w := &watch{cancel: cancel, idle: idle, total: 2 * idle, last: time.Now()}
	w.timer = time.AfterFunc(w.total, func() { cancel(errSilence) })
	return w
}

// comment notes that something came that is no data.
func (w *watch) comment() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun && !w.held {
		w.timer.Reset(min(w.idle, time.Until(w.last.Add(w.total))))
	}
}

// hold stops the clock while the consumer has what came: a slow person is not a
// silent server.
func (w *watch) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
	w.begun, w.held = true, true
}

// wait starts the clock for the next event. Of a reply that said that it is finished
// only a count of tokens can follow, which gets a moment.
func (w *watch) wait(finished bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.held = time.Now(), false
	limit, cause := w.idle, errSilence
	if finished {
		limit, cause = min(lingerTime, w.idle), errLingered
	}
	w.timer = time.AfterFunc(limit, func() { w.cancel(cause) })
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = true
	w.timer.Stop()
}
