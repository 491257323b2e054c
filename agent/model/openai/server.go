package openai

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"assent/agent"

	"github.com/openai/openai-go/v3/option"
)

const maxErrorBody = 64 << 10

// server is what is known of the other side, for sentences about it.
type server struct {
	host    string // as in the base URL, port included
	title   string // of its kind
	model   string
	hasKey  bool
	keyVar  string // setting with the key, may be ""
	urlVar  string // setting with the address, may be ""
	secrets redactor
}

func newServer(base *url.URL, p Provider, o Options) server {
	return server{base.Host, p.Title, o.Model, o.APIKey != "", cmp.Or(o.KeyName, p.KeyVar), cmp.Or(o.AddressName, p.URLVar), newRedactor(base, o)}
}

func (s server) httpClient(o Options) *http.Client {
	client := http.Client{}
	if o.HTTPClient != nil {
		client = *o.HTTPClient
	} else if shared, ok := http.DefaultTransport.(*http.Transport); ok {
		own := shared.Clone()
		own.Proxy = o.Proxy
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
		return configError(fmt.Sprintf("%s redirects to %s://%s, which is not followed: if that is right, set base_url to it",
			s.host, s.secrets.clean(req.URL.Scheme), s.secrets.clean(req.URL.Host)))
	case req.Method != first.Method:
		return configError(fmt.Sprintf("%s redirects the request to another address: check the base URL", s.host))
	case len(via) >= 10:
		return configError(fmt.Sprintf("%s redirects in circles: check the base URL", s.host))
	}
	return nil
}

// check is a middleware: what it returns without an error is the body of a reply.
// Errors are made here and not from openai-go's, which loses the status of an
// answer that is not JSON.
func (m *Model) check(f form, pictures []agent.Image) option.Middleware {
	return func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		res, err := next(req)
		if err != nil {
			return nil, err
		}
		if res.StatusCode < 200 || res.StatusCode > 299 {
			defer res.Body.Close()
			body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // what came is better than nothing
			if learned := m.learn(f, res.StatusCode, body, pictures); learned != nil {
				return nil, learned
			}
			return nil, m.server.statusError(res, body)
		}
		return res, nil
	}
}

// learn takes out of requests from now on what a server complains of, if it does
// of something that they can do without.
func (m *Model) learn(f form, status int, body []byte, pictures []agent.Image) error {
	c := parseComplaint(body)
	if status == 0 { // of an event
		status = c.status
	}
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusTooManyRequests:
		return nil
	}
	c.status = status
	changed, what := f.adapt(c, pictures)
	if what == "" {
		return nil
	}
	if changed.unread != f.unread { // the person may want to mend the picture
		what += ": " + m.server.secrets.clean(c.message)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.form == f { // else another request has learned something meanwhile
		m.form = changed
	}
	return &agent.ModelError{
		Kind: agent.ErrorUnsupported, Status: status,
		Message: fmt.Sprintf("%s does not take the request as it was: %s", m.server.host, what),
	}
}

// noStream is for a body without events.
func (s server) noStream(res *http.Response, stray []byte) error {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	nothing := len(bytes.TrimSpace(stray)) == 0
	switch {
	case nothing && (kind == "text/event-stream" || kind == ""):
		return s.cutError(nil)
	case kind == "text/event-stream" || kind == "":
		return s.notSSE(res, "answers with something else")
	case nothing:
		return s.notSSE(res, "answers with an empty "+kind)
	case isJSON(kind):
		return s.notSSE(res, "answers with broken JSON")
	}
	return s.notSSE(res, "answers with "+kind)
}

func isJSON(mediaType string) bool {
	return mediaType == "application/json" || strings.HasSuffix(mediaType, "+json")
}

// notReply is for a body whose events are of something else.
func (s server) notReply(res *http.Response) error {
	return s.notSSE(res, "answers with JSON that is not a reply of a model")
}

func (s server) notSSE(res *http.Response, what string) error {
	return &agent.ModelError{
		Kind:   agent.ErrorNotSSE,
		Status: res.StatusCode,
		Message: fmt.Sprintf("%s %s where a stream of events was expected: does the base URL end in the API's path, such as /v1?",
			s.host, s.secrets.clean(what)),
	}
}

// strangeEvent is for an event that is not of the protocol.
func (s server) strangeEvent(data []byte, err error) error {
	return &agent.ModelError{
		Kind:    agent.ErrorProvider,
		Message: fmt.Sprintf("%s sent an event that is not a piece of a reply (%v): %s", s.host, s.secrets.clean(err.Error()), s.secrets.clean(string(data[:min(len(data), 2<<10)]))),
	}
}

// cutError is for a reply that had begun and has no end.
func (s server) cutError(err error) error {
	e := &agent.ModelError{Kind: agent.ErrorTruncated, Message: fmt.Sprintf("%s ended its reply in the middle", s.host)}
	if err != nil {
		e.Message = fmt.Sprintf("The connection to %s broke in the middle of the reply", s.host)
		e.Err = s.secrets.cause(err)
	}
	return e
}

// endless is for a reply that is longer than any can be.
func (s server) endless(limit string) error {
	return &agent.ModelError{
		Kind:    agent.ErrorProvider,
		Status:  http.StatusOK, // it would only do so again
		Message: fmt.Sprintf("%s sent more than %s in one reply, which was not read further; set max_tokens to limit it", s.host, limit),
	}
}

// endedBadly is for a reply whose end says that the server failed.
func (s server) endedBadly(finish string) error {
	return &agent.ModelError{
		Kind:    agent.ErrorProvider,
		Message: fmt.Sprintf("%s ended its reply with the error %q, which it does not explain", s.host, s.secrets.clean(finish)),
	}
}

// silent is for a connection on which nothing came for too long.
func (s server) silent(begun bool, idle time.Duration) error {
	e := &agent.ModelError{Kind: agent.ErrorIdle, Message: fmt.Sprintf("%s sent nothing for %v in the middle of its reply", s.host, idle)}
	if !begun {
		e.Message = fmt.Sprintf("%s did not begin to answer within %v", s.host, 2*idle)
	}
	e.Message += "; if it is only slow, set idle_timeout higher"
	return e
}
