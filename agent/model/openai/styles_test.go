package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assent/agent/model/openai"

	"pgregory.net/rapid"
)

// knownCall is a call that a server means to send.
type knownCall struct{ id, name, args string }

// style is one of the ways in which servers send calls: a list of deltas.
type style func(t *rapid.T, calls []knownCall) (deltas []string)

// styles are those of real servers, and what else is allowed by the rules.
var styles = map[string]style{
	"OpenAI": inTurn(func(n int, c knownCall, first bool) map[string]any {
		if first {
			return map[string]any{"index": n, "id": c.id, "type": "function", "function": map[string]any{"name": c.name}}
		}
		return map[string]any{"index": n}
	}),
	"with empty ids and names later": inTurn(func(n int, c knownCall, first bool) map[string]any {
		if first {
			return map[string]any{"index": n, "id": c.id, "function": map[string]any{"name": c.name}}
		}
		return map[string]any{"index": n, "id": "", "function": map[string]any{"name": ""}}
	}),
	"without an index": inTurn(func(_ int, c knownCall, first bool) map[string]any {
		if first {
			return map[string]any{"id": c.id, "function": map[string]any{"name": c.name}}
		}
		return map[string]any{}
	}),
	"without an index or an id": inTurn(func(_ int, c knownCall, first bool) map[string]any {
		if first {
			return map[string]any{"function": map[string]any{"name": c.name}}
		}
		return map[string]any{}
	}),
	"with all of it each time": inTurn(func(n int, c knownCall, _ bool) map[string]any {
		return map[string]any{"index": n, "id": c.id, "function": map[string]any{"name": c.name}}
	}),
	"with ids each time and no index": inTurn(func(_ int, c knownCall, _ bool) map[string]any {
		return map[string]any{"id": c.id, "function": map[string]any{"name": c.name}}
	}),
	"with index 0 for all": inTurn(func(_ int, c knownCall, first bool) map[string]any {
		if first {
			return map[string]any{"index": 0, "id": c.id, "function": map[string]any{"name": c.name}}
		}
		return map[string]any{"index": 0, "id": c.id}
	}),
	"with one id for all": inTurn(func(n int, c knownCall, first bool) map[string]any {
		if first {
			return map[string]any{"index": n, "id": "same", "function": map[string]any{"name": c.name}}
		}
		return map[string]any{"index": n}
	}),
	"whole, with index 0 for all": whole(func(_ int, c knownCall) map[string]any {
		return map[string]any{"index": 0, "id": c.id, "function": map[string]any{"name": c.name, "arguments": c.args}}
	}),
	"whole, with nothing else": whole(func(_ int, c knownCall) map[string]any {
		return map[string]any{"function": map[string]any{"name": c.name, "arguments": c.args}}
	}),
	"whole, as objects": whole(func(_ int, c knownCall) map[string]any {
		return map[string]any{"function": map[string]any{"name": c.name, "arguments": json.RawMessage(c.args)}}
	}),
	"whole, encoded twice": whole(func(n int, c knownCall) map[string]any {
		return map[string]any{"index": n, "function": map[string]any{"name": c.name, "arguments": quoted(c.args)}}
	}),
	"all at once":      interleaved(func(n int, c knownCall) map[string]any { return map[string]any{"index": n} }),
	"all by their ids": interleaved(func(_ int, c knownCall) map[string]any { return map[string]any{"id": c.id} }),
	"after a placeholder": func(t *rapid.T, calls []knownCall) (deltas []string) {
		for n, c := range calls {
			deltas = append(deltas, fragmentOf(map[string]any{"index": n, "id": c.id, "function": map[string]any{"name": c.name, "arguments": "{}"}}))
			if c.args != "{}" {
				for _, piece := range cutUp(t, c.args) {
					deltas = append(deltas, fragmentOf(map[string]any{"index": n, "function": map[string]any{"arguments": piece}}))
				}
			}
		}
		return deltas
	},
	"and once more at their end": func(t *rapid.T, calls []knownCall) (deltas []string) {
		for n, c := range calls {
			head := map[string]any{"index": n, "id": c.id}
			deltas = append(deltas, fragmentOf(with(head, c.name, "")))
			for _, piece := range cutUp(t, c.args) {
				deltas = append(deltas, fragmentOf(with(map[string]any{"index": n}, "", piece)))
			}
			deltas = append(deltas, fragmentOf(with(head, c.name, c.args)))
		}
		return deltas
	},
	"with fresh ids each time": func(t *rapid.T, calls []knownCall) (deltas []string) {
		for n, c := range calls {
			deltas = append(deltas, fragmentOf(with(map[string]any{"index": n, "id": c.id}, c.name, "")))
			for i, piece := range cutUp(t, c.args) {
				deltas = append(deltas, fragmentOf(with(map[string]any{"index": n, "id": fmt.Sprintf("%s.%d", c.id, i)}, "", piece)))
			}
		}
		return deltas
	},
}

