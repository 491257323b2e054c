package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"assent/rpc"
)

// counter is a Handler that counts notifications and answers a request with the
// count at the time when it was accepted.
type counter struct {
	seen []int
	bad  error
}

func (c *counter) Notify(_ string, params json.RawMessage) {
	var p [1]int
	if err := json.Unmarshal(params, &p); err != nil {
		c.bad = err
	}
	c.seen = append(c.seen, p[0])
}

func (c *counter) Accept(context.Context, string, json.RawMessage) rpc.Work {
	n := len(c.seen)
	return func() (any, error) { return n, nil }
}

func TestNotificationsAreHandledInOrder(t *testing.T) {
	const n = 10_000
	var lines, frames strings.Builder
	var want []int
	for i := range n {
		m := fmt.Sprintf(`{"jsonrpc":"2.0","method":"count","params":[%d]}`, i)
		lines.WriteString(m + "\n")
		frames.WriteString(frame(m))
		want = append(want, i)
	}
	for _, in := range []string{lines.String(), frames.String()} {
		var h counter
		if got, err := replay(t, strings.NewReader(in), rpc.Options{}, &h); len(got) > 0 || err != nil {
			t.Errorf("written: %q; Serve = %v", got, err)
		}
		if h.bad != nil || !slices.Equal(h.seen, want) {
			t.Errorf("%d notifications, not in order (%v)", len(h.seen), h.bad)
		}
	}
}

func TestARequestSeesEveryNotificationBeforeIt(t *testing.T) {
	const n = 1000
	var in strings.Builder
	var want []string
	for i := range n {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","method":"count","params":[%d]}`+"\n", i)
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"count"}`+"\n", i)
		want = append(want, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%d}`, i, i+1))
	}
	got, err := replay(t, strings.NewReader(in.String()), rpc.Options{}, &counter{})
	if err != nil {
		t.Errorf("Serve = %v", err)
	}
	same(t, got, want...)
}

func TestNoWorkHoldsUpTheReader(t *testing.T) {
	const n = 500
	c := connect(t, rpc.Options{}, standard())
	for i := range n {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"wait"}`, i))
	}
	c.send(ping)
	c.expect(pong)
	answered := map[string]int{}
	for i := range n {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, i))
		answered[c.next()]++
	}
	if len(answered) != n {
		t.Errorf("%d different replies; want %d", len(answered), n)
	}
	if err := c.end(); err != nil {
		t.Errorf("Serve = %v", err)
	}
}

func TestEveryRequestIsAnsweredOnceThoughManyAreCancelled(t *testing.T) {
	const slow, quick = 40, 200
	gate := make(chan struct{})
	h := standard()
	h["slow"] = func(context.Context, json.RawMessage) (any, error) { <-gate; return "slow", nil }
	// What is cancelled at once may be done all the same.
	h["quick"] = func(ctx context.Context, params json.RawMessage) (any, error) {
		var p [1]int
		_ = json.Unmarshal(params, &p)
		if p[0]%3 > 0 {
			<-ctx.Done()
		}
		return "quick", context.Cause(ctx)
	}
	c := connect(t, rpc.Options{}, h)
	for i := range slow {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"slow"}`, i))
	}
	for i := slow; i < slow+quick; i++ {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"quick","params":[%d]}`, i, i),
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, i))
	}
	times := make([]int, slow+quick)
	take := func() {
		var m struct {
			ID     int
			Result string
			Error  *rpc.Error
		}
		line := c.next()
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if times[m.ID]++; m.ID < slow && m.Result != "slow" || m.Error != nil && m.Error.Code != rpc.CodeCancelled {
			t.Errorf("%s was written", line)
		}
	}
	for range quick {
		take()
	}
	close(gate)
	for range slow {
		take()
	}
	if i := slices.IndexFunc(times, func(n int) bool { return n != 1 }); i >= 0 {
		t.Errorf("request %d has %d replies", i, times[i])
	}
	c.send(ping)
	c.expect(pong)
	if err := c.end(); err != nil {
		t.Errorf("Serve = %v", err)
	}
}

func TestAReplySurvivesTheEndOfTheInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		h := standard()
		h["slow"] = func(context.Context, json.RawMessage) (any, error) { <-gate; return "slow", nil }
		c := connect(t, rpc.Options{}, h)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"slow"}`, `{"jsonrpc":"2.0","id":2,"method":"slow"}`)
		c.in.Close()
		synctest.Wait()
		select {
		case err := <-c.served:
			t.Fatalf("Serve = %v while work is done", err)
		default:
		}
		if err := c.Notify("event", nil); err != nil {
			t.Errorf("Notify = %v", err)
		}
		c.expect(`{"jsonrpc":"2.0","method":"event"}`)
		close(gate)
		for range 2 {
			c.expect(`{"jsonrpc":"2.0","id":…`)
		}
		if err := <-c.served; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
}

func TestARequestThatOnlyWaitsEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause atomic.Value
		h := standard()
		h["wait"] = func(ctx context.Context, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			cause.Store(context.Cause(ctx))
			return "done all the same", nil
		}
		c := connect(t, rpc.Options{}, h)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
		c.expect(`{"jsonrpc":"2.0","id":1,"result":"done all the same"}`)
		if cause.Load() != rpc.ErrCancelled {
			t.Errorf("the cause is %v", cause.Load())
		}
		// A cancel that crosses the answer does nothing, and neither does a second.
		c.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`, ping)
		c.expect(pong)
	})
}
