package agenttest

import (
	"math/rand/v2"
	"sync"
)

// Tape is the choices of a random test, for when they are made on goroutines that the
// test does not own. It may be used from any of them.
type Tape struct {
	mu    sync.Mutex
	bytes []byte
}

// NewTape makes a tape of even random bytes: rapid's own are mostly small. A test that
// draws the length lets rapid shrink it.
func NewTape(seed uint64, length int) *Tape {
	t := &Tape{bytes: make([]byte, length)}
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range t.bytes {
		t.bytes[i] = byte(r.Uint32())
	}
	return t
}

// Pick chooses a number below n; the end of the tape chooses 0, the plain case.
func (t *Tape) Pick(n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.bytes) == 0 {
		return 0
	}
	b := t.bytes[0]
	t.bytes = t.bytes[1:]
	return int(b) % n
}

// Rarely is true once in n times.
func (t *Tape) Rarely(n int) bool { return t.Pick(n) == n-1 }
