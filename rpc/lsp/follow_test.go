package lsp_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"assent/editors/fake"
)

// follower is a person who works on the files while reviews are open. Each function of
// asked is one review, in their order.
type follower struct {
	*bench
	reviews []fake.Review
}

const fiveLines = "one\ntwo\nthree\nfour\nfive\n"

func follow(t *testing.T, text string, reply string, o fake.Options, open bool, asked ...func(f *follower, r fake.Review) fake.Answer) *follower {
	t.Helper()
	f := &follower{}
	o.Review = func(_ context.Context, r fake.Review) (fake.Answer, error) {
		f.reviews = append(f.reviews, r)
		if len(f.reviews) > len(asked) {
			t.Errorf("a review too many: %+v", r)
			return fake.Answer{Decision: "reject"}, nil
		}
		return asked[len(f.reviews)-1](f, r), nil
	}
	f.bench = newBench(t, map[string]string{"a.txt": text}, []string{reply, say("ok")}, o)
	if open {
		f.must(f.OpenFile(f.path("a.txt")))
	}
	f.prompt(fake.Prompt{Text: "go"})
	if len(f.reviews) != len(asked) {
		t.Errorf("%d reviews, not %d; the model was told %q", len(f.reviews), len(asked), f.told())
	}
	return f
}

// typed changes the text in the editor.
func (f *follower) typed(old, new string) {
	if err := f.Replace(f.uri("a.txt"), old, new); err != nil {
		f.t.Error(err)
	}
}

// revised waits for a revision, one that follows the person's last change, and returns
// its first file.
func (f *follower) revised(want func(fake.ReviewFile) bool) (revision int, file fake.ReviewFile) {
	_, err := f.Await(f.ctx, func(e fake.Event) bool {
		var p fake.Review
		if e.Type != "proposed" || json.Unmarshal(e.Raw, &p) != nil || !want(p.Files[0]) {
			return false
		}
		revision, file = p.Revision, p.Files[0]
		return true
	})
	if err != nil {
		f.t.Error(err)
		return 0, fake.ReviewFile{Hunks: make([]fake.Hunk, 9)}
	}
	return revision, file
}

func (f *follower) now(text string) (int, fake.ReviewFile) {
	return f.revised(func(file fake.ReviewFile) bool { return file.OldText == text })
}

func twoHunks() string {
	return call("edit_file", object{"path": "a.txt", "edits": []object{{"old_string": "two", "new_string": "2"}, {"old_string": "five", "new_string": "5"}}})
}

func yes(fake.Review) fake.Answer { return fake.Answer{Decision: "accept"} }

func TestAReviewFollowsTheText(t *testing.T) {
	t.Parallel()
	f := follow(t, fiveLines, twoHunks(), fake.Options{}, true, func(f *follower, r fake.Review) fake.Answer {
		f.typed("one\n", "zero\none\n")
		n, file := f.now("zero\n" + fiveLines)
		if n < 2 || file.NewText != "zero\none\n2\nthree\nfour\n5\n" || file.Hunks[0].OldStart != 2 || file.Hunks[0].ID != r.Files[0].Hunks[0].ID || file.Hunks[0].Conflict {
			f.t.Errorf("revision %d: %+v", n, file)
		}
		return fake.Answer{Decision: "accept", Revision: 1}
	})
	f.check("a.txt", outcome{"zero\none\n2\nthree\nfour\n5\n", fiveLines, "landed buffer"})
	if told := f.told()[0]; !strings.Contains(told, "it now reads") || !strings.Contains(told, "zero") {
		t.Errorf("the model does not hear what was typed: %q", told)
	}
}

