package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/workspace"

	"pgregory.net/rapid"
)

// TestRandomWorld lets random models, tools, people, journals and consumers meet,
// and checks invariants 1 to 3 against what the person said, as this file
// understands their words; it shares no code with the session for that.
// -rapid.checks=N sets the number of worlds. All choices are read off a tape of
// bytes, since tools and editors choose on goroutines of their own.
func TestRandomWorld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(agenttest.NewTape(rapid.Uint64().Draw(rt, "seed"), 800-rapid.IntRange(0, 799).Draw(rt, "cut")))
		synctest.Test(t, func(t *testing.T) { // waits before a retry cost nothing
			w.begin(t)
			for range 1 + w.Pick(3) {
				w.prompt()
			}
		})
		if len(w.faults) > 0 {
			rt.Fatalf("promise broken: %s", strings.Join(w.faults, "\n"))
		}
	})
}

// world is one random session, with an account of what may happen in it.
type world struct {
	*agenttest.Tape
	person  *agenttest.Person
	store   *agenttest.Memory
	session *agent.Session

	mode string // "": asks, "accept_edits", "deny b.txt"

	mu       sync.Mutex
	cancel   context.CancelFunc
	ctx      context.Context
	yes      map[string]int  // what the person said yes to, by a text of our own
	owed     map[string]bool // ... and nothing went wrong since: has to happen
	lost     []string        // proposals that nobody answered
	faults   []string        // what broke a promise
	failAt   int             // record at which the store fails, -1: never
	records  int
	broken   bool // the last run ended with an error
	requests int
}

func one[T any](w *world, from ...T) T { return from[w.Pick(len(from))] }

func newWorld(tape *agenttest.Tape) *world {
	return &world{Tape: tape, yes: map[string]int{}, owed: map[string]bool{}, failAt: -1}
}

// begin sets the world up.
func (w *world) begin(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"a.txt", "b.txt", "Makefile"} {
		var lines []string
		for i := range 1 + w.Pick(8) {
			lines = append(lines, fmt.Sprintf("%s line %d\n", name, i))
		}
		files[name] = strings.Join(lines, "")
	}
	w.person = agenttest.NewPerson(files)
	w.mode = one(w, "", "", "accept_edits", "deny b.txt")
	if w.Rarely(3) {
		w.failAt = w.Pick(40)
	}
	w.store = &agenttest.Memory{Fail: func(agent.Record) error {
		w.records++
		if w.records-1 == w.failAt {
			return errors.New("no space left on device")
		}
		return nil
	}}
	w.person.Answer = w.answer
	w.person.BeforeApply = w.beforeApply
	w.person.Revise = w.revise
	session, err := agent.New(agent.Config{
		Model:    modelFunc(w.reply),
		Tools:    w.tools(),
		Editor:   w.person,
		Store:    w.store,
		Policy:   w.policy,
		MaxTurns: 6 - w.Pick(6),
		Parallel: 1 + w.Pick(3),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.session = session
}

// policy is the rules and the mode of the world.
func (w *world) policy(e agent.Effect) agent.Verdict {
	edit, ok := e.(agent.Edit)
	switch {
	case ok && w.mode == "accept_edits":
		return agent.Verdict{Do: agent.Allow, By: agent.ByMode}
	case ok && w.mode == "deny b.txt" && edit.Path == agenttest.Root+"/b.txt":
		return agent.Verdict{Do: agent.Deny, By: agent.ByRule, Reason: "b.txt is generated"}
	}
	return agent.Verdict{}
}

// prompt runs one prompt with a consumer that may leave.
func (w *world) prompt() {
	w.ctx, w.cancel = context.WithCancel(context.Background())
	defer w.cancel()
	leaveAt := -1
	if w.Rarely(3) {
		leaveAt = w.Pick(25)
	}
	n, ended := 0, false
	w.broken = false
	for e, err := range w.session.Run(w.ctx, agent.UserText("go")) {
		if ended {
			w.fault("an event after the last one: %#v", e)
		}
		if err != nil {
			w.broken, ended = true, true
			if !errors.Is(err, agent.ErrInterrupted) && !strings.Contains(err.Error(), "no space") {
				w.fault("unexpected error %v", err)
			}
		}
		if _, ok := e.(agent.Done); ok {
			ended = true
		}
		if n == leaveAt {
			w.cancelled()
			break
		}
		n++
	}
	if !ended && leaveAt < 0 {
		w.fault("the run ended without an end")
	}
	if leaveAt >= 0 && n == leaveAt && !ended {
		// Nobody saw how it ended: it did so whole if its Done is on record.
		records := w.store.Records()
		_, done := records[len(records)-1].(agent.Done)
		w.broken = !done
	}
	synctest.Wait() // for an answer that was given too late
	w.checkCalls()
}

func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// cancelled forgets what was owed: a cancel may come before it.
func (w *world) cancelled() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owed = map[string]bool{}
}

