// Package openai talks to any server that speaks the Chat Completions protocol:
// OpenAI itself, and local or hosted servers that imitate it.
//
// Requests, transport and event framing are openai-go's; what a reply is made of
// is put together here (accumulate.go), since the accumulator of that package
// merges calls that lack an index and repeats names. Nothing is retried: that is
// the session's business. The package reads neither environment nor disk.
package openai

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"assent/agent"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

const (
	defaultBaseURL = "https://api.openai.com/v1/"

	// headerTime bounds the wait for the first byte of an answer. A local server
	// may load a model and read a long prompt before it sends one.
	headerTime = 10 * time.Minute

	// drainTime is how long a finished stream is read to its end, so that the
	// connection can serve the next request.
	drainTime = 50 * time.Millisecond
)

// Options say which server and which model. Only they count: the variables that
// openai-go reads by itself do not.
type Options struct {
	BaseURL string // with the version path, as http://localhost:11434/v1; "": the OpenAI API
	APIKey  string // may be empty for a local server
	Model   string

	// Proxy chooses the proxy of a request, as http.ProxyFromEnvironment does;
	// nil: none. It is not used with HTTPClient.
	Proxy func(*http.Request) (*url.URL, error)

	HTTPClient *http.Client // nil: one of its own
}

// Model is an [agent.Model] behind a Chat Completions server.
type Model struct {
	client sdk.Client
	name   string
	server server
}

// New checks the options; it does not connect. Its errors are [*agent.ModelError]
// of kind [agent.ErrorConfig] that say which setting to change.
func New(o Options) (*Model, error) {
	o.APIKey, o.Model = strings.TrimSpace(o.APIKey), strings.TrimSpace(o.Model)
	if o.Model == "" {
		return nil, configError("No model is named: set ASSENT_MODEL, or model in config.toml")
	}
	base, err := parseBaseURL(o.BaseURL, o.APIKey)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, configError("The API key holds a space or a character that no key has: check OPENAI_API_KEY")
	}
	m := &Model{name: o.Model, server: newServer(base, o)}
	opts := []option.RequestOption{
		option.WithHTTPClient(m.server.httpClient(o)),
		option.WithMaxRetries(0),
		option.WithMiddleware(m.server.check),
		option.WithHeader("User-Agent", "assent"),
		option.WithHeader("Accept", "text/event-stream, application/json"),
	}
	if o.APIKey != "" {
		opts = append(opts, option.WithAPIKey(o.APIKey))
	}
	for key, values := range base.Query() { // openai-go drops the query of a base URL
		for _, value := range values {
			opts = append(opts, option.WithQueryAdd(key, value))
		}
	}
	base.RawQuery = ""
	// sdk.NewClient would read OPENAI_* from the environment, organisation and
	// extra headers included, with no way to unset them.
	m.client = sdk.Client{Options: append(opts, option.WithBaseURL(base.String()))}
	return m, nil
}

func parseBaseURL(text, key string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		if key == "" {
			return nil, configError("No API key for api.openai.com: set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server")
		}
		text = defaultBaseURL
	}
	base, err := url.Parse(text) // its error quotes the URL, which may hold a password
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" {
		return nil, configError("The base URL is not of the form http://host/v1 or https://host/v1: check OPENAI_BASE_URL")
	}
	base.Fragment, base.RawFragment = "", ""
	return base, nil
}

func configError(sentence string) *agent.ModelError {
	return &agent.ModelError{Kind: agent.ErrorConfig, Message: sentence}
}

// errBreak says that the consumer has had enough.
var errBreak = errors.New("the consumer stopped")

// Stream implements [agent.Model].
func (m *Model) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		err := m.stream(ctx, req, func(c agent.Chunk) bool { return yield(c, nil) })
		if err != nil && err != errBreak {
			yield(agent.Chunk{}, err)
		}
	}
}

func (m *Model) stream(ctx context.Context, req agent.Request, yield func(agent.Chunk) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	body, err := encode(m.name, req)
	if err != nil {
		return err
	}
	sending, cancel := context.WithCancel(ctx)
	defer cancel()
	var res *http.Response
	if err := m.client.Post(sending, "chat/completions", body, &res); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return m.server.transportError(err)
	}
	defer res.Body.Close()
	reply, err := m.receive(ctx, res, &accumulator{}, yield)
	if err != nil {
		return err
	}
	defer drain(res.Body, cancel)
	if !yield(agent.Chunk{Reply: &reply}) {
		return errBreak
	}
	return nil
}

// receive reads events until the server says that it is done, and returns the
// reply only if it is whole.
func (m *Model) receive(ctx context.Context, res *http.Response, acc *accumulator, yield func(agent.Chunk) bool) (agent.Message, error) {
	events := ssestream.NewDecoder(res)
	for events.Next() {
		// What is buffered comes without a look at the context.
		if err := ctx.Err(); err != nil {
			return agent.Message{}, err
		}
		data := events.Event().Data
		if strings.TrimSpace(string(data[:min(len(data), 16)])) == "[DONE]" {
			break
		}
		chunk, err := m.server.decode(data)
		if err != nil {
			return agent.Message{}, err
		}
		if shown := acc.add(chunk); shown != (agent.Chunk{}) && !yield(shown) {
			return agent.Message{}, errBreak
		}
	}
	if err := ctx.Err(); err != nil {
		return agent.Message{}, err
	}
	if err := events.Err(); err != nil {
		return agent.Message{}, m.server.brokenError(err)
	}
	return acc.reply()
}

// drain reads the little that follows a finished stream: a body closed before
// its end costs the connection. A server that keeps the stream open is left.
func drain(body io.Reader, cancel context.CancelFunc) {
	timer := time.AfterFunc(drainTime, cancel)
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, 4<<10)
}
