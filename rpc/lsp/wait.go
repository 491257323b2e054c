package lsp

import (
	"slices"
	"sync"
	"time"
)

// tellAfter is how long a question waits before the log says so. Nothing else
// happens then: a person may be at lunch.
const tellAfter = 30 * time.Second

// waits are the questions that the client has not answered.
type waits struct {
	mu     sync.Mutex
	open   []*wait
	losses int // questions that ended with the connection
}

type wait struct {
	session, what string
	since         time.Time
}

// waitFor notes a question; end is to be called with its answer.
func (s *Server) waitFor(session, what string) (end func()) {
	w := &wait{session, what, time.Now()}
	s.waits.mu.Lock()
	s.waits.open = append(s.waits.open, w)
	s.waits.mu.Unlock()
	timer := time.AfterFunc(tellAfter, func() {
		s.log.Info("the client has not answered yet; cancel the prompt to end the wait", "session", session, "waits for", what)
	})
	return func() {
		timer.Stop()
		s.waits.mu.Lock()
		defer s.waits.mu.Unlock()
		s.waits.open = slices.DeleteFunc(s.waits.open, func(o *wait) bool { return o == w })
	}
}

func (w *waits) list() []Wait {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := []Wait{}
	for _, one := range w.open {
		out = append(out, Wait{one.session, one.what, int(time.Since(one.since).Seconds())})
	}
	return out
}

func (w *waits) lose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.losses++
}

func (w *waits) lost() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.losses > 0
}
