package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"assent/agent"
	"assent/agent/agenttest"
)

// windowed is a model server with a window. It counts tokens in its own way, and
// checks each request.
type windowed struct {
	t       testing.TB
	tokens  int
	density int  // bytes of its tokens
	named   bool // it says what fits
	counts  bool // it reports usage
	mute    bool // it can't put anything in short

	answer func(req agent.Request) agent.Message

	requests  []agent.Request // that it answered, but for summaries
	overflows int
	summaries int
	newest    string // what the person said last
}

func (m *windowed) size(req agent.Request) int { return agenttest.RequestBytes(req) / m.density }

func (m *windowed) Stream(_ context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		if err := agenttest.CheckMessages(req.Messages); err != nil {
			m.t.Errorf("request %d: %v", len(m.requests), err)
		}
		size := m.size(req)
		if size > m.tokens {
			m.overflows++
			failed := &agent.ModelError{Kind: agent.ErrorContextOverflow, Status: 400, Message: "too long"}
			if m.named {
				failed.Limit, failed.Tokens = m.tokens, size
			}
			yield(agent.Chunk{}, failed)
			return
		}
		var reply agent.Message
		switch {
		case strings.HasPrefix(req.System, "You put"):
			m.summaries++
			if m.mute {
				yield(agent.Chunk{}, &agent.ModelError{Kind: agent.ErrorProvider, Status: 400, Message: "no"})
				return
			}
			if len(req.Tools) > 0 || len(req.Messages) != 1 {
				m.t.Errorf("a summary is asked for with %d tools and %d messages", len(req.Tools), len(req.Messages))
			}
			reply = agenttest.Say(fmt.Sprintf("summary %d", m.summaries))
		default:
			m.requests = append(m.requests, req)
			if m.newest != "" && !holds(req.Messages, m.newest) {
				m.t.Errorf("request %d does not hold what the person said last", len(m.requests))
			}
			reply = m.answer(req)
		}
		if m.counts {
			reply.Usage = agent.Usage{Input: size, Output: 10}
		}
		yield(agent.Chunk{Reply: &reply}, nil)
	}
}

// holds reports whether the user says a text, whole.
func holds(messages []agent.Message, text string) bool {
	return slices.ContainsFunc(messages, func(m agent.Message) bool {
		return m.Role == agent.RoleUser && slices.ContainsFunc(m.Blocks, func(b agent.Block) bool {
			t, ok := b.(agent.Text)
			return ok && t.Text == text
		})
	})
}

// big is a tool whose results have as many bytes as its input says.
var big = agenttest.Tool{Name: "big", Tier: agent.TierRead, Planer: func(_ context.Context, _ agent.Files, raw json.RawMessage) (agent.Plan, error) {
	var in struct{ Bytes, N int }
	if err := json.Unmarshal(raw, &in); err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{Run: func(context.Context, agent.Approval) (agent.Result, error) {
		line := fmt.Sprintf("line of result %d, é\n", in.N)
		return agent.Result{Output: strings.Repeat(line, in.Bytes/len(line)+1)}, nil
	}}, nil
}}

func callBig(n, bytes int) agent.ToolUse {
	return agenttest.Use("", "big", fmt.Sprintf(`{"bytes":%d,"n":%d}`, bytes, n))
}

func (m *windowed) session(t testing.TB, change func(*agent.Config)) (*agent.Session, *agenttest.Memory) {
	m.t = t
	store := &agenttest.Memory{}
	cfg := agent.Config{Model: m, Store: store, Tools: []agent.Tool{big}, System: "Be brief."}
	if change != nil {
		change(&cfg)
	}
	s, err := agent.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s, store
}

func (m *windowed) prompt(t testing.TB, s *agent.Session, text string) agent.Done {
	t.Helper()
	m.newest = text
	var d agent.Done
	for e, err := range s.Run(t.Context(), agent.UserText(text)) {
		if err != nil {
			t.Fatal(err)
		}
		if done, ok := e.(agent.Done); ok {
			d = done
		}
	}
	return d
}

func compactions(store *agenttest.Memory) []agent.Compacted {
	var out []agent.Compacted
	for _, r := range store.Records() {
		if c, ok := r.(agent.Compacted); ok {
			out = append(out, c)
		}
	}
	return out
}

