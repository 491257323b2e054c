package openai_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/model/openai"
)

// short is an outcome in one line: the text, the calls, and how it ended.
func (o outcome) short() string {
	if o.err != nil {
		return fmt.Sprintf("%s! %s", o.text, o.err.Kind)
	}
	return fmt.Sprintf("%s; %s; %s", o.text, summary(o.reply), o.reply.Stop)
}

// TestWhatAScepticSent: shapes that no document has and some server sends. Wherever a
// body is cut, what it means is the same.
func TestWhatAScepticSent(t *testing.T) {
	const call = `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"A","function":{"name":"write_file","arguments":"{\"a\":1}"}}]}}]}`
	const ends = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	delta := func(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }
	finish := func(word string) string {
		return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + word + `"}]}`
	}
	item := func(kind string, index int, rest string) string {
		return fmt.Sprintf(`{"type":"response.output_item.%s","output_index":%d,"item":{"type":"function_call",%s}}`, kind, index, rest)
	}
	const whole = `"id":"f1","call_id":"A","name":"write_file","arguments":"{\"a\":1}"`
	over := func(rest string) string {
		return `{"type":"response.completed","response":{"status":"completed"` + rest + `}}`
	}
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"the message so far beside each delta": {[]string{
			`{"choices":[{"index":0,"delta":{"content":"Hel"},"message":{"content":"Hel"}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"lo"},"message":{"content":"Hello"},"finish_reason":"stop"}]}`}, "Hello; ; complete"},
		"the message once more at the end": {[]string{delta(`{"content":"Hello"}`), `{"choices":[{"index":0,"message":{"content":"Hello"},"finish_reason":"stop"}]}`}, "Hello; ; complete"},
		"a call once more, in the message": {[]string{call, `{"choices":[{"index":0,"message":{"tool_calls":[{"id":"A","function":{"name":"write_file","arguments":"{\"a\": 1}"}}]},"finish_reason":"stop"}]}`}, `; A write_file({"a":1}); complete`},
		"a call once more, as an object":   {[]string{call, delta(`{"tool_calls":[{"index":0,"id":"A","function":{"name":"write_file","arguments":{"a": 1}}}]}`), ends}, `; A write_file({"a":1}); complete`},
		"a call once more, the old way":    {[]string{delta(`{"tool_calls":[{"index":0,"id":"A","function":{"name":"write_file","arguments":"{\"a\":1}"}}],"function_call":{"name":"write_file","arguments":"{\"a\":1}"}}`), ends}, `; A write_file({"a":1}); complete`},
		"a name once more at the end":      {[]string{delta(`{"tool_calls":[{"index":0,"function":{"name":"write_file","arguments":"{\"a\":1}"}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"name":"write_file","arguments":""}}]}`), ends}, `;  write_file({"a":1}); complete`},
		"index 0 for two calls in pieces": {[]string{delta(`{"tool_calls":[{"index":0,"function":{"name":"write_file","arguments":"{\"a\":1}"}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"name":"write_file","arguments":""}}]}`),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"b\":"}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"arguments":"2}"}}]}`), ends}, `;  write_file({"a":1});  write_file({"b":2}); complete`},
		"an end in capitals":                      {[]string{call, finish("MAX_TOKENS"), "[DONE]"}, `; A write_file({"a":1}); truncated`},
		"an end by a filter, in capitals":         {[]string{call, finish("SAFETY"), "[DONE]"}, `; A write_file({"a":1}); refused`},
		"an end by a failure":                     {[]string{call, finish("cancelled"), "[DONE]"}, "! provider_error"},
		"null as a word":                          {[]string{`{"choices":[{"index":0,"delta":{"content":"I will"},"finish_reason":"null"}]}`, call}, "I will! truncated_stream"},
		"the head of a call, and no reason":       {[]string{delta(`{"tool_calls":[{"index":0,"id":"A","function":{"name":"write_file","arguments":""}}]}`), "[DONE]"}, "; A write_file(!); truncated"},
		"the head of a call after the end":        {[]string{call, ends, delta(`{"tool_calls":[{"index":1,"id":"B","function":{"name":"write_file","arguments":""}}]}`)}, "! truncated_stream"},
		"other indexes at the end":                {[]string{item("added", 1, whole), item("done", 1, whole), over(`,"output":[{"type":"function_call",` + whole + `}]`)}, `; A write_file({"a":1}); complete`},
		"no indexes":                              {[]string{`{"type":"response.output_item.done","item":{"type":"function_call",` + whole + `}}`, `{"type":"response.output_item.done","item":{"type":"function_call","id":"f2","call_id":"B","name":"read_file","arguments":"{}"}}`, over("")}, `; A write_file({"a":1}); B read_file({}); complete`},
		"pieces that are told apart by item":      {[]string{`{"type":"response.output_item.added","item":{"type":"function_call","id":"f1","call_id":"A","name":"write_file"}}`, `{"type":"response.output_item.added","item":{"type":"function_call","id":"f2","call_id":"B","name":"read_file"}}`, `{"type":"response.function_call_arguments.delta","item_id":"f1","delta":"{\"a\":1}"}`, `{"type":"response.function_call_arguments.done","item_id":"f2","arguments":"{\"b\":2}"}`, over("")}, `; A write_file({"a":1}); B read_file({"b":2}); complete`},
		"a text with another index at the end":    {[]string{`{"type":"response.output_text.delta","output_index":1,"delta":"Hello"}`, over(`,"output":[{"type":"message","content":[{"type":"output_text","text":"Hello"}]}]`)}, "Hello; ; complete"},
		"incomplete, and not why":                 {[]string{item("done", 0, whole), `{"type":"response.incomplete"}`}, `; A write_file({"a":1}); truncated`},
		"done, and failed":                        {[]string{item("done", 0, whole), `{"type":"response.done","response":{"status":"failed","error":{"message":"boom"}}}`}, "! provider_error"},
		"an item that only began":                 {[]string{item("added", 0, `"id":"f1","call_id":"A","name":"write_file","arguments":""`), over("")}, "; A write_file(!); truncated"},
		"an item that says that it is incomplete": {[]string{item("done", 0, whole+`,"status":"incomplete"`), over("")}, `; A write_file(!{"a":1}); truncated`},
	} {
		t.Run(name, func(t *testing.T) {
			api := openai.APIChat
			if strings.Contains(c.events[0], `"response.`) {
				api = openai.APIResponses
			}
			body := "data: " + strings.Join(c.events, "\n\ndata: ") + "\n\n"
			for _, sizes := range [][]byte{nil, {0}, {5, 60, 2}} {
				if got := made(t, api, 200, []byte(body), sizes).short(); got != c.want {
					t.Errorf("it is %q, want %q", got, c.want)
				}
			}
		})
	}
}

