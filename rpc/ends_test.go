package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assent/rpc"
)

// within waits for Serve, which has to return in this time.
func (c *client) within(d time.Duration) error {
	c.t.Helper()
	began := time.Now()
	select {
	case err := <-c.served:
		if took := time.Since(began); took > d {
			c.t.Errorf("Serve took %v; want %v", took, d)
		}
		return err
	case <-time.After(time.Minute):
		c.t.Fatal("Serve does not return")
		return nil
	}
}

// full is an output that never takes anything.
type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

func TestCloseCancelsWorkAndWritesItsReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, rpc.Options{}, standard())
		c.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}`, `{"jsonrpc":"2.0","id":2,"method":"wait"}`)
		synctest.Wait()
		c.Close()
		c.Close()
		for range 2 {
			if got := c.next(); !strings.Contains(got, fmt.Sprint(rpc.CodeCancelled)) {
				t.Error(got)
			}
		}
		if err := c.within(0); err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
}

func TestAHandlerMayCloseTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *client
		h := standard()
		h["exit"] = func(context.Context, json.RawMessage) (any, error) { c.Close(); return "bye", nil }
		c = connect(t, rpc.Options{}, h)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"exit"}`)
		c.expect(`{"jsonrpc":"2.0","id":1,"result":"bye"}`)
		if err := c.within(0); err != nil {
			t.Errorf("Serve = %v", err)
		}

		c = connect(t, rpc.Options{}, h)
		c.send(`{"jsonrpc":"2.0","method":"exit"}`)
		if err := c.within(0); err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
}

func TestWorkThatNoRequestWaitsForEndsWithTheConnection(t *testing.T) {
	for name, end := range map[string]func(*client){
		"closed":                        func(c *client) { c.Close() },
		"end of input, once it is over": func(c *client) { c.in.Close() },
		"crashed":                       func(c *client) { c.send(`{"jsonrpc":"2.0","method":"crash"}`); c.in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c *client
				var over atomic.Bool
				free := make(chan struct{})
				h := standard()
				h["begin work"] = func(ctx context.Context, _ json.RawMessage) (any, error) {
					c.Go("work", func(own context.Context) {
						<-ctx.Done() // its request is answered
						select {
						case <-own.Done():
						case <-free:
						}
						over.Store(true)
						panic("boom")
					})
					return "begun", nil
				}
				c = connect(t, rpc.Options{}, h)
				c.send(`{"jsonrpc":"2.0","id":1,"method":"begin work"}`)
				c.expect(`{"jsonrpc":"2.0","id":1,"result":"begun"}`)
				synctest.Wait()
				if over.Load() {
					t.Error("it ended with its request")
				}
				end(c)
				if name != "closed" {
					synctest.Wait()
					if over.Load() {
						t.Error("it ended with the input")
					}
					close(free)
				}
				if err := c.within(0); err != nil || !over.Load() {
					t.Errorf("Serve = %v, over: %v", err, over.Load())
				}
			})
		})
	}
}

func TestTheEndOfTheContextEndsServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, toIn := io.Pipe()
		ctx, cancel := context.WithCancelCause(t.Context())
		served := make(chan error)
		go func() { served <- rpc.New(in, io.Discard, rpc.Options{}).Serve(ctx, standard()) }()
		synctest.Wait()
		cause := errors.New("a signal")
		cancel(cause)
		if err := <-served; err != cause {
			t.Errorf("Serve = %v", err)
		}
		toIn.Close()
	})
}

func TestWorkThatIgnoresItsContextIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		h := standard()
		h["stuck"] = func(context.Context, json.RawMessage) (any, error) { <-gate; return nil, nil }
		c := connect(t, rpc.Options{}, h)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"stuck"}`, `{"jsonrpc":"2.0","id":2,"method":"wait"}`)
		synctest.Wait()
		c.Close()
		c.expect(`{"jsonrpc":"2.0","id":2,…`)
		if err := c.within(2 * time.Second); err != nil {
			t.Errorf("Serve = %v", err)
		}
		close(gate)
	})
}

func TestABrokenOutputCancelsWork(t *testing.T) {
	for name, work := range map[string]string{"that ends": "wait", "that does not": "stuck"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				defer close(gate)
				var cause atomic.Value
				h := standard()
				h["wait"] = func(ctx context.Context, _ json.RawMessage) (any, error) {
					<-ctx.Done()
					cause.Store(context.Cause(ctx))
					return nil, ctx.Err()
				}
				h["stuck"] = func(context.Context, json.RawMessage) (any, error) { <-gate; return nil, nil }
				in, toIn := io.Pipe()
				c := serve(t, rpc.New(in, full{io.ErrClosedPipe}, rpc.Options{}), h, toIn)
				c.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}`, `{"jsonrpc":"2.0","id":2,"method":"`+work+`"}`)
				synctest.Wait()
				_ = c.Notify("event", nil)
				if err := c.within(2 * time.Second); !errors.Is(err, rpc.ErrBroken) || !errors.Is(err, io.ErrClosedPipe) {
					t.Errorf("Serve = %v", err)
				}
				if err, _ := cause.Load().(error); !errors.Is(err, rpc.ErrBroken) {
					t.Errorf("the cause is %v", err)
				}
				if err := c.Notify("event", nil); err == nil {
					t.Error("Notify = nil")
				}
				if err := c.Room(t.Context()); err == nil {
					t.Error("Room = nil")
				}
			})
		})
	}
}

func TestAnInputThatFailsEndsServeWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, rpc.Options{}, standard())
		c.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)
		synctest.Wait()
		reason := errors.New("the cable is out")
		c.in.CloseWithError(reason)
		c.expect(parseError)
		c.expect(`{"jsonrpc":"2.0","id":1,"error":…`)
		if err := c.within(0); !errors.Is(err, reason) {
			t.Errorf("Serve = %v", err)
		}
	})
}

func TestAClientThatDoesNotReadIsStillHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard int
		h := standard()
		h["hear"] = func(context.Context, json.RawMessage) (any, error) { heard++; return nil, nil }
		c := connect(t, rpc.Options{}, h)
		for i := range 1000 {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i), `{"jsonrpc":"2.0","method":"hear"}`)
			_ = c.Notify("event", strings.Repeat("a", 1000))
		}
		synctest.Wait()
		if heard != 1000 {
			t.Errorf("%d notifications were handled", heard)
		}
		c.Close()
		if err := c.within(time.Second); err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
}

func TestRoomWaitsForTheOtherSideToRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, rpc.Options{}, standard())
		if err := c.Room(t.Context()); err != nil || !c.HasRoom() {
			t.Errorf("with nothing to write: %v, %v", err, c.HasRoom())
		}
		const big = 100 << 10
		if err := c.Notify("event", strings.Repeat("a", big)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := c.Room(ctx); !errors.Is(err, context.DeadlineExceeded) || c.HasRoom() {
			t.Errorf("while nothing is read: %v, %v", err, c.HasRoom())
		}
		room := make(chan error, 1)
		go func() { room <- c.Room(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-room:
			t.Errorf("while nothing is read: %v", err)
		default:
		}
		if got := c.next(); len(got) < big {
			t.Errorf("%.80s was written", got)
		}
		if err := <-room; err != nil || !c.HasRoom() {
			t.Errorf("when all is read: %v, %v", err, c.HasRoom())
		}

		_ = c.Notify("event", strings.Repeat("a", big))
		go func() { room <- c.Room(t.Context()) }()
		synctest.Wait()
		c.Close()
		_ = c.within(time.Second)
		if err := <-room; err == nil || !c.HasRoom() {
			t.Errorf("when the connection is closed: %v, %v", err, c.HasRoom())
		}
	})
}

func TestRoomComesBeforeAllIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, rpc.Options{}, standard())
		const n = 100
		for range n {
			_ = c.Notify("event", strings.Repeat("a", 10<<10))
		}
		for range n - 1 {
			c.next()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Room(ctx); err != nil {
			t.Errorf("Room = %v", err)
		}
		c.next()
	})
}

func TestWhatIsWrittenBeforeTheEndArrives(t *testing.T) {
	for range 50 {
		var out bytes.Buffer
		h := standard()
		in, toIn := io.Pipe()
		conn := rpc.New(in, &out, rpc.Options{})
		h["many"] = func(context.Context, json.RawMessage) (any, error) {
			for i := range 100 {
				_ = conn.Notify("event", []int{i})
			}
			return "last", nil
		}
		c := serve(t, conn, h, toIn)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"many"}`)
		if err := c.end(); err != nil {
			t.Errorf("Serve = %v", err)
		}
		got := unframe(t, out.String())
		if len(got) != 101 || got[99] != `{"jsonrpc":"2.0","method":"event","params":[99]}` || got[100] != `{"jsonrpc":"2.0","id":1,"result":"last"}` {
			t.Fatalf("%d messages were written: %q", len(got), got[max(0, len(got)-2):])
		}
	}
}

func TestWhetherTheInputEndsSoonIsKnownSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, rpc.Options{}, standard())
		began := time.Now()
		if c.EndsSoon() || time.Since(began) > time.Second {
			t.Error("it goes on, and that is not known soon")
		}
		c.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}`) // which goes on after the end
		soon := make(chan bool, 1)
		go func() { soon <- c.EndsSoon() }()
		synctest.Wait()
		c.in.Close()
		if !<-soon {
			t.Error("it ends")
		}
	})
}

func TestAHangupEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hungup atomic.Bool
		c := connect(t, rpc.Options{Hangup: hungup.Load}, standard())
		c.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)
		time.Sleep(time.Hour) // of the bubble
		select {
		case err := <-c.served:
			t.Fatalf("Serve = %v", err)
		default:
		}
		hungup.Store(true)
		go io.Copy(io.Discard, c.lines)
		if err := c.within(time.Second); !errors.Is(err, rpc.ErrBroken) {
			t.Errorf("Serve = %v", err)
		}
	})
}
