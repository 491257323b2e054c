package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// roomBytes is how much may wait to be written while there is still room for
	// more, see [Conn.Room].
	roomBytes = 64 << 10
	// batchBytes is how much is written in one go, unless a frame is larger.
	batchBytes = 64 << 10
	// maxQueued is when a client that does not read is given up.
	maxQueued = 256 << 20
)

// writer writes frames in order on a goroutine of its own, so that no caller waits
// for the other side to read.
type writer struct {
	out    io.Writer
	broken func(error) // called once, when a write failed; it must not call back

	mu     sync.Mutex
	queue  [][]byte
	queued int           // bytes in the queue and in the write that is going on
	err    error         // set: nothing is written any more
	more   chan struct{} // capacity 1: the queue is not empty, or err is set
	less   chan struct{} // closed and made anew when bytes were written
	ended  chan struct{} // closed when run returns
}

func newWriter(out io.Writer, broken func(error)) *writer {
	return &writer{
		out: out, broken: broken,
		more: make(chan struct{}, 1), less: make(chan struct{}), ended: make(chan struct{}),
	}
}

var errStopped = errors.New("the connection is closed")

// put queues a frame and never waits.
func (w *writer) put(frame []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.queue = append(w.queue, frame)
	w.queued += len(frame)
	if w.queued > maxQueued {
		w.fail(fmt.Errorf("%w: it left %d bytes unread", ErrBroken, w.queued))
		return w.err
	}
	w.wake()
	return nil
}

func (w *writer) wake() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// fail ends the writing. The caller holds mu.
func (w *writer) fail(err error) {
	if w.err != nil {
		return
	}
	w.err, w.queue = err, nil
	close(w.less)
	w.less = make(chan struct{})
	w.wake()
	if !errors.Is(err, errStopped) {
		w.broken(err)
	}
}

// stop ends run; what is not written yet stays unwritten.
func (w *writer) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail(errStopped)
}

// run writes until stop is called or a write fails.
func (w *writer) run() {
	defer close(w.ended)
	var buffer []byte
	for range w.more {
		for {
			frames, err := w.take()
			if err != nil {
				return
			}
			if len(frames) == 0 {
				break
			}
			batch := frames[0]
			if len(frames) > 1 {
				buffer = buffer[:0]
				for _, f := range frames {
					buffer = append(buffer, f...)
				}
				batch = buffer
			}
			clear(frames) // the queue goes on behind them
			w.write(batch)
		}
	}
}

// take takes some frames from the queue that are written in one go, since each
// write wakes the other side. There are none when the queue is empty.
func (w *writer) take() (frames [][]byte, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, size := 0, 0
	for n < len(w.queue) && (n == 0 || size+len(w.queue[n]) <= batchBytes) {
		size += len(w.queue[n])
		n++
	}
	frames, w.queue = w.queue[:n], w.queue[n:]
	return frames, w.err
}

func (w *writer) write(batch []byte) {
	_, err := w.out.Write(batch)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.fail(fmt.Errorf("%w: writing to it failed: %w", ErrBroken, err))
		return
	}
	if w.err == nil {
		w.queued -= len(batch)
		close(w.less)
		w.less = make(chan struct{})
	}
}

// below waits until no more than limit bytes are unwritten.
func (w *writer) below(ctx context.Context, limit int) error {
	for {
		w.mu.Lock()
		queued, less, err := w.queued, w.less, w.err
		w.mu.Unlock()
		if err != nil || queued <= limit {
			return err
		}
		select {
		case <-less:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (w *writer) has(limit int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err != nil || w.queued <= limit
}

// failed reports whether nothing can be written any more.
func (w *writer) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err != nil
}
