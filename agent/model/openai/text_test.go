package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/model/openai"
)

func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string
	}
	return string(data)
}

// textsOfModels are texts with tags and calls in them.
var textsOfModels = []string{
	"<think>why</think>so", "why\n</think>\n\nso", "a <think> b", "`<think>` is a tag", "```\n<think>\n</think>\n```\nend",
	"\n <think>\n\n</think>\n\nso", "<think>never ends", "[THINK]why[/THINK]so", "◁think▷why◁/think▷so", "<think>a</think>x\n<think>b</think>y",
	"I look.\n<tool_call>{\"name\":\"read_file\",\"arguments\":{}}</tool_call>", "<function=read_file>{\"path\":\"a\"}</function>",
	`{"name":"read_file","arguments":{"path":"a"}}`, ` [{"name": "read_file", "parameters": {}}]`, `{"answer": 42}`, `{"name":"somebody","arguments":{}}`,
	"<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
	"[TOOL_CALLS][{\"name\":\"read_file\",\"arguments\":{}}]", "<tool_call>\nread_file\n<arg_key>path</arg_key>\n</tool_call>", "a < b <t <tool", "x\n\n",
	"```json\n{\"name\":\"read_file\",\"arguments\":{}}\n```",
}

// inPieces is a stream of Chat Completions with a text in pieces of n bytes at least,
// cut between characters.
func inPieces(text string, n int) []byte {
	var body strings.Builder
	for rest := text; rest != ""; {
		cut := min(n, len(rest))
		for cut < len(rest) && rest[cut]&0xc0 == 0x80 {
			cut++
		}
		fmt.Fprintf(&body, "data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", quoted(rest[:cut]))
		rest = rest[cut:]
	}
	body.WriteString("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	return []byte(body.String())
}

func TestReasoningInTheText(t *testing.T) {
	for text, want := range map[string]struct{ text, thinking string }{
		"<think>why</think>so":                          {"so", "why"},
		"\n<think>\nwhy\nnot\n</think>\n\nso it is\n":   {"so it is\n", "why\nnot"},
		"<think></think>so":                             {"so", ""},
		"[THINK]why[/THINK]so":                          {"so", "why"},
		"◁think▷why◁/think▷so":                          {"so", "why"},
		"<seed:think>why</seed:think>so":                {"so", "why"},
		"why so\n</think>\n\nso":                        {"so", "why so"},
		"why</think>so</think>!":                        {"so!", "why"},
		"<think>a</think>x\n<think>b</think>y":          {"xy", "ab"},
		"Use `<think>` and `</think>` here":             {"Use `<think>` and `</think>` here", ""},
		"Say ``a ` </think>`` so":                       {"Say ``a ` </think>`` so", ""},
		"Like\n```html\n<think>\nx\n</think>\n```\nso.": {"Like\n```html\n<think>\nx\n</think>\n```\nso.", ""},
		"if a <think> b":                                {"if a <think> b", ""},
		"a < b, a<t, <thin":                             {"a < b, a<t, <thin", ""},
		"  indented\n\n":                                {"  indented\n\n", ""},
		"`` ` ``</think>so":                             {"so", "`` ` ``"},
		"~~~\n<think>\nx\n~~~\n":                        {"~~~\n<think>\nx\n~~~\n", ""},
		"````\n```\n<think>\n```\n````\nend":            {"````\n```\n<think>\n```\n````\nend", ""},
		"So:\n\n    <think>\n    </think>\nend":         {"So:\n\n    <think>\n    </think>\nend", ""},
		"all up to </think> and so on":                  {"all up to </think> and so on", ""},
		"a</think>b</think>c":                           {"bc", "a"},
	} {
		for n := range 8 {
			o := made(t, openai.APIChat, 200, inPieces(text, n+1), nil)
			if o.err != nil || o.text != want.text || o.thinking != want.thinking || o.reply.Text() != want.text {
				t.Errorf("%q in pieces of %d: %v", text, n+1, o)
			}
		}
	}
}

func TestATextThatIsOnlyReasoningIsEmpty(t *testing.T) {
	for _, text := range []string{"<think>why", "<think>why</think>", "<think>why</think>\n\n", "why</think>", "\n \n"} {
		if o := made(t, openai.APIChat, 200, inPieces(text, 3), nil); o.err == nil || o.err.Kind != agent.ErrorEmpty {
			t.Errorf("%q: %v", text, o)
		}
	}
}

func TestCallsThatAreWrittenAsText(t *testing.T) {
	hermes := "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>"
	for text, want := range map[string]struct {
		text string
		raw  []string
	}{
		"I look.\n\n" + hermes + "\n":                                                    {"I look.", []string{hermes}},
		hermes + hermes:                                                                  {"", []string{hermes, hermes}},
		hermes + "\nand then?":                                                           {"\nand then?", []string{hermes}},
		"```\n" + hermes + "\n```":                                                       {"```\n" + hermes + "\n```", nil},
		"`" + "<tool_call>" + "` is its mark.":                                           {"`<tool_call>` is its mark.", nil},
		"<tool_call>{\"name\":\"x\"}</tool_call>":                                        {"<tool_call>{\"name\":\"x\"}</tool_call>", nil},
		"<tool_call>\n{\"name\": \"read_file\",":                                         {"", []string{"<tool_call>\n{\"name\": \"read_file\","}},
		"<function=read_file>\n<parameter=path>a</parameter>\n</function>":               {"", []string{"<function=read_file>\n<parameter=path>a</parameter>\n</function>"}},
		`[TOOL_CALLS][{"name":"read_file","arguments":{}}]`:                              {"", []string{`[TOOL_CALLS][{"name":"read_file","arguments":{}}]`}},
		`[TOOL_CALLS]read_file{"path":"a"}`:                                              {"", []string{`[TOOL_CALLS]read_file{"path":"a"}`}},
		"<|python_tag|>read_file(path=\"a\")":                                            {"", []string{"<|python_tag|>read_file(path=\"a\")"}},
		"<invoke name=\"read_file\"></invoke>":                                           {"", []string{"<invoke name=\"read_file\"></invoke>"}},
		`{"name":"read_file","arguments":{"path":"a"}}`:                                  {"", []string{`{"name":"read_file","arguments":{"path":"a"}}`}},
		`{"type":"function","function":{"name":"read_file","arguments":"{}"}}`:           {"", []string{`{"type":"function","function":{"name":"read_file","arguments":"{}"}}`}},
		`{"tool":"read_file","parameters":{}}`:                                           {"", []string{`{"tool":"read_file","parameters":{}}`}},
		`[{"name":"read_file","arguments":{}},{"name":"read_file","arguments":{"a":1}}]`: {"", []string{`{"name":"read_file","arguments":{}}`, `{"name":"read_file","arguments":{"a":1}}`}},
		`[{"name":"read_file","arguments":{}}, "and more"]`:                              {`[{"name":"read_file","arguments":{}}, "and more"]`, nil},
		"so [TOOL_CALLS]read_file{} is one":                                              {"so [TOOL_CALLS]read_file{} is one", nil},
		"see <invoke name=read_file> and so on":                                          {"see <invoke name=read_file> and so on", nil},
		`{"name": "read_file", "parameters": {"type":"object"}}`:                         {`{"name": "read_file", "parameters": {"type":"object"}}`, nil},
		`{"name":"Ada","born":1815}`:                                                     {`{"name":"Ada","born":1815}`, nil},
		`{"answer":{"name":"read_file","arguments":{}}}`:                                 {`{"answer":{"name":"read_file","arguments":{}}}`, nil},
	} {
		for n := range 8 {
			o := made(t, openai.APIChat, 200, inPieces(text, n*3+1), nil)
			if o.err != nil || o.text != want.text || o.reply.Text() != want.text {
				t.Errorf("%q in pieces of %d: %v", text, n*3+1, o)
				continue
			}
			var raw []string
			for _, u := range o.reply.ToolUses() {
				raw = append(raw, u.RawInput)
				if u.Invalid != agent.WrittenAsText || u.Name != "read_file" {
					t.Errorf("%q: the call is %+v", text, u)
				}
			}
			if fmt.Sprintf("%q", raw) != fmt.Sprintf("%q", want.raw) {
				t.Errorf("%q in pieces of %d: the calls are %q", text, n*3+1, raw)
			}
		}
	}
}

func TestAWrittenCallBesideARealOneIsText(t *testing.T) {
	body := `data: {"choices":[{"delta":{"content":"<tool_call>{\"name\":\"read_file\"}</tool_call>","tool_calls":[` +
		`{"id":"a","function":{"name":"read_file","arguments":"{}"}}]},"finish_reason":"stop"}]}` + "\n\n"
	o := made(t, openai.APIChat, 200, []byte(body), nil)
	if o.err != nil || len(o.reply.ToolUses()) != 1 || o.reply.ToolUses()[0].Invalid != "" || !strings.Contains(o.text, "<tool_call>") || o.text != o.reply.Text() {
		t.Errorf("%v", o)
	}
}