// reply is the model: it checks what it is sent, and answers at random.
func (w *world) reply(ctx context.Context, req agent.Request) (agent.Message, error) {
	w.requests++
	if err := agenttest.CheckMessages(req.Messages); err != nil {
		w.fault("request %d: %v", w.requests, err)
	}
	switch w.Pick(20) {
	case 19:
		return agent.Message{}, &agent.ModelError{Kind: agent.ErrorAuth, Message: "no"}
	case 18:
		w.cancel()
		w.cancelled()
		return agent.Message{}, ctx.Err()
	case 0, 1:
		return agenttest.Say("done"), nil
	}
	var uses []agent.ToolUse
	for range 1 + w.Pick(4) {
		uses = append(uses, w.randomUse())
	}
	m := agenttest.Call(uses...)
	if w.Rarely(10) {
		m.Stop = agent.StopTruncated
	}
	return m, nil
}

type input struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func (w *world) randomUse() agent.ToolUse {
	name := one(w, "edit", "edit", "edit", "edit", "read", "read", "create", "delete", "rename", "exec", "crash", "lie", "no_such_tool")
	id := one(w, "c1", "c2", "c3", "")
	if w.Rarely(15) {
		return agenttest.Use(id, name, `{"file":`)
	}
	return agenttest.Use(id, name, input{
		File: one(w, "a.txt", "b.txt", "Makefile", "new.txt", ".git/config"),
		Line: w.Pick(7),
		Text: one(w, "x", "y", "z\nzz", "", "a.txt line 0"),
	})
}

// answer is the person.
func (w *world) answer(ctx context.Context, p agent.Proposal) (agent.Decision, error) {
	if !w.recorded(func(r agent.Record) bool {
		q, ok := r.(agent.Proposed)
		return ok && q.Proposal.ID == p.ID
	}) {
		w.fault("asked about %s before it was recorded", p.ID)
	}
	for _, part := range p.Parts {
		w.checkQuestion(part)
	}
	switch w.Pick(20) {
	case 19:
		w.cancelled()
		w.mu.Lock()
		w.lost = append(w.lost, p.ID)
		w.mu.Unlock()
		return agent.Decision{}, fmt.Errorf("socket: %w", agent.ErrInterrupted)
	case 18:
		return agent.Decision{}, errors.New("method not found")
	case 17:
		w.mu.Lock()
		w.lost = append(w.lost, p.ID)
		w.mu.Unlock()
		w.cancel()
		w.cancelled()
		return agenttest.AcceptAll(p), nil // a late yes
	case 16:
		w.cancel()
		w.cancelled()
		return agent.Decision{}, ctx.Err()
	case 15:
		panic("the editor crashed")
	}
	d := agent.Decision{By: agent.ByPerson, Comment: one(w, "", "use tabs")}
	for _, part := range p.Parts {
		d.Parts = append(d.Parts, w.answerPart(part))
	}
	if w.Rarely(10) { // the last part has no answer, which is a no
		d.Parts = d.Parts[:len(d.Parts)-1]
	}
	for i, pd := range d.Parts {
		w.note(p.Parts[i], pd)
	}
	return d, nil
}

