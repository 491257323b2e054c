package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"assent/agent/agenttest"
	"assent/editors/fake"
	"assent/rpc"
)

// shownWork is what of a progress came, without its texts.
func (d *desk) shownWork(token string) string {
	var kinds []string
	for _, p := range d.Progress() {
		if p.Token == token {
			kinds = append(kinds, p.Kind)
		} else {
			kinds = append(kinds, p.Kind+" of "+p.Token)
		}
	}
	return strings.Join(kinds, " ")
}

// ownToken is the token that the server made, as JSON text.
func (d *desk) ownToken() string {
	d.t.Helper()
	var request struct {
		Params struct {
			Token json.RawMessage `json:"token"`
		} `json:"params"`
	}
	if err := json.Unmarshal(d.awaitRequest("window/workDoneProgress/create").Raw, &request); err != nil {
		d.t.Fatal(err)
	}
	return string(request.Params.Token)
}

func (d *desk) awaitBegin() fake.Progress {
	d.t.Helper()
	d.awaitRequest("$/progress")
	return d.Progress()[0]
}

func TestWorkIsShownWithTheTokenOfThePrompt(t *testing.T) {
	for name, token := range map[string]any{"a string": "mine", "a number": 7, "an empty string": "", "zero": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskWith(t, fake.Options{}, map[string]string{"a": "one\n"}, calls(reads("c1", "a")))
			d.say(fake.Prompt{Text: "look\nat it", WorkDoneToken: token})
			raw, err := json.Marshal(token)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "the progress", d.shownWork(string(raw)), "begin report report end")
			all := d.Progress()
			if !all[0].Cancellable || all[0].Title != "assent: look…" || all[1].Message != "read_file a" || all[3].Message != "done" {
				t.Errorf("it says %+v", all)
			}
			for _, e := range d.Log() {
				if e.Method == "window/workDoneProgress/create" {
					t.Error("a token of ours was made too")
				}
			}
		})
	}
}

func TestWorkIsShownWithATokenOfOurs(t *testing.T) {
	for name, given := range map[string]json.RawMessage{"none given": nil, "null given": json.RawMessage("null")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			free := make(chan struct{})
			d := deskWith(t, fake.Options{}, nil, held(free, says("done")))
			prompt := fake.Prompt{}
			if given != nil {
				prompt.WorkDoneToken = given
			}
			pending := d.begin(prompt, 1)
			token := d.ownToken()
			d.awaitBegin()
			close(free)
			d.ended(pending)
			same(t, "the progress", d.shownWork(token), "begin end")
		})
	}
}

func TestATokenThatIsNoneIsLeftOut(t *testing.T) {
	for _, token := range []string{"true", "{}", "[1]", "1.5"} {
		d := deskWith(t, fake.Options{}, nil)
		if r := d.say(fake.Prompt{WorkDoneToken: json.RawMessage(token)}); r.StopReason != "complete" {
			t.Errorf("with %s the prompt ended with %+v", token, r)
		}
		same(t, "the progress with "+token, d.shownWork(""), "")
	}
}

func TestAClientThatShowsNoWorkIsNotAskedTo(t *testing.T) {
	d := deskWith(t, fake.Options{NoProgress: true}, nil)
	d.say(fake.Prompt{})
	for _, e := range d.Log() {
		if strings.Contains(e.Method, "rogress") {
			t.Errorf("%s came", e.Method)
		}
	}
}

func TestTheButtonOfTheProgressCancelsItsTurnAlone(t *testing.T) {
	for name, given := range map[string]any{"of the prompt": "mine", "of ours": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskWith(t, fake.Options{}, nil, held(nil, nil), says("other"))
			pending := d.begin(fake.Prompt{WorkDoneToken: given}, 1)
			token := `"mine"`
			if given == nil {
				token = d.ownToken()
			}
			d.awaitBegin()
			for _, other := range []string{`"other"`, `7`, `null`, `""`} {
				d.tell("window/workDoneProgress/cancel", json.RawMessage(`{"token":`+other+`}`))
			}
			d.tell("window/workDoneProgress/cancel", json.RawMessage(`{}`))
			if s := d.status(); !s.Sessions[0].Running {
				t.Fatal("another token cancelled it")
			}
			d.say(fake.Prompt{Text: "another session", WorkDoneToken: "second"})
			if s := d.status(); len(s.Sessions) != 2 || s.Sessions[0].Running == s.Sessions[1].Running {
				t.Fatalf("the sessions are %+v", s.Sessions)
			}
			d.tell("window/workDoneProgress/cancel", json.RawMessage(`{"token":`+token+`}`))
			if r := d.ended(pending); r.StopReason != "cancelled" {
				t.Errorf("it ended with %+v", r)
			}
			all := d.Progress()
			if last := all[len(all)-1]; last.Kind != "end" || last.Token != token {
				t.Errorf("the last progress is %+v", last)
			}
		})
	}
}

// rawClient is a client that answers only what a test answers.
type rawClient struct {
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Scanner
}

func connectRaw(t *testing.T, model *reader) *rawClient {
	t.Helper()
	d := &desk{t: t, model: model}
	dir := t.TempDir()
	fromClient, in := io.Pipe()
	fromServer, out := io.Pipe()
	conn := rpc.New(fromClient, out, rpc.Options{})
	server := New(conn, Options{Version: "test", Dir: dir, Open: d.engine(t.TempDir())})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = conn.Serve(context.Background(), server)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		_ = out.Close()
	}()
	c := &rawClient{t: t, in: in, lines: bufio.NewScanner(fromServer)}
	t.Cleanup(func() {
		_ = in.Close()
		for c.lines.Scan() { // to its end
		}
		<-served
	})
	return c
}

