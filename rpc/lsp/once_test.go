package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"assent/editors/fake"
)

// Two sessions propose one change each of one file; both reviews are open; both are accepted.
func TestTwoReviewsOfOneFileAtOnce(t *testing.T) {
	t.Parallel()
	var b *bench
	both := make(chan struct{})
	var mu sync.Mutex
	open := 0
	first := map[string]bool{}
	o := fake.Options{Review: func(_ context.Context, r fake.Review) (fake.Answer, error) {
		mu.Lock()
		if !first[r.SessionID] {
			first[r.SessionID] = true
			if open++; open == 2 {
				close(both)
			}
		}
		mu.Unlock()
		select {
		case <-both:
		case <-b.ctx.Done():
		}
		return fake.Answer{Decision: "accept", Revision: r.Revision}, nil
	}}
	b = newBench(t, map[string]string{"a.txt": fiveLines}, []string{twoHunks(), twoHunks(), say("ok"), say("ok")}, o)
	b.must(b.OpenFile(b.path("a.txt")))
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := b.Prompt(b.ctx, fake.Prompt{Text: "go"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := b.text("a.txt"); got != "one\n2\nthree\nfour\n5\n" {
		t.Errorf("the text is %q; %q", got, b.told())
	}
	t.Log(b.told())
}

// hunks named in decided and landed are those of a revision that was told.
func TestIDsOfDecidedAndLanded(t *testing.T) {
	t.Parallel()
	f := follow(t, fiveLines, twoHunks(), fake.Options{}, true, func(f *follower, r fake.Review) fake.Answer {
		f.typed("two\n", "two and more\n")
		n, now := f.now("one\ntwo and more\nthree\nfour\nfive\n")
		return fake.Answer{Decision: "partial", Revision: n, Hunks: map[string]any{now.Hunks[0].ID: "accept"}}
	})
	told := map[string]bool{}
	for _, e := range f.Events() {
		var p struct {
			Revision int
			Files    []struct {
				Hunks json.RawMessage
			}
			Hunks map[string]string
		}
		if json.Unmarshal(e.Raw, &p) != nil {
			continue
		}
		switch e.Type {
		case "proposed":
			for _, file := range p.Files {
				var hs []struct{ ID string }
				_ = json.Unmarshal(file.Hunks, &hs)
				for _, h := range hs {
					told[fmt.Sprint(p.Revision, h.ID)] = true
				}
			}
		case "decided":
			for id := range p.Hunks {
				if !told[fmt.Sprint(p.Revision, id)] {
					t.Errorf("decided revision %d has %s", p.Revision, id)
				}
			}
		}
	}
}
