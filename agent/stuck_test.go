package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/agent"
	"assent/agent/agenttest"
)

// TestAnAnnouncementWithoutACallIsAskedAboutOnce: the model gets a hint, which is no
// word of the person's; the second time it is the answer.
func TestAnAnnouncementWithoutACallIsAskedAboutOnce(t *testing.T) {
	for text, hinted := range map[string]bool{
		"Now I will edit the file.":                                  true,
		"The bug is in a.txt. Let me fix it.":                        true,
		"I found it.\n\nI'll update the test next.":                  true,
		"Okay, next I’m going to read b.txt:":                        true,
		"Let's first run the tests.":                                 true,
		"Done. Let me know if you need more.":                        false,
		"I will edit the file once you agree.":                       false,
		"I will change it, if you want. Shall I?":                    false,
		"I will edit a.txt.\nDone: it now says three.":               false,
		"The function now reads the file.":                           false,
		"What I will not do is delete it.":                           false,
		"":                                                           false,
		"Let me check if the file exists.":                           true,
		"**Next, I'll update `a.txt`.**":                             true,
		"I'm now going to use the edit tool.":                        true,
		"Let me take a look at the tests.":                           true,
		"I'll make no changes.":                                      false,
		"I will run nothing, as you asked.":                          false,
		"I'll add tests in a later change.":                          false,
		"I will make the change as soon as you approve.":             false,
		"Let me add one caveat: it is slow.":                         false,
		"I'll make the call when the build is through, tell me then": false,
	} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // an empty reply is asked for again, after a wait
				b := newBench(t, nil, slices.Repeat([]agent.Message{agenttest.Say(text)}, 4)...)
				d := b.run(t, t.Context(), "go")
				requests := b.model.Requests()
				last := requests[len(requests)-1].Messages
				hint, isNote := last[len(last)-1].Blocks[0].(agent.Note)
				if isNote != hinted || hinted && (len(requests) != 2 || d.Reason != agent.StopComplete || !strings.Contains(hint.Text, "made no call")) {
					t.Errorf("%d requests, the last ends with %+v; ended with %+v", len(requests), last[len(last)-1], d)
				}
				for _, r := range requests {
					if err := agenttest.CheckMessages(r.Messages); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

// TestAReplyWithoutEndIsStopped: it is cut, kept once and hinted at; the second time
// the turn stops. What only looks alike goes on.
func TestAReplyWithoutEndIsStopped(t *testing.T) {
	on := func(piece string, n int) attempt {
		a := attempt{}
		for range n {
			a.chunks = append(a.chunks, agent.Chunk{Text: piece})
		}
		m := agenttest.Say(strings.Repeat(piece, n))
		a.reply = &m
		return a
	}
	thinks := attempt{chunks: slices.Repeat([]agent.Chunk{{Thinking: "but wait, "}}, 5000)}
	table := attempt{}
	for i := range 2000 {
		table.chunks = append(table.chunks, agent.Chunk{Text: fmt.Sprintf("| %d | the same | the same |\n", i)})
	}
	whole := agenttest.Say("a table")
	table.reply = &whole
	for name, c := range map[string]struct {
		list  []attempt
		want  agent.StopReason
		asked int
	}{
		"a phrase, then an answer": {[]attempt{on("and so on ", 3000), saying("sorry")}, agent.StopComplete, 2},
		"a phrase, twice":          {[]attempt{on("and so on ", 3000), on("x", 30000), saying("in short, no")}, agent.StopRepeated, 3},
		"a long piece":             {[]attempt{on(strings.Repeat("w", 500)+"\n"+strings.Repeat("v", 400), 60), saying("sorry")}, agent.StopComplete, 2},
		"a thought":                {[]attempt{thinks, saying("sorry")}, agent.StopComplete, 2},
		"a table":                  {[]attempt{table}, agent.StopComplete, 1},
		"a ruler":                  {[]attempt{on("=", 4000)}, agent.StopComplete, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &attempts{list: c.list}
				events, store := runAttempts(t, m)
				if d := done(events); d.Reason != c.want || m.requests != c.asked || d.Reason != agent.StopComplete && d.Explain() == "" {
					t.Errorf("ended with %+v after %d requests", d, m.requests)
				}
				for _, messages := range m.asked {
					if err := agenttest.CheckMessages(messages); err != nil {
						t.Error(err)
					}
				}
				for _, r := range store.Records() {
					if a, ok := r.(agent.Appended); ok && a.Message.Stop == agent.StopRepeated && len(a.Message.Text()) > 12<<10 {
						t.Errorf("%d bytes of the repetition are kept", len(a.Message.Text()))
					}
				}
			})
		})
	}
}

