package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/agent"
	"assent/agent/agenttest"
)

// reviewing is a bench whose person answers once in a given way.
func reviewing(t *testing.T, answer func(p agent.Proposal) agent.Decision, uses ...agent.ToolUse) *bench {
	t.Helper()
	b := newBench(t, nil, agenttest.Call(uses...), agenttest.Say("done"))
	b.person.Answer = func(_ context.Context, p agent.Proposal) (agent.Decision, error) { return answer(p), nil }
	b.run(t, t.Context(), "go")
	return b
}

func TestAnAnswerThatDoesNotFitIsARefusalAndRecordedAsOne(t *testing.T) {
	unknown := map[string]agent.HunkDecision{"never shown": {Accept: true}}
	yes := agent.PartDecision{Accept: true}
	whole := []agent.Hunk{agent.NewHunk(0, "one\n", "mine\n")}
	del := agenttest.Use("c1", "delete", input{File: "a.txt"})
	for name, c := range map[string]struct {
		use   agent.ToolUse
		parts []agent.PartDecision
	}{
		"no part":                              {edit("c1", 0, "x"), nil},
		"more parts than asked":                {edit("c1", 0, "x"), []agent.PartDecision{yes, yes}},
		"an unknown hunk":                      {edit("c1", 0, "x"), []agent.PartDecision{{Accept: true, Hunks: unknown}}},
		"a delete with an answer to a hunk":    {del, []agent.PartDecision{{Accept: true, Hunks: unknown}}},
		"a rewrite of a delete":                {del, []agent.PartDecision{{Accept: true, Rewrite: whole}}},
		"a rewrite beside answers to hunks":    {edit("c1", 0, "x"), []agent.PartDecision{{Accept: true, Rewrite: whole, Hunks: unknown}}},
		"a rewrite of a text that is not ours": {edit("c1", 0, "x"), []agent.PartDecision{{Accept: true, Rewrite: []agent.Hunk{agent.NewHunk(0, "uno\n", "x\n")}}}},
		"a rewrite with overlapping hunks":     {edit("c1", 0, "x"), []agent.PartDecision{{Accept: true, Rewrite: slices.Concat(whole, whole)}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := reviewing(t, func(agent.Proposal) agent.Decision { return agent.Decision{By: agent.ByPerson, Parts: c.parts} }, c.use)
			if got := b.person.Text("a.txt"); got != "one\ntwo\nthree\n" {
				t.Errorf("a.txt is %q", got)
			}
			for _, r := range b.store.Records() {
				d, ok := r.(agent.Decided)
				if !ok {
					continue
				}
				if len(d.Decision.Parts) != 1 || d.Decision.Parts[0].Accept || len(d.Decision.Parts[0].Hunks) > 0 {
					t.Errorf("recorded as %+v", d.Decision)
				}
			}
			if got := b.results(); len(got) != 1 || !strings.Contains(got[0], "refused by the person") {
				t.Errorf("the model is told %q", got)
			}
		})
	}
}

func TestARewriteIsCountedAsWhatItIs(t *testing.T) {
	b := reviewing(t, func(p agent.Proposal) agent.Decision {
		e := p.Parts[0].Effect.(agent.Edit)
		rewrite := append(slices.Clone(e.Hunks), agent.NewHunk(strings.Index(e.Old, "three"), "three\n", "3\n"))
		return agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{{Accept: true, Rewrite: rewrite}}}
	}, edit("c1", 0, "x"))
	if got := b.person.Text("a.txt"); got != "x\ntwo\n3\n" {
		t.Errorf("a.txt is %q", got)
	}
	if got := b.results()[0]; !strings.Contains(got, "2 of 2 hunks landed") || !strings.Contains(got, "own text at line 3") {
		t.Errorf("the model is told %q", got)
	}
}

