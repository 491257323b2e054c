package openai

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"assent/agent"
)

// complaint is what a server says of an error, in whichever shape.
type complaint struct {
	message string
	code    string // type and code, in lower case
	status  int    // a numeric code
}

// parseComplaint understands {"error":{…}}, {"error":"…"}, {"message"|"detail":"…"},
// a list of these, and plain text.
func parseComplaint(body []byte) complaint {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	type fields struct {
		Message text `json:"message"`
		Detail  text `json:"detail"`
		Type    text `json:"type"`
		Code    text `json:"code"`
	}
	var outer struct {
		fields
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) != nil {
		if plain := strings.TrimSpace(string(body)); plain != "" && plain[0] != '<' { // not a web page
			return complaint{message: plain}
		}
		return complaint{}
	}
	said := outer.fields
	var inner fields
	var sentence string
	switch {
	case len(outer.Error) == 0:
	case json.Unmarshal(outer.Error, &inner) == nil:
		said = inner
	case json.Unmarshal(outer.Error, &sentence) == nil:
		said.Message = text(sentence)
	}
	c := complaint{message: string(said.Message), code: strings.ToLower(string(said.Type + " " + said.Code))}
	if c.message == "" {
		c.message = string(said.Detail)
	}
	if n, err := strconv.Atoi(string(said.Code)); err == nil && n >= 400 && n < 600 {
		c.status = n
	}
	return c
}

// tooLong recognises the ways in which servers say that the context is full.
func (c complaint) tooLong() bool {
	all := c.code + " " + strings.ToLower(c.message)
	for _, wording := range []string{
		"context_length", "context length", "context window", "context size", "maximum context",
		"exceed_context", "prompt is too long", "input is too long", "too many tokens", "token limit",
	} {
		if strings.Contains(all, wording) {
			return true
		}
	}
	return false
}

func (s server) statusError(res *http.Response, body []byte) error {
	err := s.classify(res.StatusCode, parseComplaint(body))
	err.RetryAfter = retryAfter(res.Header)
	return err
}

// streamError is for an error among the events. Its status is the server's own
// number, if it gives one.
func (s server) streamError(event []byte) error {
	c := parseComplaint(event)
	return s.classify(c.status, c)
}

func (s server) classify(status int, c complaint) *agent.ModelError {
	e := &agent.ModelError{Kind: agent.ErrorProvider, Status: status}
	said := ""
	if c.message != "" {
		said = ": " + s.secrets.clean(c.message)
	}
	say := func(kind agent.ModelErrorKind, format string, args ...any) {
		e.Kind, e.Message = kind, fmt.Sprintf(format, args...)
	}
	noQuota := strings.Contains(c.code, "insufficient_quota") || strings.Contains(c.code, "billing")
	switch {
	case status == 402 || noQuota && (status == 0 || status == 403 || status == 429):
		say(agent.ErrorQuota, "The account at %s has no quota left%s", s.host, said)
	case (status == 401 || status == 403) && !s.hasKey:
		say(agent.ErrorAuth, "%s wants an API key, set OPENAI_API_KEY%s", s.host, said)
	case status == 401 || status == 403:
		say(agent.ErrorAuth, "%s does not accept the API key, check OPENAI_API_KEY%s", s.host, said)
	case status == 429 || status == 0 && strings.Contains(c.code, "rate_limit"):
		say(agent.ErrorRateLimit, "%s limits how often it may be asked%s", s.host, said)
	case status == 413 || c.tooLong():
		say(agent.ErrorContextOverflow, "The conversation is too long for the model %s%s", s.model, said)
	case status == 404:
		say(agent.ErrorConfig, "%s has no model %s or no such address, check ASSENT_MODEL and that OPENAI_BASE_URL ends in the API's path, such as /v1%s",
			s.host, s.model, said)
	case status == 408:
		say(agent.ErrorTransport, "%s gave up waiting for the request%s", s.host, said)
	case status >= 300 && status < 400:
		say(agent.ErrorConfig, "%s redirects without saying where to, check OPENAI_BASE_URL%s", s.host, said)
	case status >= 400 && status < 500:
		say(agent.ErrorProvider, "%s does not accept the request%s", s.host, said)
	default:
		say(agent.ErrorProvider, "%s failed%s", s.host, said)
	}
	return e
}

// transportError is for a request that got no answer.
func (s server) transportError(err error) error {
	var known *agent.ModelError
	if errors.As(err, &known) { // from check or checkRedirect
		return known
	}
	e := &agent.ModelError{Kind: agent.ErrorTransport, Err: s.secrets.cause(err)}
	var dns *net.DNSError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &dns):
		e.Message = fmt.Sprintf("The host of %s can't be found: check OPENAI_BASE_URL and the network", s.host)
	case errors.As(err, &cert):
		e.Kind = agent.ErrorConfig
		e.Message = fmt.Sprintf("The certificate of %s can't be trusted: %s", s.host, s.secrets.clean(cert.Err.Error()))
	case errors.Is(err, http.ErrSchemeMismatch):
		e.Kind = agent.ErrorConfig
		e.Message = fmt.Sprintf("%s does not speak https: check whether OPENAI_BASE_URL should begin with http://", s.host)
	case errors.As(err, &op) && op.Op == "dial":
		e.Message = fmt.Sprintf("Nothing answers at %s (%s): is the model server running, and is OPENAI_BASE_URL right?",
			s.host, s.secrets.clean(op.Err.Error()))
	default:
		e.Message = fmt.Sprintf("The connection to %s broke before an answer: %s", s.host, s.secrets.clean(innermost(err).Error()))
	}
	return e
}

// innermost takes the URL off an error of net/http.
func innermost(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// retryAfter is how long the server asks to wait. A date is taken relative to
// the server's own clock where it shows it, since ours may differ.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return wait(ms, time.Millisecond)
	}
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return wait(seconds, time.Second)
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, until.Sub(now))
}

// wait bounds what a server may ask for to a day; NaN and negative numbers are 0.
func wait(n float64, unit time.Duration) time.Duration {
	const most = 24 * time.Hour
	if !(n > 0) {
		return 0
	}
	if n > float64(most/unit) {
		return most
	}
	return time.Duration(n * float64(unit))
}
