package lsp

import (
	"context"
	"strings"
	"testing"

	"assent/editors/fake"
	"assent/rpc"

	"go.lsp.dev/protocol"
)

// withoutPlugin is an editor that has only what LSP has.
func withoutPlugin() fake.Options { return fake.Options{NoReview: true, NoApprove: true} }

// offers are the code actions for a range, from line and character to line and
// character.
func (d *desk) offers(uri string, at [4]uint32, context object) []action {
	d.t.Helper()
	params := object{
		"textDocument": object{"uri": uri}, "context": context,
		"range": protocol.Range{Start: protocol.Position{Line: at[0], Character: at[1]}, End: protocol.Position{Line: at[2], Character: at[3]}},
	}
	var actions []action
	if err := d.Call(d.ctx, protocol.MethodTextDocumentCodeAction, params, &actions); err != nil {
		d.t.Fatal(err)
	}
	return actions
}

type object = map[string]any

// runs has the server run a command, as an editor does with a code action.
func (d *desk) runs(command string, arguments ...any) error {
	d.t.Helper()
	return d.Call(d.ctx, protocol.MethodWorkspaceExecuteCommand, object{"command": command, "arguments": arguments}, nil)
}

// heard waits until the person has read a message.
func (d *desk) heard(text string) {
	d.t.Helper()
	if _, err := d.AwaitEntry(d.ctx, func(e fake.Entry) bool {
		return e.FromServer && e.Method == protocol.MethodWindowShowMessage && strings.Contains(string(e.Raw), text)
	}); err != nil {
		d.t.Fatalf("no message with %q came: %v", text, err)
	}
}

func TestACodeActionDoesWhatTheLinesSay(t *testing.T) {
	t.Parallel()
	d := deskWith(t, withoutPlugin(), map[string]string{"a": "one\n// say 🙂 two\nthree\n"}, calls(edits("c1", "a", "three", "3")))
	uri := d.opened("a")
	offered := d.offers(uri, [4]uint32{1, 4, 1, 5}, object{"diagnostics": []any{}, "triggerKind": 1})
	if len(offered) != 1 || offered[0].Command != commandPrompt {
		t.Fatalf("offered is %+v", offered)
	}
	if err := d.runs(offered[0].Command, offered[0].Arguments...); err != nil {
		t.Fatal(err)
	}
	d.heard("assent: done")
	text, _, _ := d.Text(uri)
	same(t, "the text", text, "one\n// say 🙂 two\n3\n")
	first := d.model.asked(1).Messages[0].Text()
	has(t, first, "// say 🙂 two\n\n", "The person shows you a, lines 1 to 4:\n```\none\n// say 🙂 two\nthree\n```")
	if !strings.HasPrefix(first, "// say") {
		t.Errorf("the prompt is %q", first)
	}
	if progress := d.awaitRequest(protocol.MethodWindowWorkDoneProgressCreate); progress.ID == "" {
		t.Error("there is no progress")
	}
}

func TestWhatACodeActionIsOfferedFor(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 1000)
	d := deskWith(t, withoutPlugin(), map[string]string{"a": "one\ntwo\n\nlast", ".env": "KEY=1\n", "long": long})
	uri, secret, big := d.opened("a"), d.opened(".env"), d.opened("long")
	for _, c := range []struct {
		name, uri string
		at        [4]uint32
		context   object
		text      string // "" for none
	}{
		{"the line of the cursor", uri, [4]uint32{0, 1, 0, 1}, object{}, "one\n"},
		{"a part of a line", uri, [4]uint32{1, 0, 1, 2}, object{}, "two\n"},
		{"two lines", uri, [4]uint32{0, 2, 1, 1}, object{}, "one\ntwo\n"},
		{"a line with its end", uri, [4]uint32{0, 0, 1, 0}, object{}, "one\n"},
		{"the last line", uri, [4]uint32{3, 0, 3, 4}, object{}, "last"},
		{"beyond the end", uri, [4]uint32{3, 0, 9, 0}, object{}, "last"},
		{"an empty line", uri, [4]uint32{2, 0, 2, 0}, object{}, ""},
		{"no such line", uri, [4]uint32{9, 0, 9, 0}, object{}, ""},
		{"a range the wrong way round", uri, [4]uint32{3, 0, 0, 0}, object{}, ""},
		{"the largest line", uri, [4]uint32{1<<32 - 1, 0, 1<<32 - 1, 0}, object{}, ""},
		{"a kind of action", uri, [4]uint32{0, 0, 0, 0}, object{"only": []string{"source.fixAll"}}, ""},
		{"an editor that asks by itself", uri, [4]uint32{0, 0, 0, 0}, object{"triggerKind": 2}, ""},
		{"a secret", secret, [4]uint32{0, 0, 0, 0}, object{}, ""},
		{"a document that is not open", d.uri("b"), [4]uint32{0, 0, 0, 0}, object{}, ""},
		{"one line of a long text", big, [4]uint32{500, 0, 500, 0}, object{}, "line\n"},
	} {
		offered := d.offers(c.uri, c.at, c.context)
		if c.text == "" || len(offered) != 1 {
			if len(offered) > 0 || c.text != "" {
				t.Errorf("%s: offered is %+v", c.name, offered)
			}
			continue
		}
		prompt := offered[0].Arguments[0].(object)
		same(t, c.name, prompt["text"].(string), c.text)
		if c.uri == big {
			shown := prompt["context"].([]any)[0].(object)["range"].(object)
			if from, to := shown["start"].(object)["line"], shown["end"].(object)["line"]; from != 300.0 || to != 701.0 {
				t.Errorf("lines %v to %v go along", from, to)
			}
		}
	}
}

