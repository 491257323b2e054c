package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/host"
)

func sameCallAgainAndAgain(t *testing.T, c sharedCase) {
	for name, how := range map[string]struct {
		refuse, steer bool
		asked, calls  int
		want          agent.StopReason
	}{
		"accepted":                    {asked: 1, calls: 5, want: agent.StopRepeated},
		"refused":                     {refuse: true, asked: 2, calls: 5, want: agent.StopRepeated},
		"the person speaks meanwhile": {steer: true, asked: 1, calls: 6, want: agent.StopComplete},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				for i, line := range c.Input.Model {
					s.model.answers = append(s.model.answers, scripted(t, reworded(t, line, i)))
				}
				s.model.rest = gives(agenttest.Say("enough"))
				if how.refuse {
					s.review = func(agent.Proposal) agent.Decision { return agent.Decision{By: agent.ByPerson} }
				}
				session := s.open("")
				n, first := 0, 3 // the first call with a hint
				if how.steer {
					first = 5
				}
				_, end := s.prompt(t.Context(), session, "write it", func(e agent.Event) {
					a, ok := e.(agent.Answered)
					if !ok {
						return
					}
					n++
					if hinted := strings.Contains(a.Result.Output, "identical call"); hinted != (n >= first) {
						t.Errorf("call %d: %q", n, a.Result.Output)
					}
					if how.steer && n == 2 {
						s.model.newest = "do write it"
						if _, err := session.Steer("do write it"); err != nil {
							t.Error(err)
						}
					}
				})
				if end.Reason != how.want || n != how.calls || len(s.asked) != how.asked {
					t.Errorf("ended with %s after %d calls and %d questions", end.Reason, n, len(s.asked))
				}
				checkCountBegins(t, s, session, c.Input.Model[0])
			})
		})
	}
}

// checkCountBegins makes a call twice after a new prompt: it is as if it were never made.
func checkCountBegins(t *testing.T, s *stage, session *host.Session, line string) {
	t.Helper()
	call, before := scripted(t, line), len(s.model.requests)
	s.model.rest = func(ctx context.Context, req agent.Request, yield func(agent.Chunk, error) bool) {
		if len(s.model.requests) > before+2 {
			call = gives(agenttest.Say("done"))
		}
		call(ctx, req, yield)
	}
	results := outputs(s.complete(session, "once more"))
	if len(results) != 2 || strings.Contains(strings.Join(results, ""), "identical call") {
		t.Errorf("after a new prompt the results are %q", results)
	}
}

// reworded is a call with its keys in another order and with other white space.
func reworded(t *testing.T, line string, n int) string {
	t.Helper()
	name, input, _ := strings.Cut(line, "{")
	var fields map[string]string
	if err := json.Unmarshal([]byte("{"+input), &fields); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for key := range fields {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if n%2 == 1 {
		slices.Reverse(keys)
	}
	space := strings.Repeat(" ", n)
	for i, key := range keys {
		keys[i] = fmt.Sprintf("%s%q:%s%q", space, key, space, fields[key])
	}
	return name + "{" + strings.Join(keys, ",") + space + "}"
}

func limitWithOpenCalls(t *testing.T, c sharedCase) {
	lastLine := c.Input.Model[c.Input.MaxSteps]
	wanted := saidText.FindStringSubmatch(lastLine)[1]
	calling := agenttest.Say(wanted)
	calling.Blocks = append(calling.Blocks, agenttest.Use("", "shell", `{"cmd":"late"}`))
	fails := breaks("", &agent.ModelError{Kind: agent.ErrorProvider, Status: http.StatusInternalServerError, Message: "no"})
	for name, last := range map[string]answer{"": scripted(t, lastLine), "with a call": gives(calling), "which fails": fails} {
		t.Run("a last word "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				for i := range c.Input.MaxSteps {
					s.model.answers = append(s.model.answers, gives(agenttest.Call(agenttest.Use("", "shell", fmt.Sprintf(`{"cmd":"step %d"}`, i)))))
				}
				s.model.rest = last
				s.shell = func(context.Context, string) (string, error) { return "ok", nil }
				s.options.MaxTurns = c.Input.MaxSteps
				session := s.open("")
				events, end := s.prompt(t.Context(), session, "go", nil)
				if end.Reason != agent.StopMaxTurns || end.Explain() == "" {
					t.Errorf("it ended with %s: %s", end.Reason, end.Explain())
				}
				if got := len(outputs(events)); got != c.Input.MaxSteps || len(s.ran) != c.Input.MaxSteps {
					t.Errorf("%d results, %v ran", got, s.ran)
				}
				for i, req := range s.model.requests {
					if (len(req.Tools) == 0) != (i >= c.Input.MaxSteps) {
						t.Errorf("request %d has %d tools", i, len(req.Tools))
					}
				}
				messages := of[agent.Appended](events)
				final := messages[len(messages)-1].Message
				if name != "which fails" && (final.Text() != wanted || len(final.ToolUses()) > 0 || len(s.model.requests) != c.Input.MaxSteps+1) {
					t.Errorf("the answer is %+v after %d requests", final, len(s.model.requests))
				}
				s.model.rest = gives(agenttest.Say("on we go"))
				s.complete(session, "go on")
			})
		})
	}
}

