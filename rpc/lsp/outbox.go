package lsp

import (
	"context"
	"sync"
	"time"

	"assent/agent"
	"assent/rpc"
)

const (
	// deltaInterval is how often the pieces of a reply are sent, but for the first,
	// which goes at once. A screen shows no more.
	deltaInterval = 16 * time.Millisecond
	// deltaBytes is how much of them is kept back at most.
	deltaBytes = 16 << 10

	recast = "recast" // type of an event
)

// outbox sends the events of one turn, in order. Pieces of the reply are joined, and
// while the client does not read, it keeps the turn waiting instead of a queue.
type outbox struct {
	conn *rpc.Conn
	sess *session

	mu      sync.Mutex
	pending []piece // of different types in turn
	size    int
	sent    time.Time   // when deltas were sent last; zero: none of this reply
	timer   *time.Timer // set while a flush is due
	closed  bool
}

// piece is a text of one type that is kept back, or a recast of those before it.
type piece struct {
	kind string
	text []byte
}

func newOutbox(conn *rpc.Conn, sess *session) *outbox { return &outbox{conn: conn, sess: sess} }

// delta takes a piece of the reply.
func (o *outbox) delta(ctx context.Context, d agent.Delta) error {
	if !o.keep(d) {
		return nil
	}
	if err := o.room(ctx); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.flush()
}

// keep adds a piece and reports whether what is pending has to go now.
func (o *outbox) keep(d agent.Delta) (due bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d.Recast {
		o.pending = append(o.pending, piece{kind: recast})
	}
	o.add("thinking", d.Thinking)
	o.add("text", d.Text)
	wait := deltaInterval - time.Since(o.sent)
	if wait <= 0 || o.size >= deltaBytes || d.Recast { // which changes what is on the screen
		return true
	}
	if o.timer == nil {
		o.timer = time.AfterFunc(wait, o.tick)
	}
	return false
}

func (o *outbox) add(kind, text string) {
	if text == "" {
		return
	}
	o.size += len(text)
	if last := len(o.pending) - 1; last < 0 || o.pending[last].kind != kind {
		o.pending = append(o.pending, piece{kind: kind})
	}
	last := &o.pending[len(o.pending)-1]
	last.text = append(last.text, text...)
}

// tick sends what is pending when the model is silent. If there is no room, the
// next piece, or the next event, sends it.
func (o *outbox) tick() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = nil
	if o.closed {
		return
	}
	if !o.conn.HasRoom() {
		o.timer = time.AfterFunc(deltaInterval, o.tick)
		return
	}
	_ = o.flush() // if it fails, so does the next event
}

// flush sends what is pending. The caller holds mu.
func (o *outbox) flush() error {
	if len(o.pending) == 0 {
		return nil
	}
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	for _, p := range o.pending {
		var event any = DeltaEvent{p.kind, string(p.text)}
		if p.kind == recast {
			event = RecastEvent{recast}
		}
		if err := o.notify(event); err != nil {
			return err
		}
	}
	o.pending, o.size, o.sent = nil, 0, time.Now()
	return nil
}

// events sends an event that is no delta, after all deltas before it.
func (o *outbox) events(ctx context.Context, e agent.Event) error {
	for _, wire := range o.sess.events.Of(e) {
		if err := o.send(ctx, wire); err != nil {
			return err
		}
	}
	return nil
}

func (o *outbox) send(ctx context.Context, event any) error {
	if err := o.room(ctx); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.flush(); err != nil {
		return err
	}
	if _, begins := event.(RequestEvent); begins {
		o.sent = time.Time{}
	}
	return o.notify(event)
}

// room waits for the client to read. After a cancel nothing waits: what is left to
// say is short.
func (o *outbox) room(ctx context.Context) error {
	err := o.conn.Room(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (o *outbox) notify(event any) error {
	o.sess.seq++
	return o.conn.Notify(methodEvent, EventParams{o.sess.ID, o.sess.seq, event})
}

// close sends what is left.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.flush() // if it fails, the client is gone
	o.closed = true
	if o.timer != nil {
		o.timer.Stop()
	}
}
