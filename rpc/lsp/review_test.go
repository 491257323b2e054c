package lsp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"assent/editors/fake"
)

const sixLines = "one\ntwo\nthree\nfour\nfive\nsix\n"

// reviewed runs a prompt whose model changes the second and the fifth of six lines,
// and returns the text that is in the editor then, and what the model was told.
func reviewed(t *testing.T, before string, answer func(r fake.Review) fake.Answer) (text, result string) {
	t.Helper()
	d := deskWith(t, fake.Options{Review: func(_ context.Context, r fake.Review) (fake.Answer, error) { return answer(r), nil }},
		map[string]string{"a": before}, calls(edits("c1", "a", "two", "2", "five", "5")))
	uri := d.opened("a")
	d.say(fake.Prompt{})
	text, _, _ = d.Text(uri)
	return text, d.results()[0].Output
}

func TestAnAnswerToAReviewIsDoneAsItSays(t *testing.T) {
	const both, none, first, second = "one\n2\nthree\nfour\n5\nsix\n", sixLines, "one\n2\nthree\nfour\nfive\nsix\n", "one\ntwo\nthree\nfour\n5\nsix\n"
	type answer = fake.Answer
	file := func(r fake.Review, verdict string) map[string]string {
		return map[string]string{r.Files[0].URI: verdict}
	}
	hunk := func(r fake.Review, n int, verdict any) map[string]any {
		return map[string]any{r.Files[0].Hunks[n].ID: verdict}
	}
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		name   string
		answer func(r fake.Review) answer
		want   string
	}{
		{"accept", func(fake.Review) answer { return answer{Decision: "accept"} }, both},
		{"accept of this revision", func(r fake.Review) answer { return answer{Decision: "accept", Revision: r.Revision} }, both},
		{"accept with what is not said spelled out", func(fake.Review) answer {
			return answer{Raw: json.RawMessage(`{"decision":"accept","revision":null,"files":null,"hunks":[],"edited":{},"comment":null}`)}
		}, both},
		{"accept with a name that is misspelled", func(fake.Review) answer {
			return answer{Raw: json.RawMessage(`{"decision":"accept","hunk":{"x":"reject"}}`)}
		}, none},
		{"accept that is a reject in another case", func(fake.Review) answer {
			return answer{Raw: json.RawMessage(`{"decision":"reject","Decision":"accept"}`)}
		}, none},
		{"accept twice", func(fake.Review) answer {
			return answer{Raw: json.RawMessage(`{"decision":"reject","decision":"accept"}`)}
		}, none},
		{"reject", func(fake.Review) answer { return answer{Decision: "reject"} }, none},
		{"reject wins over what is listed", func(r fake.Review) answer {
			return answer{Decision: "reject", Files: file(r, "accept"), Hunks: hunk(r, 0, "accept"), Edited: file(r, "x\n")}
		}, none},
		{"partial, and nothing listed", func(fake.Review) answer { return answer{Decision: "partial"} }, none},
		{"partial, and the file listed", func(r fake.Review) answer { return answer{Decision: "partial", Files: file(r, "accept")} }, both},
		{"partial, and one hunk", func(r fake.Review) answer { return answer{Decision: "partial", Hunks: hunk(r, 0, "accept")} }, first},
		{"partial, and one hunk refused", func(r fake.Review) answer { return answer{Decision: "partial", Hunks: hunk(r, 0, "reject")} }, none},
		{"partial, the file but not one hunk", func(r fake.Review) answer {
			return answer{Decision: "partial", Files: file(r, "accept"), Hunks: hunk(r, 0, "reject")}
		}, second},
		{"accept, but not one hunk", func(r fake.Review) answer { return answer{Decision: "accept", Hunks: hunk(r, 1, "reject")} }, first},
		{"accept, but not the file", func(r fake.Review) answer { return answer{Decision: "accept", Files: file(r, "reject")} }, none},
		{"accept, not the file, but one hunk", func(r fake.Review) answer {
			return answer{Decision: "accept", Files: file(r, "reject"), Hunks: hunk(r, 1, "accept")}
		}, second},
		{"the long form of a hunk", func(r fake.Review) answer {
			return answer{Decision: "partial", Hunks: hunk(r, 0, fake.HunkAnswer{Verdict: "accept", Comment: "good"})}
		}, first},
		{"another text for a hunk", func(r fake.Review) answer {
			return answer{Decision: "accept", Hunks: hunk(r, 0, fake.HunkAnswer{Verdict: "accept", NewText: text("zwei\n")})}
		}, "one\nzwei\nthree\nfour\n5\nsix\n"},
		{"the old text for a hunk", func(r fake.Review) answer {
			return answer{Decision: "accept", Hunks: hunk(r, 0, fake.HunkAnswer{Verdict: "accept", NewText: text("two\n")})}
		}, second},
		{"nothing for a hunk", func(r fake.Review) answer {
			return answer{Decision: "partial", Hunks: hunk(r, 0, fake.HunkAnswer{Verdict: "accept", NewText: text("")})}
		}, "one\nthree\nfour\nfive\nsix\n"},
		{"null for the text of a hunk, which is none", func(r fake.Review) answer {
			return answer{Decision: "accept", Hunks: hunk(r, 1, json.RawMessage(`{"verdict":"accept","newText":null,"comment":null}`))}
		}, both},
		{"a character beyond the first 65536", func(r fake.Review) answer {
			return answer{Raw: json.RawMessage(`{"decision":"accept","edited":{"` + r.Files[0].URI + `":"\ud83d\ude01\n"}}`)}
		}, "😁\n"},
		{"a refused hunk with a text", func(r fake.Review) answer {
			return answer{Decision: "accept", Hunks: hunk(r, 0, fake.HunkAnswer{Verdict: "reject", NewText: text("zwei\n")})}
		}, second},
		{"an edited text", func(r fake.Review) answer { return answer{Decision: "accept", Edited: file(r, "mine\n")} }, "mine\n"},
		{"an edited text with partial", func(r fake.Review) answer { return answer{Decision: "partial", Edited: file(r, "mine\n")} }, "mine\n"},
		{"an edited text that is the old one", func(r fake.Review) answer { return answer{Decision: "accept", Edited: file(r, sixLines)} }, none},
		{"an edited text for a file that is refused", func(r fake.Review) answer {
			return answer{Decision: "partial", Files: file(r, "reject"), Edited: file(r, "mine\n")}
		}, none},
		{"another spelling of the file", func(r fake.Review) answer {
			return answer{Decision: "partial", Files: map[string]string{strings.Replace(r.Files[0].URI, "file://", "FILE://localhost", 1): "accept"}}
		}, both},
		{"two spellings with two verdicts", func(r fake.Review) answer {
			return answer{Decision: "partial", Files: map[string]string{r.Files[0].URI: "reject", strings.Replace(r.Files[0].URI, "file://", "file://localhost", 1): "accept"}}
		}, none},
		{"two spellings with two texts", func(r fake.Review) answer {
			return answer{Decision: "partial", Edited: map[string]string{r.Files[0].URI: "x\n", strings.Replace(r.Files[0].URI, "file://", "file://localhost", 1): "y\n"}}
		}, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, result := reviewed(t, sixLines, c.answer)
			if got != c.want {
				t.Errorf("the text is %q, not %q; %s", got, c.want, result)
			}
		})
	}
}

