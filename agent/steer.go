package agent

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// ErrIdle says that there is no run to steer.
var ErrIdle = errors.New("the session is not answering; send a prompt")

// ErrEnding says that a run gives its last answer and can't hear anything more.
var ErrEnding = errors.New("the session is giving its last answer; say it in a prompt when that has ended")

// steers are what the person said during a run and the model does not know yet.
type steers struct {
	mu      sync.Mutex
	open    bool // a run takes them
	asking  bool // ... and waits for the person's answer to a question
	ending  bool // a run gives its last answer
	waiting []string
}

// Steer has the run that is going on hear a text, as soon as the results of the
// calls that it makes are there, or its answer is. Without a run the error is
// [ErrIdle]. It reports whether a review is open, whose answer has to come first. What
// a run did not take before it was cancelled, or failed, is in its [Done].
func (s *Session) Steer(text string) (afterReview bool, err error) {
	s.steers.mu.Lock()
	defer s.steers.mu.Unlock()
	switch {
	case s.steers.ending:
		return false, ErrEnding
	case !s.steers.open:
		return false, ErrIdle
	}
	s.steers.waiting = append(s.steers.waiting, text)
	return s.steers.asking, nil
}

// ask notes whether a question is open.
func (s *steers) ask(open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking = open
}

// rest takes what nobody will hear any more.
func (s *steers) rest() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.ending = false, true
	return s.waiting
}

// listen says whether the run takes steers from now on.
func (s *steers) listen(open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.asking, s.ending, s.waiting = open, false, false, nil
}

// WithUnheard adds to an error what the person said that nobody will hear for it, so
// that it is not lost.
func WithUnheard(err error, said []string) error {
	if err == nil || len(said) == 0 {
		return err
	}
	return fmt.Errorf("%w; what you said meanwhile was not heard: %q", err, said)
}

// take is what waits. If nothing does and the run would end, it takes no more, so
// that none is lost between the two.
func (s *steers) take(ending bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.waiting
	s.waiting = nil
	if ending && len(waiting) == 0 {
		s.open, s.ending = false, true
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
	r.seen = repetition{} // the person has spoken
	err := r.append(UserText(strings.Join(said, "\n\n")), 0)
	return true, WithUnheard(err, said)
}