// TestALongTaskInASmallWindow is 500 turns of a task in 32,000 tokens.
func TestALongTaskInASmallWindow(t *testing.T) {
	for _, counts := range []bool{true, false} {
		t.Run(fmt.Sprintf("usage known %v", counts), func(t *testing.T) {
			m := &windowed{tokens: 32 << 10, density: 4, counts: counts}
			n := 0
			m.answer = func(agent.Request) agent.Message {
				if n++; n > 500 {
					return agenttest.Say("the task is done")
				}
				return agenttest.Call(callBig(n, 1200+n%7*200))
			}
			s, store := m.session(t, func(c *agent.Config) { c.Window = 32 << 10; c.MaxTurns = 600 })
			d := m.prompt(t, s, "count all the lines, and mind the é")
			made := compactions(store)
			if d.Reason != agent.StopComplete || d.Turns != 501 || len(made) == 0 || len(made) >= 12 || m.overflows > 0 {
				t.Errorf("ended with %+v after %d compactions and %d overflows", d, len(made), m.overflows)
			}
			for _, c := range made {
				t.Logf("%d tokens to %d, %d replies stay", c.Before, c.After, c.Kept)
			}
		})
	}
}

// TestAWindowThatIsSmallerThanWasSet is case F10: the server has 4096 tokens, not the
// 128,000 that were set, counts none, and may or may not say what fits.
func TestAWindowThatIsSmallerThanWasSet(t *testing.T) {
	for _, m := range []*windowed{
		{tokens: 4096, density: 3, named: true}, {tokens: 4096, density: 3}, {tokens: 4096, density: 2, named: true, mute: true}, {tokens: 4096, density: 5, mute: true},
	} {
		t.Run(fmt.Sprintf("%+v", *m), func(t *testing.T) {
			n := 0
			m.answer = func(agent.Request) agent.Message {
				if n++; n%40 == 0 {
					return agenttest.Say("part done")
				}
				return agenttest.Call(callBig(n, 900))
			}
			s, store := m.session(t, func(c *agent.Config) { c.Window = 128000 })
			for i := range 5 {
				overflows, made := m.overflows, len(compactions(store))
				if d := m.prompt(t, s, fmt.Sprintf("prompt %d %s", i, strings.Repeat("word ", 100))); d.Reason != agent.StopComplete {
					t.Fatalf("prompt %d ended with %+v", i, d)
				}
				if more := m.overflows - overflows; more > 0 && len(compactions(store)) == made {
					t.Errorf("%d overflows without a compaction", more)
				}
			}
			if limit := map[bool]int{true: 1, false: 5}[m.named]; m.overflows > limit {
				t.Errorf("%d overflows, the window was not learned", m.overflows)
			}
		})
	}
}

// TestResultsThatFillTheWindow is case F13: ten results of a megabyte each in 8000
// tokens, and one that alone is too much.
func TestResultsThatFillTheWindow(t *testing.T) {
	for _, known := range []int{0, 8000} {
		for _, calls := range []int{1, 10} {
			t.Run(fmt.Sprintf("%d calls, window %d", calls, known), func(t *testing.T) {
				m := &windowed{tokens: 8000, density: 4, named: true}
				m.answer = func(req agent.Request) agent.Message {
					if len(m.requests) > 1 {
						last := req.Messages[len(req.Messages)-1]
						for _, r := range last.ToolResults() {
							if !strings.HasPrefix(r.Output, "line of result") || !strings.Contains(r.Output, "cut") || strings.ContainsRune(r.Output, '�') {
								t.Errorf("a result is %.60q…", r.Output)
							}
						}
						if len(last.ToolResults()) != calls {
							t.Errorf("%d results of %d calls", len(last.ToolResults()), calls)
						}
						return agenttest.Say("enough")
					}
					var uses []agent.ToolUse
					for i := range calls {
						uses = append(uses, callBig(i, 1<<20))
					}
					return agenttest.Call(uses...)
				}
				s, store := m.session(t, func(c *agent.Config) { c.Window = known })
				if d := m.prompt(t, s, "read it all"); d.Reason != agent.StopComplete {
					t.Errorf("ended with %+v", d)
				}
				if known > 0 && (m.overflows > 0 || len(compactions(store)) > 0) {
					t.Errorf("%d overflows, %d compactions, though the window was known", m.overflows, len(compactions(store)))
				}
				if m.summaries > 0 {
					t.Error("a summary was made where a cut was enough")
				}
			})
		}
	}
}

// TestWhatCanNotBePutInShort: the newest message is never cut, so it may be too much;
// then the person is told, and the next prompt works.
func TestWhatCanNotBePutInShort(t *testing.T) {
	for _, known := range []int{0, 4096} {
		m := &windowed{tokens: 4096, density: 4, named: true}
		m.answer = func(agent.Request) agent.Message { return agenttest.Say("well") }
		s, _ := m.session(t, func(c *agent.Config) { c.Window = known })
		m.prompt(t, s, "hello")
		d := m.prompt(t, s, strings.Repeat("a long story. ", 4000))
		if d.Reason != agent.StopError || !strings.Contains(d.Explain(), "your newest message") || m.overflows > 1 {
			t.Errorf("window %d: ended with %q after %d overflows", known, d.Explain(), m.overflows)
		}
		if d := m.prompt(t, s, "in short, then"); d.Reason != agent.StopComplete {
			t.Errorf("window %d: the next prompt ended with %q", known, d.Explain())
		}
	}
}