func TestAnAnswerThatIsNotUnderstoodIsANo(t *testing.T) {
	for _, raw := range []string{
		`null`, `[]`, `7`, `true`, `"accept"`, `{}`, `{"decision":""}`, `{"decision":"yes"}`, `{"decision":"Accept"}`, `{"decision":null}`, `{"decision":true}`, `{"decision":["accept"]}`,
		`{"decision":"accept","revision":2}`, `{"decision":"accept","revision":-1}`, `{"decision":"accept","revision":"1"}`, `{"decision":"accept","revision":1.5}`,
		`{"decision":"accept","files":{"file:///elsewhere":"accept"}}`, `{"decision":"accept","files":{"$U":"maybe"}}`, `{"decision":"accept","files":{"$U":true}}`, `{"decision":"accept","files":["$U"]}`, `{"decision":"accept","files":{"$U":null}}`,
		`{"decision":"accept","hunks":{"nope":"accept"}}`, `{"decision":"accept","hunks":{"$H":"maybe"}}`, `{"decision":"accept","hunks":{"$H":null}}`, `{"decision":"accept","hunks":{"$H":true}}`,
		`{"decision":"accept","hunks":{"$H":{}}}`, `{"decision":"accept","hunks":{"$H":{"verdict":"maybe"}}}`, `{"decision":"accept","hunks":{"$H":{"verdict":"accept","newText":7}}}`, `{"decision":"accept","hunks":{"$H":["accept"]}}`,
		`{"decision":"accept","edited":{"file:///elsewhere":"x"}}`, `{"decision":"accept","edited":{"$U":7}}`, `{"decision":"accept","edited":"x"}`, `{"decision":"accept","comment":7}`,
		`{"decision":"partial","edited":{"$U":null}}`, `{"decision":"accept","edited":{"$U":null}}`, `{"decision":"accept","revision":0}`,
		`{"decision":"accept","edited":{"$U":"p\ud83dq\n"}}`, "{\"decision\":\"accept\",\"edited\":{\"$U\":\"caf\xe9\\n\"}}", `{"decision":"accept","edited":{"$U":"\ude01\ud83d"}}`,
		`{"decision":"accept","hunks":{"$H":{"verdict":"accept","newText":"\ud83d\n"}}}`, "{\"decision\":\"accept\",\"hunks\":{\"$H\":{\"verdict\":\"accept\",\"newText\":\"\xff\\n\"}}}",
		`{"decision":"accept","edited":{"$U":"x","$U":"y"}}`, `{"decision":"accept","hunks":{"$H":"accept","$H":"accept"}}`,
	} {
		t.Run(raw, func(t *testing.T) {
			t.Parallel()
			got, result := reviewed(t, sixLines, func(r fake.Review) fake.Answer {
				return fake.Answer{Raw: json.RawMessage(strings.NewReplacer("$U", r.Files[0].URI, "$H", r.Files[0].Hunks[0].ID).Replace(raw))}
			})
			if got != sixLines {
				t.Errorf("it did something: %q", got)
			}
			has(t, result, "could not be understood")
		})
	}
}

