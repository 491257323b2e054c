package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"

	"assent/agent"
	"assent/agent/agenttest"
)

// scripted is a server that answers as a function says, with all of its stream.
type scripted func(n int, req agent.Request) (shown string, reply agent.Message, err error)

type scriptedModel struct {
	answer   scripted
	requests []agent.Request
}

func (m *scriptedModel) Stream(_ context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		m.requests = append(m.requests, req)
		shown, reply, err := m.answer(len(m.requests), req)
		if shown != "" && !yield(agent.Chunk{Text: shown}, nil) {
			return
		}
		if err != nil {
			yield(agent.Chunk{}, err)
			return
		}
		yield(agent.Chunk{Reply: &reply}, nil)
	}
}

func asksForSummary(req agent.Request) bool { return strings.HasPrefix(req.System, "You put") }

// prompts runs several prompts and returns how each ended.
func prompts(t *testing.T, s *agent.Session, texts ...string) (reasons []agent.StopReason) {
	t.Helper()
	for _, text := range texts {
		for e, err := range s.Run(t.Context(), agent.UserText(text)) {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := e.(agent.Done); ok {
				reasons = append(reasons, d.Reason)
			}
		}
	}
	return reasons
}

// TestTheServerKnowsWhetherItFits: a request that seems too long by our estimate is
// made all the same if nothing can be put in short, and an absurd count is not believed.
func TestTheServerKnowsWhetherItFits(t *testing.T) {
	for name, counted := range map[string]int{"no count": 0, "a count of another kind": 6 * 9000} {
		m := &scriptedModel{answer: func(int, agent.Request) (string, agent.Message, error) {
			reply := agenttest.Say("well")
			reply.Usage.Input = counted
			return "", reply, nil
		}}
		s, err := agent.New(agent.Config{Model: m, Store: &agenttest.Memory{}, Window: 8000, System: strings.Repeat("rule ", 6000)})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(prompts(t, s, "one", "two", "three")); got != "[complete complete complete]" {
			t.Errorf("%s: the prompts ended with %s", name, got)
		}
	}
}

// TestAFullWindowThatIsSaidLate: in the middle of a reply, by a reply that is cut after a
// word, with a limit that can't be, or with one of another count. One prompt may fail by
// it, the next ones work.
func TestAFullWindowThatIsSaidLate(t *testing.T) {
	const window = 6000
	overflow := func(limit int) error {
		return &agent.ModelError{Kind: agent.ErrorContextOverflow, Status: 400, Limit: limit, Message: "too long"}
	}
	cut := agenttest.Say("It is")
	cut.Stop, cut.Usage = agent.StopTruncated, agent.Usage{Input: window - 10, Output: 3}
	for name, full := range map[string]scripted{
		"in the middle": func(int, agent.Request) (string, agent.Message, error) {
			return "Well, ", agent.Message{}, overflow(window)
		},
		"by a cut":             func(int, agent.Request) (string, agent.Message, error) { return "It is", cut, nil },
		"with a limit of 1":    func(int, agent.Request) (string, agent.Message, error) { return "", agent.Message{}, overflow(1) },
		"with one of -1":       func(int, agent.Request) (string, agent.Message, error) { return "", agent.Message{}, overflow(-1) },
		"with one of 1192":     func(int, agent.Request) (string, agent.Message, error) { return "", agent.Message{}, overflow(1192) },
		"with one of millions": func(int, agent.Request) (string, agent.Message, error) { return "", agent.Message{}, overflow(4 << 20) },
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			m := &scriptedModel{}
			m.answer = func(i int, req agent.Request) (string, agent.Message, error) {
				switch n++; {
				case asksForSummary(req):
					return "", agenttest.Say("a summary"), nil
				case agenttest.RequestBytes(req) > window*4:
					return full(i, req)
				case n%7 == 0:
					return "", agenttest.Say("part done"), nil
				}
				return "", agenttest.Call(callBig(n, 2000)), nil
			}
			s, err := agent.New(agent.Config{Model: m, Store: &agenttest.Memory{}, Tools: []agent.Tool{big}})
			if err != nil {
				t.Fatal(err)
			}
			failed := 0
			for i := range 8 {
				if r := prompts(t, s, fmt.Sprint("prompt ", i)); r[0] != agent.StopComplete {
					failed++
				}
			}
			if failed > 1 {
				t.Errorf("%d of 8 prompts failed", failed)
			}
		})
	}
}

// TestASummaryThatIsNone: what a filter says, half a word, or a call is no memory of
// what was done; and no summary costs three requests.
func TestASummaryThatIsNone(t *testing.T) {
	refused, half := agenttest.Say("I'm sorry, I can't help with that."), agenttest.Say("The person wan")
	refused.Stop, half.Stop = agent.StopRefused, agent.StopTruncated
	for name, summary := range map[string]agent.Message{
		"a refusal": refused, "half of one": half, "nothing": agenttest.Say(""), "a call": agenttest.Call(callBig(1, 10)),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, asked := 0, 0
				m := &scriptedModel{}
				m.answer = func(_ int, req agent.Request) (string, agent.Message, error) {
					if asksForSummary(req) {
						asked++
						return "", summary, nil
					}
					if n++; n == 30 {
						return "", agenttest.Say("done"), nil
					}
					return "", agenttest.Call(callBig(n, 2000)), nil
				}
				store := &agenttest.Memory{}
				s, err := agent.New(agent.Config{Model: m, Store: store, Tools: []agent.Tool{big}, Window: 8000})
				if err != nil {
					t.Fatal(err)
				}
				prompts(t, s, "go")
				made := compactions(store)
				if len(made) == 0 || asked != len(made) {
					t.Errorf("%d compactions, %d requests for them", len(made), asked)
				}
				for _, c := range made {
					if !strings.Contains(c.Summary, "- big {") {
						t.Errorf("what was done is lost: %q", c.Summary)
					}
				}
			})
		})
	}
}

