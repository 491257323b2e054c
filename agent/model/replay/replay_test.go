package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/model/replay"
)

func TestTheContractOfModels(t *testing.T) {
	agenttest.TestModel(t, func(t *testing.T, script []agenttest.Reply) agent.Model {
		path := filepath.Join(t.TempDir(), "replies.jsonl")
		if err := os.WriteFile(path, fileOf(t, script), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := replay.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}

// fileOf writes a script as a replay file.
func fileOf(t *testing.T, script []agenttest.Reply) []byte {
	var file []byte
	for _, r := range script {
		line := map[string]any{"text": r.Message.Text(), "chunks": 3}
		switch r.End {
		case agenttest.EndCut:
			line["cut"] = true
		case agenttest.EndHang:
			line["hang"] = true
		default:
			line["stop"] = r.Message.Stop
			line["usage"] = map[string]int{"inputTokens": r.Message.Usage.Input, "outputTokens": r.Message.Usage.Output}
			var uses []map[string]any
			for _, b := range r.Message.Blocks {
				switch b := b.(type) {
				case agent.Thinking:
					line["thinking"] = b.Text
				case agent.ToolUse:
					use := map[string]any{"id": b.ID, "name": b.Name}
					if use["input"] = b.Input; b.Invalid != "" {
						delete(use, "input")
						use["inputRaw"], use["invalid"] = b.RawInput, b.Invalid
					}
					uses = append(uses, use)
				}
			}
			line["toolUses"] = uses
		}
		encoded, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		file = append(append(file, encoded...), '\n')
	}
	return file
}

func read(t *testing.T, lines ...string) *replay.Model {
	t.Helper()
	m, err := replay.Read(strings.NewReader(strings.Join(lines, "\n")), "test.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// run gives the chunks of one stream, and its error.
func run(m *replay.Model, req agent.Request) (texts []string, reply *agent.Message, err error) {
	for c, e := range m.Stream(context.Background(), req) {
		if e != nil {
			return texts, reply, e
		}
		if c.Text != "" {
			texts = append(texts, c.Text)
		}
		reply = c.Reply
	}
	return texts, reply, nil
}

func TestAFileIsRefusedWithItsLineWhen(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"it is not JSON":                      {`{"text":`, "unexpected end"},
		"it is another kind of JSON":          {`["text"]`, "not a JSON object"},
		"it is null":                          {`null`, "not a JSON object"},
		"a field is unknown":                  {`{"txt":"a"}`, `unknown field "txt"`},
		"a field of a call is unknown":        {`{"toolUses":[{"id":"1","name":"a","args":{}}]}`, `unknown field "args"`},
		"two values share it":                 {`{"text":"a"} {"text":"b"}`, "after top-level value"},
		"its stop is unknown":                 {`{"stop":"tired"}`, `unknown stop "tired"`},
		"its kind of error is unknown":        {`{"error":{"kind":"bad_mood"}}`, `unknown kind of error "bad_mood"`},
		"it has both an error and a cut":      {`{"error":{"kind":"auth"},"cut":true}`, "one of error, cut and hang"},
		"it is cut but has calls":             {`{"cut":true,"toolUses":[{"id":"1","name":"a"}]}`, "one of error, cut and hang"},
		"a call has no id":                    {`{"toolUses":[{"name":"a"}]}`, "tool use 1: it has no id"},
		"a call has no name":                  {`{"toolUses":[{"id":"1"}]}`, "it has no name"},
		"a call's input is a list":            {`{"toolUses":[{"id":"1","name":"a","input":[]}]}`, "not an object"},
		"a call's input is null":              {`{"toolUses":[{"id":"1","name":"a","input":null}]}`, "not an object"},
		"a raw input does not say why":        {`{"toolUses":[{"id":"1","name":"a","inputRaw":"{"}]}`, "invalid has to say why"},
		"an invalid call has an input":        {`{"toolUses":[{"id":"1","name":"a","input":{},"invalid":"no"}]}`, "belong into inputRaw"},
		"its chunks are negative":             {`{"chunks":-1}`, "-1 chunks"},
		"its base64 is none":                  {`{"text":{"base64":"%"}}`, "base64"},
		"a block is of a later version":       {`{"type":"assistant","blocks":[{"type":"smell"}]}`, "smell"},
		"a journal's reply has a broken call": {`{"type":"assistant","toolUses":[{}]}`, "it has no id"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := replay.Read(strings.NewReader(`{"text":"fine"}`+"\n\n"+c.line+"\n"), "test.jsonl")
			if err == nil || !strings.HasPrefix(err.Error(), "test.jsonl:3: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want test.jsonl:3: …%s…", err, c.want)
			}
		})
	}
}

func TestAMissingFileIsNamed(t *testing.T) {
	_, err := replay.Open(filepath.Join(t.TempDir(), "none.jsonl"))
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "none.jsonl") {
		t.Errorf("the error is %v", err)
	}
}

func TestAJournalReplays(t *testing.T) {
	m := read(t,
		`{"v":1,"seq":1,"time":"2026-01-01T00:00:00.000Z","type":"session","id":"s","tools":["read_file"]}`,
		`{"v":1,"seq":2,"type":"user","text":"read it"}`,
		`{"v":1,"seq":3,"type":"request","messages":1,"attempt":1}`,
		`{"v":1,"seq":4,"type":"assistant","text":"I look.","toolUses":[{"id":"c1","name":"read_file","input":{"path":"a"}},{"id":"c2","name":"x","inputText":"{\n}"}],"stop":"complete","usage":{"inputTokens":7},"ms":12}`,
		`{"v":1,"seq":5,"type":"tool_result","toolUseId":"c1","output":"a"}`,
		`{"v":1,"seq":6,"type":"assistant","text":{"base64":"/w=="},"later":true}`,
		`{"v":1,"seq":7,"type":"response","attempt":1,"finish":"stop"}`,
		`{"v":1,"seq":8,"type":"assistant","blocks":[{"type":"thinking","text":"hm","source":"reasoning","opaque":"[]"},{"type":"text","text":"So."},`+
			`{"type":"tool_use","id":"c3","name":"x","input":{},"opaque":"{}"}],"finish":"stop","stop":"complete"}`,
	)
	_, reply, err := run(m, agenttest.ModelRequest())
	if err != nil {
		t.Fatal(err)
	}
	want := agent.Message{
		Role: agent.RoleAssistant,
		Blocks: []agent.Block{
			agent.Text{Text: "I look."},
			agenttest.Use("c1", "read_file", `{"path":"a"}`),
			agenttest.Use("c2", "x", "{\n}"),
		},
		Stop:  agent.StopComplete,
		Usage: agent.Usage{Input: 7},
	}
	if !reflect.DeepEqual(*reply, want) {
		t.Errorf("the reply is %+v, want %+v", *reply, want)
	}
	if _, reply, err = run(m, agenttest.ModelRequest()); err != nil || reply.Text() != "\xff" {
		t.Errorf("the second reply is %+v, the error %v", reply, err)
	}
	_, reply, err = run(m, agenttest.ModelRequest())
	if err != nil || reply.Text() != "So." || reply.Finish != "stop" || len(reply.ToolUses()) != 1 || reply.Blocks[0].(agent.Thinking).Text != "hm" {
		t.Errorf("the third reply is %+v, the error %v", reply, err)
	}
}

func TestAnErrorComesAfterTheTextBeforeIt(t *testing.T) {
	m := read(t, `{"text":"I was about to","error":{"kind":"rate_limit","status":429,"retryAfterMs":10,"message":"slow down"}}`)
	texts, reply, err := run(m, agenttest.ModelRequest())
	want := &agent.ModelError{Kind: agent.ErrorRateLimit, Status: 429, RetryAfter: 10 * time.Millisecond, Message: "slow down"}
	if !reflect.DeepEqual(err, error(want)) || reply != nil || strings.Join(texts, "") != "I was about to" {
		t.Errorf("texts %q, reply %v, error %#v", texts, reply, err)
	}
}

func TestATextComesInPiecesBetweenCharacters(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want []string
	}{
		"in one piece by default":              {`{"text":"abc"}`, []string{"abc"}},
		"in as many as are asked for":          {`{"text":"abcdef","chunks":3}`, []string{"ab", "cd", "ef"}},
		"in no more than there are characters": {`{"text":"ab","chunks":9}`, []string{"a", "b"}},
		"never inside of a character":          {`{"text":"日本","chunks":3}`, []string{"日", "本"}},
		"in none if there is no text":          {`{"chunks":3}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if texts, _, err := run(read(t, c.line), agenttest.ModelRequest()); err != nil || !reflect.DeepEqual(texts, c.want) {
				t.Errorf("the pieces are %q, want %q; error %v", texts, c.want, err)
			}
		})
	}
}

func TestTheLastMessageIsComparedWithWhatIsExpected(t *testing.T) {
	req := agent.Request{Messages: []agent.Message{
		agenttest.Call(agenttest.Use("c1", "read_file", `{}`)),
		{Role: agent.RoleTool, Blocks: []agent.Block{agent.ToolResult{ID: "c1", Output: "a.txt: lines 1-1 of 1"}}},
	}}
	m := read(t, `{"expect":"lines 1-1","text":"fine"}`, `{"expect":"lines 2-2","text":"fine"}`, `{"expect":"x"}`)
	if texts, _, err := run(m, req); err != nil || len(texts) != 1 {
		t.Errorf("texts %q, error %v", texts, err)
	}
	texts, reply, err := run(m, req)
	want := `test.jsonl:2: expected "lines 2-2" in the last message, which is "a.txt: lines 1-1 of 1"`
	if err == nil || err.Error() != want || reply != nil || texts != nil {
		t.Errorf("texts %q, reply %v, error %v", texts, reply, err)
	}
	if _, _, err := run(m, agent.Request{}); err == nil {
		t.Error("a request without messages had what was expected")
	}
}

func TestAfterTheLastReply(t *testing.T) {
	m := read(t, `{"text":"one"}`)
	for range 2 {
		_, _, _ = run(m, agenttest.ModelRequest())
	}
	t.Run("a request with tools fails and says so", func(t *testing.T) {
		_, _, err := run(m, agenttest.ModelRequest())
		var known *agent.ModelError
		if !errors.As(err, &known) || known.Retryable() || known.Message != "test.jsonl has no more replies: it has 1, and this is request 3" {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("a request without tools gets a text", func(t *testing.T) {
		_, reply, err := run(m, agent.Request{})
		if err != nil || reply.Text() != "(end of replay)" || reply.Stop != agent.StopComplete {
			t.Errorf("reply %v, error %v", reply, err)
		}
	})
}
