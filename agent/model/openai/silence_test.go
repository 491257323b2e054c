package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/agent"
	"assent/agent/model/openai"
)

// step is a piece of a body that comes after a time.
type step struct {
	after time.Duration
	text  string
}

// clockwork is a server whose answer takes its time, in the clock of a bubble.
type clockwork struct {
	header time.Duration // until it answers at all
	steps  []step
	hangs  bool // after them; else the body ends
}

func (c clockwork) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	if err := pause(r.Context(), c.header); err != nil {
		return nil, err
	}
	body := &clockBody{ctx: r.Context(), steps: c.steps, hangs: c.hangs}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type clockBody struct {
	ctx   context.Context
	steps []step
	hangs bool
	rest  string
}

func (b *clockBody) Read(into []byte) (int, error) {
	for b.rest == "" {
		switch {
		case len(b.steps) > 0:
			if err := pause(b.ctx, b.steps[0].after); err != nil {
				return 0, err
			}
			b.rest, b.steps = b.steps[0].text, b.steps[1:]
		case b.hangs:
			<-b.ctx.Done()
			return 0, b.ctx.Err()
		default:
			return 0, io.EOF
		}
	}
	n := copy(into, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *clockBody) Close() error { return nil }

const (
	word    = `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n"
	calling = `data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"read_file","arguments":"{}"}}]}}]}` + "\n\n"
	stop    = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	comment = ": still here\n\n"
)

// TestSilence: a stream may be silent for a minute here, and for two before its first
// event or with comments alone.
func TestSilence(t *testing.T) {
	const s = time.Second
	const nothing = `data: {"choices":[]}` + "\n\n"
	var comments, pings, letters, empties, nothings []step
	for range 1000 {
		comments, pings = append(comments, step{10 * s, comment}), append(pings, step{s / 2, comment})
		empties, nothings = append(empties, step{10 * s, nothing}), append(nothings, step{s / 2, nothing})
		letters = append(letters, step{10 * s, "d"})
	}
	for name, c := range map[string]struct {
		server clockwork
		slow   time.Duration // that the consumer takes for each chunk
		ends   time.Duration // after so long
		say    string        // in the error; "": there is none
	}{
		"before the header":       {clockwork{header: time.Hour}, 0, 120 * s, "did not begin to answer within 2m0s"},
		"before the first event":  {clockwork{hangs: true}, 0, 120 * s, "did not begin to answer"},
		"after a comment":         {clockwork{steps: []step{{0, comment}}, hangs: true}, 0, 120 * s, "did not begin to answer"},
		"in the middle":           {clockwork{steps: []step{{5 * s, word}}, hangs: true}, 0, 65 * s, "in the middle of its reply"},
		"in the middle of a line": {clockwork{steps: []step{{0, word}, {50 * s, `data: {"cho`}}, hangs: true}, 0, 110 * s, "in the middle of its reply"},
		"but for the rest of one": {clockwork{steps: append([]step{{0, word}}, letters...), hangs: true}, 0, 120 * s, "in the middle of its reply"},
		"but for empty events":    {clockwork{steps: append([]step{{0, word}}, empties...), hangs: true}, 0, 120 * s, "in the middle of its reply"},
		"in a call":               {clockwork{steps: []step{{0, calling}}, hangs: true}, 0, 60 * s, "in the middle of its reply"},
		"but for comments":        {clockwork{steps: append([]step{{0, word}}, comments...), hangs: true}, 0, 120 * s, "in the middle of its reply"},

		"not at all":                        {clockwork{steps: []step{{110 * s, word}, {59 * s, word}, {59 * s, stop}}}, 0, 228 * s, ""},
		"of a comment, then the first word": {clockwork{steps: []step{{0, comment}, {110 * s, word}, {0, stop}}}, 0, 110 * s, ""},
		"of the consumer":                   {clockwork{steps: []step{{0, word}, {0, word}, {0, stop}}}, 90 * s, 3 * 90 * s, ""},
		"of a line that comes slowly":       {clockwork{steps: []step{{0, word}, {50 * s, word[:20]}, {50 * s, word[20:]}, {0, stop}}}, 0, 100 * s, ""},
		"after the end, but for comments":   {clockwork{steps: append([]step{{0, word}, {0, stop}}, pings...), hangs: true}, 0, 3 * s, ""},
		"after the end, but for events":     {clockwork{steps: append([]step{{0, word}, {0, stop}}, nothings...), hangs: true}, 0, 3 * s, ""},
		"after the end":                     {clockwork{steps: []step{{0, word}, {0, stop}}, hangs: true}, 0, 3 * s, ""},
		"after an end that was none":        {clockwork{steps: []step{{0, word}, {0, stop}, {2 * s, word}, {50 * s, stop}, {0, "data: [DONE]\n\n"}}, hangs: true}, 0, 52 * s, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, err := openai.New(openai.Options{BaseURL: "http://model.example/v1", Model: "m", Idle: time.Minute, HTTPClient: &http.Client{Transport: c.server}})
				if err != nil {
					t.Fatal(err)
				}
				began, replies := time.Now(), 0
				var failed *agent.ModelError
				for chunk, err := range m.Stream(t.Context(), caseRequest()) {
					if chunk.Reply != nil {
						replies++
					}
					_ = errors.As(err, &failed)
					if err == nil {
						time.Sleep(c.slow) // of the bubble's clock
					}
				}
				took := time.Since(began).Round(time.Second)
				switch {
				case took != c.ends:
					t.Errorf("it ended after %v, want %v: %v", took, c.ends, failed)
				case c.say == "" && (failed != nil || replies != 1):
					t.Errorf("it failed: %v", failed)
				case c.say != "" && (failed == nil || failed.Kind != agent.ErrorIdle || !failed.Retryable() || !strings.Contains(failed.Message, c.say) || !strings.Contains(failed.Message, "idle_timeout")):
					t.Errorf("the error is %v", failed)
				}
			})
		})
	}
}

func TestACancelDuringSilenceWorksAtOnceAndTheNextRequestToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &clockwork{steps: []step{{0, word}}, hangs: true}
		m, err := openai.New(openai.Options{BaseURL: "http://model.example/v1", Model: "m", HTTPClient: &http.Client{Transport: server}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		time.AfterFunc(7*time.Second, cancel)
		for _, err := range m.Stream(ctx, caseRequest()) {
			if err != nil && err != context.Canceled {
				t.Errorf("the error is %v", err)
			}
		}
		if took := time.Since(began); took != 7*time.Second {
			t.Errorf("it ended after %v", took)
		}
		server.steps, server.hangs = []step{{0, word}, {0, stop}}, false
		if _, _, err := run(m, caseRequest()); err != nil {
			t.Error(err)
		}
	})
}
