package openai

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"assent/agent"
)

func (s server) statusError(res *http.Response, body []byte) error {
	c := parseComplaint(body)
	err := s.classify(res.StatusCode, c)
	if err.RetryAfter = retryAfter(res.Header); err.RetryAfter == 0 && err.Retryable() {
		err.RetryAfter = c.retryIn()
	}
	if err.RetryAfter == 0 && res.StatusCode == http.StatusTooManyRequests {
		err.RetryAfter = resetIn(res.Header)
	}
	return err
}

// streamError is for an error among the events. Its status is the server's own
// number, if it gives one, or what its code word means.
func (s server) streamError(event []byte) error {
	c := parseComplaint(event)
	status := c.status
	if status == 0 && c.code != "" {
		status = statusOf(c.code)
	}
	err := s.classify(status, c)
	if err.Retryable() {
		err.RetryAfter = c.retryIn()
	}
	return err
}

// statusOf is the status of a code that blames the request; the others are faults of
// the server, of which the same request may be free later.
func statusOf(code string) int {
	switch {
	case says(code, "server_error", "overloaded", "internal", "api_error", "unavailable", "timeout", "rate_limit"):
		return 0
	case says(code, "authentication", "invalid_api_key"):
		return http.StatusUnauthorized
	case says(code, "permission"):
		return http.StatusForbidden
	case says(code, "not_found"):
		return http.StatusNotFound
	case says(code, "invalid", "bad_request", "badrequest", "bad request", "unsupported", "policy"):
		return http.StatusBadRequest
	}
	return 0
}

// classify names the kind of an error and says in one sentence what to do. What the
// server says counts for more than its status: statuses differ from server to server.
func (s server) classify(status int, c complaint) *agent.ModelError {
	e := &agent.ModelError{Status: status}
	if c.message != "" {
		e.Message = ": " + s.secrets.clean(c.message)
	}
	say := func(kind agent.ModelErrorKind, format string, args ...any) {
		e.Kind, e.Message = kind, fmt.Sprintf(format, args...)+e.Message
	}
	limited := status == http.StatusTooManyRequests || says(c.code, "rate_limit", "ratelimit", "throttl", "too_many_requests") ||
		(status == 0 || status == http.StatusForbidden) && c.paced()
	switch {
	case status == http.StatusPaymentRequired || c.unpaid(status):
		say(agent.ErrorQuota, "The account at %s has no quota left, check its plan and its billing", s.host)
	case status == http.StatusRequestEntityTooLarge || c.tooLongAt(status):
		say(agent.ErrorContextOverflow, "The conversation is too long for the model %s, begin a new one%s", s.model, s.orMoreContext())
		e.Limit, e.Tokens = c.sizes()
	case limited:
		say(agent.ErrorRateLimit, "%s limits how often it may be asked, try again later", s.host)
	case status == http.StatusUnauthorized, status == http.StatusForbidden, c.badKey(), c.barredFromAll() && status < 500 && status != http.StatusNotFound:
		kind, sentence := s.refusal(status, c)
		say(kind, "%s", sentence)
	case c.refusesTools():
		say(agent.ErrorNoTools, "The model %s can't call tools, which assent needs: %s", s.model, s.toolRemedy(c))
	case c.refusesImages():
		say(agent.ErrorConfig, "The model %s does not take images, choose one that does or leave them out", s.model)
	default:
		kind, sentence := s.fault(status, c)
		say(kind, "%s", sentence)
		if says(c.code, "tool_use_failed") {
			e.Status = 0 // the model is at fault, not the request, and it may do better
		}
	}
	return e
}

// refusal is the sentence for a request that is not let in. It blames the key only if
// nothing else is to blame.
func (s server) refusal(status int, c complaint) (agent.ModelErrorKind, string) {
	switch barred := c.barred(); {
	case c.flagged() && status != http.StatusUnauthorized:
		return agent.ErrorProvider, fmt.Sprintf("%s refuses what the conversation says, put it in other words", s.host)
	case barred != "" && !c.badKey():
		return agent.ErrorAuth, fmt.Sprintf("%s %s", s.host, barred)
	case !s.hasKey && c.page:
		return agent.ErrorAuth, fmt.Sprintf("%s or a proxy before it refuses the request, check the network, %s and %s", s.host, s.address(), s.key())
	case !s.hasKey:
		return agent.ErrorAuth, fmt.Sprintf("%s wants an API key, set %s", s.host, s.key())
	case c.page && status == http.StatusForbidden:
		return agent.ErrorAuth, fmt.Sprintf("%s or a proxy before it refuses the request, check the network and %s", s.host, s.key())
	}
	return agent.ErrorAuth, fmt.Sprintf("%s does not accept the API key, check %s", s.host, s.key())
}

