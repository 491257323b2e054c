package host_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assent/agent"
	"assent/agent/host"
	"assent/agent/workspace"
)

// desk is a person who is asked about one file, and the file.
type desk struct {
	mu      sync.Mutex
	text    string
	changed chan struct{}
	asked   []*host.Question
	shown   []agent.Proposal // each revision
}

func onDesk(old, new string) (*desk, agent.Proposal) {
	d := &desk{text: old, changed: make(chan struct{})}
	edit := agent.Edit{Path: "/w/a", Kind: agent.EditText, Base: agent.HashText(old), Old: old, Hunks: workspace.Diff(old, new)}
	return d, agent.Proposal{ID: "p", Revision: 1, Parts: []agent.Part{{Use: agent.ToolUse{ID: "c"}, Effect: edit, Info: agent.Info{Path: "/w/a", Name: "a"}}}}.Titled()
}

// review asks; answer gets the number of the question, from 1.
func (d *desk) review(ctx context.Context, p agent.Proposal, answer func(n int, q *host.Question) (host.Answer, error)) (agent.Decision, error) {
	return host.Review{
		Ask: func(_ context.Context, q *host.Question) (host.Answer, error) {
			d.asked = append(d.asked, q)
			return answer(len(d.asked), q)
		},
		Now: func(agent.Edit) (string, bool) {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.text, true
		},
		Changed: func() <-chan struct{} {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.changed
		},
	}.Run(ctx, p, func(p agent.Proposal) error {
		d.shown = append(d.shown, p)
		return nil
	})
}

// typed changes the text and tells of it.
func (d *desk) typed(text string) {
	d.put(text)
	synctest.Wait()
}

func (d *desk) put(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.text = text
	close(d.changed)
	d.changed = make(chan struct{})
}

func all(accept bool) agent.Decision {
	return agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{{Accept: accept}}}
}

func hunksOf(p agent.Proposal) []agent.Hunk { return p.Parts[0].Effect.(agent.Edit).Hunks }

func TestFastTypingSharesARevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, p := onDesk("a\nb\nc\n", "a\nb\nC\n")
		got, err := d.review(t.Context(), p, func(int, *host.Question) (host.Answer, error) {
			for _, text := range []string{"x", "xy", "xyz"} {
				d.typed(text + "\na\nb\nc\n")
			}
			time.Sleep(time.Second / 2) // of the bubble's clock
			return host.Answer{Decision: all(true)}, nil
		})
		if err != nil || !got.Parts[0].Accept || len(d.shown) != 1 || hunksOf(d.shown[0])[0].At != 8 {
			t.Errorf("%+v, %v, shown %+v", got, err, d.shown)
		}
	})
}

func TestAQuestionIsAskedForTheTextAsItIs(t *testing.T) {
	d, p := onDesk("a\nb\nc\n", "a\nb\nC\n")
	d.put("moved\na\nb\nc\n") // between the plan and the question
	got, err := d.review(t.Context(), p, func(_ int, q *host.Question) (host.Answer, error) {
		return host.Answer{Revision: q.Proposal.Revision, Decision: all(true)}, nil
	})
	if err != nil || !got.Parts[0].Accept || len(d.asked) != 1 || d.asked[0].Proposal.Revision != 2 || hunksOf(d.asked[0].Proposal)[0].At != 10 {
		t.Errorf("%+v, %v; asked %+v", got, err, d.asked)
	}
}

