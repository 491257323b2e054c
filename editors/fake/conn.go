package fake

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
)

// ErrClosed is returned for what can no longer be said or heard: the editor
// was closed, or the server ended its stream or stopped reading.
var ErrClosed = errors.New("fake: the connection is closed")

// closeGrace is how long Close lets the queue drain into a server that may no
// longer read.
const closeGrace = 2 * time.Second

// Entry is one message, in the order in which the editor read it or decided to
// send it.
type Entry struct {
	FromServer bool
	Method     string          // of a response: the method of its request, "" if there was none
	ID         string          // JSON text: 7 or "a"; "" for a notification
	Response   bool            // a response, not a request or notification
	Raw        json.RawMessage // the body as it was on the wire
}

// conn is the connection: all its mutable state, behind one mutex that is
// never held while a stream is read or written.
type conn struct {
	framing  Framing
	toServer io.WriteCloser
	written  chan struct{} // closed when the writer has ended

	mu       sync.Mutex
	changed  chan struct{} // closed and made anew whenever something below grows
	wake     chan struct{} // capacity 1: the queue has something for the writer
	queue    []outFrame
	closing  bool  // nothing more may be queued
	broken   error // why nothing can be written any more
	ended    error // why nothing more will be read
	lastID   int
	pending  map[string]*Pending
	methods  map[string]string // of every request sent: id to method
	inflight map[string]*serverRequest
	log      []Entry
	faults   []error
}

type outFrame struct {
	bytes []byte
	id    string // of a request: its call fails when the frame is not written
}

// serverRequest is a request of the server that has no answer yet.
type serverRequest struct {
	method string
	cancel context.CancelFunc
}

func newConn(framing Framing, toServer io.WriteCloser) *conn {
	return &conn{
		framing: framing, toServer: toServer,
		written: make(chan struct{}), changed: make(chan struct{}), wake: make(chan struct{}, 1),
		pending: map[string]*Pending{}, methods: map[string]string{}, inflight: map[string]*serverRequest{},
	}
}

// announce wakes everyone who awaits growth. c.mu is held.
func (c *conn) announce() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// fault keeps a fault of the server.
func (c *conn) fault(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, err)
	c.announce()
}

// enqueue logs a message and queues it; it never blocks. c.mu is held.
func (c *conn) enqueue(out outgoing, e Entry) error {
	if c.closing {
		return ErrClosed
	}
	if c.broken != nil {
		return c.broken
	}
	out.JSONRPC = "2.0"
	body, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", e.Method, err)
	}
	e.Raw = body
	c.log = append(c.log, e)
	f := outFrame{bytes: c.framing.frame(body)}
	if !e.Response {
		f.id = e.ID
	}
	c.queue = append(c.queue, f)
	c.announce()
	c.kick()
	return nil
}

// kick wakes the writer.
func (c *conn) kick() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// notify queues a notification.
func (c *conn) notify(method string, params any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.enqueue(outgoing{Method: method, Params: params}, Entry{Method: method})
}

// start queues a request.
func (c *conn) start(method string, params any) (*Pending, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return nil, c.ended
	}
	c.lastID++
	id := strconv.Itoa(c.lastID)
	p := &Pending{ID: c.lastID, conn: c, done: make(chan struct{})}
	if err := c.enqueue(outgoing{ID: json.RawMessage(id), Method: method, Params: params}, Entry{Method: method, ID: id}); err != nil {
		return nil, err
	}
	c.pending[id], c.methods[id] = p, method
	return p, nil
}

// reply queues the response to a request of the server, which has none yet. A
// connection that is closing sends no reply: the editor went away.
func (c *conn) reply(id string, result any, failure error) {
	out := outgoing{ID: json.RawMessage(id)}
	if failure != nil {
		out.Error = asError(failure)
	} else if raw, err := json.Marshal(result); err != nil {
		out.Error = asError(err)
	} else {
		out.Result = raw
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.inflight[id]
	if r == nil {
		return
	}
	delete(c.inflight, id)
	r.cancel()
	_ = c.enqueue(out, Entry{Method: r.method, ID: id, Response: true}) // only fails when the editor is gone
}

// asError maps what a handler returned to what goes over the wire.
func asError(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return &Error{Code: CodeRequestCancelled, Message: "cancelled"}
	}
	return &Error{Code: CodeInternalError, Message: err.Error()}
}

// write takes frames off the queue until the connection closes and the queue
// is empty, or the server reads no more. It owns toServer and closes it.
func (c *conn) write() {
	defer close(c.written)
	defer c.toServer.Close()
	for range c.wake {
		for {
			f, more, stop := c.next()
			if stop {
				return
			}
			if !more {
				break
			}
			if _, err := c.toServer.Write(f.bytes); err != nil {
				c.breakOff(f, err)
				return
			}
		}
	}
}

// next returns the first frame of the queue, or that there is none, or that
// there will never be one.
func (c *conn) next() (f outFrame, more, stop bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return f, false, c.closing
	}
	f = c.queue[0]
	c.queue = slices.Delete(c.queue, 0, 1)
	return f, true, false
}

// breakOff fails the calls whose requests were not written.
func (c *conn) breakOff(f outFrame, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = fmt.Errorf("%w: writing: %w", ErrClosed, err)
	for _, lost := range append([]outFrame{f}, c.queue...) {
		if p := c.pending[lost.id]; p != nil {
			c.finish(lost.id, message{}, c.broken)
		}
	}
	c.queue = nil
	c.announce()
}

// finish resolves a pending call. c.mu is held.
func (c *conn) finish(id string, m message, err error) {
	p := c.pending[id]
	delete(c.pending, id)
	p.reply, p.err = m, err
	close(p.done)
}

// close ends the writer: what is queued is still written, in closeGrace.
func (c *conn) close() error {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.kick()
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-c.written:
		return nil
	case <-grace.C:
	}
	err := c.toServer.Close() // frees a Write that nobody reads
	<-c.written
	return errors.Join(errors.New("fake: the server no longer reads its input"), err)
}

// read takes frames off r until it ends, and hands requests and notifications
// to handle, which must not block.
func (c *conn) read(from io.Reader, handle func(message)) {
	r := bufio.NewReader(from)
	for {
		body, err := c.framing.read(r)
		if err != nil {
			c.end(err)
			_, _ = io.Copy(io.Discard, r) // a server that is not read cannot end
			return
		}
		m, err := parse(body)
		if err != nil {
			c.record(Entry{FromServer: true, Raw: body})
			c.fault(err)
			continue
		}
		c.receive(m, body, handle)
	}
}

// end fails all pending calls; err other than errEnd is a fault.
func (c *conn) end(err error) {
	if err != errEnd {
		c.fault(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = fmt.Errorf("%w: %w", ErrClosed, err)
	for id := range c.pending {
		c.finish(id, message{}, c.ended)
	}
	c.announce()
}

func (c *conn) record(e Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, e)
	c.announce()
}
