// Package openai talks to any server that speaks Chat Completions, OpenAI itself
// and those that imitate it, or OpenAI's Responses API.
//
// Requests and transport are openai-go's; what goes over the wire and what a reply
// is made of is put together here. The accumulator of that package merges calls
// that lack an index and repeats names, its reader of events loses the last one and
// does not show comments, and its parameters do not keep the bytes of a schema.
//
//	provider.go        what is known of servers by name
//	form.go            how requests look, and what is left out once a server refused it
//	request.go         encoding: each message once; chat.go and responses.go are the wires
//	sse.go, watch.go   events out of bytes, and the end of patience
//	reader.go          what replies of both wires share; chatreader.go, responsesreader.go
//	calls.go           calls out of fragments
//	filter.go          reasoning and written calls in the text
//	client.go          through openai-go; server.go is where to, redact.go what is secret
//	errors.go          what servers say when they refuse: complaint.go reads it, wording.go
//	                   and refused.go know their words, overflow.go their numbers
//
// Nothing is retried: that is the session's business. The package reads neither
// environment nor disk.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"assent/agent"

	"github.com/openai/openai-go/v3/option"
	sdk "github.com/openai/openai-go/v3/responses"
)

// drainTime is how long a finished stream is read to its end, so that the
// connection can serve the next request.
const drainTime = 50 * time.Millisecond

// maxReply is how many bytes of events one reply may have. A model that repeats itself
// for ever would else fill the memory.
const maxReply = 256 << 20

// Options say which server and which model. Only they count: the variables that
// openai-go reads by itself do not.
type Options struct {
	Provider  string            // name of one of [Providers]; "": told by the address
	BaseURL   string            // with the version path, as http://localhost:11434/v1; "": the provider's
	APIKey    string            // may be empty for a local server
	Headers   map[string]string // that a proxy wants besides
	API       string            // [APIChat] or [APIResponses]; "": as the server is used to
	Model     string
	MaxTokens int           // limit of one reply; 0: the server's
	Effort    string        // how much to reason, as the server calls it; "": the server's
	Idle      time.Duration // of silence that ends a reply; 0: 5 minutes. The first event may take twice that

	AddressName, KeyName string // of the settings with these, in sentences; "": the provider's variables

	// Proxy chooses the proxy of a request, as http.ProxyFromEnvironment does;
	// nil: none. It is not used with HTTPClient.
	Proxy func(*http.Request) (*url.URL, error)

	HTTPClient *http.Client // nil: one of its own
}

// Model is an [agent.Model] behind a server.
type Model struct {
	client   client
	opts     Options
	server   server
	wire     wire
	encoders encoders
	maxReply int

	mu   sync.Mutex
	form form // as requests look by now
}

// New checks the options; it does not connect. Its errors are [*agent.ModelError]
// of kind [agent.ErrorConfig] that say which setting to change.
func New(o Options) (*Model, error) {
	o.Model = strings.TrimSpace(o.Model)
	if o.Model == "" {
		return nil, configError("No model is named: set ASSENT_MODEL, or model in config.toml; `assent models` lists what the server has")
	}
	return newModel(o)
}

// newModel is New without the need of a model's name.
func newModel(o Options) (*Model, error) {
	o.APIKey = strings.TrimSpace(o.APIKey)
	base, p, err := address(o)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, configError("The API key holds a space or a character that no key has: check " + cmp.Or(o.KeyName, p.KeyVar, "api_key in config.toml"))
	}
	if o.Idle <= 0 {
		o.Idle = defaultIdle
	}
	m := &Model{opts: o, server: newServer(base, p, o), form: newForm(p, o), maxReply: maxReply}
	switch api := o.API; {
	case api == APIResponses, api == "" && p.API == APIResponses:
		m.wire = responses{}
	case api == APIChat, api == "":
		m.wire = chat{}
	default:
		return nil, configError("The API " + api + " is not known: set api to chat or responses")
	}
	m.client = client{sdk.ResponseService{Options: m.clientOptions(base, p)}}
	return m, nil
}

// clientOptions are those of each request. A constructor of the sdk would read OPENAI_* from the
// environment, organisation and extra headers included, with no way to unset them.
func (m *Model) clientOptions(base *url.URL, p Provider) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithHTTPClient(m.server.httpClient(m.opts)),
		option.WithMaxRetries(0),
		option.WithHeader("User-Agent", "assent"),
		option.WithHeader("Accept", "text/event-stream, application/json"),
	}
	switch {
	case m.opts.APIKey == "":
	case p.dialect.keyHeader != "":
		opts = append(opts, option.WithHeader(p.dialect.keyHeader, m.opts.APIKey))
	default:
		opts = append(opts, option.WithAPIKey(m.opts.APIKey))
	}
	for name, value := range m.opts.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	for key, values := range base.Query() { // openai-go drops the query of a base URL
		for _, value := range values {
			opts = append(opts, option.WithQueryAdd(key, value))
		}
	}
	plain := *base
	plain.RawQuery = ""
	return append(opts, option.WithBaseURL(plain.String()))
}

