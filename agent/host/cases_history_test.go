package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/host"
	"assent/agent/journal"
)

func cancelledWhileAToolRuns(t *testing.T, c sharedCase) {
	needShell(t)
	prompts, calls := c.quoted(), c.calls()
	s := newStage(t, gives(agenttest.Call(calls...)), gives(agenttest.Say("I go on")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	s.shell = func(ctx context.Context, command string) (string, error) {
		cmd := s.command(ctx, command)
		if err := cmd.Start(); err != nil {
			ended <- nil
			return "", err
		}
		cancel()
		err := cmd.Wait()
		ended <- err
		return "", err
	}
	session := s.open("")
	events, end := s.prompt(ctx, session, prompts[0], nil)
	if end.Reason != agent.StopCancelled || len(s.asked) != 1 {
		t.Errorf("it ended with %s after %d questions", end.Reason, len(s.asked))
	}
	if exited, ok := errors.AsType[*exec.ExitError](<-ended); !ok || exited.Exited() {
		t.Error("the process came to its own end: nobody told it of the cancel")
	}
	if got := outputs(events); len(got) != 1 || !strings.Contains(got[0], "while it ran") || !strings.Contains(got[0], "unknown") {
		t.Errorf("the results are %q", got)
	}
	s.complete(session, prompts[1])
	session = s.open(session.ID)
	s.model.rest = gives(agenttest.Say("once more"))
	s.complete(session, prompts[1])
	if got := s.model.last()[2].ToolResults(); len(got) != 1 || got[0].ID != calls[0].ID || !got[0].IsError {
		t.Errorf("the results of the later request are %+v", got)
	}
}

func killedWhileAToolRuns(t *testing.T, c sharedCase) {
	s := newStage(t)
	s.model.rest = gives(agenttest.Say("I see"))
	session := s.recorded(records(c.Input.Log)...)
	told := of[agent.Answered](s.complete(session, "go on"))
	if len(told) != 1 || told[0].Result.ID != c.Input.Log[1].Calls[1].ID || !told[0].Result.IsError || !strings.Contains(told[0].Result.Output, "Interrupted") {
		t.Errorf("the client is told %+v", told)
	}
	session = s.open(session.ID)
	s.complete(session, "and again")
	inJournal := of[agent.Answered](s.kept(session))
	if len(inJournal) != 2 || inJournal[1].Result != told[0].Result {
		t.Errorf("the journal has the results %+v", inJournal)
	}
	if len(s.ran) > 0 {
		t.Errorf("%v ran again", s.ran)
	}
	if got := s.model.last()[2].ToolResults(); len(got) != 2 || got[0].Output != c.Input.Log[2].text() {
		t.Errorf("the request has the results %+v", got)
	}
}

// cutsOfAnySize counts what stays in messages, as the case does; ours are fewer, since
// the results of a reply are one message.
func cutsOfAnySize(t *testing.T, c sharedCase) {
	for keep := range len(c.Input.Messages) + 1 {
		s := newStage(t)
		s.model.rest = gives(agenttest.Say("on we go"))
		past := append(records(c.Input.Messages), agent.Compacted{Summary: "in short", Kept: keep})
		newest := c.Input.Messages[0].text()
		s.complete(s.recorded(past...), "next") // the model checks the request
		if got := s.model.requests[0]; !says(got.Messages, newest) || got.System != agent.SystemPrompt(agent.Facts{Folders: []string{s.dir}, OS: runtime.GOOS}) {
			t.Errorf("%d kept: the request is %+v", keep, got)
		}
		calls, want := 0, []int{0, 2, 3}[min(keep, 2)] // of the newest replies
		for _, m := range s.model.requests[0].Messages {
			calls += len(m.ToolUses())
		}
		if calls != want {
			t.Errorf("%d kept: the request has %d calls, want %d", keep, calls, want)
		}
	}
}

// damagedJournals does to one of our journals what the case does to that of another tool.
func damagedJournals(t *testing.T, c sharedCase) {
	reply := "b 漢" // the character that half_utf8_hex breaks off in
	for name, variant := range c.Input.Variants {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, gives(agenttest.Say(reply)))
			s.model.rest = gives(agenttest.Say("fine"))
			session := s.open("")
			s.complete(session, "a")
			s.close()
			left, texts := damage(t, name, variant, session.Journal)
			if err := os.WriteFile(session.Journal, left, 0o600); err != nil {
				t.Fatal(err)
			}
			warnings := 0 // a whole record without a line end is whole, and of an empty file nothing can be said
			if slices.Contains([]string{"half_json", "half_utf8_hex", "blank_after_half"}, name) {
				warnings = 1
			}
			for _, prompt := range []string{"next", "again"} {
				session = s.open(session.ID)
				if len(session.Warnings) != warnings {
					t.Errorf("before %s the warnings are %q", prompt, session.Warnings)
				}
				s.complete(session, prompt)
				texts = append(texts, prompt)
				if got := textsOf(s.model.last()); !slices.Equal(got, texts) {
					t.Errorf("the history is %q, want %q", got, texts)
				}
				texts = append(texts, "fine")
			}
			now, err := os.ReadFile(session.Journal)
			if err != nil || !bytes.HasPrefix(now, left) {
				t.Errorf("what was written before is changed (%v)", err)
			}
		})
	}
}

