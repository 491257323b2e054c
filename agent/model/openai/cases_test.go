package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/model/openai"
)

// serverCase is one of testdata/cases: what a server sends, and what has to come of it.
type serverCase struct {
	name string
	body []byte

	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Expect  struct {
		Text        string         `json:"text"`
		TextCompare string         `json:"text_compare"`
		Reasoning   string         `json:"reasoning"`
		ToolCalls   []expectedCall `json:"tool_calls"`
		Finish      *string        `json:"finish"`
		Error       *expectedError `json:"error"`
		Usage       *struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		} `json:"usage"`
	} `json:"expect"`
	Transport struct {
		SplitAt   []int  `json:"split_at"`
		Close     string `json:"close"`
		CommentMS int    `json:"keepalive_comment_every_ms"`
	} `json:"transport"`
}

type expectedCall struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
	Raw       string `json:"arguments_raw"`
	Invalid   bool   `json:"invalid"`
}

type expectedError struct {
	Kind       string `json:"kind"`
	Retryable  bool   `json:"retryable"`
	Contains   string `json:"message_contains"`
	Param      string `json:"param"`
	RetryAfter int64  `json:"retry_after_ms"`
}

func readCases(t testing.TB) []serverCase {
	t.Helper()
	files, err := filepath.Glob("testdata/cases/*.json")
	if err != nil || len(files) < 28 {
		t.Fatalf("there are %d cases (%v)", len(files), err)
	}
	var cases []serverCase
	for _, file := range files {
		var c serverCase
		meta, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(meta, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		c.name = strings.TrimSuffix(filepath.Base(file), ".json")
		if c.body, err = os.ReadFile(strings.TrimSuffix(file, ".json") + ".sse"); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

// handler sends the case as its transport says, or cut at other places.
func (c serverCase) handler(splits []int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range c.Headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(c.Status)
		flush := http.NewResponseController(w).Flush
		from := 0
		for _, to := range append(slices.Clone(splits), len(c.body)) {
			_, _ = w.Write(c.body[from:to])
			_ = flush()
			from = to
		}
		if c.Transport.Close != "hang" {
			return
		}
		comments := time.NewTicker(time.Duration(max(c.Transport.CommentMS, 1)) * time.Millisecond)
		defer comments.Stop()
		for {
			select {
			case <-r.Context().Done():
				return
			case <-comments.C:
				if c.Transport.CommentMS > 0 {
					_, _ = w.Write([]byte(": ping\n\n"))
					_ = flush()
				}
			}
		}
	})
}

// outcome is what a model made of a stream.
type outcome struct {
	text, thinking string
	reply          *agent.Message
	err            *agent.ModelError
}

func ask(t *testing.T, m *openai.Model, req agent.Request) outcome {
	t.Helper()
	var o outcome
	for c, err := range m.Stream(t.Context(), req) {
		if err != nil {
			failed, ok := err.(*agent.ModelError)
			if !ok {
				t.Fatalf("the error is a %T: %v", err, err)
			}
			o.err = failed
			break
		}
		if c.Recast {
			o.thinking, o.text = o.thinking+o.text, ""
		}
		o.text += c.Text
		o.thinking += c.Thinking
		if c.Reply != nil {
			o.reply = c.Reply
		}
	}
	if o.reply != nil && strings.TrimSpace(o.text) == "" && len(o.reply.ToolUses()) == 0 { // as the session sees it
		o.err, o.reply = &agent.ModelError{Kind: agent.ErrorEmpty}, nil
	}
	return o
}

// caseRequest offers the tools that the cases call.
func caseRequest() agent.Request {
	req := agent.Request{Messages: []agent.Message{agent.UserText("go")}}
	for _, name := range []string{"read_file", "write_file", "list_dir", "list_open_files"} {
		req.Tools = append(req.Tools, agent.Spec{Name: name, Schema: json.RawMessage(`{"type":"object","properties":{}}`), Tier: agent.TierRead})
	}
	return req
}

func TestCasesOfServers(t *testing.T) {
	for _, c := range readCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for how, splits := range map[string][]int{"as it says": c.Transport.SplitAt, "byte by byte": everyByte(len(c.body))} {
				m := connect(t, c.handler(splits), func(o *openai.Options) { o.Idle = 500 * time.Millisecond })
				for _, fault := range c.faults(ask(t, m, caseRequest())) {
					t.Errorf("%s: %s", how, fault)
				}
			}
		})
	}
}

// everyByte cuts a body everywhere, or a long one at some places.
func everyByte(n int) []int {
	var splits []int
	for i := 1; i < n; i += 1 + n/5000 {
		splits = append(splits, i)
	}
	return splits
}