// address is where the server is, and of which kind it is.
func address(o Options) (*url.URL, Provider, error) {
	text := strings.TrimSpace(o.BaseURL)
	named, known := ProviderNamed(o.Provider)
	if o.Provider != "" && !known {
		return nil, Provider{}, configError("The provider " + o.Provider + " is not known: see `assent doctor` for those that are")
	}
	if text == "" {
		if !known {
			named, _ = ProviderNamed("openai")
		}
		if named.BaseURL == "" {
			return nil, Provider{}, configError(named.Title + " has another address for everybody: set " + named.URLVar + ", or base_url in config.toml")
		}
		if o.APIKey == "" && !named.Local {
			return nil, Provider{}, configError("No API key for " + named.Title + ": set " + cmp.Or(o.KeyName, named.KeyVar) + ", or base_url for another server")
		}
		text = named.BaseURL
	}
	base, err := url.Parse(text) // its error quotes the URL, which may hold a password
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" {
		check := cmp.Or(o.AddressName, cmp.Or(named.URLVar, "OPENAI_BASE_URL")+", or base_url in config.toml")
		return nil, Provider{}, configError("The base URL is not of the form http://host/v1 or https://host/v1: check " + check)
	}
	base.Fragment, base.RawFragment = "", ""
	return base, providerAt(o.Provider, base), nil
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
	m.mu.Lock()
	f := m.form
	m.mu.Unlock()
	e := m.encoders.take(req.Session, f, m.opts)
	body, err := e.body(m.wire, req)
	m.encoders.give(req.Session, e)
	if err != nil {
		return err
	}
	sending, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := newWatch(cancel, m.opts.Idle)
	defer w.stop()
	res, err := m.client.post(sending, m.wire.path(), body, m.check(f, pictures(req)))
	if err != nil {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case context.Cause(sending) == errSilence:
			return m.server.silent(false, m.opts.Idle)
		}
		return m.server.transportError(err)
	}
	defer res.Body.Close()
	reply, err := m.receive(sending, f, w, res, req, yield)
	if ctx.Err() != nil {
		return ctx.Err()
	}
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
func (m *Model) receive(ctx context.Context, f form, w *watch, res *http.Response, req agent.Request, yield func(agent.Chunk) bool) (agent.Message, error) {
	events := newEventReader(heard{res.Body, w})
	r := m.wire.reader(m.server, offered(req.Tools))
	begun, size, steps := false, 0, 0
	show := func(c agent.Chunk, always bool) bool { return !always && c == (agent.Chunk{}) || yield(c) }
	for {
		ev, err := events.next()
		if errors.Is(err, io.EOF) && !begun && len(bytes.TrimSpace(events.stray)) > 0 && json.Valid(events.stray) {
			ev, events.stray, err = event{data: events.stray}, nil, nil // a whole reply on many lines
		}
		// What is buffered comes without a look at the context.
		if stopped := context.Cause(ctx); stopped != nil {
			return m.stopped(res, stopped, r, begun, show)
		}
		if errors.Is(err, io.EOF) && !begun {
			return agent.Message{}, m.server.noStream(res, events.stray)
		}
		if err != nil {
			return m.ended(res, err, r, show)
		}
		w.hold()
		if size += len(ev.data); size > m.maxReply {
			return agent.Message{}, m.server.endless(fmt.Sprintf("%d MiB", m.maxReply>>20))
		}
		chunk, err := r.take(ev)
		if !show(chunk, !begun) {
			return agent.Message{}, errBreak
		}
		begun = true
		if err != nil {
			if r.complained() {
				if learned := m.learn(f, 0, ev.data, pictures(req)); learned != nil {
					return agent.Message{}, learned
				}
			}
			return agent.Message{}, err
		}
		if isDone(ev) {
			return m.ended(res, io.EOF, r, show)
		}
		w.wait(r.steps() > steps, r.finished())
		steps = r.steps()
	}
}

func isDone(ev event) bool { return bytes.Equal(bytes.TrimSpace(ev.data), []byte("[DONE]")) }

// ended makes the reply of a body that came to an end.
func (m *Model) ended(res *http.Response, err error, r reader, show func(agent.Chunk, bool) bool) (agent.Message, error) {
	clean := errors.Is(err, io.EOF)
	chunk, reply, failed := r.end(clean)
	if !show(chunk, false) {
		return agent.Message{}, errBreak
	}
	if failed == errNotReply && clean {
		return agent.Message{}, m.server.notReply(res)
	}
	if failed != nil && !clean {
		return agent.Message{}, m.server.cutError(err)
	}
	reply.Finish = m.server.secrets.word(reply.Finish)
	return reply, failed
}

// stopped is for a stream that was ended from here.
func (m *Model) stopped(res *http.Response, cause error, r reader, begun bool, show func(agent.Chunk, bool) bool) (agent.Message, error) {
	if cause == errLingered {
		return m.ended(res, io.EOF, r, show)
	}
	if cause == errSilence {
		return agent.Message{}, m.server.silent(begun, m.opts.Idle)
	}
	return agent.Message{}, cause
}

func pictures(req agent.Request) (all []agent.Image) {
	for _, m := range req.Messages {
		for _, b := range m.Blocks {
			if i, is := b.(agent.Image); is {
				all = append(all, i)
			}
		}
	}
	return all
}

func offered(specs []agent.Spec) func(string) bool {
	if len(specs) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, s := range specs {
		names[s.Name] = true
	}
	return func(name string) bool { return names[name] }
}

// drain reads the little that follows a finished stream: a body closed before
// its end costs the connection. A server that keeps the stream open is left.
func drain(body io.Reader, cancel context.CancelCauseFunc) {
	timer := time.AfterFunc(drainTime, func() { cancel(nil) })
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, 4<<10)
}