func TestTheModelHearsWhatThePersonSaid(t *testing.T) {
	_, result := reviewed(t, sixLines, func(r fake.Review) fake.Answer {
		return fake.Answer{Decision: "accept", Comment: "on all", Hunks: map[string]any{r.Files[0].Hunks[0].ID: fake.HunkAnswer{Verdict: "reject", Comment: "on one"}}}
	})
	has(t, result, "on all", "on one")
	_, result = reviewed(t, sixLines, func(fake.Review) fake.Answer { return fake.Answer{Decision: "reject", Comment: "never"} })
	has(t, result, "never")
}

func TestThePersonsTextTakesTheLineEndsOfTheFile(t *testing.T) {
	windows := strings.ReplaceAll(sixLines, "\n", "\r\n")
	text := "zwei\nzwei\n"
	got, _ := reviewed(t, windows, func(r fake.Review) fake.Answer {
		return fake.Answer{Decision: "partial", Hunks: map[string]any{r.Files[0].Hunks[0].ID: fake.HunkAnswer{Verdict: "accept", NewText: &text}}}
	})
	same(t, "the text after another one for a hunk", got, "one\r\nzwei\r\nzwei\r\nthree\r\nfour\r\nfive\r\nsix\r\n")
	got, _ = reviewed(t, windows, func(r fake.Review) fake.Answer {
		return fake.Answer{Decision: "accept", Edited: map[string]string{r.Files[0].URI: "one\nmine\nsix\n"}}
	})
	same(t, "the text after an edited one", got, "one\r\nmine\r\nsix\r\n")
	got, _ = reviewed(t, windows, func(r fake.Review) fake.Answer {
		return fake.Answer{Decision: "accept", Edited: map[string]string{r.Files[0].URI: sixLines}}
	})
	same(t, "the text after the old one, with LF", got, windows)
}

const workflow = ".github/workflows/x.yml"

// twoFiles runs a prompt that changes an ordinary file and one that is protected,
// with one answer for each review.
func twoFiles(t *testing.T, answers ...func(r fake.Review) fake.Answer) (d *desk, reviews []fake.Review) {
	t.Helper()
	d = deskWith(t, fake.Options{Review: func(_ context.Context, r fake.Review) (fake.Answer, error) {
		reviews = append(reviews, r)
		if len(reviews) > len(answers) {
			return fake.Answer{}, &fake.Error{Code: 1, Message: "one question too many"}
		}
		return answers[len(reviews)-1](r), nil
	}}, map[string]string{"a": "one\n", workflow: "one\n"}, calls(edits("c1", "a", "one", "1"), edits("c2", workflow, "one", "1")))
	d.opened("a")
	d.opened(workflow)
	d.say(fake.Prompt{})
	return d, reviews
}

