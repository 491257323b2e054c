package lsp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"assent/agent"
	"assent/editors/fake"
	"assent/rpc"
)

// onScreen is a review that stays open until its context ends; shown gets one value
// for each.
func onScreen(shown chan<- fake.Review) func(context.Context, fake.Review) (fake.Answer, error) {
	return func(ctx context.Context, r fake.Review) (fake.Answer, error) {
		shown <- r
		<-ctx.Done()
		return fake.Answer{}, ctx.Err()
	}
}

func (d *desk) status() StatusResult {
	d.t.Helper()
	var result StatusResult
	if err := d.Call(d.ctx, methodStatus, Empty{}, &result); err != nil {
		d.t.Fatal(err)
	}
	return result
}

func (d *desk) cancel(session string) {
	d.t.Helper()
	d.tell(methodCancel, SessionParams{session})
}

// Case E07.
func TestTwentyRequestsAreAnsweredWhileAReviewIsOpen(t *testing.T) {
	shown := make(chan fake.Review, 1)
	d := deskWith(t, fake.Options{Review: onScreen(shown)}, map[string]string{"a": "one\n"}, calls(edits("c1", "a", "one", "1")))
	pending := d.begin(fake.Prompt{}, 1)
	review := <-shown
	var all []*fake.Pending
	for range 20 {
		p, err := d.Start(methodStatus, Empty{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	for _, p := range all {
		var status StatusResult
		if err := p.Wait(d.ctx, &status); err != nil {
			t.Fatal(err)
		}
		if len(status.Waiting) != 1 || status.Waiting[0].SessionID != review.SessionID || !strings.Contains(status.Waiting[0].For, "Edit a") {
			t.Fatalf("it waits for %+v", status.Waiting)
		}
		if len(status.Sessions) != 1 || !status.Sessions[0].Running {
			t.Fatalf("the sessions are %+v", status.Sessions)
		}
	}
	d.cancel(review.SessionID)
	if r := d.ended(pending); r.StopReason != "cancelled" {
		t.Errorf("the prompt ended with %+v", r)
	}
	if s := d.status(); len(s.Waiting) != 0 || s.Sessions[0].Running {
		t.Errorf("after the cancel: %+v", s)
	}
}

func TestASteerIsHeardInTheRunningTurn(t *testing.T) {
	go1 := make(chan struct{})
	d := deskWith(t, fake.Options{}, map[string]string{"a": "one\n"}, says("hello"), held(go1, says("nearly")), says("steered"))
	id := d.say(fake.Prompt{}).SessionID
	var queued SteerResult
	err := d.Call(d.ctx, methodSteer, SteerParams{id, "too early"}, &queued)
	if codeOf(err) != codeFailed {
		t.Errorf("with nothing running the answer is %v", err)
	}
	pending := d.begin(fake.Prompt{SessionID: id}, 2)
	for _, text := range []string{"first thing", "second thing"} {
		if err := d.Call(d.ctx, methodSteer, SteerParams{id, text}, &queued); err != nil || !queued.Queued {
			t.Fatal(err)
		}
	}
	close(go1)
	if r := d.ended(pending); r.Message != "steered" || r.Turns != 2 {
		t.Errorf("the result is %+v", r)
	}
	messages := d.model.asked(3).Messages
	last := messages[len(messages)-1]
	has(t, last.Text(), "first thing", "second thing")
	if last.Role != agent.RoleUser || strings.Index(last.Text(), "first") > strings.Index(last.Text(), "second") {
		t.Errorf("the model hears %q", last.Text())
	}
	if code := codeOf(d.Call(d.ctx, methodSteer, SteerParams{id, "too late"}, nil)); code != codeFailed {
		t.Errorf("after the turn the code is %d", code)
	}
	if code := codeOf(d.Call(d.ctx, methodSteer, SteerParams{id, " \n"}, nil)); code != fake.CodeInvalidParams {
		t.Errorf("for a blank text the code is %d", code)
	}
	if code := codeOf(d.Call(d.ctx, methodSteer, SteerParams{"nobody", "x"}, nil)); code != fake.CodeInvalidParams {
		t.Errorf("for an unknown session the code is %d", code)
	}
}

func TestASteerRightBehindItsPromptIsHeard(t *testing.T) {
	free := make(chan struct{})
	d := deskWith(t, fake.Options{}, nil, held(free, says("nearly")), says("steered"))
	id := d.session()
	prompt := d.start(fake.Prompt{SessionID: id, Text: "go"})
	if err := d.Call(d.ctx, methodSteer, SteerParams{id, "this too"}, nil); err != nil {
		t.Fatal(err)
	}
	close(free)
	d.ended(prompt)
	text := ""
	for _, e := range eventsOf[UserEvent](d, "user") {
		text += e.Text + "\n"
	}
	has(t, text, "this too")
}

func TestASecondPromptIsRefusedWhileOneRuns(t *testing.T) {
	d := deskWith(t, fake.Options{}, nil, held(nil, nil))
	id := d.session()
	pending := d.begin(fake.Prompt{SessionID: id}, 1)
	_, err := d.Prompt(d.ctx, fake.Prompt{SessionID: id, Text: "two"})
	if codeOf(err) != codeFailed {
		t.Errorf("the second prompt is answered with %v", err)
	}
	if code := codeOf(d.Call(d.ctx, methodSessionDelete, SessionParams{id}, nil)); code != codeFailed {
		t.Errorf("a delete is answered with %d", code)
	}
	d.cancel(id)
	if r := d.ended(pending); r.StopReason != "cancelled" || r.SessionID != id {
		t.Errorf("the first one ended with %+v", r)
	}
	if r := d.say(fake.Prompt{SessionID: id}); r.Message != "done" {
		t.Errorf("the next prompt ended with %+v", r)
	}
}

func TestAPromptRightBehindACancelWaitsAndRuns(t *testing.T) {
	for name, cancel := range map[string]func(d *desk, id string, p *fake.Pending){
		"assent/cancel": func(d *desk, id string, _ *fake.Pending) { d.cancel(id) },
		"$/cancelRequest": func(d *desk, _ string, p *fake.Pending) {
			if err := p.Cancel(); err != nil {
				d.t.Fatal(err)
			}
		},
		"both": func(d *desk, id string, p *fake.Pending) {
			d.cancel(id)
			if err := p.Cancel(); err != nil {
				d.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			free := make(chan struct{})
			d := deskWith(t, fake.Options{}, nil, stubborn(free, says("late")), says("second"))
			id := d.session()
			one := d.begin(fake.Prompt{SessionID: id}, 1)
			cancel(d, id, one)
			two := d.start(fake.Prompt{SessionID: id, Text: "two"})
			d.settle()
			close(free)
			err := one.Wait(d.ctx, nil)
			if code := codeOf(err); code != 0 && code != fake.CodeRequestCancelled {
				t.Errorf("the first prompt is answered with %v", err)
			}
			if r := d.ended(two); r.StopReason != "complete" || r.Message != "second" {
				t.Errorf("the second prompt ended with %+v", r)
			}
		})
	}
}

// The second prompt is cancelled while it waits for the first to end; the third,
// right behind, must wait for the first as well.
func TestAPromptWaitsForAllThatWereCancelledBeforeIt(t *testing.T) {
	for name, byNotification := range map[string]bool{"assent/cancel": true, "$/cancelRequest": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 20 { // the end of the second and the arrival of the third race
				free := make(chan struct{})
				d := deskWith(t, fake.Options{}, nil, stubborn(free, says("late")), says("last"))
				id := d.session()
				one := d.begin(fake.Prompt{SessionID: id}, 1)
				d.cancel(id)
				two := d.start(fake.Prompt{SessionID: id, Text: "two"})
				if byNotification {
					d.cancel(id)
				} else if err := two.Cancel(); err != nil {
					t.Fatal(err)
				}
				three := d.start(fake.Prompt{SessionID: id, Text: "three"})
				var result fake.PromptResult
				err := two.Wait(d.ctx, &result)
				if byNotification && (err != nil || result.StopReason != "cancelled" || result.SessionID != id) || !byNotification && codeOf(err) != fake.CodeRequestCancelled {
					t.Fatalf("the second prompt is answered with %+v, %v", result, err)
				}
				d.settle()
				close(free)
				d.ended(one)
				if r := d.ended(three); r.Message != "last" {
					t.Fatalf("the third prompt ended with %+v", r)
				}
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Case E14.
func TestASecondCancelAndALateYesDoNotTouchTheNextPrompt(t *testing.T) {
	shown, late := make(chan fake.Review, 2), make(chan struct{})
	d := deskWith(t, fake.Options{Review: func(_ context.Context, r fake.Review) (fake.Answer, error) {
		shown <- r
		<-late // the dialog stays, and is answered with yes
		return fake.Answer{Decision: "accept"}, nil
	}}, map[string]string{"a": "one\n"}, calls(edits("c1", "a", "one", "1")), says("second"))
	uri := d.opened("a")
	pending := d.begin(fake.Prompt{}, 1)
	id := (<-shown).SessionID
	d.cancel(id)
	d.cancel(id)
	two := d.start(fake.Prompt{SessionID: id, Text: "two"})
	if r := d.ended(pending); r.StopReason != "cancelled" {
		t.Errorf("the first prompt ended with %+v", r)
	}
	if r := d.ended(two); r.StopReason != "complete" || r.Message != "second" {
		t.Errorf("the second prompt ended with %+v", r)
	}
	if err := pending.Cancel(); err != nil { // of a request that is answered
		t.Fatal(err)
	}
	close(late)
	if _, err := d.AwaitEntry(d.ctx, func(e fake.Entry) bool { return e.Response && !e.FromServer && e.Method == methodReview }); err != nil {
		t.Fatal(err)
	}
	d.settle()
	text, _, _ := d.Text(uri)
	same(t, "the text after the late yes", text, "one\n")
	question := d.awaitRequest(methodReview)
	answers, cancels := 0, 0
	for _, e := range d.Log() {
		if e.FromServer && e.Response && e.Method == methodPrompt {
			answers++
		}
		if e.FromServer && e.Method == "$/cancelRequest" && strings.Contains(string(e.Raw), `"id":`+question.ID) {
			cancels++
		}
	}
	if answers != 2 || cancels != 1 {
		t.Errorf("%d answers to two prompts, and the question was taken back %d times", answers, cancels)
	}
	if n := len(eventsOf[DecidedEvent](d, "decided")); n != 0 {
		t.Error("what was cancelled was decided")
	}
}

// A prompt reads its context before it runs, and a cancel may come meanwhile.
func TestAPromptThatIsCancelledWhileItReadsItsContextIsCancelled(t *testing.T) {
	for name, fresh := range map[string]bool{"a new session": true, "one that is there": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskWith(t, fake.Options{}, map[string]string{"a": "text\n"})
			params := PromptParams{Text: "go", Context: []ContextItem{{URI: d.uri("a")}}}
			if !fresh {
				params.SessionID = d.session()
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			work := d.server.acceptPrompt(ctx, params)
			d.server.sessions.cancelAll()
			answer, err := work()
			result, ok := answer.(PromptResult)
			if err != nil || !ok || result.StopReason != "cancelled" || result.SessionID == "" {
				t.Fatalf("it is answered with %+v, %v", answer, err)
			}
			open := len(d.server.sessions.busy())
			work = d.server.acceptPrompt(ctx, params)
			cancel(rpc.ErrCancelled)
			if answer, err := work(); !errors.Is(err, rpc.ErrCancelled) {
				t.Errorf("a request that is cancelled is answered with %+v, %v", answer, err)
			}
			if n := len(d.server.sessions.busy()); n != open {
				t.Errorf("%d sessions are open, and were %d", n, open)
			}
			if r := d.say(fake.Prompt{SessionID: result.SessionID}); r.StopReason != "complete" {
				t.Errorf("the session went on to %+v", r)
			}
		})
	}
}

// TestASteerDuringAReviewSaysThatItWaits, and comes back if the turn is cancelled.
func TestASteerDuringAReviewSaysThatItWaits(t *testing.T) {
	asked, answer := make(chan string, 1), make(chan struct{})
	o := fake.Options{Review: func(ctx context.Context, r fake.Review) (fake.Answer, error) {
		asked <- r.SessionID
		select {
		case <-answer:
		case <-ctx.Done():
		}
		return fake.Answer{Decision: "accept"}, nil
	}}
	for _, cancelled := range []bool{false, true} {
		d := deskWith(t, o, map[string]string{"a": "one\n"}, calls(edits("c1", "a", "one", "two")), says("heard"))
		pending := d.start(fake.Prompt{Text: "go"})
		id := <-asked
		var queued SteerResult
		if err := d.Call(d.ctx, methodSteer, SteerParams{id, "use tabs"}, &queued); err != nil || queued != (SteerResult{true, "review"}) {
			t.Errorf("the steer is answered with %+v, %v", queued, err)
		}
		if cancelled {
			d.cancel(id)
			if r := d.ended(pending); r.StopReason != "cancelled" || !slices.Equal(r.Unheard, []string{"use tabs"}) {
				t.Errorf("the prompt ended with %+v", r)
			}
			continue
		}
		answer <- struct{}{}
		if r := d.ended(pending); r.Message != "heard" || r.Unheard != nil {
			t.Errorf("the prompt ended with %+v", r)
		}
		messages := d.model.asked(2).Messages
		if last := messages[len(messages)-1]; last.Text() != "use tabs" || messages[len(messages)-2].Role != agent.RoleTool {
			t.Errorf("the model hears %+v", messages)
		}
	}
}

// TestAPromptThatCanNotBeginGivesBackWhatWasSaid, beside its own error and code.
func TestAPromptThatCanNotBeginGivesBackWhatWasSaid(t *testing.T) {
	bad := rpc.Errorf(rpc.CodeInvalidParams, "the context x can't be used")
	err := withUnheard(bad, []string{"use tabs"})
	if e, ok := errors.AsType[*rpc.Error](err); !ok || e.Code != rpc.CodeInvalidParams || !strings.Contains(err.Error(), "can't be used") || !strings.Contains(err.Error(), `"use tabs"`) {
		t.Errorf("the error is %v", err)
	}
	if withUnheard(bad, nil) != bad || withUnheard(nil, []string{"x"}) != nil {
		t.Error("what has nothing to add is changed")
	}
}