func TestOnlyWhatIsOpenIsAskedAgain(t *testing.T) {
	d, p := onDesk("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n")
	got, err := d.review(t.Context(), p, func(n int, q *host.Question) (host.Answer, error) {
		switch n {
		case 1:
			d.put("a\nb\nsea\nd\ne\n")
			return host.Answer{Decision: agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{{
				Accept: true, Hunks: map[string]agent.HunkDecision{hunksOf(p)[0].ID: {Comment: "not this"}},
			}}}}, nil
		case 2:
			if h := hunksOf(q.Proposal); len(h) != 1 || !h[0].Conflict || h[0].Old != "sea\n" || h[0].New != "C\n" {
				t.Errorf("asked again: %+v", h)
			}
			d.put("a\nb\nocean\nd\ne\n") // what was asked is no more
		case 3:
			if h := hunksOf(q.Proposal); len(h) != 1 || h[0].Old != "ocean\n" {
				t.Errorf("asked for the third time: %+v", h)
			}
		}
		return host.Answer{Revision: q.Proposal.Revision, Decision: all(true)}, nil
	})
	if err != nil || len(d.asked) != 3 {
		t.Fatalf("%d questions, %v", len(d.asked), err)
	}
	newest := hunksOf(d.shown[len(d.shown)-1])
	part := got.Parts[0]
	if h := part.Hunks[newest[0].ID]; h.Accept || h.Comment != "not this" {
		t.Errorf("the first hunk: %+v", h)
	}
	if !part.Hunks[newest[1].ID].Accept || !part.Accept {
		t.Errorf("the decision is %+v for %+v", part, newest)
	}
}

// The first revisions are forgotten one day, but what an answer to them says is not taken
// for something else.
func TestAnAnswerToAForgottenRevisionIsAskedAgain(t *testing.T) {
	d, p := onDesk("a\nb\nc\n", "a\nb\nC\n")
	got, err := d.review(t.Context(), p, func(n int, q *host.Question) (host.Answer, error) {
		if n == 1 {
			return host.Answer{Revision: 77, Decision: all(true)}, nil
		}
		return host.Answer{Revision: 1, Decision: all(false)}, nil
	})
	if err != nil || got.Parts[0].Accept || len(d.asked) != 2 {
		t.Errorf("%+v, %v, %d questions", got, err, len(d.asked))
	}
}

func TestWhatNobodyAnswersIsNotDecided(t *testing.T) {
	d, p := onDesk("a\n", "A\n")
	broken := errors.New("pipe")
	if _, err := d.review(t.Context(), p, func(int, *host.Question) (host.Answer, error) { return host.Answer{}, broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	got, err := d.review(t.Context(), p, func(int, *host.Question) (host.Answer, error) { return host.Answer{}, nil })
	if err != nil || got.Parts[0].Accept || len(got.Parts[0].Hunks) > 0 {
		t.Errorf("an empty answer is %+v, %v", got, err)
	}
}

// The person's own text is carried along, and asked for again where that can't be.
func TestThePersonsOwnTextFollows(t *testing.T) {
	own := func(q *host.Question, text string) host.Answer {
		edit := q.Proposal.Parts[0].Effect.(agent.Edit)
		return host.Answer{Revision: q.Proposal.Revision, Decision: agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{{Accept: true, Rewrite: workspace.Diff(edit.Old, text)}}}}
	}
	for name, c := range map[string]struct {
		now   string
		asked int
		want  string
	}{
		"elsewhere": {"0\na\nb\nc\n", 1, "0\na\nb\nmine\n"},
		"there":     {"a\nb\nsea\n", 2, "a\nb\nmine\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d, p := onDesk("a\nb\nc\n", "a\nb\nC\n")
			got, err := d.review(t.Context(), p, func(n int, q *host.Question) (host.Answer, error) {
				a := own(q, "a\nb\nmine\n")
				d.put(c.now)
				return a, nil
			})
			if err != nil || len(d.asked) != c.asked {
				t.Fatalf("%d questions, %v", len(d.asked), err)
			}
			edit := agent.Edit{Kind: agent.EditText, Old: c.now, Hunks: got.Parts[0].Rewrite}
			if edit.New() != c.want {
				t.Errorf("the text would be %q", edit.New())
			}
		})
	}
}

