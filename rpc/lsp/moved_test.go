package lsp_test

import (
	"strings"
	"testing"

	"assent/editors/fake"
)

// The person typed in the file while they were asked, away from the hunks. The model has
// read another text, and has to know.
func TestTheModelIsToldThatTheTextMovedWhileItWasAsked(t *testing.T) {
	t.Parallel()
	f := follow(t, fiveLines, twoHunks(), fake.Options{}, true, func(f *follower, _ fake.Review) fake.Answer {
		f.typed("one\n", "zero\none\n")
		n, _ := f.now("zero\n" + fiveLines)
		return fake.Answer{Decision: "accept", Revision: n}
	})
	if told := f.told()[0]; !strings.Contains(told, "changed") {
		t.Errorf("the model was told %q", told)
	}
}

// The text that the person left is for the whole file, and it is not known from which it
// was made: so the second call is not refused for the sake of it.
func TestAnEditedTextOfAnUnknownRevisionRefusesNoOtherCall(t *testing.T) {
	t.Parallel()
	reply := call("edit_file", change("a.txt", "two", "2"), "edit_file", change("a.txt", "five", "5"))
	answer := func(_ *follower, r fake.Review) fake.Answer { return yes(r) }
	f := follow(t, fiveLines, reply, fake.Options{}, true, func(f *follower, r fake.Review) fake.Answer {
		f.typed("one\n", "zero\none\n")
		f.now("zero\n" + fiveLines)
		return fake.Answer{Decision: "accept", Edited: map[string]string{r.Files[0].URI: "one\n2\n"}}
	}, answer, answer)
	if got := f.text("a.txt"); got != "zero\none\n2\nthree\nfour\n5\n" {
		t.Errorf("the text is %q; the model was told %q", got, f.told())
	}
}

// The person made the model's change by hand, and went on in the diff.
func TestThePersonsOwnTextLandsThoughTheProposalIsMoot(t *testing.T) {
	t.Parallel()
	f := follow(t, fiveLines, call("edit_file", change("a.txt", "two", "2")), fake.Options{}, true, func(f *follower, r fake.Review) fake.Answer {
		f.typed("two\n", "2\n")
		n, _ := f.revised(func(file fake.ReviewFile) bool { return len(file.Hunks) == 0 })
		return fake.Answer{Decision: "accept", Revision: n, Edited: map[string]string{r.Files[0].URI: "one\n2\nthree\nfour\nmine\n"}}
	})
	if got := f.text("a.txt"); got != "one\n2\nthree\nfour\nmine\n" {
		t.Errorf("the text is %q; the model was told %q", got, f.told())
	}
}

// The second review fails: what was accepted in the first one lands.
func TestAReviewThatFailsTheSecondTimeRefusesWhatItAsked(t *testing.T) {
	t.Parallel()
	f := follow(t, fiveLines, twoHunks(), fake.Options{}, true, func(f *follower, _ fake.Review) fake.Answer {
		f.typed("two\n", "two and more\n")
		f.now("one\ntwo and more\nthree\nfour\nfive\n")
		return fake.Answer{Decision: "accept"}
	}, func(f *follower, r fake.Review) fake.Answer {
		return fake.Answer{Decision: "accept", Hunks: map[string]any{"no such": "accept"}}
	})
	if got := f.text("a.txt"); got != "one\ntwo and more\nthree\nfour\n5\n" {
		t.Errorf("the text is %q; the model was told %q", got, f.told())
	}
}
