package host_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/host"
	"assent/agent/model/openai"
)

// answer is one stream of a model.
type answer func(ctx context.Context, req agent.Request, yield func(agent.Chunk, error) bool)

func gives(m agent.Message) answer {
	return func(_ context.Context, _ agent.Request, yield func(agent.Chunk, error) bool) {
		if text := m.Text(); text == "" || yield(agent.Chunk{Text: text}, nil) {
			yield(agent.Chunk{Reply: &m}, nil)
		}
	}
}

func breaks(shown string, err *agent.ModelError) answer {
	return func(_ context.Context, _ agent.Request, yield func(agent.Chunk, error) bool) {
		if shown == "" || yield(agent.Chunk{Text: shown}, nil) {
			yield(agent.Chunk{}, err)
		}
	}
}

// strict is a scripted model that takes only what the strictest servers take. If it
// has a window, it counts tokens in its own way.
type strict struct {
	t       testing.TB
	answers []answer
	rest    answer // once those are through

	tokens  int // 0: everything fits
	density int // bytes of a token
	named   bool

	newest    string          // what the person said last: it has to be in each request
	requests  []agent.Request // without those for summaries
	overflows int             // of those
	summaries []int           // their sizes in tokens
}

func (m *strict) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		if err := agenttest.CheckMessages(req.Messages); err != nil {
			m.t.Errorf("request %d: %v", len(m.requests), err)
		}
		if told := fmt.Sprint(req.Messages); strings.Contains(told, "of this call was lost") || strings.Contains(told, "conversation was lost") {
			m.t.Errorf("request %d was mended: %s", len(m.requests), told)
		}
		summary := strings.HasPrefix(req.System, "You put the work")
		if summary {
			m.summaries = append(m.summaries, m.size(req))
		} else {
			m.requests = append(m.requests, req)
			if !says(req.Messages, m.newest) {
				m.t.Errorf("request %d does not hold whole what the person said last", len(m.requests))
			}
		}
		switch n := len(m.requests) - 1 - m.overflows; {
		case m.tokens > 0 && m.size(req) > m.tokens:
			m.overflow(req, summary, yield)
		case summary:
			gives(agenttest.Say("in short"))(ctx, req, yield)
		case n < len(m.answers):
			m.answers[n](ctx, req, yield)
		case m.rest != nil:
			m.rest(ctx, req, yield)
		default:
			yield(agent.Chunk{}, &agent.ModelError{Kind: agent.ErrorConfig, Message: fmt.Sprintf("there is no answer %d", n+1)})
		}
	}
}

func (m *strict) overflow(req agent.Request, summary bool, yield func(agent.Chunk, error) bool) {
	if !summary {
		m.overflows++
	}
	failed := &agent.ModelError{Kind: agent.ErrorContextOverflow, Status: http.StatusBadRequest, Message: "too long"}
	if m.named {
		failed.Limit, failed.Tokens = m.tokens, m.size(req)
	}
	yield(agent.Chunk{}, failed)
}

func (m *strict) size(req agent.Request) int { return agenttest.RequestBytes(req) / max(m.density, 1) }

// says reports whether the person says this, in a text of its own.
func says(messages []agent.Message, text string) bool {
	return slices.ContainsFunc(messages, func(m agent.Message) bool {
		return m.Role == agent.RoleUser && slices.Contains(m.Blocks, agent.Block(agent.Text{Text: text}))
	})
}

// last is the newest request.
func (m *strict) last() []agent.Message { return m.requests[len(m.requests)-1].Messages }

var (
	quotedText = regexp.MustCompile(`"([^"{}]*)"`)
	stepCalls  = regexp.MustCompile(`\b(c\d+) (\w+)(\{[^{}]*\})?`)
	saidText   = regexp.MustCompile(`text "([^"]*)"( then reset)?`)
	madeCall   = regexp.MustCompile(`^(?:call )?(\w+)(\{.*\})?$`)
)

// quoted are the texts that the steps of a case quote, in order.
func (c sharedCase) quoted() (texts []string) {
	for _, m := range quotedText.FindAllStringSubmatch(strings.Join(c.Input.Steps, "\n"), -1) {
		texts = append(texts, m[1])
	}
	return texts
}

