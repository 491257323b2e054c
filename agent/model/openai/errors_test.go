package openai_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/model/openai"
)

func TestAnswersThatAreErrors(t *testing.T) {
	const js = "application/json"
	for name, c := range map[string]struct {
		handler http.Handler
		kind    agent.ModelErrorKind
		status  int
		say     string
	}{
		"a wrong key":                   {status(401, js, `{"error":{"message":"Incorrect API key provided.","code":"invalid_api_key"}}`), agent.ErrorAuth, 401, "Incorrect API key provided"},
		"a key without a right":         {status(403, js, `{"error":"no access"}`), agent.ErrorAuth, 403, "no access"},
		"an unknown model":              {status(404, js, `{"error":{"message":"model 'test-model' not found"}}`), agent.ErrorConfig, 404, "ASSENT_MODEL"},
		"a wrong path":                  {status(404, "text/html", `<html>not here</html>`), agent.ErrorConfig, 404, "/v1"},
		"too many requests":             {status(429, js, `{"error":{"message":"slow down","type":"requests"}}`), agent.ErrorRateLimit, 429, "slow down"},
		"an empty account":              {status(429, js, `{"error":{"message":"pay","code":"insufficient_quota"}}`), agent.ErrorQuota, 429, "pay"},
		"an unpaid account":             {status(402, js, `{"error":{"message":"Insufficient Balance"}}`), agent.ErrorQuota, 402, "Balance"},
		"a full context":                {status(400, js, `{"error":{"message":"too long","code":"context_length_exceeded"}}`), agent.ErrorContextOverflow, 400, "test-model"},
		"a full context in other words": {status(400, js, `{"message":"This model's maximum context length is 4096 tokens"}`), agent.ErrorContextOverflow, 400, "4096"},
		"a request that is too large":   {status(413, "text/plain", ``), agent.ErrorContextOverflow, 413, "too long"},
		"a bad request":                 {status(400, js, `{"error":{"message":"messages: wrong"}}`), agent.ErrorProvider, 400, "messages: wrong"},
		"a bad request, in a list":      {status(400, js, `[{"error":{"message":"wrong","code":400}}]`), agent.ErrorProvider, 400, "wrong"},
		"a bad request, as detail":      {status(422, js, `{"detail":[{"loc":["body"],"msg":"wrong"}]}`), agent.ErrorProvider, 422, "wrong"},
		"a server's own fault":          {status(500, js, `{"error":{"message":"oops"}}`), agent.ErrorProvider, 500, "oops"},
		"a gateway's web page":          {status(502, "text/html", "<html>\nBad gateway</html>"), agent.ErrorProvider, 502, "failed"},
		"an overloaded server":          {status(529, "text/plain", "over\nloaded\x00 \xff"), agent.ErrorProvider, 529, "over loaded �"},
		"a timeout of the server":       {status(408, js, `{}`), agent.ErrorTransport, 408, "gave up"},
		"a redirect to nowhere":         {status(304, js, ``), agent.ErrorConfig, 304, "OPENAI_BASE_URL"},
		"a web page":                    {status(200, "text/html", `<html>`), agent.ErrorNotSSE, 200, "text/html"},
		"other JSON":                    {status(200, js, `{"models":[]}`), agent.ErrorNotSSE, 200, "not a reply of a model"},
		"broken JSON":                   {status(200, js, `{"choices":`), agent.ErrorNotSSE, 200, "broken JSON"},
		"an error as a success":         {status(200, js, `{"error":{"message":"oops","code":503}}`), agent.ErrorProvider, 503, "oops"},
		"an error among the events":     {events(`{"choices":[{"delta":{"content":"a"}}]}`, `{"error":{"message":"oops","type":"server_error"}}`), agent.ErrorProvider, 0, "oops"},
		"a limit among the events":      {events(`{"error":{"message":"slow","code":429}}`), agent.ErrorRateLimit, 429, "slow"},
		"events that are not JSON":      {events(`hello`), agent.ErrorProvider, 0, "not a piece of a reply"},
		"events of another shape":       {events(`{"choices":[{"delta":{"content":["a"]}}]}`), agent.ErrorProvider, 0, "not a piece"},
		"no events":                     {events(), agent.ErrorTruncated, 0, "in the middle"},
		"an end by an unknown error":    {events(`{"choices":[{"delta":{"content":"a"},"finish_reason":"error"}]}`), agent.ErrorProvider, 0, "does not explain"},
	} {
		t.Run(name, func(t *testing.T) {
			err := failure(t, connect(t, c.handler))
			if err.Kind != c.kind || err.Status != c.status || !strings.Contains(err.Message, c.say) {
				t.Errorf("%s, status %d: %s", err.Kind, err.Status, err.Message)
			}
			if strings.ContainsAny(err.Message, "\n\x00") || strings.HasSuffix(err.Message, ".") {
				t.Errorf("the message is not one plain line: %q", err.Message)
			}
		})
	}
}

