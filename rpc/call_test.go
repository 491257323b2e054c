package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"assent/rpc"
)

// asked begins a call and returns what it will return.
func (c *client) asked(ctx context.Context, result any) <-chan error {
	done := make(chan error, 1)
	go func() { done <- c.Call(ctx, "ask", []int{1}, result) }()
	return done
}

func TestACallReturnsItsAnswer(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		result       string
		err          string // "" for none
	}{
		{"an object", `"result":{"b":1, "a":[2]}`, `{"b":1, "a":[2]}`, ""},
		{"null", `"result":null`, `null`, ""},
		{"false", `"result":false`, `false`, ""},
		{"a string", `"result":"null"`, `"null"`, ""},
		{"numbers that no float holds", `"result":[1e400,12345678901234567890123]`, `[1e400,12345678901234567890123]`, ""},
		{"bytes that are no text", "\"result\":[\"caf\xe9\"]", "[\"caf\xe9\"]", ""},
		{"error null beside the result", `"error":null,"result":1`, `1`, ""},
		{"more fields", `"result":1,"params":2,"meta":[1e400]`, `1`, ""},
		{"deep", `"result":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000), strings.Repeat("[", 9000) + strings.Repeat("]", 9000), ""},
		{"an error", `"error":{"code":-7,"message":"no","data":{"x":1e400}}`, "", "no (code -7)"},
		{"an error beside a result", `"result":1,"error":{"code":-7,"message":"no"}`, "", "no (code -7)"},
		{"an error that is a string", `"error":"no"`, "", `"no" (code -32603)`},
		{"an error with a wrong code", `"error":{"code":"x","message":"no"}`, "", "no (code -32603)"},
		{"an error with a huge code", `"error":{"message":"no","code":1e400}`, "", "no (code -32603)"},
		{"an empty error", `"error":{}`, "", `{} (code -32603)`},
		{"error false", `"error":false`, "", `false (code -32603)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := connect(t, rpc.Options{}, standard())
			var result json.RawMessage
			done := conn.asked(t.Context(), &result)
			conn.expect(`{"id":"s1","jsonrpc":"2.0","method":"ask","params":[1]}`)
			conn.send(`{"jsonrpc":"2.0","id":"\u00731",` + c.answer + `}`)
			err := <-done
			if string(result) != c.result || fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
				t.Errorf("%.100s, %v", result, err)
			}
			if failed, ok := errors.AsType[*rpc.Error](err); ok != (c.err != "") {
				t.Errorf("the error is %#v", failed)
			}
			if err := conn.end(); err != nil {
				t.Errorf("Serve = %v", err)
			}
		})
	}
}

func TestACallTakesAnAnswerOfTheWrongTypeForAnError(t *testing.T) {
	c := connect(t, rpc.Options{}, standard())
	var n int
	done := c.asked(t.Context(), &n)
	c.expect(`{"id":"s1",…`)
	c.send(`{"jsonrpc":"2.0","id":"s1","result":"a"}`)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](<-done); !ok {
		t.Error("no error")
	}
	done = c.asked(t.Context(), nil)
	c.expect(`{"id":"s2",…`)
	c.send(`{"jsonrpc":"2.0","id":"s2","result":"a"}`)
	if err := <-done; err != nil {
		t.Errorf("without a result: %v", err)
	}
	if err := c.Call(t.Context(), "ask", make(chan int), nil); err == nil {
		t.Error("params that can't be encoded: no error")
	}
	c.send(ping)
	c.expect(pong)
}

func TestCallsGetTheirOwnAnswersInAnyOrder(t *testing.T) {
	const n = 100
	c := connect(t, rpc.Options{}, standard())
	results, dones := make([]string, n), make([]<-chan error, n)
	for i := range n {
		dones[i] = c.asked(t.Context(), &results[i])
		c.expect(fmt.Sprintf(`{"id":"s%d",…`, i+1))
	}
	for i := n - 1; i >= 0; i-- {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","result":"%d"}`, i+1, i))
	}
	for i := range n {
		if err := <-dones[i]; err != nil || results[i] != fmt.Sprint(i) {
			t.Errorf("call %d: %q, %v", i, results[i], err)
		}
	}
}

func TestACancelledCallIsToldAndForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, rpc.Options{}, standard())
		for i := 1; i <= 100; i++ {
			ctx, cancel := context.WithCancelCause(t.Context())
			done := c.asked(ctx, nil)
			c.expect(fmt.Sprintf(`{"id":"s%d",…`, i))
			cancel(rpc.ErrCancelled)
			c.expect(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"s%d"}}`, i))
			if err := <-done; err != rpc.ErrCancelled {
				t.Fatalf("Call = %v", err)
			}
			synctest.Wait()
			if n := rpc.Pending(c.Conn); n != 0 {
				t.Fatalf("%d calls are pending", n)
			}
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","result":"too late"}`, i))
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","error":{"code":-32800,"message":"cancelled"}}`, i))
		}
		c.send(ping)
		c.expect(pong)
	})
}

func TestACallWhoseContextHasEndedIsNoAnswer(t *testing.T) {
	c := connect(t, rpc.Options{}, standard())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := c.asked(ctx, nil)
	c.expect(`{"id":"s1",…`)
	c.expect(`{"jsonrpc":"2.0","method":"$/cancelRequest",…`)
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Call = %v", err)
	}
}

func TestTheEndOfTheInputEndsCallsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *client
		gate := make(chan struct{})
		h := standard()
		h["ask"] = func(ctx context.Context, _ json.RawMessage) (any, error) {
			first := c.Call(ctx, "ask", nil, nil)
			<-gate
			second := c.Call(ctx, "ask", nil, nil)
			return []bool{first == rpc.ErrClosed, second == rpc.ErrClosed, ctx.Err() == nil}, nil
		}
		c = connect(t, rpc.Options{}, h)
		for i := 1; i <= 3; i++ {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask"}`, i))
			c.expect(fmt.Sprintf(`{"id":"s%d",…`, i))
		}
		outside := c.asked(t.Context(), nil)
		c.expect(`{"id":"s4",…`)
		c.in.Close()
		if err := <-outside; err != rpc.ErrClosed {
			t.Errorf("Call = %v", err)
		}
		synctest.Wait()
		if n := rpc.Pending(c.Conn); n != 0 {
			t.Errorf("%d calls are pending", n)
		}
		close(gate)
		for range 3 {
			if got := c.next(); !strings.HasSuffix(got, `"result":[true,true,true]}`) {
				t.Error(got)
			}
		}
		if err := <-c.served; err != nil {
			t.Errorf("Serve = %v", err)
		}
		if err := c.Call(t.Context(), "ask", nil, nil); err != rpc.ErrClosed {
			t.Errorf("Call after the end = %v", err)
		}
		if err := c.Notify("event", nil); err != rpc.ErrClosed {
			t.Errorf("Notify after the end = %v", err)
		}
	})
}

// A script may write its answers and end at once.
func TestAnAnswerRightBeforeTheEndCounts(t *testing.T) {
	const n = 200
	for _, answer := range []string{`"result":"yes"`, `"error":{"code":5,"message":"yes"}`} {
		var c *client
		h := standard()
		h["ask"] = func(ctx context.Context, _ json.RawMessage) (any, error) {
			var text string
			err := c.Call(ctx, "ask", nil, &text)
			return text, err
		}
		c = connect(t, rpc.Options{}, h)
		var answers []string
		for i := 1; i <= n; i++ {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask"}`, i))
			c.expect(fmt.Sprintf(`{"id":"s%d",…`, i))
			answers = append(answers, fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d",%s}`, i, answer))
		}
		c.send(answers...)
		c.in.Close()
		for range n {
			if got := c.next(); !strings.HasSuffix(got, answer+"}") {
				t.Fatal(got)
			}
		}
		if err := <-c.served; err != nil {
			t.Errorf("Serve = %v", err)
		}
	}
}

func TestTheEndOfTheConnectionEndsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, rpc.Options{}, standard())
		done := c.asked(t.Context(), nil)
		c.expect(`{"id":"s1",…`)
		c.Close()
		if err := <-done; err != rpc.ErrClosed {
			t.Errorf("Call = %v", err)
		}
		if err := <-c.served; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
}

func TestACallLeavesNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which fails if one is left
		c := connect(t, rpc.Options{}, standard())
		for i := range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			done := c.asked(ctx, nil)
			c.next()
			// The answer and the cancel cross.
			go cancel()
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","result":1}`, i+1))
			if err := <-done; err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("Call = %v", err)
				}
				c.expect(`{"jsonrpc":"2.0","method":"$/cancelRequest",…`)
			}
			synctest.Wait()
			if n := rpc.Pending(c.Conn); n != 0 {
				t.Fatalf("%d calls are pending", n)
			}
		}
	})
}