func textsOf(messages []agent.Message) (texts []string) {
	for _, m := range messages {
		texts = append(texts, m.Text())
	}
	return texts
}

// damage is what a crash leaves of a journal, and the texts that are whole in it.
func damage(t *testing.T, name, variant, path string) (left []byte, texts []string) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kind := bytes.Index(whole, []byte(`"type":"assistant"`))
	text := bytes.Index(whole, []byte("漢"))
	if kind < 0 || text < kind {
		t.Fatalf("where is the reply in %s", whole)
	}
	end := text + bytes.IndexByte(whole[text:], '\n')
	switch name {
	case "half_json":
		return whole[:kind+len(`"type":"assi`)], []string{"a"}
	case "half_utf8_hex":
		left = whole[:text+2]
		if half := halfOf(t, variant); !bytes.HasSuffix(left, half[len(half)-2:]) {
			t.Fatalf("the case breaks off in another character: %x", half)
		}
		return left, []string{"a"}
	case "no_newline_but_complete":
		return whole[:end], []string{"a", "b 漢"}
	case "blank_after_half":
		return append(slices.Clone(whole[:kind+len(`"type":"assi`)]), "\n\n"...), []string{"a"}
	case "empty":
		return nil, nil
	}
	t.Fatalf("a variant without a test")
	return nil, nil
}

func twoProcessesOneSession(t *testing.T, _ sharedCase) {
	s := newStage(t)
	s.model.rest = gives(agenttest.Say("the parent's answer"))
	session := s.open("")
	s.complete(session, "from the parent")
	s.close()
	cmd := startChild(t, childJob{Dir: s.dir, Journals: s.options.JournalDir, ID: session.ID, Prompt: "from the child"})

	links := t.TempDir()
	byFile := filepath.Join(links, "sessions", filepath.Base(filepath.Dir(session.Journal)))
	if err := os.MkdirAll(byFile, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		filepath.Join(links, "journals"):                      s.options.JournalDir,
		filepath.Join(links, "work"):                          s.dir,
		filepath.Join(byFile, filepath.Base(session.Journal)): session.Journal,
	} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, way := range []struct{ journals, work string }{
		{s.options.JournalDir, s.dir}, {filepath.Join(links, "journals"), s.dir}, {s.options.JournalDir, filepath.Join(links, "work")}, {filepath.Join(links, "sessions"), s.dir},
	} {
		options := s.options
		options.JournalDir = way.journals
		h := host.New(options)
		_, err := h.Resume(t.Context(), session.ID, setup(way.work, host.ModeAsk))
		locked, ok := errors.AsType[*journal.LockedError](err)
		if !ok || locked.PID != cmd.Process.Pid || !strings.Contains(err.Error(), strconv.Itoa(locked.PID)) {
			t.Errorf("%+v: the error is %v, and not that process %d has the session", way, err, cmd.Process.Pid)
		}
		closed(t, h)
	}
	kill(cmd)
	session = s.open(session.ID)
	s.complete(session, "from the parent again")
	want := []string{"from the parent", "the parent's answer", "from the child", "the child's answer", "from the parent again"}
	if got := textsOf(s.model.last()); !slices.Equal(got, want) {
		t.Errorf("the history is %q", got)
	}
	checkJournal(t, session.Journal)
}

