package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
)

// shell is a tool that runs commands, as a function says.
func shell(run func(command string) string) agent.Tool {
	return agenttest.Tool{Name: "shell", Tier: agent.TierRun, Planer: func(_ context.Context, _ agent.Files, raw json.RawMessage) (agent.Plan, error) {
		var in struct{ Command string }
		if err := json.Unmarshal(raw, &in); err != nil {
			return agent.Plan{}, err
		}
		return agent.Plan{Effects: []agent.Effect{agent.Exec{Dir: "/w", Command: in.Command}}, Run: func(context.Context, agent.Approval) (agent.Result, error) {
			return agent.Result{Output: run(in.Command)}, nil
		}}, nil
	}}
}

func command(text string) agent.Message {
	return agenttest.Call(agenttest.Use("", "shell", map[string]string{"command": text}))
}

// TestTestsAgainAfterOtherCommands: a command may have changed what another one finds,
// so that one may run again; two that take turns without end are stopped all the same.
func TestTestsAgainAfterOtherCommands(t *testing.T) {
	fixes := 0
	tool := shell(func(command string) string {
		switch {
		case strings.HasPrefix(command, "sed"):
			fixes++
			return ""
		case fixes < 3:
			return "FAIL"
		}
		return "PASS"
	})
	mend := []agent.Message{command("make test"), command("sed 1"), command("make test"), command("sed 2"), command("make test"), command("sed 3"), command("make test"), agenttest.Say("mended")}
	b := newBench(t, func(c *agent.Config) { c.Tools = []agent.Tool{tool} }, mend...)
	d := b.run(t, t.Context(), "go")
	if got := strings.Join(b.results(), "\n"); d.Reason != agent.StopComplete || !strings.Contains(got, "PASS") {
		t.Errorf("ended with %+v:\n%s", d, got)
	}
	runs := 0
	turns := slices.Repeat([]agent.Message{command("a"), command("b")}, 24)
	b = newBench(t, func(c *agent.Config) {
		c.Tools = []agent.Tool{shell(func(string) string { runs++; return "the same" })}
	}, append(turns, agenttest.Say("I stop"))...)
	if d := b.run(t, t.Context(), "go"); d.Reason != agent.StopRepeated || runs > 20 {
		t.Errorf("two commands in turn ended with %+v after %d runs", d, runs)
	}
}

// TestRepetitionIsJudgedByWhatCameOfIt: calls in one reply count once, a new outcome
// at the last moment counts, and each call that fails says how often it came.
func TestRepetitionIsJudgedByWhatCameOfIt(t *testing.T) {
	read := agenttest.Use("", "read", input{File: "a.txt"})
	b := newBench(t, nil, agenttest.Call(read, read, read, read, read), agenttest.Say("done"))
	if d := b.run(t, t.Context(), "go"); d.Reason != agent.StopComplete || strings.Contains(fmt.Sprint(b.results()), "identical") {
		t.Errorf("five in one reply ended with %+v: %q", d, b.results())
	}
	n := 0
	poll := agenttest.Tool{Name: "poll", Tier: agent.TierRead, Planer: func(context.Context, agent.Files, json.RawMessage) (agent.Plan, error) {
		return agent.Plan{Run: func(context.Context, agent.Approval) (agent.Result, error) {
			if n++; n == 5 {
				return agent.Result{Output: "ready"}, nil
			}
			return agent.Result{Output: "waiting"}, nil
		}}, nil
	}}
	polls := slices.Repeat([]agent.Message{agenttest.Call(agenttest.Use("", "poll", "{}"))}, 5)
	b = newBench(t, func(c *agent.Config) { c.Tools = []agent.Tool{poll} }, append(polls, agenttest.Say("it is ready"))...)
	d := b.run(t, t.Context(), "go")
	if got := b.results(); d.Reason != agent.StopComplete || len(got) != 5 || strings.Contains(got[4], "identical") || !strings.Contains(got[3], "identical call number 4") {
		t.Errorf("a poll ended with %+v: %q", d, got)
	}
	for _, use := range []agent.ToolUse{agenttest.Use("", "no_such_tool", "{}"), agenttest.Use("", "edit", `{"file":`)} {
		b = newBench(t, nil, append(slices.Repeat([]agent.Message{agenttest.Call(use)}, 5), agenttest.Say("I stop"))...)
		d := b.run(t, t.Context(), "go")
		if got := b.results(); d.Reason != agent.StopRepeated || len(got) != 5 || !strings.Contains(got[2], "identical call number 3") {
			t.Errorf("%s ended with %+v: %q", use.Name, d, got)
		}
	}
}