// Some editors never answer a question, and have no other way to be rid of it.
func TestACommandStopsWhatACommandBegan(t *testing.T) {
	t.Parallel()
	o := withoutPlugin()
	o.Message = func(ctx context.Context, _ fake.MessageRequest) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	d := deskWith(t, o, map[string]string{"a": "one\n"}, calls(edits("c1", "a", "one", "1")))
	uri := d.opened("a")
	if err := d.runs(commandPrompt, "change", "it"); err != nil {
		t.Fatal(err)
	}
	d.awaitRequest(protocol.MethodWindowShowMessageRequest)
	if code := codeOf(d.runs(commandPrompt, "another")); code != codeFailed {
		t.Errorf("a second one is answered with %d", code)
	}
	offered := d.offers(uri, [4]uint32{}, object{})
	if len(offered) != 1 || offered[0].Command != commandCancel || offered[0].Arguments == nil { // ALE needs a list
		t.Fatalf("offered is %+v", offered)
	}
	if err := d.runs(commandCancel); err != nil {
		t.Fatal(err)
	}
	d.heard("Cancelled.")
	text, _, _ := d.Text(uri)
	same(t, "the text", text, "one\n")
	if err := d.runs(commandPrompt, object{"text": "what now?"}); err != nil {
		t.Fatal(err)
	}
	d.heard("assent: done")
	messages := d.model.asked(2).Messages
	same(t, "the prompt", d.model.asked(1).Messages[0].Text(), "change it")
	same(t, "the next prompt of the session", messages[len(messages)-1].Text(), "what now?")
	if len(messages) < 3 {
		t.Errorf("the session did not go on: %+v", messages)
	}
}

func TestACommandThatDoesNotFit(t *testing.T) {
	t.Parallel()
	d := deskWith(t, withoutPlugin(), nil)
	for name, err := range map[string]error{
		"another command":     d.runs("assent.format"),
		"no argument":         d.runs(commandPrompt),
		"an empty text":       d.runs(commandPrompt, " "),
		"two arguments":       d.runs(commandPrompt, object{"text": "a"}, "b"),
		"a number":            d.runs(commandPrompt, 7),
		"null":                d.runs(commandPrompt, nil),
		"an unknown session":  d.runs(commandPrompt, object{"text": "a", "sessionId": "x"}),
		"a mode that is none": d.runs(commandPrompt, object{"text": "a", "mode": "yes"}),
	} {
		if code := codeOf(err); code != rpc.CodeInvalidParams {
			t.Errorf("%s is answered with %v", name, err)
		}
	}
	if err := d.runs(commandCancel); err != nil {
		t.Errorf("a cancel of nothing: %v", err)
	}
}

func TestATurnOfACommandThatFailsIsTold(t *testing.T) {
	t.Parallel()
	d := deskWith(t, withoutPlugin(), nil)
	if err := d.runs(commandPrompt, object{"text": "a", "context": []object{{"uri": d.uri("missing")}}}); err != nil {
		t.Fatal(err)
	}
	d.heard("missing can't be used")
	if err := d.runs(commandPrompt, "again"); err != nil {
		t.Fatal(err)
	}
	d.heard("assent: done")
}

// The answer to shutdown says that all is on record, also what no request waits for.
func TestShutdownEndsWhatACommandBegan(t *testing.T) {
	t.Parallel()
	d := deskWith(t, withoutPlugin(), nil, held(nil, says("never")))
	if err := d.runs(commandPrompt, "think"); err != nil {
		t.Fatal(err)
	}
	d.asked(1)
	if err := d.Call(d.ctx, protocol.MethodShutdown, nil, nil); err != nil {
		t.Fatal(err)
	}
	done := eventsOf[DoneEvent](d, "done")
	if len(done) != 1 || done[0].StopReason != "cancelled" {
		t.Errorf("its end is %+v", done)
	}
}

func TestAPluginHasItsOwnCommands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options fake.Options
		offered string
	}{
		"a plugin":        {fake.Options{}, ""},
		"without plugin":  {withoutPlugin(), `{"commands":["assent.prompt","assent.cancel"]}`},
		"no edits either": {fake.Options{NoReview: true, NoApplyEdit: true}, `{"commands":["assent.prompt","assent.cancel"]}`},
	} {
		d := deskUninitialized(t, c.options, nil)
		result, err := d.Initialize(d.ctx, d.dir)
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, string(result.Capabilities.ExecuteCommandProvider), c.offered)
		if (result.Capabilities.CodeActionProvider != nil) != (c.offered != "") {
			t.Errorf("%s: the code actions are %s", name, result.Capabilities.CodeActionProvider)
		}
	}
}
