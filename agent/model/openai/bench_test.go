package openai_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/model/openai"
)

// canned answers without a network, so that the benchmarks measure this package.
type canned string

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: 200,
		Header:     http.Header{"Content-Type": {"text/event-stream"}},
		Body:       io.NopCloser(strings.NewReader(string(c))),
		Request:    r,
	}, nil
}

func benchmark(b *testing.B, answer string, req agent.Request) {
	m, err := openai.New(openai.Options{
		BaseURL: "http://model.example/v1", Model: "m", HTTPClient: &http.Client{Transport: canned(answer)},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range m.Stream(context.Background(), req) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

const doneEvent = `data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"

// BenchmarkLongHistory is a request at turn 300, with 2 KB a turn.
func BenchmarkLongHistory(b *testing.B) {
	req := agenttest.ModelRequest()
	body := strings.Repeat("func main() {\n\treturn x < y && \"quoted\"\n}\n", 50)
	for range 300 {
		req.Messages = append(req.Messages,
			agenttest.Call(agenttest.Use("c", "read_file", `{"path":"main.go"}`)),
			agent.Message{Role: agent.RoleTool, Blocks: []agent.Block{agent.ToolResult{ID: "c", Output: body}}})
	}
	benchmark(b, doneEvent, req)
}

// BenchmarkManyChunks is an answer of 1 MB in 20,000 chunks.
func BenchmarkManyChunks(b *testing.B) {
	event := `data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"m","choices":[{"index":0,` +
		`"delta":{"content":"fifty bytes of a text that is as long as this one\n"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	benchmark(b, strings.Repeat(event, 20_000)+doneEvent, agenttest.ModelRequest())
}
