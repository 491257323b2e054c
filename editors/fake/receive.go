package fake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// receive logs a message of the server and takes it to whom it concerns.
func (c *conn) receive(m message, body []byte, handle func(message)) {
	e := Entry{FromServer: true, Method: m.method, ID: m.id, Response: m.kind == response, Raw: body}
	if m.kind == response {
		c.resolve(m, e)
		return
	}
	c.record(e)
	if m.method == "$/cancelRequest" {
		c.cancel(m.params)
		return
	}
	handle(m)
}

// resolve hands a response to its call. The late answer to a call that was
// given up is no fault; an answer to nothing, and a second answer, are.
func (c *conn) resolve(m message, e Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Method = c.methods[m.id]
	c.log = append(c.log, e)
	if c.pending[m.id] != nil {
		c.finish(m.id, m, nil)
	} else {
		c.faults = append(c.faults, fmt.Errorf("a response to nothing that waits for one: %q…", head(e.Raw)))
	}
	c.announce()
}

// cancel ends the ctx of a request that has no answer yet; else the cancel
// came too late, which is no fault.
func (c *conn) cancel(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		c.fault(fmt.Errorf("a broken $/cancelRequest: %w", err))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.inflight[compact(p.ID)]; r != nil {
		r.cancel()
	}
}

// admit makes m a request in flight and returns the ctx of its handler. It
// reports false, and keeps a fault, for an id that is still in use.
func (c *conn) admit(ctx context.Context, m message) (context.Context, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inflight[m.id] != nil {
		c.faults = append(c.faults, fmt.Errorf("%s has the id %s, which a %s still uses", m.method, m.id, c.inflight[m.id].method))
		c.announce()
		return nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	c.inflight[m.id] = &serverRequest{method: m.method, cancel: cancel}
	return ctx, true
}

// await calls find, with c.mu held, now and whenever something was logged,
// until it reports true, ctx ends or nothing more can come.
func (c *conn) await(ctx context.Context, find func() bool) error {
	for {
		c.mu.Lock()
		found, ended, changed := find(), c.ended, c.changed
		c.mu.Unlock()
		switch {
		case found:
			return nil
		case ended != nil:
			return ended
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Pending is a request of the editor that was sent. Exactly one response, or
// the end of the connection, completes it.
type Pending struct {
	ID   int // on the wire
	conn *conn

	done  chan struct{}
	reply message // these two are set before done is closed
	err   error
}

// Cancel sends $/cancelRequest and waits for nothing; the server still
// answers, as the specification asks.
func (p *Pending) Cancel() error {
	return p.conn.notify("$/cancelRequest", map[string]int{"id": p.ID})
}

// Wait waits for the answer and decodes it into result, which may be nil. An
// error response is an *[Error]; the end of the connection is [ErrClosed].
// When ctx ends first, Wait returns its error and sends nothing; the call goes
// on and Wait may be called again.
func (p *Pending) Wait(ctx context.Context, result any) error {
	select {
	case <-p.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	switch {
	case p.err != nil:
		return p.err
	case p.reply.err != nil:
		return p.reply.err
	case result == nil:
		return nil
	}
	return json.Unmarshal(p.reply.result, result)
}

// Start sends a request and returns at once.
func (e *Editor) Start(method string, params any) (*Pending, error) {
	return e.conn.start(method, params)
}

// Call sends a request and waits for its answer as [Pending.Wait] does. When
// ctx ends first, $/cancelRequest is sent and Call returns ctx's error without
// waiting for the answer, which comes later and shows in [Editor.Log]; a test
// that wants it uses [Editor.Start].
func (e *Editor) Call(ctx context.Context, method string, params, result any) error {
	p, err := e.conn.start(method, params)
	if err != nil {
		return err
	}
	err = p.Wait(ctx, result)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		_ = p.Cancel() // it only fails when nobody is left to be told
	}
	return err
}

// Notify sends a notification. It does not wait until it was written.
func (e *Editor) Notify(method string, params any) error { return e.conn.notify(method, params) }

// Log returns every message so far, of both sides, in the order in which the
// editor read them or decided to send them.
func (e *Editor) Log() []Entry {
	e.conn.mu.Lock()
	defer e.conn.mu.Unlock()
	return slices.Clone(e.conn.log)
}

// AwaitEntry returns the first message, so far or later, that matches.
// match must not call the editor.
func (e *Editor) AwaitEntry(ctx context.Context, match func(Entry) bool) (Entry, error) {
	var found Entry
	seen := 0
	err := e.conn.await(ctx, func() bool {
		for ; seen < len(e.conn.log); seen++ {
			if match(e.conn.log[seen]) {
				found = e.conn.log[seen]
				return true
			}
		}
		return false
	})
	return found, err
}

// Err returns the faults of the server so far, joined, or nil. A test that
// kills the server may see a cut frame, which is io.ErrUnexpectedEOF.
func (e *Editor) Err() error {
	e.conn.mu.Lock()
	defer e.conn.mu.Unlock()
	return errors.Join(e.conn.faults...)
}
