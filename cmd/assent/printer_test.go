package main

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"assent/agent"
	"assent/agent/journal"
)

func TestReasoningThatLookedLikeAnAnswerIsSaidToBe(t *testing.T) {
	for _, c := range []struct {
		name, want string
		deltas     []agent.Delta
	}{
		{"in the middle of a line", "so it is 42\n(That was the model's reasoning; its answer follows.)\n42",
			[]agent.Delta{{Text: "so it "}, {Text: "is 42"}, {Recast: true}, {Text: "42"}}},
		{"at the end of a line, with the answer", "so it is 42\n(That was the model's reasoning; its answer follows.)\n42",
			[]agent.Delta{{Text: "so it is 42\n"}, {Text: "42", Recast: true}}},
		{"no reasoning", "42", []agent.Delta{{Text: "42"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all bytes.Buffer
			p := &humanPrinter{out: &all, err: &all}
			for _, d := range c.deltas {
				if err := p.print(d); err != nil {
					t.Fatal(err)
				}
			}
			if all.String() != c.want {
				t.Errorf("printed\n%s\nwant\n%s", all.String(), c.want)
			}
		})
	}
}

func TestThoughtsOfAReplyAreOneText(t *testing.T) {
	deltas := []agent.Event{
		agent.Delta{Thinking: "Let me "}, agent.Delta{Thinking: "see:\n4"}, agent.Delta{Thinking: "2."}, agent.Delta{Text: "It "}, agent.Delta{Thinking: "Yes."}, agent.Delta{Text: "is 42."},
		agent.Delta{Thinking: "And"}, agent.Responded{Attempt: 1}, agent.Delta{Thinking: "Again", Text: "so"}, agent.Done{},
	}
	for verbose, want := range map[bool]string{
		true: "thinking: Let me see:\n42.\nIt \nthinking: Yes.\nis 42.\nthinking: And\nresponse: 0s in all, 0 tokens in, 0 out\n" +
			"thinking: Again\nso\ndone: , 0 turns, 0 refused, 0 tokens in, 0 out\n",
		false: "It is 42.\nso\n",
	} {
		var all bytes.Buffer
		p := &humanPrinter{out: &all, err: &all, verbose: verbose, began: time.Now()}
		for _, e := range deltas {
			if err := p.print(e); err != nil {
				t.Fatal(err)
			}
		}
		got := regexp.MustCompile(`(?m)^ *\d+\.\d{3}s  `).ReplaceAllString(all.String(), "")
		if got != want {
			t.Errorf("verbose %v: printed\n%s\nwant\n%s", verbose, got, want)
		}
	}
}

func TestTheDemoHasNoNameOfAModel(t *testing.T) {
	for _, rec := range []agent.Record{agent.Started{ID: "s", Dir: "/w", Provider: "demo"}, agent.Requested{Attempt: 1, Provider: "demo"}} {
		if got := describeEntry(journal.Entry{Record: rec}); strings.Contains(got, "of demo") || !strings.Contains(got, " demo") {
			t.Error(got)
		}
	}
}

func TestRequestsAndResponsesInWords(t *testing.T) {
	for _, c := range []struct {
		name, want string
		rec        agent.Record
	}{
		{"a request", "request  3 messages, about 25 tokens, attempt 2, to m of ollama",
			agent.Requested{Messages: 3, Bytes: 80, Tokens: 25, Attempt: 2, Model: "m", Provider: "ollama"}},
		{"one of an older journal", "request  3 messages, attempt 2", agent.Requested{Messages: 3, Bytes: 80, Attempt: 2}},
		{"a response", "response first byte after 310ms, 2.4s in all, finish end_turn, 5 tokens in, 7 out",
			agent.Responded{Attempt: 1, FirstByte: 310 * time.Millisecond, Elapsed: 2400 * time.Millisecond, Finish: "end_turn", Usage: agent.Usage{Input: 5, Output: 7}}},
		{"a failure before the first byte", "response 40ms in all, failed: too many",
			agent.Responded{Attempt: 1, Elapsed: 40 * time.Millisecond, Err: errors.New("too many")}},
		{"a failure after it", "response first byte after 10ms, 40ms in all, failed: cut",
			agent.Responded{Attempt: 1, FirstByte: 10 * time.Millisecond, Elapsed: 40 * time.Millisecond, Err: errors.New("cut")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := describeEntry(journal.Entry{Record: c.rec}); got != c.want {
				t.Errorf("it says\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