// TestWhatThePersonSaidIsKept: the first and the newest words stay through several
// compactions, and older ones as far as there is room.
func TestWhatThePersonSaidIsKept(t *testing.T) {
	m := &windowed{tokens: 8000, density: 4, counts: true}
	n := 0
	m.answer = func(req agent.Request) agent.Message {
		if len(m.requests) > 1 && !holds(req.Messages, "the first of all") {
			t.Errorf("request %d lost the first words", len(m.requests))
		}
		if n++; n%12 == 0 {
			return agenttest.Say("part done")
		}
		return agenttest.Call(callBig(n, 900))
	}
	s, store := m.session(t, func(c *agent.Config) { c.Window = 8000 })
	m.prompt(t, s, "the first of all")
	for i := range 12 {
		m.prompt(t, s, fmt.Sprintf("then number %d", i))
	}
	made := compactions(store)
	if len(made) < 3 {
		t.Fatalf("%d compactions", len(made))
	}
	last := m.requests[len(m.requests)-1].Messages
	for _, i := range []int{8, 9, 10} {
		if !holds(last, fmt.Sprintf("then number %d", i)) {
			t.Errorf("prompt %d is lost", i)
		}
	}
	if strings.Count(fmt.Sprint(last), "no longer fitted the model") != 1 {
		t.Error("summaries pile up")
	}
}

// TestCutsAreNeverBetweenCallAndResult is case B04: whatever is kept, the history is
// well formed and holds the newest words.
func TestCutsAreNeverBetweenCallAndResult(t *testing.T) {
	result := func(ids ...string) agent.Message {
		m := agent.Message{Role: agent.RoleTool}
		for _, id := range ids {
			m.Blocks = append(m.Blocks, agent.ToolResult{ID: id, Output: strings.Repeat(id, 300)})
		}
		return m
	}
	use := func(ids ...string) agent.Message {
		var uses []agent.ToolUse
		for _, id := range ids {
			uses = append(uses, agenttest.Use(id, "ls", "{}"))
		}
		return agenttest.Call(uses...)
	}
	plain := []agent.Message{agent.UserText("t"), use("a"), result("a"), use("b", "c"), result("b", "c")}
	longer := append(slices.Clone(plain), agenttest.Say("so"), agent.UserText("and now"), use("d"), result("d"), agent.UserText("faster"), use("e"), result("e"))
	for name, c := range map[string]struct {
		history []agent.Message
		newest  string
	}{"B04": {plain, "t"}, "with steers": {longer, "faster"}, "a prompt at the end": {append(slices.Clone(longer), agenttest.Say("ok"), agent.UserText("more")), "more"}} {
		for kept := range 8 {
			for _, limit := range []int{0, 100} {
				compacted := agent.Compacted{Summary: "s", Kept: kept, Clip: limit}
				got := compacted.Apply(c.history)
				if err := agenttest.CheckMessages(got); err != nil || !holds(got, c.newest) {
					t.Errorf("%s, %d kept: %v\n%+v", name, kept, err, got)
				}
				again := agent.Compacted{Summary: "s2", Kept: kept / 2}.Apply(got)
				if err := agenttest.CheckMessages(again); err != nil || !holds(again, c.newest) {
					t.Errorf("%s, %d kept, then half: %v\n%+v", name, kept, err, again)
				}
			}
		}
	}
}

// TestACompactionIsCancelledAsAnyRequest: nothing of it stays.
func TestACompactionIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &windowed{tokens: 8000, density: 4}
		n := 0
		m.answer = func(agent.Request) agent.Message { n++; return agenttest.Call(callBig(n, 900)) }
		s, store := m.session(t, func(c *agent.Config) { c.Window = 8000 })
		m.newest = "go"
		ctx, cancel := context.WithCancel(t.Context())
		var d agent.Done
		for e, err := range s.Run(ctx, agent.UserText("go")) {
			if err != nil {
				t.Fatal(err)
			}
			if r, ok := e.(agent.Requested); ok && r.Compacting {
				cancel()
			}
			if done, ok := e.(agent.Done); ok {
				d = done
			}
		}
		cancel()
		if d.Reason != agent.StopCancelled || len(compactions(store)) > 0 {
			t.Errorf("ended with %+v", d)
		}
		m.answer = func(agent.Request) agent.Message { return agenttest.Say("done") }
		if d := m.prompt(t, s, "go on"); d.Reason != agent.StopComplete || len(compactions(store)) != 1 {
			t.Errorf("the next prompt ended with %+v", d)
		}
	})
}
