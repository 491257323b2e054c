package agent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/agent"
	"assent/agent/agenttest"

	"go.uber.org/goleak"
)

// TestMain lets ASSENT_WORLDS set how many random worlds are tried, unless
// -rapid.checks does.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		worlds := cmp.Or(os.Getenv("ASSENT_WORLDS"), "2000")
		if err := flag.Set("rapid.checks", worlds); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// bench is a session with everything scripted.
type bench struct {
	model   *agenttest.Script
	person  *agenttest.Person
	store   *agenttest.Memory
	session *agent.Session
}

func newBench(t testing.TB, change func(*agent.Config), replies ...agent.Message) *bench {
	t.Helper()
	b := &bench{
		model:  agenttest.NewScript(replies...),
		person: agenttest.NewPerson(map[string]string{"a.txt": "one\ntwo\nthree\n", ".env": "KEY=1\n"}),
		store:  &agenttest.Memory{},
	}
	cfg := agent.Config{Model: b.model, Editor: b.person, Store: b.store, Tools: basicTools()}
	if change != nil {
		change(&cfg)
	}
	var err error
	if b.session, err = agent.New(cfg); err != nil {
		t.Fatal(err)
	}
	return b
}

// basicTools are the honest tools of the random world.
func basicTools() []agent.Tool {
	w := &world{store: &agenttest.Memory{}, yes: map[string]int{`agent.Exec {Dir:/w Command:echo hi}`: 1}}
	return slices.DeleteFunc(w.tools(), func(tool agent.Tool) bool { return tool.Spec().Name == "lie" })
}

// run takes a prompt to its end and returns how it ended.
func (b *bench) run(t testing.TB, ctx context.Context, prompt string) agent.Done {
	t.Helper()
	var done agent.Done
	for e, err := range b.session.Run(ctx, agent.UserText(prompt)) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := e.(agent.Done); ok {
			done = d
		}
	}
	return done
}

// results are the results of a run, "id: text" each.
func (b *bench) results() []string {
	var out []string
	for _, r := range b.store.Records() {
		if a, ok := r.(agent.Answered); ok {
			out = append(out, a.Result.ID+": "+a.Result.Output)
		}
	}
	return out
}

func edit(id string, line int, text string) agent.ToolUse {
	return agenttest.Use(id, "edit", input{File: "a.txt", Line: line, Text: text})
}

func TestEveryCallHasOneResultInOrder(t *testing.T) {
	hang := agenttest.Tool{Name: "hang", Tier: agent.TierRead, Planer: func(context.Context, agent.Files, json.RawMessage) (agent.Plan, error) {
		return agent.Plan{Run: func(ctx context.Context, _ agent.Approval) (agent.Result, error) {
			<-ctx.Done()
			return agent.Result{}, ctx.Err()
		}}, nil
	}}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(c *agent.Config) { c.Tools = append(c.Tools, hang) },
			agenttest.Call(
				agenttest.Use("c1", "read", input{File: "a.txt"}),
				agenttest.Use("c2", "no_such_tool", input{}),
				agenttest.Use("c3", "read", `{"file":`),
				agenttest.Use("c4", "crash", input{Line: 0}),
				agenttest.Use("c5", "crash", input{Line: 1}),
				agenttest.Use("c6", "hang", input{}),
				edit("c7", 1, "TWO"),
				agenttest.Use("c8", "exec", input{Text: "hi"}),
				agenttest.Use("c8", "read", input{File: "b.txt"}),
			),
			agenttest.Say("done"))
		done := b.run(t, t.Context(), "go")
		if done.Reason != agent.StopComplete || done.Turns != 2 {
			t.Errorf("ended with %+v", done)
		}
		want := []string{
			"c1: one", "c2: There is no tool", "c3: read was not called: the arguments are not one JSON object",
			"c4: crash failed: it crashed", "c5: crash failed: it crashed", "c6: hang failed: it was stopped after its time limit of 1m0s",
			"c7: a.txt edited: 1 of 1 hunks landed.", "c8: hi", "c8-2: read failed: read b.txt: file does not exist",
		}
		got := b.results()
		if len(got) != len(want) {
			t.Fatalf("got %d results: %q", len(got), got)
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("result %d is %q, want %q…", i, got[i], want[i])
			}
		}
		if err := agenttest.CheckMessages(b.model.Requests()[1].Messages); err != nil {
			t.Error(err)
		}
	})
}

