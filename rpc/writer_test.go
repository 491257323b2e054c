package rpc

import (
	"errors"
	"testing"
)

func TestAClientThatLeavesTooMuchUnreadIsGivenUp(t *testing.T) {
	var broken []error
	w := newWriter(nil, func(err error) { broken = append(broken, err) }) // run is never called
	frame := make([]byte, 64<<20)                                         // the same each time
	for i := range maxQueued / len(frame) {
		if err := w.put(frame); err != nil {
			t.Fatalf("put %d = %v", i, err)
		}
	}
	for range 2 {
		if err := w.put(frame[:1]); !errors.Is(err, ErrBroken) {
			t.Errorf("put = %v", err)
		}
	}
	if len(broken) != 1 || !errors.Is(broken[0], ErrBroken) || w.queue != nil {
		t.Errorf("told %v; %d frames are kept", broken, len(w.queue))
	}
}