func TestAMootPartIsNotAsked(t *testing.T) {
	d, p := onDesk("a\nb\n", "a\nB\n")
	d.put("a\nB\n")
	got, err := d.review(t.Context(), p, func(int, *host.Question) (host.Answer, error) { return host.Answer{Decision: all(true)}, nil })
	if err != nil || len(d.shown) != 1 || len(d.shown[0].Parts[0].Moot) != 1 {
		t.Errorf("%+v, %v, shown %+v", got, err, d.shown)
	}
	if len(d.asked) != 0 {
		t.Errorf("asked %+v", d.asked[0].Proposal)
	}
}

func TestATitleCountsTheLinesAsTheyAre(t *testing.T) {
	d, p := onDesk("a\nb\n", "a\nB\n")
	d.put("a\nbee\nbee\n")
	_, err := d.review(t.Context(), p, func(int, *host.Question) (host.Answer, error) { return host.Answer{Decision: all(false)}, nil })
	if title := d.asked[0].Proposal.Title; err != nil || !strings.Contains(title, "+1 −2") {
		t.Errorf("the title is %q, %v", title, err)
	}
}

// They said yes to the hunk, no to what it became, and took their change back.
func TestANoToAConflictIsNotUndoneByAnOlderYes(t *testing.T) {
	d, p := onDesk("a\nb\nc\n", "a\nb\nC\n")
	got, err := d.review(t.Context(), p, func(n int, q *host.Question) (host.Answer, error) {
		switch n {
		case 1:
			d.put("a\nb\nsea\n")
			return host.Answer{Revision: 1, Decision: all(true)}, nil
		case 2:
			d.put("a\nb\nc\n")
		}
		return host.Answer{Revision: q.Proposal.Revision, Decision: all(false)}, nil
	})
	if said, listed := got.Parts[0].Hunks[hunksOf(p)[0].ID]; err != nil || len(d.asked) != 3 || said.Accept || !listed && got.Parts[0].Accept {
		t.Errorf("%+v, %v after %d questions", got, err, len(d.asked))
	}
}

// The client hears of a revision, and answers for it, before we hear that it did.
func TestAnAnswerMayBeFasterThanTheRevisionThatItIsFor(t *testing.T) {
	d, p := onDesk("a\nb\nc\n", "a\nb\nC\n")
	told := make(chan int, 1)
	known := true
	got, err := host.Review{
		Ask: func(_ context.Context, q *host.Question) (host.Answer, error) {
			d.put("0\na\nb\nc\n")
			revision := <-told
			_, known = q.Shown(revision)
			told <- 0
			return host.Answer{Revision: revision, Decision: all(true)}, nil
		},
		Now:     func(agent.Edit) (string, bool) { d.mu.Lock(); defer d.mu.Unlock(); return d.text, true },
		Changed: func() <-chan struct{} { d.mu.Lock(); defer d.mu.Unlock(); return d.changed },
	}.Run(t.Context(), p, func(p agent.Proposal) error {
		told <- p.Revision
		for len(told) > 0 {
			runtime.Gosched()
		}
		<-told
		return nil
	})
	if err != nil || !known || !got.Parts[0].Accept {
		t.Errorf("known %v, %+v, %v", known, got, err)
	}
}

// Their own text meets what became of the lines, and no hunk is left to ask about.
func TestAnOwnTextThatCantLandIsToldOf(t *testing.T) {
	d, p := onDesk("a\nb\nc\n", "a\nb\nC\n")
	got, err := d.review(t.Context(), p, func(_ int, q *host.Question) (host.Answer, error) {
		d.put("a\nb\nC\n")
		own := workspace.Diff("a\nb\nc\n", "a\nb\nmine\n")
		return host.Answer{Revision: 1, Decision: agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{{Accept: true, Rewrite: own}}}}, nil
	})
	if err != nil || got.Parts[0].Accept || got.Parts[0].Rewrite != nil || !strings.Contains(got.Parts[0].Comment, "did not land") {
		t.Errorf("%+v, %v", got, err)
	}
}
