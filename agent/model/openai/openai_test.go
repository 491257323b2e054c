package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/model/openai"
)

func TestTheContractOfModels(t *testing.T) {
	agenttest.TestModel(t, func(t *testing.T, script []agenttest.Reply) agent.Model {
		return connect(t, scripted(script), func(o *openai.Options) {
			// The suite counts goroutines, and a connection that waits for its next use has two.
			o.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		})
	})
}

func TestOptionsAreRefusedWithASentenceWhen(t *testing.T) {
	for name, c := range map[string]struct {
		o    openai.Options
		want string
	}{
		"no model is named":               {openai.Options{APIKey: "k"}, "ASSENT_MODEL"},
		"there is neither key nor server": {openai.Options{Model: "m"}, "OPENAI_API_KEY"},
		"the URL has no scheme":           {openai.Options{Model: "m", BaseURL: "localhost:11434/v1"}, "OPENAI_BASE_URL"},
		"the URL has no host":             {openai.Options{Model: "m", BaseURL: "http:///v1"}, "OPENAI_BASE_URL"},
		"the URL is no URL":               {openai.Options{Model: "m", BaseURL: "http://user:hunter22@[::1"}, "OPENAI_BASE_URL"},
		"the URL is of another kind":      {openai.Options{Model: "m", BaseURL: "file:///hunter22"}, "OPENAI_BASE_URL"},
		"the key has a line end in it":    {openai.Options{Model: "m", APIKey: "hunter22\nx"}, "OPENAI_API_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openai.New(c.o)
			var known *agent.ModelError
			if !errors.As(err, &known) || known.Kind != agent.ErrorConfig || !strings.Contains(known.Message, c.want) {
				t.Fatalf("the error is %v", err)
			}
			if strings.Contains(err.Error(), "hunter22") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestOnlyTheOptionsCountNotTheEnvironment(t *testing.T) {
	for _, name := range []string{
		"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET",
	} {
		t.Setenv(name, "from-the-environment")
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/from-the-environment")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Extra: from-the-environment")
	for name, key := range map[string]string{"with a key": "my-own-key", "without a key": ""} {
		t.Run(name, func(t *testing.T) {
			var seen *http.Request
			m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen = r
				s := stream(w, r)
				s.delta(map[string]any{"content": "hi"})
				s.finish("stop")
			}), func(o *openai.Options) { o.APIKey = key; o.BaseURL += "?api-version=7" })
			if _, _, err := run(m, agenttest.ModelRequest()); err != nil {
				t.Fatal(err)
			}
			for name, values := range seen.Header {
				if strings.Contains(strings.Join(values, " "), "from-the-environment") {
					t.Errorf("%s is %q", name, values)
				}
			}
			want := ""
			if key != "" {
				want = "Bearer " + key
			}
			if got := seen.Header.Get("Authorization"); got != want {
				t.Errorf("Authorization is %q, want %q", got, want)
			}
			if got := seen.URL.String(); got != "/v1/chat/completions?api-version=7" {
				t.Errorf("the URL is %s", got)
			}
		})
	}
}

