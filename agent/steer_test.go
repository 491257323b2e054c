package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
)

func TestWhatThePersonSaysMeanwhileFollowsTheResults(t *testing.T) {
	b := newBench(t, nil, agenttest.Call(edit("c1", 0, "x")), agenttest.Say("done, first"), agenttest.Say("done, second"), agenttest.Say("next"))
	b.person.Answer = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
		for _, text := range []string{"one", "two"} {
			if _, err := b.session.Steer(text); err != nil {
				t.Error(err)
			}
		}
		return agenttest.AcceptAll(p), nil
	}
	late := true
	for e, err := range b.session.Run(t.Context(), agent.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := e.(agent.Delta); ok && d.Text == "done, first" {
			if _, err := b.session.Steer("late"); err != nil { // the model has begun its answer
				t.Error(err)
			}
			late = false
		}
	}
	if late {
		t.Fatal("there was no first answer")
	}
	requests := b.model.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests", len(requests))
	}
	second := requests[1].Messages
	if got := second[len(second)-1]; got.Role != agent.RoleUser || got.Text() != "one\n\ntwo" || second[len(second)-2].Role != agent.RoleTool {
		t.Errorf("the second request ends with %+v", second[len(second)-2:])
	}
	third := requests[2].Messages
	if got := third[len(third)-1]; got.Role != agent.RoleUser || got.Text() != "late" {
		t.Errorf("the third request ends with %+v", got)
	}
	for _, r := range requests {
		if err := agenttest.CheckMessages(r.Messages); err != nil {
			t.Error(err)
		}
	}
}

func TestThereIsNothingToSteerBetweenRuns(t *testing.T) {
	b := newBench(t, nil, agenttest.Say("one"), agenttest.Say("two"))
	if _, err := b.session.Steer("x"); !errors.Is(err, agent.ErrIdle) {
		t.Errorf("before the first run: %v", err)
	}
	for e, err := range b.session.Run(t.Context(), agent.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ended := e.(agent.Done); !ended {
			continue
		}
		if _, err := b.session.Steer("x"); !errors.Is(err, agent.ErrEnding) {
			t.Errorf("at its end: %v", err)
		}
	}
}

func TestSettingsChangeBetweenRunsOnly(t *testing.T) {
	b := newBench(t, nil, agenttest.Say("one"))
	other := agenttest.NewScript(agenttest.Call(edit("c1", 0, "x")), agenttest.Say("two"))
	twice := agenttest.Tool{Name: "a", Tier: agent.TierRead}
	set := agent.Settings{Model: other, Tools: []agent.Tool{twice}}
	for _, err := range b.session.Run(t.Context(), agent.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if err := b.session.Configure(set); !errors.Is(err, agent.ErrBusy) {
			t.Errorf("during a run: %v", err)
		}
	}
	if err := b.session.Configure(agent.Settings{Model: other, Tools: []agent.Tool{twice, twice}}); err == nil {
		t.Error("two tools of one name were taken")
	}
	if err := b.session.Configure(set); err != nil {
		t.Fatal(err)
	}
	b.run(t, t.Context(), "go on")
	requests := other.Requests()
	if len(requests) != 2 || len(requests[0].Tools) != 1 {
		t.Fatalf("requests %+v", requests)
	}
	if got := requests[1].Messages[len(requests[1].Messages)-1].ToolResults(); len(got) != 1 || !got[0].IsError {
		t.Errorf("a tool that is gone was run: %+v", got)
	}
}

// At the limit the model is asked for a last word, and hears nothing after it.
func TestALateSteerIsRefusedAndNotLost(t *testing.T) {
	b := newBench(t, func(c *agent.Config) { c.MaxTurns = 1 }, agenttest.Call(edit("c1", 0, "x")), agenttest.Say("last word"))
	b.person.Answer = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
		if _, err := b.session.Steer("in time"); err != nil {
			t.Error(err)
		}
		return agenttest.AcceptAll(p), nil
	}
	for e, err := range b.session.Run(t.Context(), agent.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := e.(agent.Delta); ok && d.Text == "last word" {
			if _, err := b.session.Steer("too late"); !errors.Is(err, agent.ErrEnding) {
				t.Errorf("Steer = %v", err)
			}
		}
	}
	last := b.model.Requests()[1].Messages
	if got := last[len(last)-1].Text(); got != "in time" {
		t.Errorf("the last request ends with %q", got)
	}
}

// TestAFailingJournalLosesNoWords: the run ends with an error then, which says what was
// not heard, whether it waited still or could not be recorded.
func TestAFailingJournalLosesNoWords(t *testing.T) {
	for name, fails := range map[string]func(agent.Record) bool{
		"before it is heard": func(r agent.Record) bool { _, ok := r.(agent.Answered); return ok },
		"as it is heard": func(r agent.Record) bool {
			a, ok := r.(agent.Appended)
			return ok && a.Message.Text() == "use tabs"
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil, agenttest.Call(edit("c1", 0, "x")), agenttest.Say("done"))
			b.store.Fail = func(r agent.Record) error {
				if fails(r) {
					return errors.New("no space left")
				}
				return nil
			}
			b.person.Answer = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
				if _, err := b.session.Steer("use tabs"); err != nil {
					t.Error(err)
				}
				return agenttest.AcceptAll(p), nil
			}
			var last error
			for _, err := range b.session.Run(t.Context(), agent.UserText("go")) {
				last = err
			}
			if last == nil || !strings.Contains(last.Error(), "no space left") || strings.Count(last.Error(), "use tabs") != 1 {
				t.Errorf("it ended with %v", last)
			}
		})
	}
}