// checkJournal holds a journal that nothing was cut off from against its own rules.
func checkJournal(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	entries, warnings, err := journal.Read(f)
	if problems := journal.Verify(entries); err != nil || len(warnings)+len(problems) > 0 {
		t.Errorf("the journal: %v %v %v", problems, warnings, err)
	}
}

// oneRefusedOneRead: a journal has a line for each result, so that none is lost with
// the process; what is appended at once is the message of both in the history.
func oneRefusedOneRead(t *testing.T, c sharedCase) {
	calls := c.calls(`{"path":"a.txt","content":"mine"}`, `{"path":"a.txt"}`)
	s := newStage(t, gives(agenttest.Call(calls...)), gives(agenttest.Say("as you like")))
	s.review = func(agent.Proposal) agent.Decision { return agent.Decision{By: agent.ByPerson} }
	session := s.open("")
	s.complete(session, "write it")
	s.model.rest = gives(agenttest.Say("yes"))
	session = s.open(session.ID)
	s.complete(session, "sure?")
	for _, request := range s.model.requests[1:] {
		results := request.Messages[2].ToolResults()
		if len(results) != 2 || results[0].ID != calls[0].ID || !results[0].IsError || !strings.Contains(results[0].Output, "refused by the person") {
			t.Fatalf("the results are %+v", results)
		}
		if results[1].ID != calls[1].ID || results[1].Output != "one\n" {
			t.Errorf("what was read is %+v", results[1])
		}
	}
	if kept := of[agent.Answered](s.kept(session)); len(kept) != 2 || kept[0].Use.ID != calls[0].ID {
		t.Errorf("the journal has the results %+v", kept)
	}
	checkJournal(t, session.Journal)
}

func saidWhileAToolRuns(t *testing.T, c sharedCase) {
	words := c.quoted()[0]
	s := newStage(t, gives(agenttest.Call(c.calls(`{"cmd":"build"}`)...)), gives(agenttest.Say("so be it")))
	session := s.open("")
	s.shell = func(ctx context.Context, _ string) (string, error) {
		if _, err := session.Steer(words); err != nil {
			t.Error(err)
		}
		return "built", ctx.Err()
	}
	s.complete(session, "build it")
	checkOrder := func(what string, got []agent.Message) {
		t.Helper()
		if len(got) < 4 || got[1].ToolUses()[0].ID != "c1" || len(got[2].ToolResults()) != 1 || got[2].ToolResults()[0].Output != "built" || got[3].Role != agent.RoleUser || got[3].Text() != words {
			t.Errorf("the %s is %+v", what, got)
		}
	}
	checkOrder("request", s.model.last())
	var order []string
	for _, r := range s.kept(session) {
		switch r := r.(type) {
		case agent.Appended:
			order = append(order, string(r.Message.Role))
		case agent.Answered:
			order = append(order, "tool")
		}
	}
	if want := []string{"user", "assistant", "tool", "user", "assistant"}; !slices.Equal(order, want) {
		t.Errorf("the journal has %v", order)
	}
	session = s.open(session.ID)
	s.model.rest = gives(agenttest.Say("done"))
	s.complete(session, "and?")
	checkOrder("resumed request", s.model.last())
}