func emptyReplies(t *testing.T, c sharedCase) {
	never := append(slices.Clone(c.Input.Model[:2]), slices.Repeat(c.Input.Model[1:2], 10)...)
	for name, lines := range map[string][]string{"until there is a text": c.Input.Model, "for ever": never} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				for _, line := range lines {
					s.model.answers = append(s.model.answers, scripted(t, line))
				}
				large := strings.Repeat("one line of many\n", 2000)
				if err := os.WriteFile(filepath.Join(s.dir, "a.txt"), []byte(large), 0o600); err != nil {
					t.Fatal(err)
				}
				session := s.open("")
				events, end := s.prompt(t.Context(), session, "find it", nil)
				replies := of[agent.Appended](events)[1:]
				switch name {
				case "for ever":
					if end.Reason != agent.StopError || end.Explain() == "" || len(replies) != 1 {
						t.Errorf("it ended with %s (%s), with %d replies", end.Reason, end.Explain(), len(replies))
					}
				default:
					if end.Reason != agent.StopComplete || len(replies) != 2 || replies[1].Message.Text() != "found it" {
						t.Errorf("it ended with %s, the replies are %+v", end.Reason, replies)
					}
				}
				if len(s.ran) != 1 || len(s.model.requests) != 4 {
					t.Errorf("%v ran, %d requests", s.ran, len(s.model.requests))
				}
				for _, m := range of[agent.Appended](s.kept(session)) {
					if len(m.Message.ToolUses()) == 0 && m.Message.Text() == "" {
						t.Errorf("the journal has %+v", m)
					}
				}
			})
		})
	}
}

func failuresAfterAnEffect(t *testing.T, c sharedCase) {
	needShell(t)
	synctest.Test(t, func(t *testing.T) { // the waits cost nothing
		s := newStage(t)
		for _, line := range c.Input.Model {
			s.model.answers = append(s.model.answers, scripted(t, line))
		}
		session := s.open("")
		events := s.complete(session, "do it")
		if n := len(of[agent.Retrying](events)); n != 2 || len(s.model.requests) != 4 {
			t.Errorf("%d retries, %d requests", n, len(s.model.requests))
		}
		for _, req := range s.model.requests[2:] {
			if fmt.Sprint(req.Messages) != fmt.Sprint(s.model.requests[1].Messages) {
				t.Errorf("another request is made: %+v", req.Messages)
			}
		}
		checkOnce(t, s, "live")
		s.close()
		whole, err := os.ReadFile(session.Journal)
		if err != nil {
			t.Fatal(err)
		}
		for at := bytes.Index(whole, []byte(`"type":"decided"`)); at < len(whole); at++ { // before it, nothing was done
			if whole[at] != '\n' {
				continue
			}
			if err := os.WriteFile(session.Journal, whole[:at+1], 0o600); err != nil {
				t.Fatal(err)
			}
			s.model.rest = gives(agenttest.Say("I see"))
			s.complete(s.open(session.ID), "go on")
			checkOnce(t, s, fmt.Sprintf("resumed after %d bytes", at))
			s.close()
		}
	})
}