func TestTheRequestOnTheWire(t *testing.T) {
	broken := agent.ToolUse{ID: "c2", Name: "functions.edit", RawInput: `{"path": "a`, Invalid: "cut"}
	req := agent.Request{
		System: "Be <brief> & kind.",
		Messages: []agent.Message{
			agent.UserText("go"),
			{Role: agent.RoleAssistant, Blocks: []agent.Block{agent.Thinking{Text: "hm"}}},
			{Role: agent.RoleAssistant, Blocks: []agent.Block{
				agent.Thinking{Text: "hm"}, agenttest.Use("c1", "read_file", `{"b":1,"a":2}`), broken, agent.ToolUse{ID: "c3"},
			}},
			{Role: agent.RoleTool, Blocks: []agent.Block{
				agent.ToolResult{ID: "c1"}, agent.ToolResult{ID: "c2", Output: "no", IsError: true}, agent.ToolResult{ID: "c3", Output: "no"},
			}},
			agenttest.Say("Done."),
		},
		Tools: []agent.Spec{
			{Name: "read_file", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","z":1,"a":{"$ref":"<x>"}}`)},
			{Name: "now"},
		},
	}
	want := `{"model":"test-model","stream":true,"stream_options":{"include_usage":true},"tools":[` +
		`{"type":"function","function":{"name":"read_file","description":"Reads.","parameters":{"a":{"$ref":"<x>"},"properties":{},"type":"object","z":1}}},` +
		`{"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}}],"messages":[` +
		`{"role":"system","content":"Be <brief> & kind."},` +
		`{"role":"user","content":"go"},` +
		`{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"b\":1,\"a\":2}"}},` +
		`{"id":"c2","type":"function","function":{"name":"functions_edit","arguments":"{\"invalid_arguments\":\"{\\\"path\\\": \\\"a\"}"}},` +
		`{"id":"c3","type":"function","function":{"name":"unnamed","arguments":"{}"}}]},` +
		`{"role":"tool","content":"(no output)","tool_call_id":"c1"},` +
		`{"role":"tool","content":"no","tool_call_id":"c2"},` +
		`{"role":"tool","content":"no","tool_call_id":"c3"},` +
		`{"role":"assistant","content":"Done."}]}`
	if got := captured(t, nil, req)[0]; got != want {
		t.Errorf("the request is\n%s\nwant\n%s", got, want)
	}
}

func TestAToolSchemaThatIsNotJSONIsAConfigError(t *testing.T) {
	m := connect(t, events())
	_, _, err := run(m, agent.Request{Tools: []agent.Spec{{Name: "x", Schema: json.RawMessage(`{`)}}})
	var known *agent.ModelError
	if !errors.As(err, &known) || known.Kind != agent.ErrorConfig {
		t.Errorf("the error is %v", err)
	}
}

func TestAReplyThatIsNotStreamedIsReadAsAWhole(t *testing.T) {
	m := connect(t, status(200, "application/json", `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"I\nlook.",
		"tool_calls":[{"id":"a","function":{"name":"read_file","arguments":"{\"path\":\"x\"}"}},{"id":"b","function":{"name":"read_file","arguments":"{}"}}]},
		"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`))
	text, reply, err := run(m, agenttest.ModelRequest())
	if err != nil {
		t.Fatal(err)
	}
	want := agent.Message{
		Role: agent.RoleAssistant,
		Blocks: []agent.Block{
			agent.Text{Text: "I\nlook."},
			agenttest.Use("a", "read_file", `{"path":"x"}`),
			agenttest.Use("b", "read_file", `{}`),
		},
		Stop:   agent.StopComplete,
		Finish: "tool_calls",
		Usage:  agent.Usage{Input: 3, Output: 4},
	}
	if text != "I\nlook." || !reflect.DeepEqual(*reply, want) {
		t.Errorf("text %q, reply %+v", text, *reply)
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	var addresses []string
	m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		addresses = append(addresses, r.RemoteAddr)
		s := stream(w, r)
		s.delta(map[string]any{"content": "hi"})
		s.finish("stop")
	}))
	for range 3 {
		if _, _, err := run(m, agenttest.ModelRequest()); err != nil {
			t.Fatal(err)
		}
	}
	if addresses[0] != addresses[1] || addresses[1] != addresses[2] {
		t.Errorf("the requests came from %v", addresses)
	}
}

func TestAServerThatKeepsTheStreamOpenAfterItsEndIsLeft(t *testing.T) {
	m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := stream(w, r)
		s.delta(map[string]any{"content": "hi"})
		s.finish("stop")
		<-r.Context().Done()
	}))
	if text, _, err := run(m, agenttest.ModelRequest()); err != nil || text != "hi" {
		t.Errorf("text %q, error %v", text, err)
	}
}

func TestACancelBeforeTheAnswerGivesTheContextsError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream(w, r)
		cancel()
		<-r.Context().Done()
	}))
	for c, err := range m.Stream(ctx, agenttest.ModelRequest()) {
		if err != context.Canceled || c.Reply != nil {
			t.Errorf("chunk %+v, error %v", c, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	var reached []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached = append(reached, r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)
	redirect := func(to string, code int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v2/chat/completions" {
				s := stream(w, r)
				s.delta(map[string]any{"content": "moved"})
				s.finish("stop")
				return
			}
			http.Redirect(w, r, to, code)
		})
	}
	t.Run("to another host are refused, and it gets nothing", func(t *testing.T) {
		err := failure(t, connect(t, redirect(elsewhere.URL+"/v1?token=abc", 307)))
		if err.Kind != agent.ErrorConfig || !strings.Contains(err.Message, elsewhere.Listener.Addr().String()) || strings.Contains(err.Message, "abc") {
			t.Errorf("%s: %s", err.Kind, err.Message)
		}
		if len(reached) != 0 {
			t.Errorf("the other host was reached with %q", reached)
		}
	})
	t.Run("that drop the request are refused", func(t *testing.T) {
		if err := failure(t, connect(t, redirect("/v2/chat/completions", 301))); err.Kind != agent.ErrorConfig {
			t.Errorf("%s: %s", err.Kind, err.Message)
		}
	})
	t.Run("in circles are refused", func(t *testing.T) {
		if err := failure(t, connect(t, redirect("/v1/chat/completions", 308))); err.Kind != agent.ErrorConfig {
			t.Errorf("%s: %s", err.Kind, err.Message)
		}
	})
	t.Run("on the same host are followed", func(t *testing.T) {
		if text, _, err := run(connect(t, redirect("/v2/chat/completions", 307)), agenttest.ModelRequest()); err != nil || text != "moved" {
			t.Errorf("text %q, error %v", text, err)
		}
	})
}
