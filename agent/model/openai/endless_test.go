package openai

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"assent/agent"
)

// TestAReplyWithoutAnEndIsNotReadForEver: memory has an end. The limit is a small one
// here, and the server goes on until the client leaves.
func TestAReplyWithoutAnEndIsNotReadForEver(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"again and \"}}]}\n\n")
		}
	}))
	defer srv.Close()
	m, err := New(Options{BaseURL: srv.URL, Model: "m", HTTPClient: srv.Client()})
	if err != nil {
		t.Fatal(err)
	}
	m.maxReply = 1 << 20
	for _, err = range m.Stream(t.Context(), agent.Request{Messages: []agent.Message{agent.UserText("go")}}) {
	}
	if failed, ok := err.(*agent.ModelError); !ok || failed.Retryable() || !strings.Contains(failed.Message, "max_tokens") {
		t.Errorf("the error is %v", err)
	}
}