// fault is the sentence for what only the status tells.
func (s server) fault(status int, c complaint) (agent.ModelErrorKind, string) {
	switch {
	case says(c.words(), "try pulling it"):
		return agent.ErrorConfig, fmt.Sprintf("%s has no model %s, get it with `ollama pull %s` or choose another", s.host, s.model, s.model)
	case says(c.words(), "no models loaded", "no model loaded"):
		return agent.ErrorConfig, fmt.Sprintf("%s has loaded no model, load %s there first", s.host, s.model)
	case says(c.words(), "v1/responses"):
		return agent.ErrorConfig, fmt.Sprintf("%s has the model %s only behind the Responses API, set api to responses", s.host, s.model)
	case status < 500 && c.unknownModel():
		return agent.ErrorConfig, fmt.Sprintf("%s has no model %s, check ASSENT_MODEL", s.host, s.model)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return agent.ErrorConfig, fmt.Sprintf("%s has no model %s or no such address, check ASSENT_MODEL and that %s ends in the API's path, such as /v1",
			s.host, s.model, s.address())
	case status == http.StatusRequestTimeout:
		return agent.ErrorTransport, fmt.Sprintf("%s gave up waiting for the request", s.host)
	case status >= 300 && status < 400:
		return agent.ErrorConfig, fmt.Sprintf("%s redirects without saying where to, check %s", s.host, s.address())
	case says(c.code, "tool_use_failed"):
		return agent.ErrorProvider, fmt.Sprintf("The model %s made a call that %s can't read", s.model, s.host)
	case c.flagged():
		return agent.ErrorProvider, fmt.Sprintf("%s refuses what the conversation says, put it in other words", s.host)
	case status >= 400 && status < 500:
		return agent.ErrorProvider, fmt.Sprintf("%s does not accept the request", s.host)
	case status == http.StatusNotImplemented:
		return agent.ErrorProvider, fmt.Sprintf("%s does not have this API, check %s and api", s.host, s.address())
	case c.loading():
		return agent.ErrorProvider, fmt.Sprintf("%s is still loading the model %s, try again in a moment", s.host, s.model)
	case status == http.StatusServiceUnavailable || status == 529 || says(c.code, "overloaded"):
		return agent.ErrorProvider, fmt.Sprintf("%s is overloaded or not ready, try again later", s.host)
	}
	return agent.ErrorProvider, fmt.Sprintf("%s failed", s.host)
}

// toolRemedy says how to get tools from this server, if it says which it is.
func (s server) toolRemedy(c complaint) string {
	all := c.words()
	switch {
	case says(all, "--enable-auto-tool-choice") || s.title == "vLLM":
		return "start the server with --enable-auto-tool-choice and --tool-call-parser"
	case says(all, "--tool-call-parser") || s.title == "SGLang":
		return "start the server with --tool-call-parser"
	case says(all, "--jinja") || s.title == "llama.cpp":
		return "start the server with --jinja, or choose a model that can"
	case s.title == "Ollama":
		return "choose one of Ollama's models with tools"
	}
	return "choose a model that can"
}

// orMoreContext is for servers whose context the person chooses.
func (s server) orMoreContext() string {
	switch s.title {
	case "Ollama":
		return " or raise OLLAMA_CONTEXT_LENGTH there"
	case "llama.cpp":
		return " or start the server with a larger --ctx-size"
	case "vLLM":
		return " or start the server with a larger --max-model-len"
	case "LM Studio":
		return " or load the model with a longer context there"
	}
	return ""
}

// key and address are the settings as the person knows them.
func (s server) key() string {
	if s.keyVar != "" {
		return s.keyVar
	}
	return "api_key"
}

func (s server) address() string {
	if s.urlVar != "" {
		return s.urlVar
	}
	return "base_url"
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
	case errors.As(err, &op) && op.Op == "proxyconnect":
		e.Message = fmt.Sprintf("The proxy before %s can't be reached (%s): check HTTPS_PROXY and HTTP_PROXY, or name the host in NO_PROXY", s.host, s.secrets.clean(op.Err.Error()))
	case strings.Contains(err.Error(), "Location header"):
		e.Kind = agent.ErrorConfig
		e.Message = fmt.Sprintf("%s redirects to what is no address: check %s", s.host, s.address())
	case errors.As(err, &dns):
		e.Message = fmt.Sprintf("The host of %s can't be found: check %s and the network", s.host, s.address())
	case errors.As(err, &cert):
		e.Kind = agent.ErrorConfig
		e.Message = fmt.Sprintf("The certificate of %s can't be trusted: %s", s.host, s.secrets.clean(cert.Err.Error()))
	case errors.Is(err, http.ErrSchemeMismatch):
		e.Kind = agent.ErrorConfig
		e.Message = fmt.Sprintf("%s does not speak https: check whether %s should begin with http://", s.host, s.address())
	case errors.As(err, &op) && op.Op == "dial":
		e.Message = fmt.Sprintf("Nothing answers at %s (%s): is the model server running, and is %s right?",
			s.host, s.secrets.clean(op.Err.Error()), s.address())
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