// calls are those that the model of the steps makes, with these arguments where the
// case has none.
func (c sharedCase) calls(inputs ...string) (uses []agent.ToolUse) {
	for _, step := range c.Input.Steps {
		if !strings.HasPrefix(step, "model") {
			continue
		}
		for i, m := range stepCalls.FindAllStringSubmatch(step, -1) {
			if m[3] == "" && i < len(inputs) {
				m[3] = inputs[i]
			}
			uses = append(uses, agenttest.Use(m[1], m[2], m[3]))
		}
	}
	return uses
}

// scripted is what a line of a case's model does.
func scripted(t *testing.T, line string) answer {
	t.Helper()
	said, call, status := saidText.FindStringSubmatch(line), madeCall.FindStringSubmatch(line), 0
	switch {
	case said != nil && said[2] != "":
		return breaks(said[1], &agent.ModelError{Kind: agent.ErrorTruncated, Message: "the connection was reset"})
	case said != nil:
		return gives(agenttest.Say(said[1]))
	case strings.HasPrefix(line, "reset before"):
		return breaks("", &agent.ModelError{Kind: agent.ErrorTransport, Message: "the connection was reset"})
	case strings.HasPrefix(line, "(empty"):
		return gives(agenttest.Say(""))
	case call != nil && call[2] == "":
		return gives(agenttest.Call(agenttest.Use("", call[1], `{"path":"a.txt"}`)))
	case call != nil:
		return gives(agenttest.Call(agenttest.Use("", call[1], call[2])))
	}
	if _, err := fmt.Sscanf(line, "HTTP %d", &status); err != nil {
		t.Fatalf("what does a model do that does %q?", line)
	}
	return breaks("", &agent.ModelError{Kind: agent.ErrorProvider, Status: status, Message: "the server failed"})
}

// wire is a server of Chat Completions that answers with messages and keeps what it
// is sent.
type wire struct {
	*httptest.Server
	replies []wireMessage
	bodies  [][]byte
}

func newWire(t *testing.T, replies ...wireMessage) *wire {
	t.Helper()
	w := &wire{replies: replies}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	return w
}

// model is new each time: it knows nothing of what another one sent.
func (w *wire) model(t *testing.T) *openai.Model {
	t.Helper()
	m, err := openai.New(openai.Options{Provider: "deepseek", BaseURL: w.URL + "/v1", APIKey: "key-of-a-test", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (w *wire) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.bodies = append(w.bodies, body)
	reply, finish := said("done"), "stop"
	if n := len(w.bodies) - 1; n < len(w.replies) {
		reply = w.replies[n]
	}
	if len(reply.Calls) > 0 {
		finish = "tool_calls"
	}
	delta, _ := json.Marshal(reply) // it came from JSON
	out.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(out, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", delta)
	fmt.Fprintf(out, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", finish)
}

func said(text string) wireMessage { return wireMessage{Role: "assistant", Content: &text} }

// sent are the messages of a request.
func (w *wire) sent(t *testing.T, n int) []wireMessage {
	t.Helper()
	if n >= len(w.bodies) {
		t.Fatalf("there are %d requests", len(w.bodies))
	}
	var body struct{ Messages []wireMessage }
	if err := json.Unmarshal(w.bodies[n], &body); err != nil {
		t.Fatal(err)
	}
	return body.Messages
}

// childEnv makes the test binary a second process that takes a session up.
const childEnv = "ASSENT_HOST_TEST_CHILD"

type childJob struct{ Dir, Journals, ID, Prompt string }

func TestMain(m *testing.M) {
	job := os.Getenv(childEnv)
	if job == "" {
		os.Exit(m.Run())
	}
	if err := child([]byte(job)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child runs a turn, says so, and keeps the session until the parent is gone.
func child(data []byte) error {
	var job childJob
	if err := json.Unmarshal(data, &job); err != nil {
		return err
	}
	h := host.New(host.Options{JournalDir: job.Journals, Model: agenttest.NewScript(agenttest.Say("the child's answer"))})
	s, err := h.Resume(context.Background(), job.ID, setup(job.Dir, host.ModeAsk))
	if err != nil {
		return err
	}
	for _, err := range s.Run(context.Background(), agent.UserText(job.Prompt)) {
		if err != nil {
			return err
		}
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, errors.New("the parent has gone"))
}

// startChild returns once the child has the session.
func startChild(t *testing.T, job childJob) *exec.Cmd {
	t.Helper()
	data, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(data))
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	return cmd
}

func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// halfOf is the beginning of a text as hexadecimal digits have it.
func halfOf(t *testing.T, digits string) []byte {
	t.Helper()
	half, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return half
}