func TestAYesToAllDoesNotCoverAProtectedFile(t *testing.T) {
	all := func(decision, comment string) func(fake.Review) fake.Answer {
		return func(fake.Review) fake.Answer { return fake.Answer{Decision: decision, Comment: comment} }
	}
	listed := func(decision, verdict string) func(fake.Review) fake.Answer {
		return func(r fake.Review) fake.Answer {
			i := slices.IndexFunc(r.Files, func(f fake.ReviewFile) bool { return f.Alone })
			return fake.Answer{Decision: decision, Files: map[string]string{r.Files[i].URI: verdict}}
		}
	}
	edited := func(r fake.Review) fake.Answer {
		i := slices.IndexFunc(r.Files, func(f fake.ReviewFile) bool { return f.Alone })
		return fake.Answer{Decision: "accept", Edited: map[string]string{r.Files[i].URI: "1\n"}}
	}
	byHunk := func(r fake.Review) fake.Answer {
		i := slices.IndexFunc(r.Files, func(f fake.ReviewFile) bool { return f.Alone })
		return fake.Answer{Decision: "accept", Hunks: map[string]any{r.Files[i].Hunks[0].ID: "accept"}}
	}
	const yes, no = "1\n", "one\n"
	for _, c := range []struct {
		name              string
		answers           []func(fake.Review) fake.Answer
		plain, protected  string
		reviews           int
		toldFirst, toldBy string
	}{
		{"a plain yes, and one alone", []func(fake.Review) fake.Answer{all("accept", "first"), all("accept", "second")}, yes, yes, 2, "first", "second"},
		{"a plain yes, and no comment on the second", []func(fake.Review) fake.Answer{all("accept", "first"), all("accept", "")}, yes, yes, 2, "first", "first"},
		{"a plain yes, and a no alone", []func(fake.Review) fake.Answer{all("accept", "first"), all("reject", "not this")}, yes, no, 2, "first", "not this"},
		{"a plain yes, and rubbish", []func(fake.Review) fake.Answer{all("accept", "first"), all("maybe", "")}, yes, no, 2, "first", "could not be understood"},
		{"a yes to the file itself", []func(fake.Review) fake.Answer{listed("accept", "accept")}, yes, yes, 1, "", ""},
		{"a yes to its hunk", []func(fake.Review) fake.Answer{byHunk}, yes, yes, 1, "", ""},
		{"an edited text of it", []func(fake.Review) fake.Answer{edited}, yes, yes, 1, "", ""},
		{"a no to it", []func(fake.Review) fake.Answer{listed("accept", "reject")}, yes, no, 1, "", ""},
		{"a yes to nothing else", []func(fake.Review) fake.Answer{listed("partial", "accept")}, no, yes, 1, "", ""},
		{"a no", []func(fake.Review) fake.Answer{all("reject", "never")}, no, no, 1, "never", "never"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, reviews := twoFiles(t, c.answers...)
			plain, _, _ := d.Text(d.uri("a"))
			protected, _, _ := d.Text(d.uri(workflow))
			same(t, "the ordinary file", plain, c.plain)
			same(t, "the protected file", protected, c.protected)
			if len(reviews) != c.reviews {
				t.Errorf("%d reviews, not %d", len(reviews), c.reviews)
			}
			if c.reviews == 2 && (len(reviews[1].Files) != 1 || reviews[1].Files[0].URI != d.uri(workflow) || reviews[1].ProposalID != reviews[0].ProposalID) {
				t.Errorf("the second is %+v", reviews[1])
			}
			results := d.results()
			has(t, results[0].Output, c.toldFirst)
			has(t, results[1].Output, c.toldBy)
			if by := eventsOf[DecidedEvent](d, "decided")[0].By; by != "person" {
				t.Errorf("a person decided, and it is by %s", by)
			}
		})
	}
}

func TestAnEditedTextOfTwoCallsIsWhatTheLastLeadsTo(t *testing.T) {
	for name, c := range map[string]struct{ edited, want string }{
		"another text":               {"1\nzwei\n", "1\nzwei\n"},
		"what the first leads to":    {"1\ntwo\n", "1\ntwo\n"},
		"what both lead to":          {"1\n2\n", "1\n2\n"},
		"the text before both":       {"one\ntwo\n", "one\ntwo\n"},
		"a text without either line": {"x\n", "x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskWith(t, fake.Options{Review: func(_ context.Context, r fake.Review) (fake.Answer, error) {
				return fake.Answer{Decision: "accept", Edited: map[string]string{r.Files[0].URI: c.edited}}, nil
			}}, map[string]string{"a": "one\ntwo\n"}, calls(edits("c1", "a", "one", "1"), edits("c2", "a", "two", "2")))
			uri := d.opened("a")
			d.say(fake.Prompt{})
			text, _, _ := d.Text(uri)
			same(t, "the text", text, c.want)
		})
	}
}
