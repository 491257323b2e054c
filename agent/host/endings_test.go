package host_test

import (
	"errors"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/host"
	"assent/agent/workspace"
)

// patience is how many questions a test answers before it says that there is no end.
const patience = 20

var errEndless = errors.New("asked again and again")

// A client that names the revision that it knows, and that is not the one that is asked.
func TestARejectEndsTheQuestions(t *testing.T) {
	d, p := onDesk("a\nb\nc\n", "A\nb\nC\n")
	_, err := d.review(t.Context(), p, func(n int, q *host.Question) (host.Answer, error) {
		if n > patience {
			return host.Answer{}, errEndless
		}
		if n == 1 {
			d.put("a\nb\nsea\n")
			return host.Answer{Revision: 1, Decision: all(true)}, nil
		}
		return host.Answer{Revision: 1, Decision: all(false)}, nil
	})
	if err != nil {
		t.Errorf("%v: %d questions", err, len(d.asked))
	}
}

func TestAnswersThatSayNothingNewEndTheQuestions(t *testing.T) {
	for _, revision := range []int{1, 77} {
		d, p := onDesk("a\nb\nc\n", "A\nb\nC\n")
		_, err := d.review(t.Context(), p, func(n int, q *host.Question) (host.Answer, error) {
			if n > patience {
				return host.Answer{}, errEndless
			}
			if n == 1 {
				d.put("a\nb\nsea\n")
			}
			return host.Answer{Revision: revision, Decision: all(true)}, nil
		})
		if err != nil {
			t.Errorf("revision %d: %v: %d questions", revision, err, len(d.asked))
		}
	}
}

// The person wrote the model's change by hand, and more in the diff.
func TestThePersonsOwnTextIsNotLostWithWhatIsMoot(t *testing.T) {
	d, p := onDesk("a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n")
	got, err := d.review(t.Context(), p, func(n int, q *host.Question) (host.Answer, error) {
		if n > patience {
			return host.Answer{}, errEndless
		}
		edit := q.Proposal.Parts[0].Effect.(agent.Edit)
		d.put("a\nb\nC\nd\ne\n")
		return host.Answer{Revision: q.Proposal.Revision, Decision: agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{{
			Accept: true, Rewrite: workspace.Diff(edit.Old, "mine\nb\nc\nd\ne\n"),
		}}}}, nil
	})
	if err != nil || len(got.Parts[0].Rewrite) == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// What the person agreed to stays agreed if a later question fails.
func TestAFailedSecondQuestionRefusesWhatItAsked(t *testing.T) {
	d, p := onDesk("a\nb\nc\n", "A\nb\nC\n")
	got, err := d.review(t.Context(), p, func(n int, q *host.Question) (host.Answer, error) {
		if n == 1 {
			d.put("a\nb\nsea\n")
			return host.Answer{Revision: 1, Decision: all(true)}, nil
		}
		return host.Answer{}, errors.New("the client could not show it")
	})
	if err != nil || !got.Parts[0].Accept {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAPanicInAQuestionIsAnError(t *testing.T) {
	d, p := onDesk("a\n", "A\n")
	_, err := d.review(t.Context(), p, func(int, *host.Question) (host.Answer, error) { panic("a bug") })
	if err == nil || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("the error is %v", err)
	}
}

// An editor shows a closed file with the line ends of its own when it opens it.
func TestOtherLineEndsAreNoChange(t *testing.T) {
	d, p := onDesk("a\nb\nc\n", "a\nB\nc\n")
	got, err := d.review(t.Context(), p, func(n int, q *host.Question) (host.Answer, error) {
		if n > 1 {
			t.Errorf("asked again: %+v", q.Proposal.Parts[0].Effect)
			return host.Answer{Decision: all(false)}, nil
		}
		d.put("a\r\nb\r\nc\r\n")
		return host.Answer{Revision: 1, Decision: all(true)}, nil
	})
	if err != nil || !got.Parts[0].Accept {
		t.Errorf("%+v, %v", got, err)
	}
}
