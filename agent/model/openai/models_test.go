package openai_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/model/openai"
)

func TestTheListOfModels(t *testing.T) {
	for body, want := range map[string][]string{
		`{"object":"list","data":[{"id":"b"},{"id":"a"},{"id":"a"}]}`: {"a", "b"},
		`{"models":[{"name":"llama3:8b","model":"llama3:8b"}]}`:       {"llama3:8b"},
		`[{"id":"x"},{"name":"models/gemini"}]`:                       {"gemini", "x"},
		`{"data":[]}`:                                                 nil,
	} {
		var seen *http.Request
		var o openai.Options
		connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen = r
			status(200, "application/json", body).ServeHTTP(w, r)
		}), func(opts *openai.Options) { o = *opts })
		o.Model = ""
		names, err := openai.Models(t.Context(), o)
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: %v, %v", body, names, err)
		}
		if seen.URL.Path != "/v1/models" || seen.Header.Get("Authorization") != "Bearer test-key-123456" {
			t.Errorf("%s: %s, %v", body, seen.URL, seen.Header)
		}
	}
	for name, c := range map[string]struct {
		handler http.Handler
		kind    agent.ModelErrorKind
	}{
		"no list":     {status(200, "application/json", `{"hello":1}`), agent.ErrorNotSSE},
		"a web page":  {status(200, "text/html", `<html>`), agent.ErrorNotSSE},
		"a wrong key": {status(401, "application/json", `{}`), agent.ErrorAuth},
		"no such":     {status(404, "text/plain", ``), agent.ErrorConfig},
	} {
		var o openai.Options
		connect(t, c.handler, func(opts *openai.Options) { o = *opts })
		_, err := openai.Models(t.Context(), o)
		if failed, ok := err.(*agent.ModelError); !ok || failed.Kind != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWhatEachProviderGets holds what of the defaults can be seen on the wire.
func TestWhatEachProviderGets(t *testing.T) {
	for host, c := range map[string]struct{ path, with, without string }{
		"api.openai.com":              {"/v1/responses", `"prompt_cache_key":"s1"`, `"cache_control"`},
		"API.openai.com.:80":          {"/v1/responses", `"prompt_cache_key":"s1"`, `"cache_control"`},
		"api.openai.com.evil.example": {"/v1/chat/completions", `"role":"system"`, `"prompt_cache_key"`},
		"x.openai.azure.com":          {"/v1/chat/completions", `"max_completion_tokens":9`, `"prompt_cache_key"`},
		"api.mistral.ai":              {"/v1/chat/completions", `"max_tokens":9`, `"stream_options"`},
		"openrouter.ai":               {"/v1/chat/completions", `"cache_control":{"type":"ephemeral"}`, `"prompt_cache_key"`},
		"proxy.company.example":       {"/v1/chat/completions", `"role":"system"`, `"cache_control"`},
	} {
		var seen *http.Request
		bodies := captured(t, func(o *openai.Options) {
			pretend(o, host)
			o.Model, o.MaxTokens, o.Headers = "anthropic/m", 9, map[string]string{"X-Team": "blue"}
			o.HTTPClient = &http.Client{Transport: watching{o.HTTPClient.Transport, &seen}}
		}, agent.Request{System: "Be kind.", Session: "s1", Messages: []agent.Message{agent.UserText("go")}})
		if !strings.Contains(bodies[0], c.with) || strings.Contains(bodies[0], c.without) || seen.URL.Path != c.path {
			t.Errorf("%s gets %s: %s", host, seen.URL.Path, bodies[0])
		}
		key, header := "Bearer test-key-123456", "Authorization"
		if strings.Contains(host, "azure") {
			key, header = "test-key-123456", "Api-Key"
		}
		if seen.Header.Get(header) != key || seen.Header.Get("X-Team") != "blue" || len(seen.Header["Authorization"])+len(seen.Header["Api-Key"]) != 1 {
			t.Errorf("%s gets %v", host, seen.Header)
		}
	}
}

// watching notes the request that goes out.
type watching struct {
	next http.RoundTripper
	seen **http.Request
}

func (w watching) RoundTrip(r *http.Request) (*http.Response, error) {
	*w.seen = r
	return w.next.RoundTrip(r)
}

func TestEveryProviderIsInOrder(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range openai.Providers() {
		if p.Name == "" || p.Title == "" || p.API == "" || seen[p.Name] || p.BaseURL == "" && p.URLVar == "" || !p.Local && p.KeyVar == "" {
			t.Errorf("%+v", p)
		}
		seen[p.Name] = true
		if _, err := openai.New(openai.Options{Provider: p.Name, APIKey: "k", Model: "m", BaseURL: p.BaseURL}); p.BaseURL != "" && err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		_, err := openai.New(openai.Options{Provider: p.Name, Model: "m"})
		if fails := err != nil; fails == p.Local {
			t.Errorf("%s without a key: %v", p.Name, err)
		}
		if err != nil && !strings.Contains(err.Error(), p.KeyVar) && !strings.Contains(err.Error(), p.URLVar) {
			t.Errorf("%s: %v does not say which variable to set", p.Name, err)
		}
	}
}
