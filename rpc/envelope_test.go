package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assent/rpc"
)

var envelopes = []struct {
	name, in string
	want     string // "" for no reply
}{
	{"an empty batch", `[]`, invalid},
	{"a batch of a number", `[1]`, invalid},
	{"a batch of a request", `[` + ping + `]`, invalid},
	{"a number", `5`, invalid},
	{"a string", `"ping"`, invalid},
	{"null", `null`, invalid},
	{"an empty object", `{}`, invalid},

	{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, invalid},
	{"id an object", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, invalid},
	{"id an array", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, invalid},
	{"id true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, invalid},
	{"id 0", `{"jsonrpc":"2.0","id":0,"method":"ping"}`, `{"jsonrpc":"2.0","id":0,"result":"pong"}`},
	{"id negative", `{"jsonrpc":"2.0","id":-7,"method":"ping"}`, `{"jsonrpc":"2.0","id":-7,"result":"pong"}`},
	{"id a fraction", `{"jsonrpc":"2.0","id":1.50,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.50,"result":"pong"}`},
	{"id with an exponent", `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, `{"jsonrpc":"2.0","id":1e400,"result":"pong"}`},
	{"id huge", `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}`, `{"jsonrpc":"2.0","id":123456789012345678901234567890,"result":"pong"}`},
	{"id an empty string", `{"jsonrpc":"2.0","id":"","method":"ping"}`, `{"jsonrpc":"2.0","id":"","result":"pong"}`},
	{"id a string with signs", `{"jsonrpc":"2.0","id":"<é\"\n>","method":"ping"}`, `{"jsonrpc":"2.0","id":"\u003cé\"\n\u003e","result":"pong"}`},
	{"blanks around an id", `{"jsonrpc":"2.0","id" : 1 ,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":"pong"}`},
	{"ID is no id", `{"jsonrpc":"2.0","ID":1,"method":"ping"}`, ""},
	{"Method is no method", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, failed("1", rpc.CodeInvalidRequest)},

	{"no jsonrpc", `{"id":1,"method":"ping"}`, failed("1", rpc.CodeInvalidRequest)},
	{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, failed("1", rpc.CodeInvalidRequest)},
	{"jsonrpc a number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, failed("1", rpc.CodeInvalidRequest)},
	{"jsonrpc null", `{"jsonrpc":null,"id":1,"method":"ping"}`, failed("1", rpc.CodeInvalidRequest)},
	{"a notification without jsonrpc", `{"method":"ping"}`, invalid},

	{"params null", `{"jsonrpc":"2.0","id":1,"method":"echo","params":null}`, `{"jsonrpc":"2.0","id":1,"result":null}`},
	{"no params", `{"jsonrpc":"2.0","id":1,"method":"echo"}`, `{"jsonrpc":"2.0","id":1,"result":null}`},
	{"params an array", `{"jsonrpc":"2.0","id":1,"method":"echo","params":[1, "a"]}`, `{"jsonrpc":"2.0","id":1,"result":[1,"a"]}`},
	{"params as they are written", `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"b":1e400,"a":"\u003c<","a":2}}`, `{"jsonrpc":"2.0","id":1,"result":{"b":1e400,"a":"\u003c<","a":2}}`},
	{"params a number", `{"jsonrpc":"2.0","id":1,"method":"echo","params":5}`, failed("1", rpc.CodeInvalidRequest)},
	{"params a string", `{"jsonrpc":"2.0","id":1,"method":"echo","params":"a"}`, failed("1", rpc.CodeInvalidRequest)},
	{"params true", `{"jsonrpc":"2.0","id":1,"method":"echo","params":true}`, failed("1", rpc.CodeInvalidRequest)},

	{"method a number", `{"jsonrpc":"2.0","id":1,"method":5}`, failed("1", rpc.CodeInvalidRequest)},
	{"method null", `{"jsonrpc":"2.0","id":1,"method":null}`, failed("1", rpc.CodeInvalidRequest)},
	{"method empty", `{"jsonrpc":"2.0","id":1,"method":""}`, failed("1", rpc.CodeInvalidRequest)},
	{"a request and a result at once", `{"jsonrpc":"2.0","id":1,"method":"ping","result":1}`, failed("1", rpc.CodeInvalidRequest)},
	{"a request and an error at once", `{"jsonrpc":"2.0","id":1,"method":"ping","error":{"code":1,"message":"a"}}`, failed("1", rpc.CodeInvalidRequest)},
	{"a request with error null", `{"jsonrpc":"2.0","id":1,"method":"ping","error":null}`, `{"jsonrpc":"2.0","id":1,"result":"pong"}`},
	{"more fields", `{"jsonrpc":"2.0","id":1,"method":"ping","meta":{"a":1e400},"x":null}`, `{"jsonrpc":"2.0","id":1,"result":"pong"}`},
	{"neither request nor answer", `{"jsonrpc":"2.0","id":1}`, failed("1", rpc.CodeInvalidRequest)},

	{"an unknown method", `{"jsonrpc":"2.0","id":1,"method":"$/unknown"}`, failed("1", rpc.CodeMethodNotFound)},
	{"an unknown notification", `{"jsonrpc":"2.0","method":"$/unknown"}`, ""},
	{"a cancel of nothing", `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":99}}`, ""},
	{"a cancel without id", `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{}}`, ""},
	{"a cancel without params", `{"jsonrpc":"2.0","method":"$/cancelRequest"}`, ""},
	{"a cancel with a list", `{"jsonrpc":"2.0","method":"$/cancelRequest","params":[1]}`, ""},
	{"a handler that crashes", `{"jsonrpc":"2.0","id":1,"method":"crash"}`, failed("1", rpc.CodeInternal)},
	{"a notification that crashes", `{"jsonrpc":"2.0","method":"crash"}`, ""},

	{"an answer to no number", `{"jsonrpc":"2.0","id":12345,"result":null}`, ""},
	{"an answer to no string", `{"jsonrpc":"2.0","id":"s99","result":{}}`, ""},
	{"an error to no string", `{"jsonrpc":"2.0","id":"s99","error":{"code":1,"message":"a"}}`, ""},
	{"an answer that is no error object", `{"jsonrpc":"2.0","id":"s99","error":"a"}`, ""},
	{"an answer with a number that is too large", `{"jsonrpc":"2.0","id":"s99","result":[1e400]}`, ""},
	{"an answer without jsonrpc", `{"id":"s99","result":{}}`, ""},
	{"an error to id null", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a"}}`, ""},
	{"an error without an id", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"a"}}`, ""},
	{"a result with an id that is none", `{"jsonrpc":"2.0","id":[],"result":1}`, ""},
}

func TestEachMessageHasTheReplyItNeeds(t *testing.T) {
	for _, c := range envelopes {
		t.Run(c.name, func(t *testing.T) {
			want := []string{pong}
			if c.want != "" {
				want = append(want, c.want)
			}
			same(t, replayed(t, frame(c.in)+frame(ping)), want...)
			if len(c.in) > 0 && c.in[0] == '{' {
				same(t, replayed(t, c.in+"\n"+ping+"\n"), want...)
			}
		})
	}
}

func TestTwoSidesThatRefuseDoNotTalkForever(t *testing.T) {
	replies := replayed(t, frame(`5`)+frame(`{bad}`))
	if len(replies) != 2 {
		t.Fatalf("written: %q", replies)
	}
	var in strings.Builder
	for _, r := range replies {
		in.WriteString(frame(r))
	}
	same(t, replayed(t, in.String()))
}

func TestAnIDIsLiveUntilItsAnswer(t *testing.T) {
	c := connect(t, rpc.Options{}, standard())
	c.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}`, `{"jsonrpc":"2.0","id":"1","method":"wait"}`)
	c.send(`{"jsonrpc":"2.0","id":"a","method":"wait"}`)

	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	c.expect(failed("1", rpc.CodeInvalidRequest))
	c.send(`{"jsonrpc":"2.0","id":"\u0031","method":"ping"}`)
	c.expect(failed(`"1"`, rpc.CodeInvalidRequest))
	c.send(`{"jsonrpc":"2.0","id":"\u0061","method":"ping"}`)
	c.expect(failed(`"a"`, rpc.CodeInvalidRequest))

	for _, id := range []string{`"1"`, `"\u0061"`, `1`} {
		c.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + `}}`)
		c.expect(failed(strings.Replace(id, `\u0061`, "a", 1), rpc.CodeCancelled))
	}
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	c.expect(`{"jsonrpc":"2.0","id":1,"result":"pong"}`)
	if err := c.end(); err != nil {
		t.Errorf("Serve = %v", err)
	}
}

// bad panics when it is encoded.
type bad struct{}

func (bad) MarshalJSON() ([]byte, error) { panic("bad") }

// TestAWorkIsAnsweredWhateverItReturns also has Accept crash or return nothing.
func TestAWorkIsAnsweredWhateverItReturns(t *testing.T) {
	works := map[string]rpc.Work{
		"nil":       func() (any, error) { return nil, nil },
		"HTML":      func() (any, error) { return "<&>\u2028\n", nil },
		"raw":       func() (any, error) { return json.RawMessage("{ \"a\":\n1}"), nil },
		"channel":   func() (any, error) { return make(chan int), nil },
		"bad raw":   func() (any, error) { return json.RawMessage("{"), nil },
		"crash":     func() (any, error) { return bad{}, nil },
		"none":      nil,
		"error":     func() (any, error) { return 1, fmt.Errorf("plain") },
		"wrapped":   func() (any, error) { return 1, fmt.Errorf("outer: %w", rpc.Errorf(-5, "own")) },
		"cancelled": func() (any, error) { return nil, rpc.ErrCancelled },
		"other":     func() (any, error) { return nil, context.Canceled },
	}
	for name, want := range map[string]string{
		"nil":          `"result":null}`,
		"HTML":         `"result":"<&>\u2028\n"}`,
		"raw":          `"result":{"a":1}}`,
		"channel":      `"error":{"code":-32603,"message":"…`,
		"bad raw":      `"error":{"code":-32603,"message":"…`,
		"crash":        `"error":{"code":-32603,"message":"…`,
		"none":         `"error":{"code":-32603,"message":"…`,
		"accept crash": `"error":{"code":-32603,"message":"accept crash crashed…`,
		"error":        `"error":{"code":-32603,"message":"plain"}}`,
		"wrapped":      `"error":{"code":-32603,"message":"outer: own (code -5)"}}`,
		"cancelled":    `"error":{"code":-32800,"message":"the request was cancelled"}}`,
		"other":        `"error":{"code":-32603,"message":"context canceled"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := replay(t, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+name+`"}`), rpc.Options{}, accepting(func(method string) rpc.Work {
				if method == "accept crash" {
					panic("boom")
				}
				return works[method]
			}))
			if err != nil {
				t.Errorf("Serve = %v", err)
			}
			same(t, got, `{"jsonrpc":"2.0","id":1,`+want)
		})
	}
}

// accepting is a Handler of requests only.
type accepting func(method string) rpc.Work

func (accepting) Notify(string, json.RawMessage) {}

func (f accepting) Accept(_ context.Context, method string, _ json.RawMessage) rpc.Work {
	return f(method)
}