func TestAChangeThatMeetsAHunkIsAskedAgain(t *testing.T) {
	clash := func(f *follower, _ fake.Review) fake.Answer {
		f.typed("two\n", "two and more\n")
		f.now("one\ntwo and more\nthree\nfour\nfive\n")
		return fake.Answer{Decision: "accept"}
	}
	for _, c := range []struct {
		name   string
		answer func(r fake.Review) fake.Answer
		want   string
		told   string
	}{
		{"yes", yes, "one\n2\nthree\nfour\n5\n", "2 of 2 hunks landed"},
		{"no", func(fake.Review) fake.Answer { return fake.Answer{Decision: "reject", Comment: "mine is better"} }, "one\ntwo and more\nthree\nfour\n5\n", "mine is better"},
		{"by its id", func(r fake.Review) fake.Answer {
			return fake.Answer{Decision: "partial", Hunks: map[string]any{r.Files[0].Hunks[0].ID: "accept"}}
		}, "one\n2\nthree\nfour\n5\n", "2 of 2 hunks landed"},
		{"with a text of the person's", func(r fake.Review) fake.Answer {
			mine := "zwei\n"
			return fake.Answer{Decision: "accept", Hunks: map[string]any{r.Files[0].Hunks[0].ID: fake.HunkAnswer{Verdict: "accept", NewText: &mine}}}
		}, "one\nzwei\nthree\nfour\n5\n", "zwei"},
		{"the whole text", func(r fake.Review) fake.Answer {
			return fake.Answer{Decision: "accept", Edited: map[string]string{r.Files[0].URI: "one\ntwo or so\nthree\nfour\nfive\n"}}
		}, "one\ntwo or so\nthree\nfour\n5\n", "two or so"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := follow(t, fiveLines, twoHunks(), fake.Options{}, true, clash, func(f *follower, r fake.Review) fake.Answer {
				h := r.Files[0].Hunks
				if len(h) != 1 || !h[0].Conflict || h[0].OldText != "two and more\n" || h[0].NewText != "2\n" || r.Revision < 2 {
					f.t.Errorf("the second question: %+v", r)
				}
				return c.answer(r)
			})
			if got := f.text("a.txt"); got != c.want {
				t.Errorf("the text is %q, not %q", got, c.want)
			}
			if !strings.Contains(f.told()[0], c.told) {
				t.Errorf("the model was told %q", f.told())
			}
		})
	}
}

func TestWhatAnAnswerCountsForAfterTheTextMoved(t *testing.T) {
	const clashed = "one\ntwo and more\nthree\nfour\nfive\n"
	no := func(fake.Review) fake.Answer { return fake.Answer{Decision: "reject"} }
	for _, c := range []struct {
		name   string
		answer func(r fake.Review, revision int, now fake.ReviewFile) fake.Answer
		again  bool // asked again, and then refused
		want   string
	}{
		{"a no to all", func(fake.Review, int, fake.ReviewFile) fake.Answer { return fake.Answer{Decision: "reject"} }, false, clashed},
		{"a no to the file", func(r fake.Review, n int, _ fake.ReviewFile) fake.Answer {
			return fake.Answer{Decision: "partial", Revision: n, Files: map[string]string{r.Files[0].URI: "reject"}}
		}, false, clashed},
		{"a yes to all that were shown first", func(fake.Review, int, fake.ReviewFile) fake.Answer {
			return fake.Answer{Decision: "accept", Revision: 1}
		}, true, "one\ntwo and more\nthree\nfour\n5\n"},
		{"a yes to all of the newest", func(_ fake.Review, n int, _ fake.ReviewFile) fake.Answer {
			return fake.Answer{Decision: "accept", Revision: n}
		}, true, "one\ntwo and more\nthree\nfour\n5\n"},
		{"a yes to each of the newest", func(_ fake.Review, n int, now fake.ReviewFile) fake.Answer {
			return fake.Answer{Decision: "partial", Revision: n, Hunks: map[string]any{now.Hunks[0].ID: "accept", now.Hunks[1].ID: "accept"}}
		}, false, "one\n2\nthree\nfour\n5\n"},
		{"the same, and the revision not said", func(_ fake.Review, _ int, now fake.ReviewFile) fake.Answer {
			return fake.Answer{Decision: "partial", Hunks: map[string]any{now.Hunks[0].ID: "accept", now.Hunks[1].ID: "accept"}}
		}, false, "one\n2\nthree\nfour\n5\n"},
		{"a yes to each of the first", func(r fake.Review, _ int, _ fake.ReviewFile) fake.Answer {
			h := r.Files[0].Hunks
			return fake.Answer{Decision: "partial", Revision: 1, Hunks: map[string]any{h[0].ID: "accept", h[1].ID: "accept"}}
		}, true, "one\ntwo and more\nthree\nfour\n5\n"},
		{"an edited text of the first", func(r fake.Review, _ int, _ fake.ReviewFile) fake.Answer {
			return fake.Answer{Decision: "accept", Revision: 1, Edited: map[string]string{r.Files[0].URI: "one\ntwo\nthree\nfour\ncinque\n"}}
		}, false, "one\ntwo and more\nthree\nfour\ncinque\n"},
		{"an edited text of the newest", func(r fake.Review, n int, _ fake.ReviewFile) fake.Answer {
			return fake.Answer{Decision: "accept", Revision: n, Edited: map[string]string{r.Files[0].URI: "mine\n"}}
		}, false, "mine\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			asked := []func(f *follower, r fake.Review) fake.Answer{func(f *follower, r fake.Review) fake.Answer {
				f.typed("two\n", "two and more\n")
				n, file := f.now(clashed)
				return c.answer(r, n, file)
			}}
			if c.again {
				asked = append(asked, func(_ *follower, r fake.Review) fake.Answer { return no(r) })
			}
			f := follow(t, fiveLines, twoHunks(), fake.Options{}, true, asked...)
			if got := f.text("a.txt"); got != c.want {
				t.Errorf("the text is %q, not %q; the model was told %q", got, c.want, f.told())
			}
		})
	}
}