// with is a fragment with a name and arguments.
func with(head map[string]any, name, args string) map[string]any {
	out := map[string]any{"function": map[string]any{"name": name, "arguments": args}}
	for key, value := range head {
		out[key] = value
	}
	return out
}

func fragmentOf(call map[string]any) string {
	data, err := json.Marshal(map[string]any{"tool_calls": []any{call}})
	if err != nil {
		panic(err) // maps of plain values
	}
	return string(data)
}

// inTurn sends one call after the other, each in pieces.
func inTurn(head func(n int, c knownCall, first bool) map[string]any) style {
	return func(t *rapid.T, calls []knownCall) (deltas []string) {
		for n, c := range calls {
			for i, piece := range append([]string{""}, cutUp(t, c.args)...) {
				f := head(n, c, i == 0)
				function, _ := f["function"].(map[string]any)
				if function == nil {
					function = map[string]any{}
				}
				function["arguments"] = piece
				f["function"] = function
				deltas = append(deltas, fragmentOf(f))
			}
		}
		return deltas
	}
}

func whole(call func(n int, c knownCall) map[string]any) style {
	return func(_ *rapid.T, calls []knownCall) (deltas []string) {
		for n, c := range calls {
			deltas = append(deltas, fragmentOf(call(n, c)))
		}
		return deltas
	}
}

// interleaved opens all calls and then sends pieces of them in any order.
func interleaved(head func(n int, c knownCall) map[string]any) style {
	return func(t *rapid.T, calls []knownCall) (deltas []string) {
		var rest [][]string
		for n, c := range calls {
			deltas = append(deltas, fragmentOf(with(map[string]any{"index": n, "id": c.id}, c.name, "")))
			rest = append(rest, cutUp(t, c.args))
		}
		for {
			var open []int
			for n, pieces := range rest {
				if len(pieces) > 0 {
					open = append(open, n)
				}
			}
			if len(open) == 0 {
				return deltas
			}
			n := rapid.SampledFrom(open).Draw(t, "call")
			deltas = append(deltas, fragmentOf(with(head(n, calls[n]), "", rest[n][0])))
			rest[n] = rest[n][1:]
		}
	}
}

// cutUp cuts a text between characters.
func cutUp(t *rapid.T, text string) (pieces []string) {
	for letters := []rune(text); len(letters) > 0; {
		n := rapid.IntRange(1, len(letters)).Draw(t, "piece")
		pieces, letters = append(pieces, string(letters[:n])), letters[n:]
	}
	return pieces
}

// TestCallsInTheStyleOfEveryServer: whichever calls a server means, and however it
// sends them, they are these.
func TestCallsInTheStyleOfEveryServer(t *testing.T) {
	for name, send := range styles {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				var calls []knownCall
				for n := range rapid.IntRange(1, 4).Draw(rt, "calls") {
					args, err := json.Marshal(rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), rapid.StringOf(rapid.SampledFrom([]rune(`a"{}[]\ é漢`+"\n"))), 0, 3).Draw(rt, "arguments"))
					if err != nil {
						rt.Fatal(err)
					}
					tool := rapid.SampledFrom([]string{"read_file", "write_file"}).Draw(rt, "tool")
					calls = append(calls, knownCall{fmt.Sprintf("id%d", n), tool, string(args)})
				}
				var body strings.Builder
				for _, delta := range send(rt, calls) {
					fmt.Fprintf(&body, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", delta)
				}
				body.WriteString("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n")
				o := made(t, openai.APIChat, 200, []byte(body.String()), nil)
				if o.err != nil || len(o.reply.ToolUses()) != len(calls) {
					rt.Fatalf("%v of\n%s", o, body.String())
				}
				for i, u := range o.reply.ToolUses() {
					if u.Invalid != "" || u.Name != calls[i].name || string(u.Input) != calls[i].args {
						rt.Errorf("call %d is %+v, want %+v, of\n%s", i, u, calls[i], body.String())
					}
				}
			})
		})
	}
}