func TestAServerThatWantsAKeyIsNotSaidToRefuseOne(t *testing.T) {
	m := connect(t, status(401, "application/json", `{}`), func(o *openai.Options) { o.APIKey = "" })
	if err := failure(t, m); err.Kind != agent.ErrorAuth || !strings.Contains(err.Message, "wants an API key, set OPENAI_API_KEY") {
		t.Errorf("%s: %s", err.Kind, err.Message)
	}
}

func TestRetryAfter(t *testing.T) {
	for name, c := range map[string]struct {
		headers []string
		want    time.Duration
	}{
		"in seconds":                       {[]string{"Retry-After", "7"}, 7 * time.Second},
		"in parts of seconds":              {[]string{"Retry-After", "0.5"}, 500 * time.Millisecond},
		"in milliseconds before seconds":   {[]string{"Retry-After-Ms", "30", "Retry-After", "7"}, 30 * time.Millisecond},
		"as a date on the server's clock":  {[]string{"Date", "Tue, 01 Jan 2030 00:00:00 GMT", "Retry-After", "Tue, 01 Jan 2030 00:01:30 GMT"}, 90 * time.Second},
		"as a date in the past":            {[]string{"Date", "Tue, 01 Jan 2030 00:00:00 GMT", "Retry-After", "Mon, 31 Dec 2029 23:00:00 GMT"}, 0},
		"in more seconds than a life has":  {[]string{"Retry-After", "1e300"}, 24 * time.Hour},
		"in seconds before the request":    {[]string{"Retry-After", "-7"}, 0},
		"as something that is not a time":  {[]string{"Retry-After", "soon"}, 0},
		"as something that is not a count": {[]string{"Retry-After", "NaN"}, 0},
		"not at all":                       {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if err := failure(t, connect(t, status(503, "text/plain", "", c.headers...))); err.RetryAfter != c.want {
				t.Errorf("it is %v, want %v", err.RetryAfter, c.want)
			}
		})
	}
}

func TestConnectionsThatFail(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	tlsServer := httptest.NewUnstartedServer(events())
	tlsServer.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of our refusal
	tlsServer.StartTLS()
	t.Cleanup(tlsServer.Close)
	plain := httptest.NewServer(events())
	t.Cleanup(plain.Close)
	hangUp := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	hangUpServer := httptest.NewServer(hangUp)
	t.Cleanup(hangUpServer.Close)

	for name, c := range map[string]struct {
		url  string
		kind agent.ModelErrorKind
		say  string
	}{
		"nobody listens":                       {"http://" + closed + "/v1", agent.ErrorTransport, "Nothing answers at " + closed},
		"the certificate is not trusted":       {tlsServer.URL, agent.ErrorConfig, "can't be trusted"},
		"the server does not speak https":      {strings.Replace(plain.URL, "http:", "https:", 1), agent.ErrorConfig, "begin with http://"},
		"the server hangs up before an answer": {hangUpServer.URL, agent.ErrorTransport, "broke before an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := openai.New(openai.Options{BaseURL: c.url, Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			if err := failure(t, m); err.Kind != c.kind || !strings.Contains(err.Message, c.say) || err.Err == nil && c.kind == agent.ErrorTransport {
				t.Errorf("%s: %s (%v)", err.Kind, err.Message, err.Err)
			}
		})
	}
}