// It is not known from which text it was made, so both hunks are asked again: what is
// open of a file is asked together, and a conflict for itself.
func TestAnEditedTextOfAnUnknownRevisionIsAskedAgain(t *testing.T) {
	t.Parallel()
	f := follow(t, fiveLines, twoHunks(), fake.Options{}, true, func(f *follower, r fake.Review) fake.Answer {
		f.typed("one\n", "zero\none\n")
		f.now("zero\n" + fiveLines)
		return fake.Answer{Decision: "accept", Edited: map[string]string{r.Files[0].URI: "one\n2\n"}}
	}, func(f *follower, r fake.Review) fake.Answer {
		if len(r.Files[0].Hunks) != 2 {
			f.t.Errorf("asked again: %+v", r)
		}
		return fake.Answer{Decision: "accept", Edited: map[string]string{r.Files[0].URI: "zero\none\n2\n"}}
	})
	f.check("a.txt", outcome{"zero\none\n2\n", fiveLines, "landed buffer"})
}

func TestWhatThePersonTakesBackBringsTheHunkBack(t *testing.T) {
	t.Parallel()
	f := follow(t, fiveLines, twoHunks(), fake.Options{}, true, func(f *follower, r fake.Review) fake.Answer {
		f.typed("two\n", "zwei\n")
		f.now("one\nzwei\nthree\nfour\nfive\n")
		f.typed("zwei\n", "two\n")
		n, file := f.revised(func(file fake.ReviewFile) bool { return file.OldText == fiveLines && !file.Hunks[0].Conflict })
		_, _ = n, file
		return fake.Answer{Decision: "accept"}
	})
	f.check("a.txt", outcome{"one\n2\nthree\nfour\n5\n", fiveLines, "landed buffer"})
}

func TestWhatThePersonWroteThemselvesIsNotAsked(t *testing.T) {
	t.Parallel()
	f := follow(t, fiveLines, call("edit_file", change("a.txt", "two", "2")), fake.Options{}, true, func(f *follower, _ fake.Review) fake.Answer {
		f.typed("two\n", "2\n")
		f.revised(func(file fake.ReviewFile) bool { return len(file.Hunks) == 0 })
		return fake.Answer{Decision: "accept"}
	})
	if got := f.text("a.txt"); got != "one\n2\nthree\nfour\nfive\n" || !strings.Contains(f.told()[0], "has the change already") || len(f.landings()) != 0 {
		t.Errorf("the text is %q, the model was told %q, landings %q", got, f.told(), f.landings())
	}
}

// A closed file changes on disk, and nobody tells.
func TestAReviewFollowsTheDisk(t *testing.T) {
	t.Parallel()
	f := follow(t, fiveLines, twoHunks(), fake.Options{SyncsAll: true}, false, func(f *follower, _ fake.Review) fake.Answer {
		if err := os.WriteFile(f.path("a.txt"), []byte("zero\none\nTWO\nthree\nfour\nfive\n"), 0o600); err != nil {
			f.t.Error(err)
		}
		f.revised(func(file fake.ReviewFile) bool { return len(file.Hunks) == 2 && file.Hunks[0].Conflict })
		return fake.Answer{Decision: "accept"}
	}, func(_ *follower, r fake.Review) fake.Answer { return yes(r) })
	f.check("a.txt", outcome{"-", "zero\none\n2\nthree\nfour\n5\n", "landed disk"})
}