func TestTheTextOfASecretFileIsNotToldUnasked(t *testing.T) {
	own := "KEY=the-persons-own\n"
	for name, answer := range map[string]func(h agent.Hunk) agent.HunkDecision{
		"refused":  func(agent.Hunk) agent.HunkDecision { return agent.HunkDecision{} },
		"own text": func(agent.Hunk) agent.HunkDecision { return agent.HunkDecision{Accept: true, Text: &own} },
	} {
		t.Run(name, func(t *testing.T) {
			person := agenttest.NewPerson(nil)
			b := newBench(t, func(c *agent.Config) { c.Editor = person }, agenttest.Call(agenttest.Use("c1", "create", input{File: ".env", Text: "KEY=changeme\n"})), agenttest.Say("done"))
			person.Answer = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
				h := p.Parts[0].Effect.(agent.Edit).Hunks[0]
				return agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{{Hunks: map[string]agent.HunkDecision{h.ID: answer(h)}}}}, nil
			}
			b.run(t, t.Context(), "go")
			if got := b.results()[0]; strings.Contains(got, "KEY=") {
				t.Errorf("the model is told %q", got)
			}
		})
	}
}

func TestEachProposalHasAnIDOfItsOwn(t *testing.T) {
	two := agenttest.Tool{Name: "two", Tier: agent.TierRead, Planer: func(context.Context, agent.Files, json.RawMessage) (agent.Plan, error) {
		return agent.Plan{
			Effects: []agent.Effect{agent.OutsideRead{Path: "/etc/hosts"}, agent.OutsideRead{Path: "/etc/motd"}},
			Run:     func(context.Context, agent.Approval) (agent.Result, error) { return agent.Result{Output: "read"}, nil },
		}, nil
	}}
	policy := func(e agent.Effect) agent.Verdict {
		if e == agent.Effect(agent.OutsideRead{Path: "/etc/hosts"}) {
			return agent.Verdict{Do: agent.Allow, By: agent.ByRule}
		}
		return agent.Verdict{}
	}
	b := newBench(t, func(c *agent.Config) { c.Tools, c.Policy = []agent.Tool{two}, policy }, agenttest.Call(agenttest.Use("c1", "two", "{}")), agenttest.Say("done"))
	b.run(t, t.Context(), "go")
	ids := map[string]bool{}
	for _, r := range b.store.Records() {
		if p, ok := r.(agent.Proposed); ok {
			ids[p.Proposal.ID] = true
		}
	}
	if len(ids) != 2 || b.results()[0] != "c1: read" {
		t.Errorf("proposals %v, results %q", slices.Sorted(maps.Keys(ids)), b.results())
	}
}

func TestAnAnswerHasNoTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil, agenttest.Call(edit("c1", 0, "x")), agenttest.Say("done"))
		b.person.Answer = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
			time.Sleep(1000 * time.Hour) // of the bubble's clock
			return agenttest.AcceptAll(p), nil
		}
		b.run(t, t.Context(), "go")
		if got := b.person.Text("a.txt"); got != "x\ntwo\nthree\n" {
			t.Errorf("a.txt is %q", got)
		}
	})
}

// linked is a person whose file "harmless" is what the protected ".git/hooks/x"
// leads to.
type linked struct{ *agenttest.Person }

func (l linked) Stat(ctx context.Context, path string) (agent.Info, error) {
	info, err := l.Person.Stat(ctx, path)
	if path == ".git/hooks/x" {
		info.Path, info.Name = agenttest.Root+"/harmless", "harmless"
	}
	return info, err
}

func TestAProtectedSpellingOfAHarmlessPathIsAskedInEveryMode(t *testing.T) {
	l := linked{agenttest.NewPerson(nil)}
	allow := func(agent.Effect) agent.Verdict { return agent.Verdict{Do: agent.Allow, By: agent.ByMode} }
	b := newBench(t, func(c *agent.Config) { c.Editor, c.Policy = l, allow },
		agenttest.Call(agenttest.Use("c1", "create", input{File: ".git/hooks/x", Text: "#!/bin/sh\n"})), agenttest.Say("done"))
	b.run(t, t.Context(), "go")
	if asked := l.Asked(); len(asked) != 1 || !asked[0].Parts[0].Alone {
		t.Errorf("asked %+v", asked)
	}
}