func TestLaterEditSeesTheEarlierOneAndFallsWithIt(t *testing.T) {
	reply := agenttest.Call(edit("c1", 1, "2"), edit("c2", 1, "zwei"), edit("c3", 2, "THREE"))
	t.Run("all accepted", func(t *testing.T) {
		b := newBench(t, nil, reply, agenttest.Say("done"))
		b.run(t, t.Context(), "go")
		if got := b.person.Text("a.txt"); got != "one\nzwei\nTHREE\n" {
			t.Errorf("a.txt is %q", got)
		}
		if asked := b.person.Asked(); len(asked) != 1 || len(asked[0].Parts) != 3 {
			t.Errorf("asked %+v, want one question of three parts", asked)
		}
	})
	t.Run("first refused", func(t *testing.T) {
		b := newBench(t, nil, reply, agenttest.Say("done"))
		b.person.Answer = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
			d := agenttest.AcceptAll(p)
			d.Parts[0] = agent.PartDecision{Comment: "keep two"}
			return d, nil
		}
		done := b.run(t, t.Context(), "go")
		if got := b.person.Text("a.txt"); got != "one\ntwo\nTHREE\n" {
			t.Errorf("a.txt is %q", got)
		}
		got := b.results()
		if !strings.Contains(got[0], `was not edited: refused by the person`) || !strings.Contains(got[0], `"keep two"`) {
			t.Errorf("the refusal reads %q", got[0])
		}
		if !strings.Contains(got[1], "0 of 1 hunks landed") || !strings.Contains(got[1], "rests on a refused change") {
			t.Errorf("the edit on top reads %q", got[1])
		}
		if done.Denied != 1 {
			t.Errorf("denied is %d", done.Denied)
		}
	})
}

func TestPersonsOwnTextLandsAndTheModelIsTold(t *testing.T) {
	b := newBench(t, nil, agenttest.Call(edit("c1", 1, "TWO")), agenttest.Say("done"))
	b.person.Answer = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
		h := p.Parts[0].Effect.(agent.Edit).Hunks[0]
		own := "Two!\n"
		return agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{{Hunks: map[string]agent.HunkDecision{h.ID: {Accept: true, Text: &own}}}}}, nil
	}
	done := b.run(t, t.Context(), "go")
	if got := b.person.Text("a.txt"); got != "one\nTwo!\nthree\n" {
		t.Errorf("a.txt is %q", got)
	}
	if got := b.results()[0]; !strings.Contains(got, "The person put their own text at line 2 instead.\nWhere the text is not as you asked for, it now reads:\n[lines 1-3 of 3]\none\nTwo!\nthree") {
		t.Errorf("the result reads %q", got)
	}
	if done.Denied != 0 {
		t.Errorf("an own text counted as a denial")
	}
}

func TestAfterTheLimitTheModelAnswersWithoutTools(t *testing.T) {
	call := func(n int) agent.Message { return agenttest.Call(edit(fmt.Sprint("c", n), n, fmt.Sprint(n))) }
	for name, last := range map[string]agent.Message{
		"text":        agenttest.Say("so far"),
		"calls again": {Role: agent.RoleAssistant, Blocks: []agent.Block{agent.Text{Text: "so far"}, edit("c9", 0, "no")}},
		"nothing":     {},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *agent.Config) { c.MaxTurns = 2 }, call(1), call(2), last)
			synctest.Test(t, func(t *testing.T) { // an empty reply is asked for again, after a wait
				if done := b.run(t, t.Context(), "go"); done.Reason != agent.StopMaxTurns {
					t.Errorf("ended with %+v", done)
				}
			})
			if req := b.model.Requests()[2]; len(req.Tools) != 0 {
				t.Errorf("the last request offers %d tools", len(req.Tools))
			}
			if n := len(b.results()); n != 2 {
				t.Errorf("%d results", n)
			}
		})
	}
}

func TestCancelLeavesASessionThatGoesOn(t *testing.T) {
	b := newBench(t, nil, agenttest.Call(edit("c1", 0, "x"), agenttest.Use("c2", "exec", input{Text: "hi"})), agenttest.Say("went on"))
	ctx, cancel := context.WithCancel(t.Context())
	b.person.Answer = func(ctx context.Context, p agent.Proposal) (agent.Decision, error) {
		cancel()
		return agenttest.AcceptAll(p), nil // too late
	}
	if done := b.run(t, ctx, "go"); done.Reason != agent.StopCancelled {
		t.Errorf("ended with %+v", done)
	}
	if b.person.Text("a.txt") != "one\ntwo\nthree\n" || len(b.person.Asked()) != 1 {
		t.Errorf("a late yes did something, or the rest was asked")
	}
	if done := b.run(t, t.Context(), "go on"); done.Reason != agent.StopComplete {
		t.Errorf("the next prompt ended with %+v", done)
	}
	if err := agenttest.CheckMessages(b.model.Requests()[1].Messages); err != nil {
		t.Error(err)
	}
}

func TestLostConnectionDecidesNothing(t *testing.T) {
	b := newBench(t, nil, agenttest.Call(edit("c1", 0, "x")), agenttest.Say("went on"))
	b.person.Answer = func(context.Context, agent.Proposal) (agent.Decision, error) {
		return agent.Decision{}, agent.ErrInterrupted
	}
	var last error
	for _, err := range b.session.Run(t.Context(), agent.UserText("go")) {
		last = err
	}
	if !errors.Is(last, agent.ErrInterrupted) {
		t.Errorf("ended with %v", last)
	}
	records := b.store.Records()
	for _, r := range records[:len(records)-1] {
		switch r.(type) {
		case agent.Decided, agent.Landed, agent.Answered, agent.Done:
			t.Errorf("recorded %#v", r)
		}
	}
	if done, ok := records[len(records)-1].(agent.Done); !ok || done.Reason != agent.StopInterrupted {
		t.Errorf("the last record is %#v", records[len(records)-1])
	}
}

