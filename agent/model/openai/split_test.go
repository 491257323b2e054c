package openai_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"assent/agent/model/openai"
)

// pieces is a body that comes in reads of given sizes, over and over.
type pieces struct {
	rest  []byte
	sizes []byte
	next  int
}

func (p *pieces) Read(into []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	size := len(p.rest)
	if len(p.sizes) > 0 {
		size = int(p.sizes[p.next%len(p.sizes)])%97 + 1
		p.next++
	}
	n := copy(into, p.rest[:min(size, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

func (p *pieces) Close() error { return nil }

// answering is a network that answers each request with one body.
type answering struct {
	status int
	kind   string
	body   []byte
	sizes  []byte
}

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	return &http.Response{
		StatusCode: a.status, Header: http.Header{"Content-Type": {a.kind}},
		Body: &pieces{rest: a.body, sizes: a.sizes}, Request: r,
	}, nil
}

// made is all that a model makes of a body.
func made(t *testing.T, api string, status int, body, sizes []byte) outcome {
	t.Helper()
	m, err := openai.New(openai.Options{
		BaseURL: "http://model.example/v1", Model: "m", API: api,
		HTTPClient: &http.Client{Transport: answering{status, "text/event-stream", body, sizes}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return ask(t, m, caseRequest())
}

func (o outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "text %q, reasoning %q", o.text, o.thinking)
	if o.reply != nil {
		fmt.Fprintf(&b, ", reply %+v", *o.reply)
	}
	if o.err != nil {
		fmt.Fprintf(&b, ", %s: %v", o.err.Kind, o.err)
	}
	return b.String()
}

// FuzzSplit: what a body means does not depend on where reads cut it, nor on its line
// ends, and the calls of a case are the known ones however it is cut.
func FuzzSplit(f *testing.F) {
	cases := readCases(f)
	for i, c := range cases {
		if len(c.body) < 100_000 && c.Transport.Close != "hang" {
			f.Add(uint8(i), []byte{0}, c.body)
			f.Add(uint8(i), []byte{1, 2, 3}, bytes.ReplaceAll(c.body, []byte("\n"), []byte("\r")))
		}
	}
	for _, extra := range textsOfModels {
		f.Add(uint8(0), []byte{3, 1}, chatBody(extra))
	}
	f.Fuzz(func(t *testing.T, which uint8, sizes, body []byte) {
		whole := made(t, openai.APIChat, 200, body, nil)
		if cut := made(t, openai.APIChat, 200, body, sizes); cut.String() != whole.String() {
			t.Errorf("cut: %v\nwhole: %v", cut, whole)
		}
		if whole.reply != nil && whole.reply.Text() != whole.text {
			t.Errorf("shown %q, replied %q", whole.text, whole.reply.Text())
		}
		c := cases[int(which)%len(cases)]
		if len(c.body) > 100_000 || c.Transport.Close == "hang" {
			return
		}
		if c.Headers["content-type"] == "text/event-stream" && c.Status == 200 {
			for _, fault := range c.faults(made(t, openai.APIChat, 200, c.body, sizes)) {
				t.Errorf("%s: %s", c.name, fault)
			}
		}
	})
}

// chatBody is a stream of Chat Completions with one text.
func chatBody(text string) []byte {
	return fmt.Appendf(nil, "data: {\"choices\":[{\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", quoted(text))
}