func (c *rawClient) say(line string) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		c.t.Fatal(err)
	}
}

// until reads to the line that has a text.
func (c *rawClient) until(text string) (before string) {
	c.t.Helper()
	for c.lines.Scan() {
		if strings.Contains(c.lines.Text(), text) {
			return before
		}
		before += c.lines.Text() + "\n"
	}
	c.t.Fatalf("%s did not come after\n%s", text, before)
	return ""
}

// promptWithoutProgress is a client whose prompt is over while it has not answered whether
// it shows a progress; before is what came until then.
func promptWithoutProgress(t *testing.T) (c *rawClient, before string) {
	t.Helper()
	free := make(chan struct{})
	c = connectRaw(t, &reader{replies: []reply{held(free, says("hello"))}})
	c.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"window":{"workDoneProgress":true}}}}`)
	c.until(`"id":1`)
	c.say(`{"jsonrpc":"2.0","id":2,"method":"assent/prompt","params":{"text":"go"}}`)
	c.until("window/workDoneProgress/create")
	close(free)
	return c, c.until(`"id":2`)
}

func TestAClientThatNeverAnswersTheProgressDoesNotHoldThePrompt(t *testing.T) {
	_, before := promptWithoutProgress(t)
	if strings.Contains(before, "$/progress") {
		t.Errorf("there was a progress that the client had not agreed to: %s", before)
	}
}

// Helix shows a progress from the moment at which it agrees, until its end.
func TestAProgressThatTheClientAgreesToLateEnds(t *testing.T) {
	c, before := promptWithoutProgress(t)
	if strings.Contains(before, "$/cancelRequest") {
		t.Errorf("taken back, which Helix does not heed: %s", before)
	}
	c.say(`{"jsonrpc":"2.0","id":"s1","result":null}`)
	c.until(`"kind":"begin"`)
	c.until(`"kind":"end"`)
}

// The variant of case E07 in which nobody ever answers.
func TestACancelFreesAReviewThatIsNeverAnswered(t *testing.T) {
	c := connectRaw(t, &reader{replies: []reply{calls(agenttest.Use("c1", "write_file", map[string]any{"path": "a", "content": "x\n"})), says("done")}})
	c.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"experimental":{"assent":{"version":1,"review":true}}}}}`)
	c.until(`"id":1`)
	c.say(`{"jsonrpc":"2.0","id":2,"method":"assent/prompt","params":{"text":"go"}}`)
	c.until("assent/review")
	c.say(`{"jsonrpc":"2.0","id":3,"method":"assent/status"}`)
	c.until(`"id":3`)
	c.say(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}`)
	before := c.until(`"id":2`)
	has(t, before, "$/cancelRequest", `"stopReason":"cancelled"`)
}

func TestASessionIsSetBetweenTurns(t *testing.T) {
	d := deskWith(t, fake.Options{}, nil, held(nil, nil))
	id := d.session()
	var now SessionSetResult
	set := func(p SessionSetParams) int {
		p.SessionID = id
		return codeOf(d.Call(d.ctx, methodSessionSet, p, &now))
	}
	if code := set(SessionSetParams{}); code != 0 || now != (SessionSetResult{"m1", "ask"}) {
		t.Errorf("nothing set: %+v, %d", now, code)
	}
	if code := set(SessionSetParams{Mode: "plan"}); code != 0 || now != (SessionSetResult{"m1", "plan"}) {
		t.Errorf("the mode set: %+v, %d", now, code)
	}
	if code := set(SessionSetParams{Mode: "yolo"}); code != fake.CodeInvalidParams {
		t.Errorf("an unknown mode: code %d", code)
	}
	if code := codeOf(d.Call(d.ctx, methodSessionSet, SessionSetParams{SessionID: "nobody"}, nil)); code != fake.CodeInvalidParams {
		t.Errorf("an unknown session: code %d", code)
	}
	pending := d.begin(fake.Prompt{SessionID: id, Model: "m2"}, 1)
	if code := set(SessionSetParams{Mode: "accept_edits"}); code != codeFailed {
		t.Errorf("while it runs: code %d", code)
	}
	if s := d.status().Sessions[0]; s.Model != "m2" || s.Mode != "plan" {
		t.Errorf("it runs with %+v", s)
	}
	d.cancel(id)
	d.ended(pending)
	if code := set(SessionSetParams{Model: "m1", Mode: "accept_edits"}); code != 0 || now != (SessionSetResult{"m1", "accept_edits"}) {
		t.Errorf("after the turn: %+v, %d", now, code)
	}
}

func TestASettingRightBehindAPromptIsRefused(t *testing.T) {
	for range 20 {
		free := make(chan struct{})
		d := deskWith(t, fake.Options{}, nil, held(free, says("done")))
		id := d.session()
		pending := d.start(fake.Prompt{SessionID: id, Text: "go"})
		if code := codeOf(d.Call(d.ctx, methodSessionSet, SessionSetParams{id, "m2", "accept_edits"}, nil)); code != codeFailed {
			t.Fatalf("the code is %d", code)
		}
		close(free)
		d.ended(pending)
		if s := d.status().Sessions[0]; s.Model != "m1" || s.Mode != "ask" {
			t.Fatalf("the session is %+v", s)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