// faults is what differs from what the case expects.
func (c serverCase) faults(o outcome) (faults []string) {
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	want := c.Expect
	if text := o.text; text != want.Text && (want.TextCompare != "trim" || strings.TrimSpace(text) != want.Text) {
		say("the text is %q, want %q", text, want.Text)
	}
	if o.thinking != want.Reasoning {
		say("the reasoning is %q, want %q", o.thinking, want.Reasoning)
	}
	var uses []agent.ToolUse
	if o.reply != nil {
		uses = o.reply.ToolUses()
	}
	if want.Error != nil && want.Error.Kind == string(agent.ErrorCallAsText) { // answered by an error first, see README.md of the cases
		if len(uses) != 1 || uses[0].Invalid != agent.WrittenAsText {
			say("the call is not told to be text: %+v, %v", uses, o.err)
		}
		return faults
	}
	if len(uses) != len(want.ToolCalls) {
		say("there are %d calls, want %d", len(uses), len(want.ToolCalls))
		return faults
	}
	for i, w := range want.ToolCalls {
		if fault := w.fault(uses[i]); fault != "" {
			say("call %d: %s", i+1, fault)
		}
	}
	return append(faults, c.endFaults(o)...)
}

func (c serverCase) endFaults(o outcome) (faults []string) {
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if w := c.Expect.Error; w != nil {
		switch {
		case o.err == nil:
			say("there is no error, want %s", w.Kind)
		case string(o.err.Kind) != w.Kind || o.err.Retryable() != w.Retryable:
			say("the error is %s (retryable: %v): %v, want %+v", o.err.Kind, o.err.Retryable(), o.err, *w)
		case !strings.Contains(o.err.Message, w.Contains) || !strings.Contains(o.err.Message, w.Param):
			say("the error says %q, want %+v", o.err.Message, *w)
		case o.err.RetryAfter != time.Duration(w.RetryAfter)*time.Millisecond:
			say("the wait is %v, want %d ms", o.err.RetryAfter, w.RetryAfter)
		}
		return faults
	}
	if o.err != nil {
		return []string{fmt.Sprintf("it failed: %s: %v", o.err.Kind, o.err)}
	}
	stops := map[string]agent.StopReason{"stop": agent.StopComplete, "tool_calls": agent.StopComplete, "length": agent.StopTruncated, "content_filter": agent.StopRefused}
	if c.Expect.Finish == nil || o.reply.Stop != stops[*c.Expect.Finish] {
		say("it stopped as %s", o.reply.Stop)
	}
	if u := c.Expect.Usage; u != nil && (o.reply.Usage != agent.Usage{Input: u.Prompt, Output: u.Completion}) {
		say("the usage is %+v", o.reply.Usage)
	}
	return faults
}

func (w expectedCall) fault(u agent.ToolUse) string {
	switch {
	case u.Name != w.Name:
		return fmt.Sprintf("it is of %q, want %q", u.Name, w.Name)
	case w.Invalid != (u.Invalid != ""):
		return fmt.Sprintf("it is invalid: %q", u.Invalid)
	case w.Invalid && (u.RawInput != w.Raw || u.Input != nil):
		return fmt.Sprintf("its text is %q, want %q", u.RawInput, w.Raw)
	case w.Invalid:
		return ""
	}
	var got any
	if err := json.Unmarshal(u.Input, &got); err != nil {
		return err.Error()
	}
	if want := grown(w.Arguments); !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("its arguments are %.200v, want %.200v", got, want)
	}
	return ""
}

// grown writes {"repeat":"x","count":n} out.
func grown(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if s, ok := m["repeat"].(string); ok {
		return strings.Repeat(s, int(m["count"].(float64)))
	}
	for key, value := range m {
		m[key] = grown(value)
	}
	return m
}

// TestCasesInASession runs each case as the first answer of a session: only whole
// calls run, once each, and the next request is one that a strict server takes.
func TestCasesInASession(t *testing.T) {
	for _, c := range readCases(t) {
		if c.Transport.Close == "hang" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			log := &sessionLog{first: c.handler(nil)}
			m := connect(t, log)
			session, err := agent.New(agent.Config{Model: m, Tools: log.tools(), Store: &agenttest.Memory{}, MaxTurns: 4})
			if err != nil {
				t.Fatal(err)
			}
			for event, err := range session.Run(t.Context(), agent.UserText("go")) {
				if err != nil {
					t.Fatal(err)
				}
				if r, ok := event.(agent.Retrying); ok && r.Wait > time.Second {
					break // the wait of a rate limit is not awaited here
				}
			}
			var want []string
			if c.Expect.Error == nil {
				for _, call := range c.Expect.ToolCalls {
					if !call.Invalid {
						want = append(want, call.Name)
					}
				}
			}
			slices.Sort(want) // reads run side by side
			slices.Sort(log.ran)
			if !slices.Equal(log.ran, want) {
				t.Errorf("%v ran, want %v", log.ran, want)
			}
			for _, body := range log.requests {
				checkStrictly(t, body)
			}
		})
	}
}