func emptyMessages(t *testing.T, c sharedCase) {
	w := newWire(t)
	s := newStage(t)
	s.options.Model = w.model(t)
	s.complete(s.recorded(records(c.Input.Messages)...), "next")
	var people []string
	for i, m := range w.sent(t, 0) {
		if m.text() == "" && len(m.Calls) == 0 {
			t.Errorf("message %d is empty: %+v", i, m)
		}
		switch m.Role {
		case "user":
			people = append(people, m.text())
		case "tool":
			if m.text() != "(no output)" {
				t.Errorf("the silent command says %q", m.text())
			}
		}
	}
	// Merged or not, as the server likes it: all is said.
	if got, want := strings.Fields(strings.Join(people, " ")), []string{c.Input.Messages[0].text(), c.Input.Messages[2].text(), "next"}; !slices.Equal(got, want) {
		t.Errorf("the person says %q", got)
	}

	s = newStage(t, gives(agenttest.Say("fine")))
	s.complete(s.recorded(records(c.Input.Messages)...), "next") // the model checks the request, before it is on the wire

	s = newStage(t, gives(agenttest.Call(agenttest.Use("c1", "shell", c.Input.Messages[3].Calls[0].Function.Arguments))), gives(agenttest.Say("made")))
	s.shell = func(context.Context, string) (string, error) { return "", nil }
	if got := outputs(s.complete(s.open(""), "make it")); !slices.Equal(got, []string{"(no output)"}) {
		t.Errorf("a live command without output says %q", got)
	}
}

func brokenArguments(t *testing.T, c sharedCase) {
	call := c.Input.Messages[1]
	raw := call.Calls[0].Function.Arguments
	w := newWire(t, call)
	s := newStage(t)
	s.options.Model = w.model(t)
	session := s.open("")
	results := of[agent.Answered](s.complete(session, c.Input.Messages[0].text()))
	if len(results) != 1 || !results[0].Result.IsError || len(s.ran) > 0 {
		t.Errorf("the results are %+v, %v ran", results, s.ran)
	}
	s.options.Model = w.model(t)
	session = s.open(session.ID)
	s.complete(session, "again")
	for n := range w.bodies[1:] {
		sent := w.sent(t, n+1)
		var object map[string]string
		arguments := sent[2].Calls[0].Function.Arguments
		if err := json.Unmarshal([]byte(arguments), &object); err != nil || !strings.Contains(fmt.Sprint(object), raw) {
			t.Errorf("request %d sends the arguments %s (%v)", n+1, arguments, err)
		}
		if sent[3].CallID != sent[2].Calls[0].ID || sent[3].text() == "" {
			t.Errorf("request %d answers it with %+v", n+1, sent[3])
		}
	}
	if got := of[agent.Appended](s.kept(session))[1].Message.ToolUses(); len(got) != 1 || got[0].RawInput != raw {
		t.Errorf("the journal has the calls %+v", got)
	}
}

func reasoningAfterResume(t *testing.T, c sharedCase) {
	past := c.Input.Log
	w := newWire(t, past[1], past[3])
	s := newStage(t)
	s.options.Model, s.listed = w.model(t), past[2].text()
	session := s.open("")
	s.complete(session, past[0].text())
	then, err := os.ReadFile(session.Journal)
	if err != nil {
		t.Fatal(err)
	}
	s.complete(session, "next")
	live := w.bodies[len(w.bodies)-1]

	s.close()
	if err := os.WriteFile(session.Journal, then, 0o600); err != nil {
		t.Fatal(err)
	}
	s.options.Model = w.model(t)
	s.complete(s.open(session.ID), "next")
	if resumed := w.bodies[len(w.bodies)-1]; !bytes.Equal(live, resumed) {
		t.Errorf("the resumed session sends\n%s\nthe live one sent\n%s", resumed, live)
	}
	sent := w.sent(t, len(w.bodies)-1)
	if sent[2].Reasoning != past[1].Reasoning || sent[4].Reasoning != past[3].Reasoning {
		t.Errorf("the request is without its reasoning: %+v", sent)
	}
	if !bytes.Contains(then, []byte(past[1].Reasoning)) || !bytes.Contains(then, []byte(past[3].Reasoning)) {
		t.Error("the journal is without the reasoning")
	}
}
