package host_test

import (
	"context"
	"testing"

	"assent/agent"
	"assent/agent/host"
)

// A cancel in the middle ends the review, also where the dialect answers too late.
func TestACancelEndsTheReview(t *testing.T) {
	d, p := onDesk("a\n", "A\n")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := d.review(ctx, p, func(n int, _ *host.Question) (host.Answer, error) {
		if n == 1 {
			d.put("b\n")
			return host.Answer{Revision: 1, Decision: all(true)}, nil
		}
		cancel()
		<-ctx.Done()
		return host.Answer{}, context.Cause(ctx)
	})
	if err == nil || len(d.asked) != 2 {
		t.Errorf("%v, %d questions", err, len(d.asked))
	}
}

// The hunk that the person spoke of is another one now, and their word for the model stays.
func TestWhatWasSaidOfAHunkIsNotLostWithIt(t *testing.T) {
	d, p := onDesk("a\nb\nc\n", "A\nb\nC\n")
	hunks := hunksOf(p)
	got, err := d.review(t.Context(), p, func(n int, q *host.Question) (host.Answer, error) {
		if n > 1 {
			return host.Answer{Decision: all(false)}, nil
		}
		d.put("a\nb\nsea\n")
		return host.Answer{Revision: 1, Decision: agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{{
			Hunks: map[string]agent.HunkDecision{hunks[0].ID: {Accept: true, Comment: "good"}, hunks[1].ID: {Comment: "not this"}},
		}}}}, nil
	})
	if err != nil || got.Parts[0].Comment != "not this" || got.Parts[0].Hunks[hunks[0].ID].Comment != "good" {
		t.Errorf("%+v, %v", got, err)
	}
}
