package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"assent/agent"

	"github.com/openai/openai-go/v3/option"
)

const (
	maxErrorBody = 64 << 10
	maxWholeBody = 64 << 20
)

// server is what is known of the other side, for sentences about it.
type server struct {
	host    string // as in the base URL, port included
	model   string
	hasKey  bool
	secrets redactor
}

func newServer(base *url.URL, o Options) server {
	return server{base.Host, o.Model, o.APIKey != "", newRedactor(base, o.APIKey)}
}

func (s server) httpClient(o Options) *http.Client {
	client := http.Client{}
	if o.HTTPClient != nil {
		client = *o.HTTPClient
	} else if shared, ok := http.DefaultTransport.(*http.Transport); ok {
		own := shared.Clone()
		own.Proxy = o.Proxy
		own.ResponseHeaderTimeout = headerTime
		client.Transport = own
	}
	client.CheckRedirect = s.checkRedirect
	return &client
}

// checkRedirect follows a server only to itself: the key and the person's files
// go where the person said.
func (s server) checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme:
		return configError(fmt.Sprintf("%s redirects to %s://%s, which is not followed: if that is right, set OPENAI_BASE_URL to it",
			s.host, req.URL.Scheme, s.secrets.clean(req.URL.Host)))
	case req.Method != first.Method:
		return configError(fmt.Sprintf("%s redirects the request to another address: check OPENAI_BASE_URL", s.host))
	case len(via) >= 10:
		return configError(fmt.Sprintf("%s redirects in circles: check OPENAI_BASE_URL", s.host))
	}
	return nil
}

// check is a middleware: what it returns without an error is a stream of events.
// Errors are made here and not from openai-go's, which loses the status of an
// answer that is not JSON.
func (s server) check(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		defer res.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // what came is better than nothing
		return nil, s.statusError(res, body)
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream", kind == "": // small servers forget the header
		return res, nil
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		defer res.Body.Close()
		body, err := s.wholeReply(res)
		if err != nil {
			return nil, err
		}
		res.Body = io.NopCloser(body)
		return res, nil
	}
	res.Body.Close()
	return nil, s.notSSE(res, "answers with "+kind)
}

// wholeReply makes one event of a completion that was not streamed: a message
// has the fields of a delta.
func (s server) wholeReply(res *http.Response) (io.Reader, error) {
	type choice struct {
		Message      json.RawMessage `json:"message,omitempty"`
		Delta        json.RawMessage `json:"delta,omitempty"`
		FinishReason json.RawMessage `json:"finish_reason,omitempty"`
	}
	var whole struct {
		Choices []choice        `json:"choices"`
		Usage   json.RawMessage `json:"usage,omitempty"`
		Error   json.RawMessage `json:"error,omitempty"`
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxWholeBody))
	if err != nil {
		return nil, s.brokenError(err)
	}
	if err := json.Unmarshal(body, &whole); err != nil {
		return nil, s.notSSE(res, "answers with broken JSON")
	}
	if len(whole.Choices) == 0 && len(whole.Error) == 0 {
		return nil, s.notSSE(res, "answers with JSON that is not a chat completion")
	}
	if len(whole.Choices) > 0 {
		first := &whole.Choices[0]
		first.Delta, first.Message = first.Message, nil
		whole.Choices = whole.Choices[:1]
	}
	event, err := json.Marshal(whole) // on one line, as an event has to be
	if err != nil {
		return nil, s.notSSE(res, "answers with broken JSON")
	}
	return io.MultiReader(strings.NewReader("data: "), bytes.NewReader(event), strings.NewReader("\n\n")), nil
}

// decode reads one event. An error that the server puts into the stream ends it.
func (s server) decode(data []byte) (chunk, error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return chunk{}, &agent.ModelError{
			Kind:    agent.ErrorProvider,
			Message: fmt.Sprintf("%s sent an event that is not a piece of a chat completion: %s", s.host, s.secrets.clean(err.Error())),
		}
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return chunk{}, s.streamError(data)
	}
	return c, nil
}

func (s server) notSSE(res *http.Response, what string) error {
	return &agent.ModelError{
		Kind:   agent.ErrorNotSSE,
		Status: res.StatusCode,
		Message: fmt.Sprintf("%s %s where a stream of events was expected: does OPENAI_BASE_URL end in the API's path, such as /v1?",
			s.host, s.secrets.clean(what)),
	}
}

// brokenError is for a reply that had begun.
func (s server) brokenError(err error) error {
	return &agent.ModelError{
		Kind:    agent.ErrorTruncated,
		Message: fmt.Sprintf("The connection to %s broke in the middle of the reply", s.host),
		Err:     s.secrets.cause(err),
	}
}
