package replay

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"assent/agent"
)

// FuzzParse: no line makes the parser or a stream panic, and what a line is
// taken for keeps the contract of models.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"text":"a","thinking":"b","toolUses":[{"id":"c1","name":"n","input":{"a":[1]}}],"stop":"truncated","usage":{"inputTokens":1,"outputTokens":2}}`,
		`{"toolUses":[{"id":"c1","name":"n","inputRaw":"{broken","invalid":"why"}]}`,
		`{"text":"x","error":{"kind":"rate_limit","status":429,"retryAfterMs":10,"message":"slow"}}`,
		`{"text":"日本語","chunks":7,"expect":""}`, `{"cut":true}`, `{"type":"user","text":1}`,
		`{"type":"assistant","text":{"base64":"/w=="},"more":1}`, `null`, `{}`, `{"a":`, `[]`, `{"chunks":9223372036854775807,"text":"ab"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, isReply, err := parse(line)
		if err != nil && isReply {
			t.Fatal("a bad line is a reply")
		}
		if !isReply {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if r.hang {
			cancel()
		}
		r.expect = ""
		var text strings.Builder
		for c, err := range func(yield func(agent.Chunk, error) bool) { r.stream(ctx, "fuzz", agent.Request{}, yield) } {
			text.WriteString(c.Text)
			if c.Reply == nil || err != nil {
				continue
			}
			if text.String() != c.Reply.Text() {
				t.Errorf("the chunks say %q, the reply %q", text.String(), c.Reply.Text())
			}
			for _, u := range c.Reply.ToolUses() {
				if u.Invalid == "" && (!json.Valid(u.Input) || len(u.Input) == 0) {
					t.Errorf("the input %q is not JSON", u.Input)
				}
			}
		}
	})
}
