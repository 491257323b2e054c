package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/model/openai"
)

// The word for the end of a reply is the server's own, and is shown and kept.
func TestTheWordForTheEndShowsNoSecret(t *testing.T) {
	const key = "test-key-123456"
	for name, c := range map[string]struct{ said, want string }{
		"an ordinary one":       {"tool_calls", "tool_calls"},
		"the key":               {"Bearer " + key, "Bearer [hidden]"},
		"among other words":     {"end of " + key, "end of [hidden]"},
		"broken by a line end":  {"test-key\n-123456", "[hidden]"},
		"what a terminal obeys": {"stop\x1b[31m\nnow\u202e", "stop [31m now"},
		"a long one":            {strings.Repeat("é", 500), strings.Repeat("é", 32)},
		"the key at the limit":  {strings.Repeat("x", 60) + " " + key, strings.Repeat("x", 60) + " [hi"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, api := range []string{openai.APIChat, openai.APIResponses} {
				m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					s := stream(w, r)
					if api == openai.APIResponses {
						s.event(`{"type":"response.output_text.delta","delta":"ok"}`)
						s.event(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":` + quoted(c.said) + `}}}`)
						return
					}
					s.delta(map[string]any{"content": "ok"})
					s.finish(c.said)
				}), func(o *openai.Options) { o.API = api })
				_, reply, err := run(m, agent.Request{Messages: []agent.Message{agent.UserText("go")}})
				if err != nil {
					t.Fatal(err)
				}
				if reply.Finish != c.want {
					t.Errorf("%s: %q, want %q", api, reply.Finish, c.want)
				}
			}
		})
	}
}

func TestAKeyIsToldFromTheNameOfAVariable(t *testing.T) {
	for word, key := range map[string]bool{
		"CORP_KEY": false, "AZURE_OPENAI_API_KEY_2_PRODUCTION": false, "OPENAI_API_KEY": false, "my_key": false, "hf_token": false, "KEY1": false, "": false,
		"corp_llm_gateway_api_key": false,
		"gsk_AbCd":                 true, "gsk_AbCdEfGh1234": true, "hf_AbCdEfGh": true, "sk-proj": true, "sk_live_51H": true, "AIzaSyD4x": true, "xai_9aZ": true,
		"0123456789abcdef0123456789abcdef": true, "a1b2c3d4e5f60718": true, "AKIAIOSFODNN7EXAMPLE": true, "Zk9abCdEfGh12Zk9abCd": true,
	} {
		if openai.LooksLikeKey(word) != key {
			t.Errorf("%q is taken for a key: %v", word, !key)
		}
	}
}

func TestNoRestStaysOfAKeyThatContainsAnother(t *testing.T) {
	hide := openai.Hide([]string{"corp-1", "corp-1-and-more", "", "x"})
	if got := hide("the keys corp-1-and-more, corp-1 and x"); got != "the keys [hidden], [hidden] and x" {
		t.Error(got)
	}
}