// TestTheOutputLimitAgainAndAgain: three cut replies in a row end the turn, with a last
// answer; one in between that is whole counts anew.
func TestTheOutputLimitAgainAndAgain(t *testing.T) {
	cut := func(n int) agent.Message {
		m := agenttest.Call(edit(fmt.Sprint("c", n), 0, strings.Repeat("x", n)))
		m.Stop = agent.StopTruncated
		return m
	}
	whole := agenttest.Call(agenttest.Use("", "read", input{File: "a.txt"}))
	b := newBench(t, nil, cut(1), cut(2), whole, cut(3), cut(4), cut(5), agenttest.Say("I can't"))
	d := b.run(t, t.Context(), "go")
	requests := b.model.Requests()
	if d.Reason != agent.StopTruncated || len(requests) != 7 || len(requests[6].Tools) != 0 || len(b.person.Asked()) != 0 || d.Explain() == "" {
		t.Errorf("ended with %+v after %d requests and %d questions", d, len(requests), len(b.person.Asked()))
	}
}

// TestACommandThatIsPolledMayGoOn: the same command whose output changes is legitimate;
// one whose output stays is not run a third time. What the person says counts anew.
func TestACommandThatIsPolledMayGoOn(t *testing.T) {
	ran := 0
	job := func(change bool) agent.Tool {
		return agenttest.Tool{Name: "job", Tier: agent.TierRun, Planer: func(context.Context, agent.Files, json.RawMessage) (agent.Plan, error) {
			return agent.Plan{Effects: []agent.Effect{agent.Exec{Dir: "/w", Command: "status"}}, Run: func(context.Context, agent.Approval) (agent.Result, error) {
				ran++
				if change {
					return agent.Result{Output: fmt.Sprint("step ", ran)}, nil
				}
				return agent.Result{Output: "waiting"}, nil
			}}, nil
		}}
	}
	polls := slices.Repeat([]agent.Message{agenttest.Call(agenttest.Use("", "job", "{}"))}, 9)
	for name, c := range map[string]struct {
		change bool
		steer  bool
		ran    int
		want   agent.StopReason
	}{
		"output that changes": {change: true, ran: 9, want: agent.StopComplete},
		"output that stays":   {ran: 2, want: agent.StopRepeated},
		"a steer in between":  {steer: true, ran: 4, want: agent.StopRepeated},
	} {
		t.Run(name, func(t *testing.T) {
			ran = 0
			b := newBench(t, func(cfg *agent.Config) { cfg.Tools = []agent.Tool{job(c.change)} }, append(slices.Clone(polls), agenttest.Say("done"))...)
			steered := !c.steer
			var d agent.Done
			for e, err := range b.session.Run(t.Context(), agent.UserText("go")) {
				if err != nil {
					t.Fatal(err)
				}
				if _, answered := e.(agent.Answered); answered && ran == 2 && !steered {
					steered = true
					if _, err := b.session.Steer("try again"); err != nil {
						t.Error(err)
					}
				}
				if done, ok := e.(agent.Done); ok {
					d = done
				}
			}
			if d.Reason != c.want || ran != c.ran {
				t.Errorf("ended with %+v after %d runs, want %d", d, ran, c.ran)
			}
		})
	}
}

// TestOnlyAnIdempotentCallIsTriedAgain: after a failure that may pass, three times at
// most, and no other call ever.
func TestOnlyAnIdempotentCallIsTriedAgain(t *testing.T) {
	passing := fmt.Errorf("the line was cut: %w", agent.ErrTransient)
	for name, c := range map[string]struct {
		idempotent bool
		errs       []error
		ran        int
		fails      bool
	}{
		"one that may be":           {true, []error{passing, passing}, 3, false},
		"that fails all the time":   {true, []error{passing, passing, passing, passing}, 3, true},
		"that fails in another way": {true, []error{errors.New("no such thing")}, 1, true},
		"one that may not be":       {false, []error{passing}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ran := 0
				tool := fetch{idempotent: c.idempotent, run: func() error {
					ran++
					if ran <= len(c.errs) {
						return c.errs[ran-1]
					}
					return nil
				}}
				b := newBench(t, func(cfg *agent.Config) { cfg.Tools = []agent.Tool{tool} }, agenttest.Call(agenttest.Use("c1", "fetch", "{}")), agenttest.Say("done"))
				began := time.Now()
				b.run(t, t.Context(), "go")
				if failed := strings.Contains(b.results()[0], "failed"); ran != c.ran || failed != c.fails || (ran > 1) != (time.Since(began) > time.Second) {
					t.Errorf("it ran %d times in %v, the result is %q", ran, time.Since(began), b.results())
				}
			})
		})
	}
}

type fetch struct {
	idempotent bool
	run        func() error
}