func TestASecretIsReadOnlyAfterAYesAndEditedOnlyThen(t *testing.T) {
	secret := agenttest.Tool{Name: "cat", Tier: agent.TierRead, Planer: func(ctx context.Context, files agent.Files, _ json.RawMessage) (agent.Plan, error) {
		return agent.Plan{Effects: []agent.Effect{agent.SecretRead{Path: "/w/.env"}}, Run: func(ctx context.Context, ok agent.Approval) (agent.Result, error) {
			f, err := files.Read(ctx, ok, ".env")
			return agent.Result{Output: f.Text}, err
		}}, nil
	}}
	editSecret := agenttest.Use("", "edit", input{File: ".env", Text: "KEY=2"})
	readIt := agenttest.Use("", "cat", "{}")
	allow := func(agent.Effect) agent.Verdict { return agent.Verdict{Do: agent.Allow, By: agent.ByMode} }
	b := newBench(t, func(c *agent.Config) { c.Tools = append(c.Tools, secret); c.Policy = allow },
		agenttest.Call(editSecret), agenttest.Call(readIt), agenttest.Call(editSecret), agenttest.Call(readIt), agenttest.Say("done"))
	b.run(t, t.Context(), "go")
	got := b.results()
	if !strings.Contains(got[0], "not approved") || !strings.HasSuffix(got[1], ": KEY=1\n") || !strings.Contains(got[2], "1 of 1 hunks landed") {
		t.Errorf("results %q", got)
	}
	if n := len(b.person.Asked()); n != 3 {
		t.Errorf("asked %d times, want for each read and for the edit, whatever the policy allows", n)
	}
}

func TestLongResultIsCutInTheMiddleOnACharacter(t *testing.T) {
	for _, text := range []string{strings.Repeat("é", 40<<10), strings.Repeat("line\n", 20<<10)} {
		b := newBench(t, func(c *agent.Config) {
			c.Editor = agenttest.NewPerson(map[string]string{"big": "start\n" + text + "end"})
		}, agenttest.Call(agenttest.Use("c1", "read", input{File: "big"})), agenttest.Say("done"))
		b.run(t, t.Context(), "go")
		got := strings.TrimPrefix(b.results()[0], "c1: ")
		if len(got) > 32<<10 || !strings.HasPrefix(got, "start\n") || !strings.HasSuffix(got, "end") || !strings.Contains(got, "bytes cut here") || strings.ContainsRune(got, '�') {
			t.Errorf("%d bytes: %.40q … %q", len(got), got, got[len(got)-40:])
		}
	}
}

func TestASessionWithoutAJournalDoesNothing(t *testing.T) {
	b := newBench(t, func(c *agent.Config) { c.Store = nil }, agenttest.Call(edit("c1", 0, "x")))
	var last error
	for _, err := range b.session.Run(t.Context(), agent.UserText("go")) {
		last = err
	}
	if last == nil || len(b.person.Asked()) != 0 {
		t.Errorf("ended with %v", last)
	}
}

func TestSecondRunAtTheSameTimeIsRefused(t *testing.T) {
	b := newBench(t, nil, agenttest.Say("one"), agenttest.Say("two"))
	for range b.session.Run(t.Context(), agent.UserText("go")) {
		for _, err := range b.session.Run(t.Context(), agent.UserText("me too")) {
			if !errors.Is(err, agent.ErrBusy) {
				t.Errorf("the second run says %v", err)
			}
		}
		break
	}
}

func TestReadsRunSideBySideUpToTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now, most := make(chan int, 1), 0
		now <- 0
		slow := agenttest.Tool{Name: "slow", Tier: agent.TierRead, Planer: func(context.Context, agent.Files, json.RawMessage) (agent.Plan, error) {
			return agent.Plan{Run: func(context.Context, agent.Approval) (agent.Result, error) {
				n := <-now + 1
				most = max(most, n)
				now <- n
				time.Sleep(time.Second) // of the bubble's clock: until all others wait too
				now <- <-now - 1
				return agent.Result{Output: "ok"}, nil
			}}, nil
		}}
		var uses []agent.ToolUse
		for i := range 6 {
			uses = append(uses, agenttest.Use("", "slow", input{Line: i}))
		}
		b := newBench(t, func(c *agent.Config) { c.Tools = []agent.Tool{slow} }, agenttest.Call(uses...), agenttest.Say("done"))
		b.run(t, t.Context(), "go")
		if most != agent.DefaultParallel {
			t.Errorf("%d at once", most)
		}
	})
}

func TestACutReplyRunsNothing(t *testing.T) {
	cut := agenttest.Call(edit("c1", 0, "x"))
	cut.Stop = agent.StopTruncated
	b := newBench(t, nil, cut, agenttest.Say("sorry"))
	b.run(t, t.Context(), "go")
	if len(b.person.Asked()) != 0 || !strings.Contains(b.results()[0], "cut off") {
		t.Errorf("results %q after %d questions", b.results(), len(b.person.Asked()))
	}
}
