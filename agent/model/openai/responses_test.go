package openai_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/model/openai"
)

func TestTheContractOfModelsOverResponses(t *testing.T) {
	agenttest.TestModel(t, func(t *testing.T, script []agenttest.Reply) agent.Model {
		return connect(t, scriptedResponses(script), func(o *openai.Options) {
			o.API = openai.APIResponses
			o.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		})
	})
}

// scriptedResponses answers with the replies of a script in events of the Responses API.
func scriptedResponses(script []agenttest.Reply) http.Handler {
	var next atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := responsesStream{sse: stream(w, r)}
		reply := script[next.Add(1)-1]
		s.send("response.created", map[string]any{"response": map[string]any{"object": "response", "status": "in_progress"}})
		for _, b := range reply.Message.Blocks {
			s.block(b)
		}
		switch reply.End {
		case agenttest.EndCut:
			panic(http.ErrAbortHandler)
		case agenttest.EndHang:
			<-r.Context().Done()
			return
		}
		s.over(reply.Message)
	})
}

type responsesStream struct {
	sse
	index int
}

func (s *responsesStream) send(kind string, fields map[string]any) {
	fields["type"] = kind
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err) // maps of plain values
	}
	s.raw("event: " + kind + "\ndata: " + string(data) + "\n\n")
}

// block sends an item: added, its pieces, done.
func (s *responsesStream) block(b agent.Block) {
	item := map[string]any{}
	delta, pieces := "", ""
	switch b := b.(type) {
	case agent.Thinking:
		item["type"], item["id"], item["summary"] = "reasoning", "rs_1", []any{}
		delta, pieces = "response.reasoning_summary_text.delta", b.Text
	case agent.Text:
		item["type"], item["role"] = "message", "assistant"
		delta, pieces = "response.output_text.delta", b.Text
	case agent.ToolUse:
		item["type"], item["call_id"], item["name"], item["arguments"] = "function_call", b.ID, b.Name, ""
		delta, pieces = "response.function_call_arguments.delta", string(b.Input)+b.RawInput
	}
	s.send("response.output_item.added", map[string]any{"output_index": s.index, "item": item})
	for piece := range strings.SplitAfterSeq(pieces, " ") {
		s.send(delta, map[string]any{"output_index": s.index, "delta": piece})
	}
	switch b := b.(type) {
	case agent.Thinking:
		item["encrypted_content"] = "sealed"
		item["summary"] = []any{map[string]any{"type": "summary_text", "text": b.Text}}
	case agent.Text:
		item["content"] = []any{map[string]any{"type": "output_text", "text": b.Text}}
	case agent.ToolUse:
		item["arguments"] = pieces
	}
	s.send("response.output_item.done", map[string]any{"output_index": s.index, "item": item})
	s.index++
}

func (s *responsesStream) over(m agent.Message) {
	response := map[string]any{"object": "response", "status": "completed"}
	if m.Usage != (agent.Usage{}) {
		response["usage"] = map[string]int{"input_tokens": m.Usage.Input, "output_tokens": m.Usage.Output}
	}
	kind := "response.completed"
	if reason := map[agent.StopReason]string{agent.StopTruncated: "max_output_tokens", agent.StopRefused: "content_filter"}[m.Stop]; reason != "" {
		kind = "response.incomplete"
		response["status"], response["incomplete_details"] = "incomplete", map[string]string{"reason": reason}
	}
	s.send(kind, map[string]any{"response": response})
}

// responsesMade is what a model makes of a body of the Responses API, in whichever pieces.
func responsesMade(t *testing.T, events ...string) outcome {
	t.Helper()
	body := "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
	whole := made(t, openai.APIResponses, 200, []byte(body), nil)
	if cut := made(t, openai.APIResponses, 200, []byte(body), []byte{1, 40, 2}); cut.String() != whole.String() {
		t.Errorf("cut: %v\nwhole: %v", cut, whole)
	}
	return whole
}