func TestABrokenConnectionInTheMiddleIsATruncatedStream(t *testing.T) {
	m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := stream(w, r)
		s.delta(map[string]any{"content": "half of"})
		panic(http.ErrAbortHandler)
	}))
	if err := failure(t, m); err.Kind != agent.ErrorTruncated || !err.Retryable() || err.Err == nil {
		t.Errorf("%s: %s (%v)", err.Kind, err.Message, err.Err)
	}
}

// Everything that the server knows of secrets comes back in its answer, in the
// forms in which servers and proxies quote it.
func TestNoErrorShowsASecret(t *testing.T) {
	const key, user, password, token = `k3y"/+secret`, "someone", "pa:ss w0rd", "t0ken-value"
	pair := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	echo := func(write func(w http.ResponseWriter, all string)) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			all := fmt.Sprintf("%s %s %q %s %s %s Basic %s other sk-proj-abc123 k3y***ret",
				key, r.Header.Get("Authorization"), key, r.URL, user, password, pair)
			write(w, all)
		})
	}
	quoted := func(all string) string { return fmt.Sprintf(`{"error":{"message":%q}}`, all) }
	handlers := map[string]http.Handler{
		"in a text":    echo(func(w http.ResponseWriter, all string) { http.Error(w, all, http.StatusUnauthorized) }),
		"in an object": echo(func(w http.ResponseWriter, all string) { w.WriteHeader(400); fmt.Fprint(w, quoted(all)) }),
		"in an event":  echo(func(w http.ResponseWriter, all string) { sse{w}.event(quoted(all)) }),
		"in a content type": echo(func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", "text/"+token)
			w.WriteHeader(200)
		}),
		"in a redirect": echo(func(w http.ResponseWriter, _ string) {
			w.Header().Set("Location", "http://"+user+":x@"+token+".example/?"+token)
			w.WriteHeader(307)
		}),
		"by hanging up": echo(func(http.ResponseWriter, string) { panic(http.ErrAbortHandler) }),
	}
	for name, h := range handlers {
		t.Run(name, func(t *testing.T) {
			m := connect(t, h, func(o *openai.Options) {
				o.APIKey = key
				o.BaseURL = strings.Replace(o.BaseURL, "http://", "http://someone:pa%3Ass%20w0rd@", 1) + "?token=" + token
			})
			err := failure(t, m)
			said := err.Error()
			for cause := error(err); cause != nil; cause = errors.Unwrap(cause) {
				said += fmt.Sprintf("\n%v", cause)
			}
			for _, secret := range []string{key, "secret", user, "pa:ss", "pa%3Ass", "w0rd", token, pair, "abc123", "***", "k3y"} {
				if strings.Contains(said, secret) {
					t.Errorf("%q is shown in %s", secret, said)
				}
			}
		})
	}
}

func TestUserAndPasswordOfTheURLAreSentWhereThereIsNoKey(t *testing.T) {
	var user, password string
	m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ = r.BasicAuth()
		s := stream(w, r)
		s.delta(map[string]any{"content": "hi"})
		s.finish("stop")
	}), func(o *openai.Options) {
		o.APIKey = ""
		o.BaseURL = strings.Replace(o.BaseURL, "http://", "http://someone:word@", 1)
	})
	if _, _, err := run(m, agenttest.ModelRequest()); err != nil || user != "someone" || password != "word" {
		t.Errorf("%s:%s, error %v", user, password, err)
	}
}

// TestWhoeverFailsIsNamed: a proxy is not the server, and a redirect to nowhere is asked once.
func TestWhoeverFailsIsNamed(t *testing.T) {
	proxied, err := openai.New(openai.Options{BaseURL: "http://model.example/v1", Model: "m", Proxy: func(*http.Request) (*url.URL, error) {
		return url.Parse("http://someone:hunter22@no-such-proxy.invalid:1")
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := failure(t, proxied); err.Kind != agent.ErrorTransport || !strings.Contains(err.Message, "HTTPS_PROXY") || strings.Contains(err.Error(), "hunter22") {
		t.Errorf("%s: %v", err.Kind, err)
	}
	lost := connect(t, status(307, "text/plain", "", "Location", "http://[::1"))
	if err := failure(t, lost); err.Kind != agent.ErrorConfig || err.Retryable() {
		t.Errorf("%s: %v", err.Kind, err)
	}
}
