package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Handler is what a dialect makes of the messages of the client. Both methods are
// called on the goroutine that reads, in the order of the messages, and must not
// wait for anything.
type Handler interface {
	// Notify handles a notification.
	Notify(method string, params json.RawMessage)

	// Accept takes a request and returns what is to be done for it. ctx ends when
	// the client cancels the request, with cause [ErrCancelled], and when the
	// connection ends.
	Accept(ctx context.Context, method string, params json.RawMessage) Work
}

// Work answers a request. An error that is no [*Error] becomes an internal one,
// but for the end of the request's context, which becomes [CodeCancelled].
type Work func() (result any, err error)

// Fail is the Work of a request that is answered with an error.
func Fail(err error) Work { return func() (any, error) { return nil, err } }

// Options of a [Conn].
type Options struct {
	Framing    Framing
	MaxMessage int // bytes; 0: DefaultMaxMessage
	Log        *slog.Logger

	// Hangup reports whether nobody reads the output any more. It is asked twice
	// a second. nil: found out only by writing.
	Hangup func() bool
}

// Conn is one connection. Its methods may be called from any goroutine, once
// [Conn.Serve] runs.
type Conn struct {
	opts   Options
	log    *slog.Logger
	w      *writer
	stream *stream
	rpc    *jsonrpc2.Conn

	cancel    context.CancelCauseFunc // ends everything
	alive     context.Context         // until then
	input     context.Context         // ends with the input
	noInput   context.CancelFunc
	abandoned chan string // IDs of calls that have to end without an answer
	calls     atomic.Int64
	watched   atomic.Pointer[process]

	work sync.WaitGroup // handlers; grows on the goroutine that reads

	mu       sync.Mutex
	requests map[string]context.CancelCauseFunc // of the client, not answered yet, by ID as JSON text
}

// New makes a connection. Nothing is read or written before [Conn.Serve].
func New(in io.Reader, out io.Writer, opts Options) *Conn {
	if opts.MaxMessage == 0 {
		opts.MaxMessage = DefaultMaxMessage
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	c := &Conn{opts: opts, log: opts.Log, abandoned: make(chan string), requests: map[string]context.CancelCauseFunc{}}
	c.w = newWriter(out, c.end)
	c.stream = &stream{
		c: c,
		reader: newFrameReader(in, opts.Framing, opts.MaxMessage, func(line string) {
			c.log.Warn("a line that is no header was passed over", "bytes", len(line))
		}),
		messages: make(chan message), done: make(chan struct{}), closed: make(chan struct{}),
	}
	return c
}

const (
	// workGrace is how long Serve waits for cancelled work at the end.
	workGrace = time.Second
	// flushGrace is how long the client may take to read what is written last.
	flushGrace = 500 * time.Millisecond
	// endGrace is how long after its last words a client may close the connection.
	endGrace = 500 * time.Millisecond
)

// Serve handles messages until the input ends and all work is done, or the
// connection is closed or broken. It returns nil after the first two. If the input
// does not end, the goroutine that reads it stays behind.
func (c *Conn) Serve(ctx context.Context, h Handler) error {
	ctx, c.cancel = context.WithCancelCause(ctx)
	defer c.cancel(nil)
	c.alive = ctx
	c.input, c.noInput = context.WithCancel(ctx)
	defer c.noInput()
	go c.w.run()
	var watch sync.WaitGroup
	watch.Go(func() { c.watch(ctx) })
	c.rpc = jsonrpc2.NewConn(ctx, c.stream, &dispatcher{c, h}, jsonrpc2.SetLogger(logged{c.log}))
	go c.stream.read() // after rpc is set, which handlers need

	<-c.rpc.DisconnectNotify()
	<-c.stream.done
	cause := context.Cause(ctx)
	c.cancel(errStopped)
	c.finish(ctx)
	watch.Wait()
	if errors.Is(cause, errStopped) {
		return nil
	}
	return cause
}

// finish waits a while for cancelled work and for its replies to be written.
func (c *Conn) finish(ctx context.Context) {
	select {
	case <-c.idle():
	case <-time.After(workGrace):
		c.log.Error("work that was cancelled did not end")
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushGrace)
	defer cancel()
	written := c.w.below(grace, 0) == nil
	c.w.stop()
	if written {
		<-c.w.ended // else it may be held by what does not read
	}
}

// Close ends the connection: work is cancelled, its replies are written, and Serve
// returns nil.
func (c *Conn) Close() { c.end(errStopped) }

// end ends the connection; the first cause counts.
func (c *Conn) end(cause error) { c.cancel(cause) }

// Call sends a request and waits for the answer. When ctx ends, the client is told
// with $/cancelRequest and the error is that of ctx. The error is [ErrClosed] when
// no answer can come any more, and an [*Error] when the client answers with one.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	if c.input.Err() != nil {
		return ErrClosed
	}
	id := jsonrpc2.ID{Str: "s" + strconv.FormatInt(c.calls.Add(1), 10), IsString: true}
	call, err := c.rpc.DispatchCall(ctx, method, params, jsonrpc2.PickID(id))
	if err != nil {
		return c.callError(err)
	}
	// Not by a context of Wait, which might prefer it to an answer that came before.
	defer context.AfterFunc(c.input, func() { c.abandon(id.Str) })()
	var answer []byte // JSON
	err = call.Wait(ctx, &answer)
	switch {
	case err == nil && answer == nil: // abandoned
		return ErrClosed
	case err == nil && result == nil:
		return nil
	case err == nil:
		return json.Unmarshal(answer, result)
	case ctx.Err() == nil || !errors.Is(err, ctx.Err()):
		return c.callError(err)
	}
	_ = c.Notify("$/cancelRequest", map[string]string{"id": id.Str}) // if that fails, so does all else
	c.abandon(id.Str)
	return context.Cause(ctx)
}