func TestACommandToolMustNameItsCommand(t *testing.T) {
	sly := agenttest.Tool{Name: "sly", Tier: agent.TierRun, Planer: func(context.Context, agent.Files, json.RawMessage) (agent.Plan, error) {
		return agent.Plan{Effects: []agent.Effect{agent.OutsideRead{Path: "/etc/hosts"}}, Run: func(context.Context, agent.Approval) (agent.Result, error) {
			t.Error("it was run")
			return agent.Result{}, nil
		}}, nil
	}}
	b := newBench(t, func(c *agent.Config) { c.Tools = []agent.Tool{sly} }, agenttest.Call(agenttest.Use("c1", "sly", "{}")), agenttest.Say("done"))
	b.run(t, t.Context(), "go")
}

// frail is an editor that crashes or hangs where it is told to.
type frail struct {
	*agenttest.Person
	stat, apply func()
}

func (f frail) Stat(ctx context.Context, path string) (agent.Info, error) {
	if f.stat != nil && path == agenttest.Root+"/a.txt" {
		f.stat()
	}
	return f.Person.Stat(ctx, path)
}

func (f frail) Apply(ctx context.Context, ok agent.Approval, e agent.Edit) (agent.Landing, error) {
	f.apply()
	return f.Person.Apply(ctx, ok, e)
}

func TestWhatCrashesOrHangsAroundTheLoopDoesNotStopIt(t *testing.T) {
	t.Run("Stat of an effect crashes", func(t *testing.T) {
		b := newBench(t, func(c *agent.Config) {
			c.Editor = frail{Person: c.Editor.(*agenttest.Person), stat: func() { panic("boom") }}
		}, agenttest.Call(edit("c1", 0, "x")), agenttest.Say("done"))
		if done := b.run(t, t.Context(), "go"); done.Reason != agent.StopComplete || !strings.Contains(b.results()[0], "crashed") {
			t.Errorf("%+v, %q", done, b.results())
		}
	})
	t.Run("the policy crashes, so the person is asked", func(t *testing.T) {
		b := newBench(t, func(c *agent.Config) { c.Policy = func(agent.Effect) agent.Verdict { panic("boom") } }, agenttest.Call(edit("c1", 0, "x")), agenttest.Say("done"))
		if b.run(t, t.Context(), "go"); len(b.person.Asked()) != 1 {
			t.Errorf("asked %d times", len(b.person.Asked()))
		}
	})
	t.Run("the editor never answers a landing, and the person cancels", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			forever := make(chan struct{})
			defer close(forever)
			b := newBench(t, func(c *agent.Config) {
				c.Editor = frail{Person: c.Editor.(*agenttest.Person), apply: func() { cancel(); <-forever }}
			}, agenttest.Call(edit("c1", 0, "x"), edit("c2", 1, "y")), agenttest.Say("done"))
			if done := b.run(t, ctx, "go"); done.Reason != agent.StopCancelled {
				t.Errorf("ended with %+v", done)
			}
			got := b.results()
			if len(got) != 2 || !strings.Contains(got[0], "its result is unknown") || !strings.Contains(got[1], "cancelled before it landed") {
				t.Errorf("results %q", got)
			}
		})
	})
	t.Run("a plan outlives its time and reads on", func(t *testing.T) {
		late := make(chan struct{})
		stubborn := agenttest.Tool{Name: "stubborn", Tier: agent.TierWrite, Planer: func(_ context.Context, files agent.Files, _ json.RawMessage) (agent.Plan, error) {
			defer close(late)
			for range 2000 {
				if _, err := files.Read(context.Background(), agent.Approval{}, "a.txt"); err != nil {
					return agent.Plan{}, err
				}
			}
			return agent.Plan{}, fmt.Errorf("too late anyway")
		}}
		uses := []agent.ToolUse{agenttest.Use("s", "stubborn", "{}")}
		for i := range 8 {
			uses = append(uses, edit(fmt.Sprint("c", i), i, fmt.Sprint(i)))
		}
		b := newBench(t, func(c *agent.Config) { c.Tools = append(c.Tools, stubborn); c.ToolTimeout = time.Microsecond }, agenttest.Call(uses...), agenttest.Say("done"))
		b.run(t, t.Context(), "go")
		<-late
		if n := len(b.results()); n != 9 {
			t.Errorf("%d results", n)
		}
	})
}
