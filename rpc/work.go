package rpc

import (
	"context"
	"fmt"
	"runtime/debug"
)

// Go runs work that no request waits for; Serve waits for it as for the others. ctx ends
// with the connection. Only a [Handler] may call it, on the goroutine that reads, and
// work that is not over yet.
func (c *Conn) Go(name string, work func(ctx context.Context)) {
	c.work.Go(func() {
		defer c.recovered(name, nil)
		work(c.alive)
	})
}

// idle is closed when all work is done. No more may begin meanwhile.
func (c *Conn) idle() <-chan struct{} {
	idle := make(chan struct{})
	go func() { c.work.Wait(); close(idle) }()
	return idle
}

// recovered turns a panic into an error, so that a bug costs one request.
func (c *Conn) recovered(method string, report func(error)) {
	p := recover()
	if p == nil {
		return
	}
	c.log.Error("a handler crashed", "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	if report != nil {
		report(Errorf(CodeInternal, "%s crashed, which is a bug in assent: %v", method, p))
	}
}
