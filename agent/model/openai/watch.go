package openai

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// Limits on silence. A server may load a model and read a long prompt before it
// says anything, and a model may think for minutes without a word.
const (
	defaultIdle = 5 * time.Minute // without any byte, once a reply has begun
	lingerTime  = 3 * time.Second // of a stream whose reply said that it is finished
)

var (
	errSilence  = errors.New("the server fell silent")
	errLingered = errors.New("the reply is finished and the server does not end the stream")
)

// watch ends a stream that has fallen silent. Comments and events with nothing in them
// keep it alive, but only for twice the limit, as the wait for the first event: a proxy
// can send them for ever. What follows the end of a reply, a count of tokens perhaps,
// gets a moment, however it comes.
type watch struct {
	cancel context.CancelCauseFunc
	idle   time.Duration

	mu    sync.Mutex
	timer *time.Timer
	until time.Time // the latest end: of the reply's next step, or of its rest
	begun bool      // there was an event
	over  bool      // the reply said that it is finished
	held  bool      // the consumer has what came: nobody is silent
	since time.Time // that it has
}

func newWatch(cancel context.CancelCauseFunc, idle time.Duration) *watch {
	w := &watch{cancel: cancel, idle: idle, until: time.Now().Add(2 * idle)}
	w.timer = time.AfterFunc(2*idle, func() { cancel(errSilence) })
	return w
}

// alive notes that bytes came.
func (w *watch) alive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun && !w.held && !w.over {
		w.timer.Reset(min(w.idle, time.Until(w.until)))
	}
}

// hold stops the clock while the consumer has what came: a slow person is not a
// silent server.
func (w *watch) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
	w.begun, w.held, w.since = true, true, time.Now()
}

// wait starts the clock for the next event, from the beginning if the last one brought
// the reply on.
func (w *watch) wait(forward, finished bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until = w.until.Add(time.Since(w.since)) // which was not the server's
	cause := errSilence
	switch {
	case finished && !w.over:
		w.until = time.Now().Add(min(lingerTime, w.idle))
	case forward && !finished:
		w.until = time.Now().Add(2 * w.idle)
	}
	if w.over = finished; finished {
		cause = errLingered
	}
	w.held = false
	w.timer = time.AfterFunc(min(w.idle, time.Until(w.until)), func() { w.cancel(cause) })
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = true
	w.timer.Stop()
}

// heard is a body whose every byte is a sign of life.
type heard struct {
	io.Reader
	watch *watch
}

func (h heard) Read(into []byte) (int, error) {
	n, err := h.Reader.Read(into)
	if n > 0 {
		h.watch.alive()
	}
	return n, err
}