func TestAByteOrderMarkMayComeInPieces(t *testing.T) {
	body := "\ufeff" + string(chatBody("Hello there"))
	for _, sizes := range [][]byte{nil, {0}} {
		if o := made(t, openai.APIChat, 200, []byte(body), sizes); o.text != "Hello there" {
			t.Errorf("%v", o)
		}
	}
}

// TestATornEventIsNoComplaint, whatever words of the reply are in it.
func TestATornEventIsNoComplaint(t *testing.T) {
	o := made(t, openai.APIChat, 200, []byte(`data: {"choices":[{"index":0,"delta":{"content":"The field stream_options is not supported by`), nil)
	if o.err == nil || o.err.Kind != agent.ErrorTruncated {
		t.Errorf("%v", o)
	}
}

// TestTwoMessagesKeepTheirReasoning: the server takes reasoning back only before what it led to.
func TestTwoMessagesKeepTheirReasoning(t *testing.T) {
	o := responsesMade(t,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"r1","encrypted_content":"x"}}`,
		`{"type":"response.output_text.delta","output_index":1,"delta":"one\n"}`,
		`{"type":"response.output_item.done","output_index":2,"item":{"type":"reasoning","id":"r2","encrypted_content":"y"}}`,
		`{"type":"response.output_text.delta","output_index":3,"delta":"two\n"}`, completed)
	var order []string
	for _, b := range o.reply.Blocks {
		order = append(order, strings.TrimPrefix(fmt.Sprintf("%T", b), "agent."))
	}
	if got := strings.Join(order, " "); got != "Thinking Text Thinking Text" || o.reply.Text() != "one\ntwo\n" {
		t.Errorf("%s: %v", got, o)
	}
}

// TestAFinishReasonAloneLetsNothingRun: the connection breaks after it, or it was not the
// end. A text is taken, as it was shown, unless more of it followed.
func TestAFinishReasonAloneLetsNothingRun(t *testing.T) {
	const call = `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"A","function":{"name":"write_file","arguments":"{}"}}]},"finish_reason":%q}]}`
	const word = `{"choices":[{"delta":{"content":"so"},"finish_reason":%q}]}`
	for name, c := range map[string]struct {
		events []string
		breaks bool
		want   string
	}{
		"a call, and a break":             {[]string{fmt.Sprintf(call, "tool_calls")}, true, "! truncated_stream"},
		"a call, and an end":              {[]string{fmt.Sprintf(call, "tool_calls")}, false, "; A write_file({}); complete"},
		"a text, and a break":             {[]string{fmt.Sprintf(word, "stop")}, true, "so; ; complete"},
		"one with each event":             {[]string{fmt.Sprintf(word, "stop"), fmt.Sprintf(call, "stop")}, false, "so! truncated_stream"},
		"one with each event, and an end": {[]string{fmt.Sprintf(word, "stop"), fmt.Sprintf(call, "stop"), "[DONE]"}, true, "so; A write_file({}); complete"},
	} {
		t.Run(name, func(t *testing.T) {
			m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				s := stream(w, r)
				for _, e := range c.events {
					s.event(e)
				}
				if c.breaks {
					panic(http.ErrAbortHandler)
				}
			}))
			if got := ask(t, m, caseRequest()).short(); got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
		})
	}
}

// TestAReplyHasNoEndOfCalls: a model that makes them for ever is stopped, on both wires.
func TestAReplyHasNoEndOfCalls(t *testing.T) {
	var chat, responses []string
	for i := range 2000 {
		chat = append(chat, fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"write_file","arguments":"{}"}}]}}]}`, i, i))
		responses = append(responses, fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":{"type":"function_call","id":"f%d","call_id":"c%d","name":"write_file"}}`, i, i, i))
	}
	for api, events := range map[string][]string{openai.APIChat: chat, openai.APIResponses: responses} {
		o := made(t, api, 200, []byte("data: "+strings.Join(events, "\n\ndata: ")+"\n\n"), nil)
		if o.err == nil || o.err.Retryable() || !strings.Contains(o.err.Message, "1000") {
			t.Errorf("%s: %v", api, o.err)
		}
	}
}