// TestWhatIsNewStaysWhole: the results that the model does not know yet are not cut as
// long as something else can be; then the long arguments of calls are cut too, and stay
// an object.
func TestWhatIsNewStaysWhole(t *testing.T) {
	n := 0
	m := &scriptedModel{}
	m.answer = func(_ int, req agent.Request) (string, agent.Message, error) {
		if asksForSummary(req) {
			return "", agenttest.Say("a summary"), nil
		}
		if err := agenttest.CheckMessages(req.Messages); err != nil {
			t.Error(err)
		}
		if last := req.Messages[len(req.Messages)-1]; last.Role == agent.RoleTool && strings.Contains(last.ToolResults()[0].Output, "cut") {
			t.Errorf("request %d: a result of %d bytes is new and cut", n, len(last.ToolResults()[0].Output))
		}
		if n++; n == 60 {
			return "", agenttest.Say("done"), nil
		}
		input, err := json.Marshal(map[string]any{"bytes": 3000, "n": n, "content": strings.Repeat("argument ", 300)})
		return "", agenttest.Call(agenttest.Use("", "big", string(input))), err
	}
	store := &agenttest.Memory{}
	s, err := agent.New(agent.Config{Model: m, Store: store, Tools: []agent.Tool{big}, Window: 32 << 10, MaxTurns: 100})
	if err != nil {
		t.Fatal(err)
	}
	prompts(t, s, "go")
	if made := len(compactions(store)); made == 0 || made > 15 {
		t.Errorf("%d compactions", made)
	}
}

// TestLongArgumentsAreCut: a call whose arguments fill the window does not make each
// turn compact anew, and the model still sees which call it made.
func TestLongArgumentsAreCut(t *testing.T) {
	n := 0
	m := &scriptedModel{}
	m.answer = func(_ int, req agent.Request) (string, agent.Message, error) {
		if asksForSummary(req) {
			return "", agenttest.Say("a summary"), nil
		}
		if last := req.Messages[len(req.Messages)-1]; n > 0 && last.Role != agent.RoleTool {
			t.Errorf("request %d does not show the newest call", n)
		}
		if n++; n == 40 {
			return "", agenttest.Say("done"), nil
		}
		input, err := json.Marshal(map[string]any{"bytes": 100, "n": n, "content": strings.Repeat("argument ", 1000)})
		return "", agenttest.Call(agenttest.Use("", "big", string(input))), err
	}
	store := &agenttest.Memory{}
	s, err := agent.New(agent.Config{Model: m, Store: store, Tools: []agent.Tool{big}, Window: 8 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if got := prompts(t, s, "go"); got[0] != agent.StopComplete {
		t.Errorf("ended with %v", got)
	}
	if made := len(compactions(store)); made == 0 || made > 25 {
		t.Errorf("%d compactions in 40 turns", made)
	}
}

// TestTheWordsOfThePersonAreTheirOwn: they are kept to the byte, the first ones long too,
// and a picture that is gone is named.
func TestTheWordsOfThePersonAreTheirOwn(t *testing.T) {
	first := "  indented\n\tcode\n" + strings.Repeat("what I want. ", 300)
	gone := []agent.Message{
		agent.UserText(first), agenttest.Say("one"),
		{Role: agent.RoleUser, Blocks: []agent.Block{agent.Text{Text: "look "}, agent.Image{MediaType: "image/png", Data: []byte("x")}}}, agenttest.Say("two"),
	}
	n := 0
	m := &scriptedModel{}
	m.answer = func(_ int, req agent.Request) (string, agent.Message, error) {
		if asksForSummary(req) {
			return "", agenttest.Say("a summary"), nil
		}
		if n++; n == 12 {
			return "", agenttest.Say("done"), nil
		}
		return "", agenttest.Call(callBig(n, 3000)), nil
	}
	store := &agenttest.Memory{}
	s, err := agent.New(agent.Config{Model: m, Store: store, Tools: []agent.Tool{big}, Window: 8 << 10, History: gone})
	if err != nil {
		t.Fatal(err)
	}
	prompts(t, s, "and now")
	made := compactions(store)
	if len(made) == 0 || len(made[0].Said) != 2 || made[0].Said[0] != first || !strings.Contains(made[0].Said[1], "look ") || !strings.Contains(made[0].Said[1], "a picture") {
		t.Errorf("%+v", made)
	}
}

// TestAServerThatCountsInAnotherWay: by its counts there is room for ever, and yet it
// refuses, without a number. What it refuses counts for more.
func TestAServerThatCountsInAnotherWay(t *testing.T) {
	n := 0
	m := &scriptedModel{}
	m.answer = func(_ int, req agent.Request) (string, agent.Message, error) {
		size := agenttest.RequestBytes(req)
		if size > 12000 && !asksForSummary(req) {
			return "", agent.Message{}, &agent.ModelError{Kind: agent.ErrorContextOverflow, Status: 400, Message: "too long"}
		}
		reply := agenttest.Say("part done")
		if n++; n%9 != 0 && !asksForSummary(req) {
			reply = agenttest.Call(callBig(n, 1500))
		}
		reply.Usage.Input = size / 11
		return "", reply, nil
	}
	s, err := agent.New(agent.Config{Model: m, Store: &agenttest.Memory{}, Tools: []agent.Tool{big}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if r := prompts(t, s, fmt.Sprint("prompt ", i)); r[0] != agent.StopComplete {
			t.Errorf("prompt %d ended with %s", i, r[0])
		}
	}
}