// The change on disk comes right before the answer, so it is found by the look at the
// texts that comes before an answer counts.
func TestNoAnswerCountsForATextThatMovedUnseen(t *testing.T) {
	t.Parallel()
	f := follow(t, fiveLines, twoHunks(), fake.Options{SyncsAll: true}, false, func(f *follower, _ fake.Review) fake.Answer {
		if err := os.WriteFile(f.path("a.txt"), []byte("one\nTWO\nthree\nfour\nfive\n"), 0o600); err != nil {
			f.t.Error(err)
		}
		return fake.Answer{Decision: "accept"}
	}, func(f *follower, r fake.Review) fake.Answer {
		if h := r.Files[0].Hunks; len(h) != 1 || !h[0].Conflict || h[0].OldText != "TWO\n" {
			f.t.Errorf("asked again: %+v", r)
		}
		return fake.Answer{Decision: "reject"}
	})
	f.check("a.txt", outcome{"-", "one\nTWO\nthree\nfour\n5\n", "landed disk"})
}

func TestADeletionOfATextThatChangedIsAskedAgain(t *testing.T) {
	for verdict, want := range map[string]outcome{"accept": {"-", "-", "landed buffer"}, "reject": {"one\nmine\n", "one\n", ""}} {
		t.Run(verdict, func(t *testing.T) {
			t.Parallel()
			f := follow(t, "one\n", call("delete_file", object{"path": "a.txt"}), fake.Options{}, true, func(f *follower, r fake.Review) fake.Answer {
				f.typed("one\n", "one\nmine\n")
				return yes(r)
			}, func(f *follower, r fake.Review) fake.Answer {
				if !r.Files[0].Conflict || r.Files[0].OldText != "one\nmine\n" {
					f.t.Errorf("asked again: %+v", r)
				}
				f.must(f.Save(f.uri("a.txt")))
				return fake.Answer{Decision: verdict}
			})
			if verdict == "reject" {
				want.disk = "one\nmine\n"
			}
			f.check("a.txt", want)
		})
	}
}

// Two calls change one file: the second rests on what the first makes of it.
func TestTwoCallsOnOneFileFollowTheText(t *testing.T) {
	t.Parallel()
	reply := call("edit_file", change("a.txt", "two", "2"), "edit_file", change("a.txt", "2", "zwei"))
	f := follow(t, fiveLines, reply, fake.Options{}, true, func(f *follower, r fake.Review) fake.Answer {
		f.typed("one\n", "zero\none\n")
		n, _ := f.now("zero\n" + fiveLines)
		return fake.Answer{Decision: "accept", Revision: n}
	})
	if got := f.text("a.txt"); got != "zero\none\nzwei\nthree\nfour\nfive\n" {
		t.Errorf("the text is %q; the model was told %q", got, f.told())
	}
}

// Each question that a plain client asks is for the text that it shows.
func TestPlainQuestionsFollowTheTextToo(t *testing.T) {
	t.Parallel()
	var b *bench
	var asked []string
	o := fake.Options{NoReview: true, Message: func(_ context.Context, m fake.MessageRequest) (string, error) {
		asked = append(asked, m.Message)
		if len(asked) == 1 {
			if err := b.Replace(b.uri("a.txt"), "two\n", "two and more\n"); err != nil {
				t.Error(err)
			}
		}
		return "Apply", nil
	}}
	b = newBench(t, map[string]string{"a.txt": fiveLines}, []string{twoHunks(), say("ok")}, o)
	b.must(b.OpenFile(b.path("a.txt")))
	b.prompt(fake.Prompt{Text: "go"})
	if len(asked) != 2 || !strings.Contains(asked[1], "-two and more") || !strings.Contains(asked[1], "meanwhile") || strings.Contains(asked[1], "five") {
		t.Errorf("asked %q", asked)
	}
	b.check("a.txt", outcome{"one\n2\nthree\nfour\n5\n", fiveLines, "landed buffer"})
}

// The deletion is for the version that was shown, as each edit is.
func TestWhatIsTypedAsADeletionArrivesIsNotDeleted(t *testing.T) {
	t.Parallel()
	var b *bench
	o := fake.Options{BeforeApply: func(uri string) {
		if text, _, _ := b.Text(uri); text == "one\n" {
			if err := b.Replace(uri, "one\n", "one\nmine\n"); err != nil {
				t.Error(err)
			}
		}
	}}
	b = newBench(t, map[string]string{"a.txt": "one\n"}, []string{call("delete_file", object{"path": "a.txt"}), say("ok")}, o)
	b.must(b.OpenFile(b.path("a.txt")))
	b.prompt(fake.Prompt{Text: "go"})
	b.check("a.txt", outcome{"one\nmine\n", "one\n", "failed"})
}
