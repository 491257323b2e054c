package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/agent"
	"assent/agent/agenttest"
)

// attempt is one stream of a scripted server.
type attempt struct {
	chunks []agent.Chunk
	reply  *agent.Message
	err    error
	after  time.Duration // that the server takes to begin
}

// attempts is a model that answers each request with the next one.
type attempts struct {
	list     []attempt
	requests int
	asked    [][]agent.Message
}

func (m *attempts) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		a := m.list[m.requests]
		m.requests++
		m.asked = append(m.asked, req.Messages)
		select {
		case <-time.After(a.after):
		case <-ctx.Done():
			yield(agent.Chunk{}, ctx.Err())
			return
		}
		for _, c := range a.chunks {
			if !yield(c, nil) {
				return
			}
		}
		if a.err != nil {
			yield(agent.Chunk{}, a.err)
		} else if a.reply != nil {
			yield(agent.Chunk{Reply: a.reply}, nil)
		}
	}
}

func failing(kind agent.ModelErrorKind, status int, after time.Duration) attempt {
	return attempt{err: &agent.ModelError{Kind: kind, Status: status, RetryAfter: after, Message: "no"}}
}

func saying(text string) attempt {
	m := agenttest.Say(text)
	m.Finish, m.Usage = "stop", agent.Usage{Input: 100, Output: 3}
	return attempt{chunks: []agent.Chunk{{}, {Text: text}}, reply: &m, after: 10 * time.Millisecond}
}

// runAttempts is all that is yielded of one prompt, in fake time.
func runAttempts(t *testing.T, m agent.Model, tools ...agent.Tool) (events []agent.Event, store *agenttest.Memory) {
	t.Helper()
	store = &agenttest.Memory{}
	s, err := agent.New(agent.Config{Model: m, Store: store, Tools: tools, Name: agent.ModelName{Provider: "p", Model: "m"}})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range s.Run(t.Context(), agent.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events, store
}

func done(events []agent.Event) agent.Done {
	d, _ := events[len(events)-1].(agent.Done)
	return d
}

func waits(events []agent.Event) (waits []time.Duration) {
	for _, e := range events {
		if r, ok := e.(agent.Retrying); ok {
			waits = append(waits, r.Wait)
		}
	}
	return waits
}

// waited compares a wait with the shortest that it may be: half as long comes on top
// by chance, unless the server has named it.
func waited(got, want time.Duration) bool {
	return got == want || (want == time.Second || want == 2*time.Second) && got >= want && got < want+want/2
}

// TestWhichFailuresAreTriedAgain: three attempts, before anything was shown, of what
// may pass; a request in other words does not count as one.
func TestWhichFailuresAreTriedAgain(t *testing.T) {
	const s = time.Second
	cut := attempt{chunks: []agent.Chunk{{Text: "half"}}, err: &agent.ModelError{Kind: agent.ErrorTruncated}}
	empty := agenttest.Say("")
	thoughtOnly := attempt{chunks: []agent.Chunk{{Thinking: "hm"}}, reply: &empty}
	adapted := failing(agent.ErrorUnsupported, 400, 0)
	for name, c := range map[string]struct {
		list  []attempt
		want  agent.StopReason
		waits []time.Duration
	}{
		"a server's fault":                  {[]attempt{failing(agent.ErrorProvider, 503, 0), saying("ok")}, agent.StopComplete, []time.Duration{s}},
		"a fault that stays":                {[]attempt{failing(agent.ErrorProvider, 500, 0), failing(agent.ErrorTransport, 0, 0), failing(agent.ErrorIdle, 0, 0), saying("late")}, agent.StopError, []time.Duration{s, 2 * s}},
		"a limit, as long as it asks":       {[]attempt{failing(agent.ErrorRateLimit, 429, 7*s), saying("ok")}, agent.StopComplete, []time.Duration{7 * s}},
		"a limit for longer than one waits": {[]attempt{failing(agent.ErrorRateLimit, 429, time.Hour), saying("late")}, agent.StopError, nil},
		"a failure of no known kind":        {[]attempt{{err: errors.New("boom")}, saying("ok")}, agent.StopComplete, []time.Duration{s}},
		"a bad request":                     {[]attempt{failing(agent.ErrorProvider, 400, 0), saying("late")}, agent.StopError, nil},
		"a wrong key":                       {[]attempt{failing(agent.ErrorAuth, 401, 0), saying("late")}, agent.StopError, nil},
		"an empty account":                  {[]attempt{failing(agent.ErrorQuota, 429, 0), saying("late")}, agent.StopError, nil},
		"what was shown is not shown twice": {[]attempt{cut, saying("late")}, agent.StopError, nil},
		"a thought without an answer":       {[]attempt{thoughtOnly, thoughtOnly, saying("ok")}, agent.StopComplete, []time.Duration{s, 2 * s}},
		"a stream without an end":           {[]attempt{{}, saying("ok")}, agent.StopComplete, []time.Duration{s}},
		"in other words, at once":           {[]attempt{adapted, adapted, adapted, adapted, failing(agent.ErrorProvider, 502, 0), failing(agent.ErrorProvider, 502, 0), saying("ok")}, agent.StopComplete, []time.Duration{0, 0, 0, 0, s, 2 * s}},
		"in ever other words":               {slices.Repeat([]attempt{adapted}, 20), agent.StopError, make([]time.Duration, 8)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &attempts{list: c.list}
				events, _ := runAttempts(t, m)
				if d := done(events); d.Reason != c.want || !slices.EqualFunc(waits(events), c.waits, waited) || m.requests != len(c.waits)+1 {
					t.Errorf("%s after %d requests with waits of %v: %v", d.Reason, m.requests, waits(events), d.Err)
				}
			})
		})
	}
}