const (
	reasoningDone = `{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"why"}],"encrypted_content":"sealed"}}`
	callAdded     = `{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"write_file","arguments":""}}`
	callPiece     = `{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"path\":\"a\"}"}`
	completed     = `{"type":"response.completed","response":{"object":"response","status":"completed","usage":{"input_tokens":5,"output_tokens":2}}}`
)

func TestAReplyOfTheResponsesAPI(t *testing.T) {
	o := responsesMade(t, reasoningDone, callAdded, callPiece, completed)
	if o.err != nil {
		t.Fatal(o.err)
	}
	want := []agent.Block{
		agent.Thinking{Text: "why", Source: "responses m", Opaque: `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"why"}],"encrypted_content":"sealed"}`},
		agenttest.Use("c1", "write_file", `{"path":"a"}`),
	}
	if len(o.reply.Blocks) != 2 || o.reply.Blocks[0] != want[0] || o.reply.ToolUses()[0].ID != "c1" || o.thinking != "why" || o.reply.Usage.Input != 5 {
		t.Errorf("%v", o)
	}
}

func TestAReplyOfTheResponsesAPIThatIsCut(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		kind   agent.ModelErrorKind
		stop   agent.StopReason
	}{
		"before the end":          {[]string{callAdded, callPiece}, agent.ErrorTruncated, ""},
		"after whole items":       {[]string{reasoningDone, callAdded, callPiece, `{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c1","name":"write_file","arguments":"{}"}}`}, agent.ErrorTruncated, ""},
		"at the output limit":     {[]string{callAdded, callPiece, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`}, "", agent.StopTruncated},
		"in spite of its end":     {[]string{callAdded, `{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"pa"}`, completed}, "", agent.StopTruncated},
		"by a failure":            {[]string{callAdded, callPiece, `{"type":"response.failed","response":{"error":{"code":"server_error","message":"boom"}}}`}, agent.ErrorProvider, ""},
		"by an error":             {[]string{callAdded, `{"type":"error","code":"server_error","message":"boom"}`}, agent.ErrorProvider, ""},
		"by a full context":       {[]string{`{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}`}, agent.ErrorContextOverflow, ""},
		"by something else":       {[]string{`{"choices":[]}`}, agent.ErrorNotSSE, ""},
		"by a limit on how often": {[]string{`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"slow down"}}}`}, agent.ErrorRateLimit, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := responsesMade(t, c.events...)
			switch {
			case c.kind != "":
				if o.err == nil || o.err.Kind != c.kind {
					t.Errorf("%v", o)
				}
			case o.err != nil || o.reply.Stop != c.stop:
				t.Errorf("%v", o)
			}
		})
	}
}

func TestItemsThatCarryTheirTextOnlyAtTheirEnd(t *testing.T) {
	message := `{"type":"message","content":[{"type":"output_text","text":"Hello."}]}`
	call := `{"type":"function_call","call_id":"c1","name":"read_file","arguments":"{\"path\":\"a\"}"}`
	for name, events := range map[string][]string{
		"items":          {`{"type":"response.output_item.done","output_index":0,"item":` + message + `}`, `{"type":"response.output_item.done","output_index":1,"item":` + call + `}`, completed},
		"the response":   {`{"type":"response.completed","response":{"status":"completed","output":[` + message + `,` + call + `]}}`},
		"a whole body":   {`{"object":"response","status":"completed","output":[` + message + `,` + call + `]}`},
		"pieces as well": {`{"type":"response.output_text.delta","output_index":0,"delta":"Hello."}`, `{"type":"response.output_item.done","output_index":0,"item":` + message + `}`, `{"type":"response.completed","response":{"status":"completed","output":[` + message + `,` + call + `]}}`},
	} {
		o := responsesMade(t, events...)
		if o.err != nil || o.text != "Hello." || len(o.reply.ToolUses()) != 1 || string(o.reply.ToolUses()[0].Input) != `{"path":"a"}` {
			t.Errorf("%s: %v", name, o)
		}
	}
}

func TestTheRequestOfTheResponsesAPI(t *testing.T) {
	sealed := `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}`
	req := agent.Request{
		System: "Be <kind>.", Session: "s1",
		Messages: []agent.Message{
			{Role: agent.RoleUser, Blocks: []agent.Block{agent.Text{Text: "look"}, agent.Image{MediaType: "image/png", Data: []byte("png")}}},
			{Role: agent.RoleAssistant, Blocks: []agent.Block{
				agent.Thinking{Text: "mine", Source: "responses test-model", Opaque: sealed},
				agent.Thinking{Text: "another's", Source: "responses other", Opaque: sealed},
				agent.Text{Text: "I look."}, agenttest.Use("c1", "read_file", `{"path":"a"}`),
			}},
			{Role: agent.RoleTool, Blocks: []agent.Block{agent.ToolResult{ID: "c1"}}},
		},
		Tools: []agent.Spec{{Name: "read_file", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}},
	}
	req.Messages = append(req.Messages, agent.Message{Role: agent.RoleAssistant, Blocks: []agent.Block{
		agent.Thinking{Text: "led to nothing", Source: "responses test-model", Opaque: sealed},
	}})
	want := `{"model":"test-model","stream":true,"store":false,"include":["reasoning.encrypted_content"],"max_output_tokens":99,` +
		`"reasoning":{"effort":"low","summary":"auto"},"tools":[{"type":"function","name":"read_file","description":"Reads.","parameters":{"type":"object","properties":{}},"strict":false}],"input":[` +
		`{"type":"message","role":"system","content":[{"type":"input_text","text":"Be <kind>."}]},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,cG5n"}]},` +
		sealed + `,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},` +
		`{"type":"function_call","call_id":"c1","name":"read_file","arguments":"{\"path\":\"a\"}"},` +
		`{"type":"function_call_output","call_id":"c1","output":"(no output)"}]}`
	got := captured(t, func(o *openai.Options) { o.API, o.MaxTokens, o.Effort = openai.APIResponses, 99, "low" }, req)[0]
	if got != want {
		t.Errorf("the request is\n%s\nwant\n%s", got, want)
	}
}

// TestARequestBeginsWithTheBytesOfTheOneBefore takes 12 turns of a session with all that
// a history can hold, over both APIs: but for its end, each request is the beginning of
// the next one, byte by byte.
func TestARequestBeginsWithTheBytesOfTheOneBefore(t *testing.T) {
	for _, api := range []string{openai.APIChat, openai.APIResponses} {
		req := agent.Request{System: "Be kind.", Session: "s1", Tools: caseRequest().Tools}
		var requests []agent.Request
		for turn := range 12 {
			id := "call:" + strings.Repeat("x", turn*5)
			req.Messages = append(slices.Clip(req.Messages), agent.UserText("go on"))
			requests = append(requests, req)
			req.Messages = append(slices.Clip(req.Messages),
				agent.Message{Role: agent.RoleAssistant, Blocks: []agent.Block{
					agent.Thinking{Text: "hm", Source: "reasoning_content"}, agent.Text{Text: "So."}, agenttest.Use(id, "read_file", `{"path":"ä"}`),
					agent.ToolUse{ID: id + "2", Name: "write_file", RawInput: "{", Invalid: "cut"},
				}},
				agent.Message{Role: agent.RoleTool, Blocks: []agent.Block{agent.ToolResult{ID: id, Output: "a\nb"}, agent.ToolResult{ID: id + "2", IsError: true}}})
		}
		bodies := captured(t, func(o *openai.Options) { o.API = api }, requests...)
		for i := 1; i < len(bodies); i++ {
			before := strings.TrimSuffix(bodies[i-1], "]}")
			if !strings.HasPrefix(bodies[i], before+",") {
				t.Errorf("%s, request %d does not begin with the one before", api, i+1)
			}
		}
		if len(bodies) != 12 {
			t.Errorf("%d requests", len(bodies))
		}
	}
}
