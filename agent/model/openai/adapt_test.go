package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/model/openai"
)

// picky is a server that refuses requests with a complaint as long as it finds a reason.
func picky(t *testing.T, bodies *[]map[string]any, complain func(req map[string]any) (status int, body string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		var req map[string]any
		if err := json.Unmarshal(data, &req); err != nil {
			t.Error(err)
		}
		*bodies = append(*bodies, req)
		if status, body := complain(req); status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
			return
		}
		answerOK(w, r)
	})
}

// pretend lets the server of a test be found under another name.
func pretend(o *openai.Options, host string) {
	at := strings.TrimSuffix(strings.TrimPrefix(o.BaseURL, "http://"), "/v1")
	o.BaseURL = "http://" + host + "/v1"
	o.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, at)
	}}}
}

func roles(req map[string]any) (roles []string) {
	messages, _ := req["messages"].([]any)
	for _, m := range messages {
		roles = append(roles, m.(map[string]any)["role"].(string))
	}
	return roles
}

// TestWhatAServerDoesNotTakeIsLeftOut: the request is refused, the session makes it
// again in other words, and the next session does not ask again.
func TestWhatAServerDoesNotTakeIsLeftOut(t *testing.T) {
	has := func(field string) func(map[string]any) bool {
		return func(req map[string]any) bool { _, there := req[field]; return there }
	}
	twoUsers := func(req map[string]any) bool {
		all := roles(req)
		for i := 1; i < len(all); i++ {
			if all[i] == "user" && all[i-1] == "user" {
				return true
			}
		}
		return false
	}
	for name, c := range map[string]struct {
		change func(*openai.Options)
		wrong  func(map[string]any) bool
		status int
		body   string
		right  func(map[string]any) bool
	}{
		"the count of tokens": {nil, has("stream_options"), 422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, nil},
		"a stream": {nil, func(req map[string]any) bool { return req["stream"] == true }, 400, `{"error":{"message":"Unsupported value: 'stream' does not support true with this model.","param":"stream","code":"unsupported_value"}}`,
			func(req map[string]any) bool { return req["stream_options"] == nil }},
		"the name of the limit": {func(o *openai.Options) { o.MaxTokens = 7 }, has("max_tokens"), 400,
			`{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`, has("max_completion_tokens")},
		"the limit at all": {func(o *openai.Options) { o.MaxTokens = 7 }, has("max_tokens"), 400, `{"error":{"message":"Unrecognized request argument supplied: max_tokens"}}`, nil},
		"the effort":       {func(o *openai.Options) { o.Effort = "high" }, has("reasoning_effort"), 400, `{"error":{"message":"Unknown parameter: 'reasoning_effort'.","param":"reasoning_effort"}}`, nil},
		"a system": {nil, func(req map[string]any) bool { return slices.Contains(roles(req), "system") }, 500, `{"error":{"message":"Jinja Exception: System role not supported"}}`,
			func(req map[string]any) bool { return roles(req)[0] == "user" }},
		"a developer": {func(o *openai.Options) { pretend(o, "api.openai.com"); o.API = openai.APIChat }, func(req map[string]any) bool { return slices.Contains(roles(req), "developer") }, 400,
			`{"error":{"message":"'developer' is not one of ['system', 'assistant', 'user', 'tool']"}}`, func(req map[string]any) bool { return roles(req)[0] == "system" }},
		"two messages of one side": {nil, twoUsers, 500, `{"error":{"message":"Conversation roles must alternate user/assistant/user/assistant/..."}}`, nil},
		"pictures": {nil, func(req map[string]any) bool {
			text, _ := json.Marshal(req)
			return strings.Contains(string(text), "image_url")
		}, 400, `{"error":{"message":"This model does not support image input"}}`,
			func(req map[string]any) bool {
				text, _ := json.Marshal(req)
				return strings.Contains(string(text), "a picture that")
			}},
		"a summary": {func(o *openai.Options) { o.API = openai.APIResponses }, func(req map[string]any) bool { r, _ := req["reasoning"].(map[string]any); return r["summary"] != nil }, 400,
			`{"error":{"message":"Unsupported parameter: 'reasoning.summary' is not supported with this model.","param":"reasoning.summary","code":"unsupported_parameter"}}`, nil},
		"sealed reasoning": {func(o *openai.Options) { o.API = openai.APIResponses }, has("include"), 400,
			`{"error":{"message":"Encrypted content is not supported with this model.","param":"include","code":null}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []map[string]any
			m := connect(t, picky(t, &bodies, func(req map[string]any) (int, string) {
				if c.wrong(req) {
					return c.status, c.body
				}
				return 0, ""
			}), func(o *openai.Options) {
				if c.change != nil {
					c.change(o)
				}
			})
			retries := 0
			for range 2 { // sessions
				session, err := agent.New(agent.Config{Model: m, System: "Be kind.", Store: &agenttest.Memory{}, History: []agent.Message{agent.UserText("first")}})
				if err != nil {
					t.Fatal(err)
				}
				prompt := agent.Message{Role: agent.RoleUser, Blocks: []agent.Block{agent.Text{Text: "look"}, agent.Image{MediaType: "image/png", Data: []byte("x")}}}
				for event, err := range session.Run(t.Context(), prompt) {
					if err != nil {
						t.Fatal(err)
					}
					switch e := event.(type) {
					case agent.Retrying:
						retries++
						if e.Wait != 0 {
							t.Errorf("it waits %v", e.Wait)
						}
					case agent.Done:
						if e.Reason != agent.StopComplete {
							t.Errorf("the run ended as %s: %v", e.Reason, e.Err)
						}
					}
				}
			}
			last := bodies[len(bodies)-1]
			if retries != 1 || len(bodies) != 3 || c.right != nil && !c.right(last) {
				t.Errorf("%d retries, %d requests, the last is %v", retries, len(bodies), last)
			}
		})
	}
}

// TestAServerThatComplainsOfEverythingIsNotAskedForEver: what can be left out is left
// out once, and then its refusal is the person's to read.
func TestAServerThatComplainsOfEverythingIsNotAskedForEver(t *testing.T) {
	var bodies []map[string]any
	m := connect(t, picky(t, &bodies, func(map[string]any) (int, string) {
		return 400, `{"error":{"message":"Unknown parameter: 'stream_options'. Unknown parameter: 'max_tokens', and max_completion_tokens too.","param":"stream_options"}}`
	}), func(o *openai.Options) { o.MaxTokens = 5 })
	session, err := agent.New(agent.Config{Model: m, Store: &agenttest.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	var done agent.Done
	for event := range session.Run(t.Context(), agent.UserText("go")) {
		if e, ok := event.(agent.Done); ok {
			done = e
		}
	}
	if done.Reason != agent.StopError || len(bodies) > 6 {
		t.Errorf("%d requests, ended as %s: %v", len(bodies), done.Reason, done.Err)
	}
}

// TestReasoningGoesBackToAServerThatWantsIt also where nothing was known of it.
func TestReasoningGoesBackToAServerThatWantsIt(t *testing.T) {
	req := agent.Request{Messages: []agent.Message{
		agent.UserText("go"),
		{Role: agent.RoleAssistant, Blocks: []agent.Block{agent.Thinking{Text: "need it", Source: "reasoning_content"}, agenttest.Use("c1", "read_file", `{}`)}},
		{Role: agent.RoleTool, Blocks: []agent.Block{agent.ToolResult{ID: "c1", Output: "x"}}},
	}}
	want := `"reasoning_content":"need it"`
	for provider, sent := range map[string]bool{"deepseek": true, "kimi": true, "groq": false, "": false} {
		body := captured(t, func(o *openai.Options) { o.Provider = provider }, req)[0]
		if strings.Contains(body, want) != sent {
			t.Errorf("%q: %s", provider, body)
		}
	}
	var bodies []map[string]any
	m := connect(t, picky(t, &bodies, func(req map[string]any) (int, string) {
		if text, _ := json.Marshal(req); !strings.Contains(string(text), want) {
			return 400, `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API.","type":"invalid_request_error"}}`
		}
		return 0, ""
	}))
	if _, _, err := run(m, req); err == nil {
		t.Fatal("it was taken")
	}
	if _, _, err := run(m, req); err != nil {
		t.Error(err)
	}

	bodies = nil // and where there is none to give back, as after a change of the model
	m = connect(t, picky(t, &bodies, func(req map[string]any) (int, string) {
		if text, _ := json.Marshal(req); !strings.Contains(string(text), `"reasoning_content":"(`) {
			return 400, `{"error":{"message":"thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"}}`
		}
		return 0, ""
	}))
	req.Messages[1].Blocks = req.Messages[1].Blocks[1:]
	for i := range 3 {
		if _, _, err := run(m, req); (err != nil) != (i < 2) {
			t.Errorf("request %d: %v", i+1, err)
		}
	}
}
