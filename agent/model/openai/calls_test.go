package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
)

// replyTo is the reply made of deltas and a reason to finish.
func replyTo(t *testing.T, finish string, deltas ...string) *agent.Message {
	t.Helper()
	var list []string
	for _, d := range deltas {
		list = append(list, `{"choices":[{"index":0,"delta":`+d+`}]}`)
	}
	list = append(list, `{"choices":[{"index":0,"delta":{},"finish_reason":"`+finish+`"}]}`, `[DONE]`)
	_, reply, err := run(connect(t, events(list...)), agenttest.ModelRequest())
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// calls makes a delta of fragments.
func calls(fragments ...string) string {
	return `{"tool_calls":[` + strings.Join(fragments, ",") + `]}`
}

// summary writes calls shortly: id name(arguments), with a ! before raw ones.
func summary(m *agent.Message) string {
	var all []string
	for _, u := range m.ToolUses() {
		args := string(u.Input)
		if u.Invalid != "" {
			args = "!" + u.RawInput
		}
		all = append(all, fmt.Sprintf("%s %s(%s)", u.ID, u.Name, args))
	}
	return strings.Join(all, "; ")
}

func TestFragmentsOfCallsArePutTogether(t *testing.T) {
	for name, c := range map[string]struct {
		deltas []string
		want   string
	}{
		"with an id and a name at the beginning, then an index": {
			[]string{
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`),
				calls(`{"index":0,"function":{"arguments":"{\"p\""}}`), calls(`{"index":0,"function":{"arguments":":1}"}}`),
			}, `a read({"p":1})`,
		},
		"of two calls in turns": {
			[]string{
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}`, `{"index":1,"id":"b","function":{"name":"read","arguments":"{"}}`),
				calls(`{"index":1,"function":{"arguments":"\"q\":2}"}}`), calls(`{"index":0,"function":{"arguments":"\"p\":1}"}}`),
			}, `a read({"p":1}); b read({"q":2})`,
		},
		"with id and name on each": {
			[]string{
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`),
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":":1}"}}`),
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`),
			}, `a read({"p":1})`,
		},
		"with a fresh id on each": {
			[]string{
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}`), calls(`{"index":0,"id":"z","function":{"arguments":"}"}}`),
			}, `a read({})`,
		},
		"with index 0 for all calls": {
			[]string{
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`), calls(`{"index":0,"id":"b","function":{"name":"read","arguments":"{}"}}`),
			}, `a read({}); b read({})`,
		},
		"with index 0 for all calls and no id": {
			[]string{
				calls(`{"index":0,"function":{"name":"read","arguments":"{}"}}`), calls(`{"index":0,"function":{"name":"list","arguments":"{}"}}`),
				calls(`{"index":0,"function":{"name":"list","arguments":"{}"}}`),
			}, ` read({});  list({});  list({})`,
		},
		"without an index": {
			[]string{
				calls(`{"id":"a","function":{"name":"read","arguments":"{"}}`), calls(`{"function":{"arguments":"}"}}`),
				calls(`{"id":"b","function":{"name":"read","arguments":"{"}}`), calls(`{"id":"b","function":{"arguments":"}"}}`),
				calls(`{"id":"a","function":{"arguments":" "}}`),
			}, `a read({}); b read({})`,
		},
		"without an index or an id": {
			[]string{calls(`{"function":{"name":"read","arguments":"{}"}}`, `{"function":{"name":"read","arguments":"{}"}}`)}, ` read({});  read({})`,
		},
		"with one id for two calls": {
			[]string{calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`, `{"index":1,"id":"a","function":{"name":"list","arguments":"{}"}}`)},
			`a read({}); a list({})`,
		},
		"with the id after the name": {
			[]string{calls(`{"index":0,"function":{"name":"read"}}`), calls(`{"index":0,"id":"a","function":{"arguments":"{}"}}`)}, `a read({})`,
		},
		"with the name after the arguments": {
			[]string{calls(`{"index":0,"id":"a","function":{"arguments":"{"}}`), calls(`{"index":0,"function":{"name":"read","arguments":"}"}}`)}, `a read({})`,
		},
		"with a number for an id and null for the rest": {
			[]string{calls(`{"index":null,"id":7,"function":{"name":"read","arguments":null}}`)}, `7 read({})`,
		},
		"with arguments that are an object already": {
			[]string{calls(`{"id":"a","function":{"name":"read","arguments":{"p":1}}}`)}, `a read({"p":1})`,
		},
		"with arguments on several lines": {
			[]string{calls(`{"id":"a","function":{"name":"read","arguments":" {\n \"p\": \"x y\"\n}\n"}}`)}, `a read({"p":"x y"})`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := summary(replyTo(t, "tool_calls", c.deltas...)); got != c.want {
				t.Errorf("the calls are %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestArgumentsThatAreNoObject(t *testing.T) {
	for name, c := range map[string]struct{ tool, args, finish, want string }{
		"end early":                        {"read", `{\"path\":\"notes`, "tool_calls", "cut at the output limit in the middle of the call, at byte 14 of its arguments, after "},
		"break in the middle":              {"read", `{\"path\":x}`, "stop", "invalid character 'x' looking for beginning of value, at byte 9 of 10, after "},
		"go on after their end":            {"read", `{}{}`, "stop", "after top-level value, at byte 3 of 4"},
		"are a list":                       {"read", `[1]`, "stop", "JSON, but not an object"},
		"are null":                         {"read", `null`, "stop", "JSON, but not an object"},
		"are a word":                       {"read", `path`, "stop", "not one JSON object"},
		"belong to no tool":                {"", `{}`, "stop", "names no tool"},
		"are not there, as it was cut off": {"read", ``, "length", "at byte 0 of its arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			reply := replyTo(t, c.finish, calls(fmt.Sprintf(`{"id":"a","function":{"name":%q,"arguments":"%s"}}`, c.tool, c.args)))
			u := reply.ToolUses()[0]
			raw := strings.ReplaceAll(c.args, `\"`, `"`)
			if !strings.Contains(u.Invalid, c.want) || u.RawInput != raw || u.Input != nil {
				t.Errorf("the call is %+v, want it invalid as %s", u, c.want)
			}
		})
	}
}

func TestReasonsToFinish(t *testing.T) {
	for finish, want := range map[string]agent.StopReason{
		"stop": agent.StopComplete, "tool_calls": agent.StopComplete, "end_turn": agent.StopComplete,
		"length": agent.StopTruncated, "max_tokens": agent.StopTruncated, "content_filter": agent.StopRefused,
	} {
		if got := replyTo(t, finish, `{"content":"a"}`).Stop; got != want {
			t.Errorf("%s is %s, want %s", finish, got, want)
		}
	}
	if reply := replyTo(t, "stop", `{"refusal":"I "}`, `{"refusal":"won't"}`); reply.Stop != agent.StopRefused || reply.Text() != "I won't" {
		t.Errorf("a refusal is %+v", reply)
	}
}

func TestThinkingComesUnderTwoNames(t *testing.T) {
	for name, deltas := range map[string][]string{
		"reasoning_content": {`{"reasoning_content":"so "}`, `{"reasoning_content":"be it","content":null}`},
		"reasoning":         {`{"reasoning":"so "}`, `{"reasoning":"be it","content":""}`},
		"both":              {`{"reasoning":"so ","reasoning_content":"so "}`, `{"reasoning":"be it","reasoning_content":"be it"}`},
	} {
		reply := replyTo(t, "stop", append(deltas, `{"content":"Yes."}`)...)
		if reply.Blocks[0].(agent.Thinking).Text != "so be it" || reply.Text() != "Yes." {
			t.Errorf("with %s the reply is %+v", name, reply.Blocks)
		}
	}
}

func TestWhatElseAStreamHolds(t *testing.T) {
	_, reply, err := run(connect(t, events(
		`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1},"error":null}`,
		`{"choices":[{"index":1,"delta":{"content":"another choice"},"finish_reason":"length"},{"index":0,"delta":{"content":"mine"}}],"usage":null}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`,
	)), agenttest.ModelRequest())
	if err != nil {
		t.Fatal(err)
	}
	if reply.Text() != "mine" || reply.Stop != agent.StopComplete || reply.Usage != (agent.Usage{Input: 5, Output: 2}) {
		t.Errorf("the reply is %+v", reply)
	}
}
