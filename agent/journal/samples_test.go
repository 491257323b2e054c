package journal

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"assent/agent"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// clock goes on by a second at each look.
func clock() func() time.Time {
	at := noon
	return func() time.Time {
		at = at.Add(time.Second)
		return at
	}
}

func user(text string) agent.Appended { return agent.Appended{Message: agent.UserText(text)} }

func reply1(blocks ...agent.Block) agent.Appended {
	return agent.Appended{Message: agent.Message{Role: agent.RoleAssistant, Blocks: blocks, Stop: agent.StopComplete}}
}

func call(id, name, input string) agent.ToolUse {
	return agent.ToolUse{ID: id, Name: name, Input: json.RawMessage(input)}
}

func answer(u agent.ToolUse, output string) agent.Answered {
	return agent.Answered{Use: u, Result: agent.ToolResult{ID: u.ID, Output: output}}
}

var (
	base     = agent.HashText("one\ntwo\n")
	target   = agent.HashText("ONE\ntwo\n")
	hunkOne  = agent.NewHunk(0, "one\n", "ONE\n")
	callRead = call("c1", "read_file", `{"path": "notes.txt"}`)
	callEdit = call("c2", "edit_file", `{"path": "notes.txt", "edits": [{"old_string":"one","new_string":"ONE"}]}`)
	edit     = agent.Edit{Path: "/w/notes.txt", Kind: agent.EditText, Base: base, Hunks: []agent.Hunk{hunkOne}}
	info     = agent.Info{Path: "/w/notes.txt", Name: "notes.txt", Exists: true, Size: 8}
)

// wholeSession is a run with each type of record, as a session writes it.
func wholeSession() []agent.Record {
	return []agent.Record{
		agent.Started{ID: "s1", Version: "0.1", Dir: "/w", Model: "m", Provider: "demo", ToolNames: []string{"read_file", "edit_file"}},
		user("make it LOUD, \"please\"\nüber alles"),
		agent.Requested{Messages: 1, Bytes: 30, Tokens: 500, Attempt: 1, Model: "m", Provider: "demo"},
		reply1(agent.Thinking{Text: "look first"}, agent.Text{Text: "Reading."}, callRead),
		answer(callRead, "one\ntwo\n\xff\xfe"),
		agent.Requested{Messages: 3, Bytes: 80, Attempt: 1},
		reply1(callEdit),
		agent.Proposed{Proposal: agent.Proposal{ID: "p1", Revision: 1, Title: "Edit notes.txt: +1 −1", Parts: []agent.Part{
			{Use: callEdit, Effect: edit, Info: info},
		}}},
		agent.Decided{ProposalID: "p1", Revision: 1, Decision: agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{
			{Hunks: map[string]agent.HunkDecision{hunkOne.ID: {Accept: true}}},
		}}},
		agent.Landed{ProposalID: "p1", ToolUseID: "c2", Edit: edit, Landing: agent.Landing{
			Status: agent.LandComplete, Where: agent.SourceBuffer, Before: base, After: target, Landed: []string{hunkOne.ID},
		}},
		answer(callEdit, "notes.txt edited: 1 of 1 hunks landed"),
		agent.Requested{Messages: 5, Bytes: 120, Attempt: 1},
		agent.Responded{Attempt: 1, FirstByte: 20 * time.Millisecond, Elapsed: 90 * time.Millisecond, Finish: "stop", Usage: agent.Usage{Input: 480, Output: 9}},
		reply1(agent.Text{Text: "Done."}),
		agent.Done{Reason: agent.StopComplete, Turns: 3, Usage: agent.Usage{Input: 100, Output: 20}},
	}
}

// encodeLine is the line of a record, without its end.
func encodeLine(t testing.TB, seq int64, rec agent.Record, secrets ...string) string {
	t.Helper()
	l := line{secrets: newRedactor(secrets)}
	if err := l.record(seq, noon, rec); err != nil {
		t.Fatalf("encoding %#v: %v", rec, err)
	}
	return string(l.b)
}

// journalOf is the text of a journal.
func journalOf(t testing.TB, records ...agent.Record) string {
	t.Helper()
	var b strings.Builder
	for i, rec := range records {
		b.WriteString(encodeLine(t, int64(i+1), rec) + "\n")
	}
	return b.String()
}