// checkQuestion: what is shown is what would be done, and comes from a whole reply.
func (w *world) checkQuestion(part agent.Part) {
	if edit, ok := part.Effect.(agent.Edit); ok && (edit.Path != part.Info.Path || edit.To != part.To.Path) {
		w.fault("asked about %s, to change %s", part.Info.Path, edit.Path)
	}
	for _, r := range w.store.Records() {
		if a, ok := r.(agent.Appended); ok && a.Message.Stop == agent.StopTruncated {
			if slices.ContainsFunc(a.Message.ToolUses(), func(u agent.ToolUse) bool { return u.ID == part.Use.ID }) {
				w.fault("asked about %s, which comes from a reply that was cut", part.Use.ID)
			}
		}
	}
}

// answerPart is what the person says of one part.
func (w *world) answerPart(part agent.Part) agent.PartDecision {
	d := agent.PartDecision{Accept: w.Pick(2) == 0}
	edit, ok := part.Effect.(agent.Edit)
	if !ok || len(edit.Hunks) == 0 || w.Pick(2) == 0 {
		return d
	}
	if w.Rarely(6) {
		d.Rewrite = workspace.Diff(edit.Old, edit.New()+"mine\n")
		if w.Rarely(4) {
			d.Rewrite = []agent.Hunk{{At: len(edit.Old) + 5, Old: "nowhere", New: "x"}}
		}
		return d
	}
	d.Hunks = map[string]agent.HunkDecision{}
	for _, h := range edit.Hunks {
		hd := agent.HunkDecision{Accept: w.Pick(2) == 0}
		if w.Rarely(4) {
			own := "mine\n"
			hd.Text = &own
		}
		d.Hunks[h.ID] = hd
	}
	if w.Rarely(10) {
		d.Hunks["never shown"] = agent.HunkDecision{Accept: true}
	}
	return d
}

// agreed lists what an answer says yes to, in a text of our own.
func agreed(part agent.Part, d agent.PartDecision) []string {
	var out []string
	edit, ok := part.Effect.(agent.Edit)
	if !ok {
		if d.Accept {
			out = append(out, fmt.Sprintf("%T %+v", part.Effect, part.Effect))
		}
		return out
	}
	at := func(h agent.Hunk, text string) string {
		return fmt.Sprintf("%s %d %q %q", edit.Path, h.At, h.Old, text)
	}
	switch {
	case len(edit.Hunks) == 0:
		if d.Accept && edit.Kind != agent.EditText {
			out = append(out, fmt.Sprintf("%s %s %s", edit.Kind, edit.Path, edit.To))
		}
	case d.Rewrite != nil:
		for _, h := range d.Rewrite {
			if !d.Accept || h.At > len(edit.Old) {
				return nil
			}
			out = append(out, at(h, h.New))
		}
		if edit.Kind == agent.EditCreate && len(out) != 1 {
			return nil
		}
	default:
		for _, h := range edit.Hunks {
			hd, listed := d.Hunks[h.ID]
			switch {
			case !listed && d.Accept && !h.Conflict, listed && hd.Accept && hd.Text == nil:
				out = append(out, at(h, h.New))
			case listed && hd.Accept && *hd.Text != h.Old:
				out = append(out, at(h, *hd.Text))
			}
		}
		if _, bad := d.Hunks["never shown"]; bad {
			return nil
		}
	}
	return out
}

func (w *world) note(part agent.Part, d agent.PartDecision) {
	said := agreed(part, d)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range said {
		w.yes[s]++
	}
	if len(said) > 0 {
		w.owed[part.Use.ID] = true
	}
}