// TestASteerAfterAHintIsHeard: the turn goes on then, as after any other reply; in its
// last answer it can't hear any more, and says so.
func TestASteerAfterAHintIsHeard(t *testing.T) {
	b := newBench(t, func(c *agent.Config) { c.MaxTurns = 3 },
		agenttest.Say("Now I will edit a.txt."), agenttest.Call(edit("c1", 0, "x")), agenttest.Call(edit("c2", 1, "y")), agenttest.Say("so far"))
	requests := 0
	for e, err := range b.session.Run(t.Context(), agent.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.(agent.Requested); !ok {
			continue
		}
		if requests++; requests == 1 {
			continue // the hint comes after this one
		}
		_, err := b.session.Steer(fmt.Sprint("steer ", requests))
		if want := map[int]error{4: agent.ErrEnding}[requests]; err != want {
			t.Errorf("at request %d a steer gives %v", requests, err)
		}
	}
	all := fmt.Sprint(b.model.Requests()[3].Messages)
	for _, text := range []string{"made no call", "steer 2", "steer 3"} {
		if !strings.Contains(all, text) {
			t.Errorf("%q was not heard", text)
		}
	}
}

func TestSameCallAgainAndAgain(t *testing.T) {
	t.Run("a write is asked twice, then hinted, then stopped", func(t *testing.T) {
		var replies []agent.Message
		for i := range 6 {
			in := []string{`{"file":"a.txt","line":1,"text":"x"}`, `{"text":"x",  "line":1, "file":"a.txt"}`}[i%2]
			replies = append(replies, agenttest.Call(agenttest.Use("", "edit", in)))
		}
		replies[5] = agenttest.Say("I give up")
		b := newBench(t, nil, replies...)
		b.person.Answer = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
			return agent.Decision{By: agent.ByPerson}, nil
		}
		done := b.run(t, t.Context(), "go")
		if done.Reason != agent.StopRepeated || len(b.person.Asked()) != 2 {
			t.Errorf("ended with %v after %d questions", done.Reason, len(b.person.Asked()))
		}
		if got := b.results(); len(got) != 5 || !strings.Contains(got[2], "identical call number 3") {
			t.Errorf("results %q", got)
		}
		if reqs := b.model.Requests(); len(reqs[len(reqs)-1].Tools) != 0 {
			t.Error("the last answer was not asked without tools")
		}
	})
	t.Run("a read with changing output may go on", func(t *testing.T) {
		n := 0
		poll := agenttest.Tool{Name: "poll", Tier: agent.TierRead, Planer: func(context.Context, agent.Files, json.RawMessage) (agent.Plan, error) {
			return agent.Plan{Run: func(context.Context, agent.Approval) (agent.Result, error) {
				n++
				return agent.Result{Output: fmt.Sprint("step ", n)}, nil
			}}, nil
		}}
		replies := slices.Repeat([]agent.Message{agenttest.Call(agenttest.Use("", "poll", "{}"))}, 12)
		b := newBench(t, func(c *agent.Config) { c.Tools = []agent.Tool{poll} }, append(replies, agenttest.Say("done"))...)
		if done := b.run(t, t.Context(), "go"); done.Reason != agent.StopComplete || n != 12 {
			t.Errorf("ended with %v after %d polls", done.Reason, n)
		}
	})
	t.Run("reading again after an edit is not a repetition", func(t *testing.T) {
		var replies []agent.Message
		for i := range 6 {
			replies = append(replies, agenttest.Call(agenttest.Use("", "read", input{File: ".gitignore"})), agenttest.Call(edit("", 0, fmt.Sprint(i))))
		}
		b := newBench(t, nil, append(replies, agenttest.Say("done"))...)
		if done := b.run(t, t.Context(), "go"); done.Reason != agent.StopComplete {
			t.Errorf("ended with %v", done.Reason)
		}
	})
}
