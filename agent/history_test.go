package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
)

func TestResumedHistoryIsSettledOnceAndRunsNothingAgain(t *testing.T) {
	history := []agent.Message{
		agent.UserText("go"),
		agenttest.Call(agenttest.Use("c1", "exec", input{Text: "make"}), agenttest.Use("c2", "read", input{File: "a.txt"})),
		{Role: agent.RoleTool, Blocks: []agent.Block{agent.ToolResult{ID: "c1", Output: "ok"}}},
	}
	b := newBench(t, func(c *agent.Config) { c.History = history }, agenttest.Say("hello again"), agenttest.Say("and again"))
	b.run(t, t.Context(), "and now")
	b.run(t, t.Context(), "and now")
	if got := b.results(); len(got) != 1 || !strings.HasPrefix(got[0], "c2: Interrupted") {
		t.Errorf("results %q", got)
	}
	for _, req := range b.model.Requests() {
		if err := agenttest.CheckMessages(req.Messages); err != nil {
			t.Error(err)
		}
	}
}

func TestADamagedHistoryIsMendedInTheRequest(t *testing.T) {
	call := agenttest.Call(agenttest.Use("c1", "read", input{}), agenttest.Use("c2", "read", input{}))
	result := func(ids ...string) agent.Message {
		m := agent.Message{Role: agent.RoleTool}
		for _, id := range ids {
			m.Blocks = append(m.Blocks, agent.ToolResult{ID: id, Output: "ok"})
		}
		return m
	}
	go1 := agent.UserText("go")
	for name, history := range map[string][]agent.Message{
		"no results":            {go1, call, go1},
		"one of two":            {go1, call, result("c2"), go1},
		"out of order":          {go1, call, result("c2", "c1"), go1},
		"a result of nothing":   {go1, call, result("c1", "c2", "c9"), go1},
		"results of nothing":    {result("c1"), go1},
		"twice":                 {go1, call, result("c1", "c2"), result("c1", "c2"), go1},
		"none at the very end":  {go1, call},
		"an answer in between":  {go1, call, agenttest.Say("hm"), result("c1", "c2")},
		"nothing but a reply":   {call},
		"nothing but a results": {result("c1")},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *agent.Config) { c.History = history }, agenttest.Say("one"), agenttest.Call(agenttest.Use("c1", "read", input{File: "a.txt"})), agenttest.Say("two"))
			b.run(t, t.Context(), "and now")
			b.run(t, t.Context(), "and then")
			for _, req := range b.model.Requests() {
				if err := agenttest.CheckMessages(req.Messages); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func BenchmarkTurns(b *testing.B) {
	for _, turns := range []int{30, 300} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				model := modelFunc(func(context.Context, agent.Request) (agent.Message, error) {
					if n++; n > turns {
						return agenttest.Say("done"), nil
					}
					return agenttest.Call(agenttest.Use(fmt.Sprint("c", n), "read", input{File: "a.txt", Line: n})), nil
				})
				bench := newBench(b, func(c *agent.Config) { c.Model = model; c.MaxTurns = turns + 1 })
				bench.run(b, context.Background(), "go")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*turns), "ns/turn")
		})
	}
}