func checkOnce(t *testing.T, s *stage, when string) {
	t.Helper()
	if text, err := os.ReadFile(filepath.Join(s.dir, "once.txt")); err != nil || string(text) != "hi\n" || len(s.ran) != 1 {
		t.Errorf("%s: once.txt is %q, %v; %v ran", when, text, err, s.ran)
	}
}

// brokenStreams: our policy is another one than that of the case, on purpose. A request
// is made again before the first byte only, and a text that was shown is never shown
// twice; so where the case has a partial text discarded, the run ends with the reason,
// and the next prompt works. Nothing of the partial text stays either way.
func brokenStreams(t *testing.T, c sharedCase) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		for _, line := range c.Input.Model {
			s.model.answers = append(s.model.answers, scripted(t, line))
		}
		session := s.open("")
		events, end := s.prompt(t.Context(), session, "hello?", nil)
		if end.Reason != agent.StopError || !strings.Contains(end.Explain(), "reset") || len(of[agent.Retrying](events)) != 1 || len(s.model.requests) != 2 {
			t.Errorf("it ended with %s (%s) after %d requests", end.Reason, end.Explain(), len(s.model.requests))
		}
		more := s.complete(session, "again")
		shown := ""
		for _, d := range of[agent.Delta](append(events, more...)) {
			shown += d.Text + "|"
		}
		if shown != "Hel|Hello|" {
			t.Errorf("what was shown is %q", shown)
		}
		s.model.rest = gives(agenttest.Say("yes"))
		s.complete(s.open(session.ID), "well?")
		if got := textsOf(s.model.last()); !slices.Equal(got, []string{"hello?", "again", "Hello", "well?"}) {
			t.Errorf("the history is %q", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.model.rest = scripted(t, c.Input.Model[0])
		session := s.open("")
		if _, end := s.prompt(t.Context(), session, "hello?", nil); end.Reason != agent.StopError || len(s.model.requests) != 3 {
			t.Errorf("it ended with %s after %d tries", end.Reason, len(s.model.requests))
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		_, end := s.prompt(ctx, session, "and now?", func(e agent.Event) {
			if _, waits := e.(agent.Retrying); waits {
				cancel()
			}
		})
		if end.Reason != agent.StopCancelled || time.Since(began) > 0 || len(s.model.requests) != 4 {
			t.Errorf("cancelled, it ended with %s after %v and %d tries", end.Reason, time.Since(began), len(s.model.requests)-3)
		}
	})
}

// saidBetweenCalls has two edits, of one question: the second is approved and waits
// while the first one lands.
func saidBetweenCalls(t *testing.T, c sharedCase) {
	words, late := c.quoted()[0], "one thing more"
	calls := c.calls()
	s := newStage(t, gives(agenttest.Call(
		agenttest.Use(calls[0].ID, "write_file", `{"path":"one.txt","content":"1\n"}`),
		agenttest.Use(calls[1].ID, "write_file", `{"path":"two.txt","content":"2\n"}`))),
		gives(agenttest.Say("both are written")), gives(agenttest.Say("that too")))
	session := s.open("")
	steer := func(text string) {
		if _, err := session.Steer(text); err != nil {
			t.Error(err)
		}
	}
	s.land = func(e agent.Edit) {
		if filepath.Base(e.Path) == "one.txt" {
			steer(words)
		}
	}
	events, end := s.prompt(t.Context(), session, "write both", func(e agent.Event) {
		if d, ok := e.(agent.Delta); ok && d.Text == "both are written" {
			steer(late)
		}
	})
	for name, want := range map[string]string{"one.txt": "1\n", "two.txt": "2\n"} {
		if text, err := os.ReadFile(filepath.Join(s.dir, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
	if got := outputs(events); len(s.asked) != 1 || len(got) != 2 || end.Reason != agent.StopComplete || len(end.Unheard) > 0 || len(s.model.requests) != 3 {
		t.Fatalf("it ended with %+v after %d requests, the results are %q", end, len(s.model.requests), got)
	}
	second, third := s.model.requests[1].Messages, s.model.requests[2].Messages
	if n := len(second); second[n-1].Text() != words || len(second[n-2].ToolResults()) != 2 {
		t.Errorf("after the calls the request is %+v", second)
	}
	if n := len(third); third[n-1].Text() != late || third[n-2].Text() != "both are written" {
		t.Errorf("after the text the request is %+v", third)
	}
}