// abandon gives a call a null for an answer, if it has none yet, so that jsonrpc2
// forgets it. One from the client is never null, see stream.object.
func (c *Conn) abandon(id string) {
	select {
	case c.abandoned <- id:
	case <-c.stream.done:
	}
}

func (c *Conn) callError(err error) error {
	if failed, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return &Error{int(failed.Code), failed.Message}
	}
	if errors.Is(err, jsonrpc2.ErrClosed) || errors.Is(err, errStopped) {
		return ErrClosed
	}
	return err
}

// EndsSoon waits a moment and reports whether the connection ends in it: some
// clients answer what is open with errors before they go.
func (c *Conn) EndsSoon() bool {
	hungup := func() bool { return c.opts.Hangup != nil && c.opts.Hangup() || c.w.failed() }
	if hungup() {
		return true
	}
	select {
	case <-c.input.Done():
		return true
	case <-time.After(endGrace):
		return hungup()
	}
}

// Notify queues a notification. It goes around jsonrpc2, which encodes params three
// times, since most of what is written are events.
func (c *Conn) Notify(method string, params any) error {
	data, err := encode(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", method, params})
	if err != nil {
		return err
	}
	return c.callError(c.stream.write(data))
}

// Room waits until little is left to be written, so that what reads slowly is not
// given more. Replies need not wait.
func (c *Conn) Room(ctx context.Context) error {
	return c.callError(c.w.below(ctx, roomBytes))
}

// HasRoom reports whether [Conn.Room] would return at once.
func (c *Conn) HasRoom() bool { return c.w.has(roomBytes) }

// reply answers a request. It goes around jsonrpc2, which has no reply to an ID that
// is null, negative or no number.
func (c *Conn) reply(id string, result any, failed *Error) {
	data, err := c.encodeReply(id, result, failed)
	if err != nil {
		c.log.Error("a reply could not be encoded", "id", id, "error", err)
		data, _ = c.encodeReply(id, nil, Errorf(CodeInternal, "the reply could not be encoded: %v", err))
	}
	_ = c.stream.write(data) // fails only if the connection is broken, which is known then
}

func (c *Conn) encodeReply(id string, result any, failed *Error) (data []byte, err error) {
	defer c.recovered("the encoding of a reply", func(failed error) { err = failed })
	reply := struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", json.RawMessage(id), result}
	var v any = reply
	if failed != nil {
		v = struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Error   *Error          `json:"error"`
		}{"2.0", reply.ID, failed}
	}
	return encode(v)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// dispatcher takes the messages that jsonrpc2 read, on its goroutine.
type dispatcher struct {
	c *Conn
	h Handler
}

// Handle implements jsonrpc2.Handler.
func (d *dispatcher) Handle(ctx context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	params := d.c.stream.params
	d.c.stream.params = nil
	switch {
	case !req.Notif:
		d.request(ctx, req.ID.Str, req.Method, params)
	case req.Method == "$/cancelRequest":
		d.c.cancelRequest(params)
	default:
		defer d.c.recovered(req.Method, nil)
		d.h.Notify(req.Method, params)
	}
}

func (d *dispatcher) request(ctx context.Context, id, method string, params json.RawMessage) {
	ctx, cancel := context.WithCancelCause(ctx)
	if !d.c.admit(id, cancel) {
		cancel(nil)
		d.c.reply(id, nil, Errorf(CodeInvalidRequest, "the id %s is that of a request that is not answered yet; use each id once", id))
		return
	}
	work := d.accept(ctx, method, params)
	d.c.work.Go(func() {
		defer cancel(nil)
		result, err := d.do(method, work)
		d.c.release(id)
		d.c.reply(id, result, wireError(ctx, err))
	})
}

func (d *dispatcher) accept(ctx context.Context, method string, params json.RawMessage) (work Work) {
	defer d.c.recovered(method, func(err error) { work = Fail(err) })
	return d.h.Accept(ctx, method, params)
}

func (d *dispatcher) do(method string, work Work) (result any, err error) {
	defer d.c.recovered(method, func(failed error) { err = failed })
	return work()
}

// wireError is an error of a handler as the client gets it, nil for none.
func wireError(ctx context.Context, err error) *Error {
	if err == nil {
		return nil
	}
	if failed, ok := err.(*Error); ok { // not one that a call of ours came back with
		return failed
	}
	if errors.Is(err, ErrCancelled) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return Errorf(CodeCancelled, "%v", ErrCancelled)
	}
	return Errorf(CodeInternal, "%v", err)
}

func (c *Conn) admit(id string, cancel context.CancelCauseFunc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.requests[id]; taken {
		return false
	}
	c.requests[id] = cancel
	return true
}

func (c *Conn) release(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.requests, id)
}

// cancelRequest cancels a request of the client. One that is answered already, or
// was never made, is no error: the two may cross on the way.
func (c *Conn) cancelRequest(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil {
		c.log.Warn("a $/cancelRequest without an id was left out")
		return
	}
	c.mu.Lock()
	cancel := c.requests[string(canonical(p.ID))]
	c.mu.Unlock()
	if cancel != nil {
		cancel(ErrCancelled)
	}
}

// logged is the logger that jsonrpc2 asks for. What it tells, such as an answer
// that came too late, is for a person who looks for a fault.
type logged struct{ log *slog.Logger }

func (l logged) Printf(format string, args ...any) { l.log.Debug(fmt.Sprintf(format, args...)) }
