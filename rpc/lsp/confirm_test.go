package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/workspace"
	"assent/editors/fake"
)

// previewed runs a prompt whose model changes the second and the fifth of six lines in
// an editor with a preview of its own, whose person says "review the hunks".
func previewed(t *testing.T, o fake.Options, open bool) (d *desk, landed LandedFile) {
	t.Helper()
	o.NoReview = true
	if o.Message == nil {
		o.Message = func(context.Context, fake.MessageRequest) (string, error) { return reviewHunks, nil }
	}
	d = deskWith(t, o, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2", "five", "5")))
	if open {
		d.opened("a")
	}
	d.say(fake.Prompt{})
	if all := eventsOf[LandedEvent](d, "landed"); len(all) == 1 {
		landed = all[0].Files[0]
	}
	return d, landed
}

func ticks(ticked ...bool) func(context.Context, []fake.Confirmation) []bool {
	return func(context.Context, []fake.Confirmation) []bool { return ticked }
}

const (
	bothHunks  = "one\n2\nthree\nfour\n5\nsix\n"
	firstHunk  = "one\n2\nthree\nfour\nfive\nsix\n"
	secondHunk = "one\ntwo\nthree\nfour\n5\nsix\n"
)

func TestHunksAreConfirmedInTheClientsOwnPreview(t *testing.T) {
	for name, c := range map[string]struct {
		ticked  []bool
		want    string
		status  string
		leftOut int
		told    []string
	}{
		"both":       {[]bool{true, true}, bothHunks, "landed", 0, []string{"a edited: 2 of 2 hunks landed."}},
		"the first":  {[]bool{true, false}, firstHunk, "partial", 1, []string{"a edited: 1 of 2 hunks landed.\nNot landed, because the person left it out in the editor's preview: line 5, "}},
		"the second": {[]bool{false, true}, secondHunk, "partial", 1, []string{"a edited: 1 of 2 hunks landed.\nNot landed, because the person left it out in the editor's preview: line 2, "}},
		"none":       {nil, sixLines, "failed", 2, []string{"a was not edited: the person did not confirm it in the editor's preview."}},
	} {
		for mode, changes := range map[string]fake.ChangeMode{"": fake.BeforeReply, ", late": fake.Late} {
			for where, open := range map[string]bool{"": true, ", closed": false} {
				t.Run(name+mode+where, func(t *testing.T) {
					t.Parallel()
					var asked [][]fake.Confirmation
					d, landed := previewed(t, fake.Options{Changes: changes, Confirm: func(_ context.Context, all []fake.Confirmation) []bool {
						asked = append(asked, all)
						return c.ticked
					}}, open)
					if text, _, open := d.Text(d.uri("a")); open || c.leftOut < 2 {
						same(t, "the text", text, c.want)
					}
					if len(asked) != 1 || len(asked[0]) != 2 || asked[0][0].Label != "Hunk 1 of 2, line 2" || asked[0][1].Label != "Hunk 2 of 2, line 5" || asked[0][0].Edit.NewText != "2" {
						t.Errorf("the person was asked %+v", asked)
					}
					if landed.Status != c.status || len(landed.LeftOut) != c.leftOut || len(landed.Hunks) != 2-c.leftOut {
						t.Errorf("it landed as %+v", landed)
					}
					has(t, d.results()[0].Output, c.told...)
					if strings.Contains(d.results()[0].Output, "something else changed") {
						t.Errorf("the model is told %q", d.results()[0].Output)
					}
				})
			}
		}
	}
}

// The file is not in doubt, and a refusal there counts as one here.
func TestWhatIsLeftOutInThePreviewCountsAsRefusedAndTheNextEditLands(t *testing.T) {
	confirmed := 0
	d := deskWith(t, fake.Options{NoReview: true,
		Message: func(_ context.Context, m fake.MessageRequest) (string, error) {
			if slices.Contains(m.Actions, reviewHunks) {
				return reviewHunks, nil
			}
			return apply, nil
		},
		Confirm: func(context.Context, []fake.Confirmation) []bool { confirmed++; return nil },
	}, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2", "five", "5")), calls(edits("c2", "a", "six", "6")))
	uri := d.opened("a")
	if result := d.say(fake.Prompt{}); result.Denied != 1 {
		t.Errorf("%d were denied", result.Denied)
	}
	text, _, _ := d.Text(uri)
	same(t, "the text", text, strings.ReplaceAll(sixLines, "six", "6"))
	if confirmed != 1 {
		t.Errorf("%d previews", confirmed)
	}
}

// Apply was a yes already.
func TestApplyNeedsNoConfirmation(t *testing.T) {
	d, landed := previewed(t, fake.Options{
		Message: func(context.Context, fake.MessageRequest) (string, error) { return apply, nil },
		Confirm: func(context.Context, []fake.Confirmation) []bool { t.Error("a second question"); return nil },
	}, true)
	text, _, _ := d.Text(d.uri("a"))
	same(t, "the text", text, bothHunks)
	if landed.Status != "landed" {
		t.Errorf("it landed as %+v", landed)
	}
}

// A preview can't be relied on where the edit does not go through it.
func TestClientsWithoutAPreviewGoHunkByHunk(t *testing.T) {
	for name, o := range map[string]fake.Options{
		"no annotations":              {},
		"annotations without changes": {Confirm: ticks(true, true), NoDocumentChanges: true},
		"no applyEdit":                {Confirm: ticks(true, true), NoApplyEdit: true},
		"files that are not open":     {Confirm: ticks(true, true), SyncsAll: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := []string{reviewHunks, rejectIt, apply}
			asked := 0
			o.Message = func(context.Context, fake.MessageRequest) (string, error) {
				asked++
				return answers[asked-1], nil
			}
			d, landed := previewed(t, o, true)
			if landed.Status != "landed" || asked != 3 {
				t.Errorf("it landed as %+v after %d questions", landed, asked)
			}
			if text, _, _ := d.Text(d.uri("a")); !o.NoApplyEdit {
				same(t, "the text", text, secondHunk)
			}
		})
	}
}

// What the editor says is believed as little as ever.
func TestAPreviewThatCantBeReliedOn(t *testing.T) {
	for name, c := range map[string]struct {
		apply  fake.ApplyMode
		types  bool
		status string
		told   string
	}{
		"applied, and nothing is seen":      {fake.Liar, false, "unconfirmed", "its result is unknown"},
		"applied, and another text is seen": {fake.Liar, true, "unconfirmed", "its result is unknown"},
		"a refusal with a reason":           {fake.Refuses, false, "failed", "did not confirm it in the editor's preview, which says \"the person said no\"."},
		"an error":                          {fake.Fails, false, "failed", "though the person agreed: the editor answered with an error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d *desk
			ready := make(chan struct{})
			d = deskWith(t, fake.Options{NoReview: true, Apply: c.apply, Confirm: ticks(true, true),
				Message: func(context.Context, fake.MessageRequest) (string, error) { return reviewHunks, nil },
				BeforeApply: func(uri string) {
					<-ready
					if c.types {
						if err := d.Replace(uri, "one\n", "zero\none\n"); err != nil {
							t.Error(err)
						}
					}
				},
			}, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2", "five", "5")))
			close(ready)
			d.opened("a")
			d.say(fake.Prompt{})
			landed := eventsOf[LandedEvent](d, "landed")[0].Files[0]
			if landed.Status != c.status {
				t.Errorf("it landed as %+v", landed)
			}
			has(t, d.results()[0].Output, c.told)
		})
	}
}

// A preview is for one text: if the person has typed, they see it for the new one.
func TestAPreviewOfATextThatMovedIsShownAnew(t *testing.T) {
	var d *desk
	var labels []string
	ready := make(chan struct{})
	d = deskWith(t, fake.Options{NoReview: true,
		Message: func(context.Context, fake.MessageRequest) (string, error) { return reviewHunks, nil },
		Confirm: func(_ context.Context, all []fake.Confirmation) []bool {
			<-ready
			if labels = append(labels, all[0].Label); len(labels) == 1 {
				if err := d.Replace(d.uri("a"), "one\n", "zero\none\n"); err != nil {
					t.Error(err)
				}
			}
			return []bool{true, false}
		},
	}, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2", "five", "5")))
	close(ready)
	uri := d.opened("a")
	d.say(fake.Prompt{})
	text, _, _ := d.Text(uri)
	same(t, "the text", text, "zero\n"+firstHunk)
	if !slices.Equal(labels, []string{"Hunk 1 of 2, line 2", "Hunk 1 of 2, line 3"}) {
		t.Errorf("the previews were of %q", labels)
	}
	if landed := eventsOf[LandedEvent](d, "landed")[0].Files[0]; landed.Status != "partial" || len(landed.LeftOut) != 1 {
		t.Errorf("it landed as %+v", landed)
	}
}

// A person's answer has no time limit, so the wait for it shows, and a cancel ends it.
func TestACancelEndsTheWaitForAPreview(t *testing.T) {
	waits := make(chan struct{})
	d := deskWith(t, fake.Options{NoReview: true,
		Message: func(context.Context, fake.MessageRequest) (string, error) { return reviewHunks, nil },
		Confirm: func(ctx context.Context, _ []fake.Confirmation) []bool {
			close(waits)
			<-ctx.Done()
			return nil
		},
	}, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2", "five", "5")))
	uri, session := d.opened("a"), d.session()
	pending := d.start(fake.Prompt{SessionID: session, Text: "go"})
	<-waits
	var status StatusResult
	if err := d.Call(d.ctx, methodStatus, Empty{}, &status); err != nil {
		t.Fatal(err)
	}
	if len(status.Waiting) != 1 || !strings.Contains(fmt.Sprint(status.Waiting), "confirmation: ") {
		t.Errorf("it waits for %+v", status.Waiting)
	}
	if err := d.Notify(methodCancel, SessionParams{session}); err != nil {
		t.Fatal(err)
	}
	if result := d.ended(pending); result.StopReason != "cancelled" {
		t.Errorf("the result is %+v", result)
	}
	text, _, _ := d.Text(uri)
	same(t, "the text", text, sixLines)
	if landed := eventsOf[LandedEvent](d, "landed")[0].Files[0]; landed.Status != "unconfirmed" {
		t.Errorf("it landed as %+v", landed)
	}
}

// We would write such a file ourselves, past the preview.
func TestWhatCantBeConfirmedAnyMoreDoesNotLand(t *testing.T) {
	const changed = sixLines + "caf\xe9\n"
	var d *desk
	ready := make(chan struct{})
	d = deskWith(t, fake.Options{NoReview: true, Confirm: ticks(true, true), Message: func(context.Context, fake.MessageRequest) (string, error) {
		<-ready
		d.disk("", map[string]string{"a": changed})
		return reviewHunks, nil
	}}, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2", "five", "5")))
	close(ready)
	d.say(fake.Prompt{})
	if data, err := os.ReadFile(filepath.Join(d.dir, "a")); err != nil || string(data) != changed {
		t.Errorf("the file has %q, %v", data, err)
	}
	has(t, d.results()[0].Output, "a was not edited", "which has none for this file any more")
}

// Without a preview, what is missing was taken out by somebody, who may not be the
// person.
func TestOnlyWhatWasToBeConfirmedIsLeftOutByThePerson(t *testing.T) {
	hunks := workspace.Diff(sixLines, bothHunks)
	for confirm, leftOut := range map[bool]int{true: 1, false: 0} {
		l := &lander{edit: agent.Edit{Kind: agent.EditText, Old: sixLines, Hunks: hunks, Confirm: confirm}}
		got := l.judgeText(state{doc: document{text: sixLines}, open: true}, state{doc: document{text: firstHunk}, open: true}, hunks)
		if got.Status != agent.LandPartial || len(got.Landed) != 1 || len(got.LeftOut) != leftOut || strings.Contains(got.Note, "something else changed them") == confirm {
			t.Errorf("with a preview %v: %+v", confirm, got)
		}
	}
}

// The yes was for what is confirmed, whatever became of the text since.
func TestThePreviewComesForATextThatMovedMeanwhileToo(t *testing.T) {
	t.Parallel()
	var d *desk
	previews := 0
	o := fake.Options{NoReview: true, Message: func(context.Context, fake.MessageRequest) (string, error) {
		if err := d.Replace(d.uri("a"), "one\n", "zero\none\n"); err != nil {
			t.Error(err)
		}
		return reviewHunks, nil
	}, Confirm: func(context.Context, []fake.Confirmation) []bool { previews++; return []bool{true, false} }}
	d = deskWith(t, o, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2", "five", "5")))
	uri := d.opened("a")
	d.say(fake.Prompt{})
	text, _, _ := d.Text(uri)
	same(t, "the text", text, "zero\n"+firstHunk)
	if previews != 1 {
		t.Errorf("%d previews", previews)
	}
}
