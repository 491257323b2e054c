package lsp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"assent/editors/fake"
)

func TestASecretFileIsReadAfterAYesAlone(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer fake.ApproveAnswer
		fails  error
		shown  bool
		told   string
	}{
		{"allow", fake.ApproveAnswer{Decision: "allow"}, nil, true, ""},
		{"reject", fake.ApproveAnswer{Decision: "reject", Comment: "not that"}, nil, false, "not that"},
		{"accept, which is another question's yes", fake.ApproveAnswer{Decision: "accept"}, nil, false, ""},
		{"a capital letter", fake.ApproveAnswer{Decision: "Allow"}, nil, false, ""},
		{"null", fake.ApproveAnswer{Raw: json.RawMessage(`null`)}, nil, false, ""},
		{"a string", fake.ApproveAnswer{Raw: json.RawMessage(`"allow"`)}, nil, false, "could not be understood"},
		{"a list", fake.ApproveAnswer{Raw: json.RawMessage(`["allow"]`)}, nil, false, "could not be understood"},
		{"true", fake.ApproveAnswer{Raw: json.RawMessage(`{"decision":true}`)}, nil, false, "could not be understood"},
		{"nothing", fake.ApproveAnswer{Raw: json.RawMessage(`{}`)}, nil, false, ""},
		{"a yes with a comment of a wrong type", fake.ApproveAnswer{Raw: json.RawMessage(`{"decision":"allow","comment":7}`)}, nil, false, "could not be understood"},
		{"an error", fake.ApproveAnswer{}, &fake.Error{Code: 7, Message: "no dialog"}, false, "no dialog"},
		{"an internal error of a client that stays", fake.ApproveAnswer{}, &fake.Error{Code: fake.CodeInternalError, Message: "no dialog"}, false, "no dialog"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked []fake.Approve
			d := deskWith(t, fake.Options{Approve: func(_ context.Context, a fake.Approve) (fake.ApproveAnswer, error) {
				asked = append(asked, a)
				return c.answer, c.fails
			}}, map[string]string{".env": "KEY=hush\n"}, calls(reads("c1", ".env")))
			result := d.say(fake.Prompt{})
			if len(asked) != 1 || asked[0].Effect.Kind != "read" || !asked[0].Effect.Secret || asked[0].Effect.URI != d.uri(".env") || asked[0].ToolUseID != "c1" {
				t.Fatalf("the question is %+v", asked)
			}
			r := d.results()[0]
			if strings.Contains(r.Output, "hush") != c.shown || r.IsError == c.shown {
				t.Errorf("the model has %q", r.Output)
			}
			has(t, r.Output, c.told)
			if (result.Denied == 0) != c.shown {
				t.Errorf("%d were denied", result.Denied)
			}
		})
	}
}

func TestAClientWithoutReviewIsAskedPlainly(t *testing.T) {
	const both, first = "one\n2\nthree\nfour\n5\nsix\n", "one\n2\nthree\nfour\nfive\nsix\n"
	for _, c := range []struct {
		name    string
		answers []string // "" is null
		want    string
		told    string
	}{
		{"apply", []string{"Apply"}, both, ""},
		{"reject", []string{"Reject"}, sixLines, ""},
		{"null", []string{""}, sixLines, "closed without an answer"},
		{"a title that was not offered", []string{"Sure"}, sixLines, ""},
		{"the yes of another question", []string{"Allow"}, sixLines, ""},
		{"hunk by hunk, yes and no", []string{"Review hunks", "Apply", "Reject"}, first, ""},
		{"hunk by hunk, yes and null", []string{"Review hunks", "Apply", ""}, first, ""},
		{"hunk by hunk, yes and yes", []string{"Review hunks", "Apply", "Apply"}, both, ""},
		{"hunk by hunk, no and no", []string{"Review hunks", "Reject", "Reject"}, sixLines, ""},
		{"hunk by hunk of one hunk", []string{"Review hunks", "Review hunks", "Review hunks"}, sixLines, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked []fake.MessageRequest
			d := deskWith(t, fake.Options{NoReview: true, NoApprove: true, Message: func(_ context.Context, m fake.MessageRequest) (string, error) {
				asked = append(asked, m)
				return c.answers[min(len(asked), len(c.answers))-1], nil
			}}, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2", "five", "5")))
			uri := d.opened("a")
			d.say(fake.Prompt{})
			text, _, _ := d.Text(uri)
			same(t, "the text", text, c.want)
			has(t, d.results()[0].Output, c.told)
			if len(asked) != len(c.answers) || !slices.Equal(asked[0].Actions, []string{"Apply", "Review hunks", "Reject"}) {
				t.Errorf("the questions are %+v", asked)
			}
			has(t, asked[0].Message, "-two", "+2", "-five", "+5")
		})
	}
}

