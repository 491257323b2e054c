package agent

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Model is a language model.
//
// Stream sends one request and yields the reply as it comes: any number of
// chunks with Text or Thinking, then exactly one chunk with Reply, the whole
// message. A stream that ends without a Reply was cut: the session treats it as
// an error, and no call of it is run or shown for approval, so an
// implementation yields Reply only after a proper end of the stream.
//
// Errors end the stream and are [*ModelError], except that the context's error
// is passed on when the context ends, which Stream has to notice at any moment.
// An implementation does not retry; the session does, where nothing was shown.
// It must not keep or change the request, and may be used by several sessions
// at once.
type Model interface {
	Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error]
}

// Request is all that a model sees.
type Request struct {
	System   string
	Messages []Message // every tool use has its result in the next message
	Tools    []Spec    // empty: the model must answer in text
	Session  string    // its ID: requests of one session share what a server caches; "": unknown
}

// Chunk is a piece of a reply, or the whole of it at the end. One with nothing in
// it says that the server has begun to answer.
type Chunk struct {
	Text     string   // to append to what was shown
	Thinking string   // to append to the reasoning shown
	Recast   bool     // all Text so far was reasoning: it counts as Thinking from now on
	Reply    *Message // last chunk only
}

// ModelErrorKind classes what can go wrong with a model server.
type ModelErrorKind string

const (
	ErrorProvider        ModelErrorKind = "provider_error" // the server answered with an error
	ErrorTransport       ModelErrorKind = "transport"      // no connection, or it broke
	ErrorTruncated       ModelErrorKind = "truncated_stream"
	ErrorIdle            ModelErrorKind = "stream_idle_timeout" // an open connection fell silent
	ErrorEmpty           ModelErrorKind = "empty_response"
	ErrorNotSSE          ModelErrorKind = "not_sse"
	ErrorRateLimit       ModelErrorKind = "rate_limit"
	ErrorQuota           ModelErrorKind = "quota"
	ErrorContextOverflow ModelErrorKind = "context_overflow"
	ErrorUnsupported     ModelErrorKind = "unsupported_param" // the model leaves out from now on what the server did not take
	ErrorNoTools         ModelErrorKind = "no_tool_support"
	ErrorCallAsText      ModelErrorKind = "tool_call_as_text" // again, after the model was told
	ErrorAuth            ModelErrorKind = "auth"
	ErrorConfig          ModelErrorKind = "config" // the request can't be made as configured
)

// ModelError is a failed request. Message is one sentence for the person and
// never holds a key.
type ModelError struct {
	Kind       ModelErrorKind
	Status     int           // HTTP status, 0 if there was none
	RetryAfter time.Duration // as the server asked, 0 if it did not
	Limit      int           // tokens that fit, with ErrorContextOverflow; 0: it did not say
	Tokens     int           // that the request had by its count; 0: it did not say
	Message    string
	Err        error // the cause, may be nil
}

func (e *ModelError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP %d)", e.Message, e.Status)
	}
	return e.Message
}

func (e *ModelError) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later: after a broken
// connection, a rate limit or a server's own fault, never after a refusal of
// the request itself, unless the model will put it in other words.
func (e *ModelError) Retryable() bool {
	switch e.Kind {
	case ErrorTransport, ErrorRateLimit, ErrorTruncated, ErrorIdle, ErrorEmpty, ErrorUnsupported:
		return true
	case ErrorProvider:
		return e.Status >= 500 || e.Status == 0 // an error in the middle of a stream has none
	}
	return false
}