// entriesOf reads a journal that must be without fault.
func entriesOf(t testing.TB, text string) []Entry {
	t.Helper()
	entries, warnings, err := Read(strings.NewReader(text))
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Read: %v, warnings %v", err, warnings)
	}
	return entries
}

func records(entries []Entry) []agent.Record {
	var list []agent.Record
	for _, e := range entries {
		list = append(list, e.Record)
	}
	return list
}

const head = `{"v":1,"seq":1,"time":"2026-12-01T12:00:00.000Z","type":`

// formatCases fix the format: line and record belong together.
func formatCases() []struct {
	name string
	line string
	rec  agent.Record
} {
	text := "x"
	empty := ""
	return []struct {
		name string
		line string
		rec  agent.Record
	}{
		{"a session begins", head + `"session","id":"s1","version":"0.1","cwd":"/w","model":"m","provider":"demo","tools":["a","b"]}`,
			agent.Started{ID: "s1", Version: "0.1", Dir: "/w", Model: "m", Provider: "demo", ToolNames: []string{"a", "b"}}},
		{"a user's text has its characters escaped as JSON wants", head + `"user","text":"a\"b\\c\nd\te\r\u0001ü 😀"}`,
			user("a\"b\\c\nd\te\r\x01ü 😀")},
		{"a user's text that is not UTF-8 is in base64", head + `"user","text":{"base64":"Yf9i"}}`, user("a\xffb")},
		{"an empty user message has nothing", head + `"user"}`, agent.Appended{Message: agent.Message{Role: agent.RoleUser}}},
		{"an empty text block is kept", head + `"user","blocks":[{"type":"text"}]}`, user("")},
		{"two texts are blocks", head + `"user","blocks":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`,
			agent.Appended{Message: agent.Message{Role: agent.RoleUser, Blocks: []agent.Block{agent.Text{Text: "a"}, agent.Text{Text: "b"}}}}},
		{"an image comes with a prompt", head + `"user","blocks":[{"type":"text","text":"what is it?"},{"type":"image","mediaType":"image/png","data":"iVBORw0KGgo="}]}`,
			agent.Appended{Message: agent.Message{Role: agent.RoleUser, Blocks: []agent.Block{
				agent.Text{Text: "what is it?"}, agent.Image{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}}}}},
		{"a request", head + `"request","messages":3,"bytes":80,"tokens":25,"attempt":2,"model":"m","provider":"ollama"}`,
			agent.Requested{Messages: 3, Bytes: 80, Tokens: 25, Attempt: 2, Model: "m", Provider: "ollama"}},
		{"a request of an older journal", head + `"request","messages":3,"bytes":80,"attempt":2}`, agent.Requested{Messages: 3, Bytes: 80, Attempt: 2}},
		{"a request for a summary", head + `"request","messages":1,"bytes":80,"tokens":25,"attempt":1,"model":"m","provider":"p","compacting":true}`,
			agent.Requested{Messages: 1, Bytes: 80, Tokens: 25, Attempt: 1, Model: "m", Provider: "p", Compacting: true}},
		{"a history is put in short", head + `"compacted","summary":"so far","said":["first","then"],"kept":2,"clip":400,"clipNewest":800,"tokensBefore":900,"tokensAfter":100}`,
			agent.Compacted{Summary: "so far", Said: []string{"first", "then"}, Kept: 2, Clip: 400, ClipNewest: 800, Before: 900, After: 100}},
		{"only results are cut", head + `"compacted","kept":7,"clip":400,"tokensBefore":900,"tokensAfter":100}`,
			agent.Compacted{Kept: 7, Clip: 400, Before: 900, After: 100}},
		{"what the session itself says", head + `"user","blocks":[{"type":"note","text":"go on"}]}`,
			agent.Appended{Message: agent.Message{Role: agent.RoleUser, Blocks: []agent.Block{agent.Note{Text: "go on"}}}}},
		{"a run that left words unheard", head + `"done","reason":"cancelled","turns":1,"unheard":["use tabs"]}`,
			agent.Done{Reason: agent.StopCancelled, Turns: 1, Unheard: []string{"use tabs"}}},
		{"a response with a reply", head + `"response","attempt":1,"firstByteMs":310,"ms":2400,"finish":"end_turn","usage":{"inputTokens":5,"outputTokens":7}}`,
			agent.Responded{Attempt: 1, FirstByte: 310 * time.Millisecond, Elapsed: 2400 * time.Millisecond, Finish: "end_turn", Usage: agent.Usage{Input: 5, Output: 7}}},
		{"a response without one", head + `"response","attempt":2,"ms":40,"error":"too many","errorKind":"rate_limit","status":429,"retryAfterMs":2000}`,
			agent.Responded{Attempt: 2, Elapsed: 40 * time.Millisecond,
				Err: &agent.ModelError{Kind: agent.ErrorRateLimit, Status: 429, Message: "too many", RetryAfter: 2 * time.Second}}},
		{"a response that the person cancelled", head + `"response","attempt":1,"ms":40,"error":"context canceled"}`,
			agent.Responded{Attempt: 1, Elapsed: 40 * time.Millisecond, Err: errors.New("context canceled")}},
		{"a reply keeps the server's own word for its end", head + `"assistant","text":"x","stop":"complete","finish":"STOP"}`,
			agent.Appended{Message: agent.Message{Role: agent.RoleAssistant, Blocks: []agent.Block{agent.Text{Text: "x"}}, Stop: agent.StopComplete, Finish: "STOP"}}},
		{"reasoning that goes back to the server keeps all of it, and its order", head + `"assistant","blocks":[{"type":"thinking","text":"a","source":"reasoning","opaque":"sig=="},{"type":"text","text":"x"},{"type":"thinking","source":"encrypted","opaque":"e1"}]}`,
			agent.Appended{Message: agent.Message{Role: agent.RoleAssistant, Blocks: []agent.Block{
				agent.Thinking{Text: "a", Source: "reasoning", Opaque: "sig=="}, agent.Text{Text: "x"}, agent.Thinking{Source: "encrypted", Opaque: "e1"}}}}},
		{"two thinkings are blocks", head + `"assistant","blocks":[{"type":"thinking","text":"a"},{"type":"thinking","text":"b"}]}`,
			agent.Appended{Message: agent.Message{Role: agent.RoleAssistant, Blocks: []agent.Block{agent.Thinking{Text: "a"}, agent.Thinking{Text: "b"}}}}},
		{"a call keeps what the server wants back with it", head + `"assistant","thinking":"t","toolUses":[{"id":"c1","name":"f","input":{},"opaque":"sig"}]}`,
			agent.Appended{Message: agent.Message{Role: agent.RoleAssistant, Blocks: []agent.Block{
				agent.Thinking{Text: "t"}, agent.ToolUse{ID: "c1", Name: "f", Input: json.RawMessage("{}"), Opaque: "sig"}}}}},
		{"a reply keeps thinking, stop, usage and the bytes of its arguments",
			head + `"assistant","thinking":"t","text":"x","toolUses":[{"id":"c1","name":"read_file","input":{"path": "a" , "n":1.0}}],"stop":"complete","usage":{"inputTokens":5,"outputTokens":7},"ms":1500}`,
			agent.Appended{Elapsed: 1500 * time.Millisecond, Message: agent.Message{
				Role: agent.RoleAssistant, Stop: agent.StopComplete, Usage: agent.Usage{Input: 5, Output: 7},
				Blocks: []agent.Block{agent.Thinking{Text: "t"}, agent.Text{Text: "x"}, call("c1", "read_file", `{"path": "a" , "n":1.0}`)},
			}}},
		{"arguments over several lines are a text", head + `"assistant","toolUses":[{"id":"c1","name":"f","inputText":"{\n}"}]}`,
			agent.Appended{Message: agent.Message{Role: agent.RoleAssistant, Blocks: []agent.Block{call("c1", "f", "{\n}")}}}},
		{"arguments that are no object are raw", head + `"assistant","toolUses":[{"id":"c1","name":"f","invalid":"cut off","inputRaw":"{\"a"}]}`,
			agent.Appended{Message: agent.Message{Role: agent.RoleAssistant, Blocks: []agent.Block{
				agent.ToolUse{ID: "c1", Name: "f", Invalid: "cut off", RawInput: `{"a`}}}}},
		{"a call before the text is kept there", head + `"assistant","blocks":[{"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"thinking","text":"t"},{"type":"tool_result","id":"c1","output":"o","isError":true}]}`,
			agent.Appended{Message: agent.Message{Role: agent.RoleAssistant, Blocks: []agent.Block{
				call("c1", "f", "{}"), agent.Thinking{Text: "t"}, agent.ToolResult{ID: "c1", Output: "o", IsError: true}}}}},
		{"a proposal has all kinds of effects", head + `"proposed","proposalId":"p1","revision":2,"title":"T","parts":[` +
			`{"toolUseId":"c1","name":"f","effect":{"kind":"edit","path":"/w/a","base":"` + base.String() + `","hunks":[{"id":"h","at":4,"old":"o","new":"n","by":"person"}]},"info":{"path":"/w/a","name":"a","exists":true,"size":8,"protected":true}},` +
			`{"toolUseId":"c2","name":"f","effect":{"kind":"delete","path":"/w/b","base":"` + base.String() + `","oldText":"one\ntwo\n"}},` +
			`{"toolUseId":"c3","name":"f","effect":{"kind":"rename","path":"/w/a","to":"/w/b"},"toInfo":{"path":"/w/b","dir":true,"outside":true,"secret":true}},` +
			`{"effect":{"kind":"exec","dir":"/w","command":"make"}},` +
			`{"effect":{"kind":"remote","server":"s","tool":"t","input":{"a":1}}},` +
			`{"effect":{"kind":"outside_read","path":"/etc/x"}},` +
			`{"effect":{"kind":"secret_read","path":"/w/.env"}},{}]}`,
			agent.Proposed{Proposal: agent.Proposal{ID: "p1", Revision: 2, Title: "T", Parts: []agent.Part{
				{Use: agent.ToolUse{ID: "c1", Name: "f"}, Effect: agent.Edit{Path: "/w/a", Kind: agent.EditText, Base: base, Hunks: []agent.Hunk{{ID: "h", At: 4, Old: "o", New: "n", By: agent.ByPerson}}},
					Info: agent.Info{Path: "/w/a", Name: "a", Exists: true, Size: 8, Protected: true}},
				{Use: agent.ToolUse{ID: "c2", Name: "f"}, Effect: agent.Edit{Path: "/w/b", Kind: agent.EditDelete, Base: base, Old: "one\ntwo\n"}},
				{Use: agent.ToolUse{ID: "c3", Name: "f"}, Effect: agent.Edit{Path: "/w/a", Kind: agent.EditRename, To: "/w/b"}, To: agent.Info{Path: "/w/b", Dir: true, Outside: true, Secret: true}},
				{Effect: agent.Exec{Dir: "/w", Command: "make"}},
				{Effect: agent.Remote{Server: "s", Tool: "t", Input: json.RawMessage(`{"a":1}`)}},
				{Effect: agent.OutsideRead{Path: "/etc/x"}},
				{Effect: agent.SecretRead{Path: "/w/.env"}},
				{},
			}}}},
		{"a proposal whose texts moved", head + `"proposed","proposalId":"p1","revision":3,"parts":[` +
			`{"toolUseId":"c1","name":"f","effect":{"kind":"edit","path":"/w/a","base":"` + base.String() + `","hunks":[{"id":"h","at":4,"old":"zwei\n","new":"2\n","conflict":true}]},"moot":[{"id":"m","at":1,"new":"n"}]},` +
			`{"toolUseId":"c2","name":"f","effect":{"kind":"delete","path":"/w/b","base":"` + base.String() + `","oldText":"one\ntwo\n"},"conflict":true}]}`,
			agent.Proposed{Proposal: agent.Proposal{ID: "p1", Revision: 3, Parts: []agent.Part{
				{Use: agent.ToolUse{ID: "c1", Name: "f"}, Effect: agent.Edit{Path: "/w/a", Kind: agent.EditText, Base: base, Hunks: []agent.Hunk{{ID: "h", At: 4, Old: "zwei\n", New: "2\n", Conflict: true}}}, Moot: []agent.Hunk{{ID: "m", At: 1, New: "n"}}},
				{Use: agent.ToolUse{ID: "c2", Name: "f"}, Effect: agent.Edit{Path: "/w/b", Kind: agent.EditDelete, Base: base, Old: "one\ntwo\n"}, Conflict: true},
			}}}},
		{"a decision to be confirmed", head + `"decided","proposalId":"p1","revision":1,"by":"person","parts":[{"accept":true,"confirm":true}]}`,
			agent.Decided{ProposalID: "p1", Revision: 1, Decision: agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{{Accept: true, Confirm: true}}}}},
		{"a decision per hunk", head + `"decided","proposalId":"p1","revision":2,"by":"person","comment":"ok","parts":[` +
			`{"accept":true,"comment":"c","hunks":{"a":{"accept":true,"text":"x"},"b":{"accept":true,"text":""},"c":{"comment":"no"}}},` +
			`{"hunks":{},"hunks64":{"/w==":{"accept":true}}},{"rewrite":[]},{"accept":true,"rewrite":[{"id":"h","at":1,"new":"n"}]},{}]}`,
			agent.Decided{ProposalID: "p1", Revision: 2, Decision: agent.Decision{By: agent.ByPerson, Comment: "ok", Parts: []agent.PartDecision{
				{Accept: true, Comment: "c", Hunks: map[string]agent.HunkDecision{"a": {Accept: true, Text: &text}, "b": {Accept: true, Text: &empty}, "c": {Comment: "no"}}},
				{Hunks: map[string]agent.HunkDecision{"\xff": {Accept: true}}},
				{Rewrite: []agent.Hunk{}},
				{Accept: true, Rewrite: []agent.Hunk{{ID: "h", At: 1, New: "n"}}},
				{},
			}}}},
		{"a landing", head + `"landed","proposalId":"p1","toolUseId":"c1","edit":{"kind":"create","path":"/w/n"},"status":"partial","where":"disk","before":"` + base.String() + `","after":"` + target.String() + `","landed":["a"],"conflicts":["b"],"leftOut":["c"],"foreign":"f","note":"n",` +
			`"problems":{"new":[{"path":"/w/n","name":"n","line":1,"column":2,"endLine":3,"endColumn":4,"severity":1,"message":"m","source":"s"}],"more":5,"gone":6}}`,
			agent.Landed{ProposalID: "p1", ToolUseID: "c1", Edit: agent.Edit{Path: "/w/n", Kind: agent.EditCreate}, Landing: agent.Landing{
				Status: agent.LandPartial, Where: agent.SourceDisk, Before: base, After: target, Landed: []string{"a"}, Conflicts: []string{"b"}, LeftOut: []string{"c"}, Foreign: "f", Note: "n",
				Problems: agent.Problems{More: 5, Gone: 6, New: []agent.Problem{{
					Path: "/w/n", Name: "n", Span: agent.Span{Line: 1, Column: 2, EndLine: 3, EndColumn: 4}, Severity: agent.SeverityError, Message: "m", Source: "s"}}}}}},
		{"a result", head + `"tool_result","toolUseId":"c1","name":"f","input":{},"output":"o","isError":true,"ms":3}`,
			agent.Answered{Use: call("c1", "f", "{}"), Result: agent.ToolResult{ID: "c1", Output: "o", IsError: true}, Elapsed: 3 * time.Millisecond}},
		{"a run ends", head + `"done","reason":"max_turns","turns":9,"denied":2,"usage":{"inputTokens":1}}`,
			agent.Done{Reason: agent.StopMaxTurns, Turns: 9, Denied: 2, Usage: agent.Usage{Input: 1}}},
		{"a run ends with an error", head + `"done","reason":"error","error":"boom"}`, agent.Done{Reason: agent.StopError, Err: errors.New("boom")}},
		{"a run ends with a model's error", head + `"done","reason":"error","error":"too many","errorKind":"rate_limit","status":429,"retryAfterMs":2000}`,
			agent.Done{Reason: agent.StopError, Err: &agent.ModelError{Kind: agent.ErrorRateLimit, Status: 429, Message: "too many", RetryAfter: 2 * time.Second}}},
	}
}
