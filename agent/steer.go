package agent

import (
	"errors"
	"strings"
	"sync"
)

// ErrIdle says that there is no run to steer.
var ErrIdle = errors.New("the session is not answering; send a prompt")

// steers are what the person said during a run and the model does not know yet.
type steers struct {
	mu      sync.Mutex
	open    bool // a run takes them
	waiting []string
}

// Steer has the run that is going on hear a text, as soon as the results of the
// calls that it makes are there, or its answer is. Without a run the error is
// [ErrIdle]. A run that is cancelled, or fails, drops what it did not take yet.
func (s *Session) Steer(text string) error {
	s.steers.mu.Lock()
	defer s.steers.mu.Unlock()
	if !s.steers.open {
		return ErrIdle
	}
	s.steers.waiting = append(s.steers.waiting, text)
	return nil
}

// listen says whether the run takes steers from now on.
func (s *steers) listen(open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.waiting = open, nil
}

// take is what waits. If nothing does and the run would end, it takes no more, so
// that none is lost between the two.
func (s *steers) take(ending bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.waiting
	s.waiting = nil
	if ending && len(waiting) == 0 {
		s.open = false
	}
	return waiting
}

// join appends what the person said meanwhile, as one message, and reports whether
// there was anything.
func (r *run) join(ending bool) (bool, error) {
	said := r.s.steers.take(ending)
	if len(said) == 0 {
		return false, nil
	}
	return true, r.append(UserText(strings.Join(said, "\n\n")), 0)
}