func TestAClientThatCantAskRefusesAndSaysHowToAllow(t *testing.T) {
	d := deskWith(t, fake.Options{NoReview: true, NoMessageRequest: true}, map[string]string{"a": sixLines}, calls(edits("c1", "a", "two", "2")))
	uri := d.opened("a")
	result := d.say(fake.Prompt{})
	text, _, _ := d.Text(uri)
	same(t, "the text", text, sixLines)
	has(t, d.results()[0].Output, "accept_edits")
	if by := eventsOf[DecidedEvent](d, "decided")[0].By; by != "headless" || result.Denied != 1 {
		t.Errorf("it is decided by %s, and %d were denied", by, result.Denied)
	}
}

// Some clients answer all that is open with an internal error when they close. That
// is nobody's no.
func TestAnErrorRightBeforeTheEndIsNoRefusal(t *testing.T) {
	for name, code := range map[string]int{"internal error": fake.CodeInternalError, "server cancelled": codeServerCancelled} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskWith(t, fake.Options{Review: func(context.Context, fake.Review) (fake.Answer, error) {
				return fake.Answer{}, &fake.Error{Code: code, Message: "closing"}
			}}, map[string]string{"a": "one\n"}, calls(edits("c1", "a", "one", "1")))
			d.opened("a")
			pending := d.begin(fake.Prompt{}, 1)
			if _, err := d.AwaitEntry(d.ctx, func(e fake.Entry) bool { return e.Response && !e.FromServer && e.Method == methodReview }); err != nil {
				t.Fatal(err)
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			err := pending.Wait(d.ctx, nil)
			if codeOf(err) != codeFailed {
				t.Errorf("the prompt is answered with %v", err)
			}
			has(t, err.Error(), "the connection to the person was lost")
			if n := len(eventsOf[DecidedEvent](d, "decided")); n != 0 {
				t.Error("it was decided")
			}
			if code := d.server.ExitCode(nil); code != 1 {
				t.Errorf("the exit code is %d", code)
			}
		})
	}
}

func TestAnErrorOfAClientThatStaysIsARefusal(t *testing.T) {
	for name, code := range map[string]int{"internal error": fake.CodeInternalError, "another": 7, "request cancelled": fake.CodeRequestCancelled, "method not found": fake.CodeMethodNotFound} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskWith(t, fake.Options{Review: func(context.Context, fake.Review) (fake.Answer, error) {
				return fake.Answer{}, &fake.Error{Code: code, Message: "no window"}
			}}, map[string]string{"a": "one\n"}, calls(edits("c1", "a", "one", "1")))
			uri := d.opened("a")
			result := d.say(fake.Prompt{})
			text, _, _ := d.Text(uri)
			same(t, "the text", text, "one\n")
			has(t, d.results()[0].Output, "no window")
			if result.Denied != 1 || result.StopReason != "complete" {
				t.Errorf("the result is %+v", result)
			}
		})
	}
}

// A client may give back more than a title, and no second one.
func TestOnlyTheTitleOfAnActionIsAnAnswer(t *testing.T) {
	for raw, want := range map[string]string{
		`{"title":"Apply"}`: "Apply", `{"title":"Reject"}`: "Reject", `{"title":"Apply","isCloseAffordance":null,"id":7}`: "Apply",
		`{"title":"Reject","Title":"Apply"}`: "", `{"Title":"Reject","title":"Apply"}`: "", `{"TITLE":"Apply"}`: "", `{"title":"Reject","title":"Apply"}`: "",
		`{"title":null}`: "", `{}`: "", `[]`: "", `"Apply"`: "", `["Apply"]`: "", `{"title":["Apply"]}`: "", `{"title":"Apply\ud83d"}`: "", `{"title":"apply"}`: "", `{"title":"Allow"}`: "",
	} {
		got, err := readChoice(json.RawMessage(raw), []string{apply, rejectIt})
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s is %q, %v", raw, got, err)
		}
	}
}