// TestEachAttemptIsOnRecord with what it cost and how it ended.
func TestEachAttemptIsOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, store := runAttempts(t, &attempts{list: []attempt{failing(agent.ErrorProvider, 503, 0), saying("ok")}})
		var requests []agent.Requested
		var responses []agent.Responded
		for _, r := range store.Records() {
			switch r := r.(type) {
			case agent.Requested:
				requests = append(requests, r)
			case agent.Responded:
				responses = append(responses, r)
			}
		}
		if len(requests) != 2 || requests[1].Attempt != 2 || requests[0].Model != "m" || requests[0].Provider != "p" || requests[0].Tokens == 0 {
			t.Errorf("the requests are %+v", requests)
		}
		want := agent.Responded{Attempt: 2, FirstByte: 10 * time.Millisecond, Elapsed: 10 * time.Millisecond, Finish: "stop", Usage: agent.Usage{Input: 100, Output: 3}}
		if len(responses) != 2 || responses[0].Err == nil || responses[0].FirstByte != 0 || responses[1] != want {
			t.Errorf("the responses are %+v", responses)
		}
	})
}

// TestTokensAreCountedAsTheServerCounts: the first guess is by bytes, the next by what
// the server said.
func TestTokensAreCountedAsTheServerCounts(t *testing.T) {
	s, err := agent.New(agent.Config{Model: &attempts{list: []attempt{saying("ok"), saying("ok")}}, Store: &agenttest.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	var tokens []int
	prompt := agent.UserText(string(make([]byte, 800)))
	for range 2 {
		for e := range s.Run(t.Context(), prompt) {
			if r, ok := e.(agent.Requested); ok {
				tokens = append(tokens, r.Tokens)
			}
		}
	}
	if !slices.Equal(tokens, []int{200, 200}) { // 800 bytes are 100 tokens, so 1602 are 200
		t.Errorf("the tokens are %v", tokens)
	}
}

// TestACallWrittenAsTextIsAnsweredOnceThenTheRunEnds, and its text is shown.
func TestACallWrittenAsTextIsAnsweredOnceThenTheRunEnds(t *testing.T) {
	written := agenttest.Say("I look.")
	written.Blocks = append(written.Blocks, agent.ToolUse{Name: "read", Invalid: agent.WrittenAsText, RawInput: "<tool_call>…"})
	real := agenttest.Call(agenttest.Use("r", "read", "{}"))
	ran := 0
	tool := agenttest.Tool{Name: "read", Tier: agent.TierRead, Planer: func(context.Context, agent.Files, json.RawMessage) (agent.Plan, error) {
		return agent.Plan{Run: func(context.Context, agent.Approval) (agent.Result, error) {
			ran++
			return agent.Result{Output: "ok"}, nil
		}}, nil
	}}
	reply := func(m agent.Message) attempt { return attempt{chunks: []agent.Chunk{{Text: m.Text()}}, reply: &m} }

	events, _ := runAttempts(t, &attempts{list: []attempt{reply(written), reply(written)}}, tool)
	d := done(events)
	failed, ok := errors.AsType[*agent.ModelError](d.Err)
	if d.Reason != agent.StopError || !ok || failed.Kind != agent.ErrorCallAsText || ran != 0 {
		t.Errorf("it ended as %s: %v, %d ran", d.Reason, d.Err, ran)
	}
	shown, answers := "", 0
	for _, e := range events {
		switch e := e.(type) {
		case agent.Delta:
			shown += e.Text
		case agent.Answered:
			answers++
			if !e.Result.IsError {
				t.Errorf("the answer is %+v", e.Result)
			}
		}
	}
	if answers != 1 || shown != "I look.I look.<tool_call>…" {
		t.Errorf("%d answers, shown %q", answers, shown)
	}

	events, _ = runAttempts(t, &attempts{list: []attempt{reply(written), reply(real), reply(written), saying("ok")}}, tool)
	if d := done(events); d.Reason != agent.StopComplete || ran != 1 {
		t.Errorf("after a real call it ended as %s: %v, %d ran", d.Reason, d.Err, ran)
	}
}

// TestACancelKeepsWhatWasTheAnswer: reasoning that came as text is not kept, and the
// record says that it was the person who ended it.
func TestACancelKeepsWhatWasTheAnswer(t *testing.T) {
	m := &attempts{list: []attempt{{chunks: []agent.Chunk{{Text: "hm, let me think"}, {Recast: true, Text: "The answer"}, {Text: " is"}}}}}
	store := &agenttest.Memory{}
	s, err := agent.New(agent.Config{Model: m, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e, err := range s.Run(ctx, agent.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := e.(agent.Delta); ok && d.Text == " is" {
			cancel()
		}
	}
	kept, how := "", ""
	for _, r := range store.Records() {
		switch r := r.(type) {
		case agent.Appended:
			kept = r.Message.Text()
		case agent.Responded:
			how = r.Err.Error()
		}
	}
	if kept != "The answer is" || how != "cancelled" {
		t.Errorf("kept is %q, the response ended by %q", kept, how)
	}
}

// TestEstimatesHeedWhatCanBe: a server's count that no text can have is not believed,
// and a picture counts as what it takes, not as its bytes.
func TestEstimatesHeedWhatCanBe(t *testing.T) {
	estimate := func(counted int, prompt agent.Message) []int {
		first := agenttest.Say("one")
		first.Usage = agent.Usage{Input: counted}
		b := newBench(t, nil, first, agenttest.Say("two"))
		var tokens []int
		for _, p := range []agent.Message{prompt, agent.UserText("and?")} {
			for e, err := range b.session.Run(t.Context(), p) {
				if err != nil {
					t.Fatal(err)
				}
				if r, ok := e.(agent.Requested); ok {
					tokens = append(tokens, r.Tokens)
				}
			}
		}
		return tokens
	}
	long := agent.UserText(strings.Repeat("word ", 4000))
	if got := estimate(1, long); got[1] < got[0] || got[1] > got[0]+20 {
		t.Errorf("a count of 1 token makes estimates %v", got)
	}
	if got := estimate(10000, long); got[1] < 10000 || got[1] > 10020 {
		t.Errorf("a count of 10,000 tokens makes estimates %v", got)
	}
	picture := agent.Message{Role: agent.RoleUser, Blocks: []agent.Block{agent.Text{Text: "look"}, agent.Image{MediaType: "image/png", Data: make([]byte, 1<<20)}}}
	bare := estimate(0, agent.UserText("look"))
	if got := estimate(0, picture); got[0]-bare[0] < 500 || got[0]-bare[0] > 2000 {
		t.Errorf("a picture counts %d tokens", got[0]-bare[0])
	}
}
