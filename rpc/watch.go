package rpc

import (
	"context"
	"fmt"
	"os"
	"time"
)

const watchInterval = 500 * time.Millisecond

// process is another process that the connection must not outlive.
type process struct {
	pid    int
	parent bool // it was this process's parent when the watch began
}

// WatchProcess ends the connection when the process is gone. One that can't be seen
// from here, since it lives in another container, is not watched; the result says
// so.
func (c *Conn) WatchProcess(pid int) bool {
	p := &process{pid, os.Getppid() == pid}
	if pid <= 0 || p.gone() {
		return false
	}
	c.watched.Store(p)
	return true
}

// gone also knows a parent that is dead and not yet buried.
func (p *process) gone() bool { return p.parent && os.Getppid() != p.pid || !alive(p.pid) }

// watch ends the connection when the client's process is gone or does not read any
// more, which writing would not tell as long as there is nothing to write.
func (c *Conn) watch(ctx context.Context) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if p := c.watched.Load(); p != nil && p.gone() {
			c.end(fmt.Errorf("%w: its process %d has ended", ErrBroken, p.pid))
		}
		if c.opts.Hangup != nil && c.opts.Hangup() {
			c.end(fmt.Errorf("%w: it has closed our output", ErrBroken))
		}
	}
}