func (f fetch) Spec() agent.Spec {
	return agent.Spec{Name: "fetch", Tier: agent.TierRead, Idempotent: f.idempotent, Schema: json.RawMessage(`{"type":"object"}`)}
}

func (f fetch) Plan(context.Context, agent.Files, json.RawMessage) (agent.Plan, error) {
	return agent.Plan{Run: func(context.Context, agent.Approval) (agent.Result, error) {
		return agent.Result{Output: "fetched"}, f.run()
	}}, nil
}

// TestASteerWaitsForTheReviewAndSaysSo, and several come in their order behind the
// results.
func TestASteerWaitsForTheReviewAndSaysSo(t *testing.T) {
	b := newBench(t, nil, agenttest.Call(edit("c1", 0, "x")), agenttest.Say("done"))
	b.person.Answer = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
		for _, text := range []string{"one", "two"} {
			if waits, err := b.session.Steer(text); err != nil || !waits {
				t.Errorf("during the review: %v, %v", waits, err)
			}
		}
		return agenttest.AcceptAll(p), nil
	}
	for e, err := range b.session.Run(t.Context(), agent.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.(agent.Requested); ok && len(b.person.Asked()) == 0 {
			if waits, err := b.session.Steer("zero"); err != nil || waits {
				t.Errorf("before the review: %v, %v", waits, err)
			}
		}
	}
	messages := b.model.Requests()[1].Messages
	if got := messages[len(messages)-1]; got.Text() != "zero\n\none\n\ntwo" || messages[len(messages)-2].Role != agent.RoleTool || b.person.Text("a.txt") != "x\ntwo\nthree\n" {
		t.Errorf("the request ends with %+v", messages[len(messages)-2:])
	}
}

// TestWhatNobodyHeardComesBack: a cancel, or a failure, loses no word of the person.
func TestWhatNobodyHeardComesBack(t *testing.T) {
	b := newBench(t, nil, agenttest.Call(edit("c1", 0, "x")))
	ctx, cancel := context.WithCancel(t.Context())
	b.person.Answer = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
		_, _ = b.session.Steer("use tabs")
		cancel()
		return agenttest.AcceptAll(p), nil
	}
	if d := b.run(t, ctx, "go"); d.Reason != agent.StopCancelled || !slices.Equal(d.Unheard, []string{"use tabs"}) {
		t.Errorf("ended with %+v", d)
	}
	if _, err := b.session.Steer("late"); !errors.Is(err, agent.ErrIdle) {
		t.Errorf("after the run: %v", err)
	}
}

func TestAnEmptyPromptIsRefused(t *testing.T) {
	b := newBench(t, nil, agenttest.Say("yes?"))
	for _, prompt := range []agent.Message{{}, agent.UserText(" \n"), {Role: agent.RoleUser, Blocks: []agent.Block{agent.Note{}}}} {
		var last error
		for _, err := range b.session.Run(t.Context(), prompt) {
			last = err
		}
		if !errors.Is(last, agent.ErrEmptyPrompt) || len(b.store.Records()) > 0 {
			t.Errorf("%+v ended with %v, %d records", prompt, last, len(b.store.Records()))
		}
	}
}

// TestALastAnswerFromAServerThatWantsToolsBesideResults: it refuses calls and results
// in a request without tools, as some do, and is asked in plain text.
func TestALastAnswerFromAServerThatWantsToolsBesideResults(t *testing.T) {
	asked := 0
	model := modelFunc(func(_ context.Context, req agent.Request) (agent.Message, error) {
		asked++
		if err := agenttest.CheckMessages(req.Messages); err != nil {
			t.Error(err)
		}
		switch {
		case len(req.Tools) > 0:
			return agenttest.Call(agenttest.Use("", "read", input{File: "a.txt", Line: asked})), nil
		case slices.ContainsFunc(req.Messages, func(m agent.Message) bool { return m.Role == agent.RoleTool }):
			return agent.Message{}, &agent.ModelError{Kind: agent.ErrorProvider, Status: 400, Message: "tools must be set"}
		}
		if text := fmt.Sprint(req.Messages); !strings.Contains(text, "what is in it?") || !strings.Contains(text, "one\ntwo") {
			t.Errorf("it is asked %s", text)
		}
		return agenttest.Say("numbers"), nil
	})
	b := newBench(t, func(c *agent.Config) { c.Model = model; c.MaxTurns = 2 })
	d := b.run(t, t.Context(), "what is in it?")
	records := b.store.Records()
	last, ok := records[len(records)-2].(agent.Appended)
	if d.Reason != agent.StopMaxTurns || asked != 4 || !ok || last.Message.Text() != "numbers" {
		t.Errorf("ended with %+v after %d requests, %+v", d, asked, records[len(records)-2])
	}
}
