package lsp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"assent/agent"
	"assent/agent/host"
	"assent/editors/fake"
	"assent/rpc"
	"assent/rpc/lsp"
)

// Each prompt has a review and an edit of a file of its own. All are open at once, and
// the server goes on answering.
func TestFortyPromptsAtOnce(t *testing.T) {
	const crowd = 40
	files := map[string]string{}
	var replies []string
	for n := range crowd {
		name := fmt.Sprintf("%d.txt", n)
		files[name] = "one\n"
		replies = append(replies, call("edit_file", change(name, "one", "1")))
	}
	for range crowd {
		replies = append(replies, say("ok"))
	}
	waiting, answer := make(chan struct{}, crowd), make(chan struct{})
	b := newBench(t, files, replies, fake.Options{Review: func(context.Context, fake.Review) (fake.Answer, error) {
		waiting <- struct{}{}
		<-answer
		return fake.Answer{Decision: "accept"}, nil
	}})
	var prompts []*fake.Pending
	for n := range crowd {
		b.must(b.OpenFile(b.path(fmt.Sprintf("%d.txt", n))))
		p, err := b.Start("assent/prompt", fake.Prompt{Text: "go"})
		b.must(err)
		prompts = append(prompts, p)
	}
	for range crowd {
		<-waiting
	}
	for range 20 { // case E07: what is asked meanwhile is answered
		var status struct{ Waiting, Sessions []any }
		b.must(b.Call(b.ctx, "assent/status", struct{}{}, &status))
		if len(status.Waiting) != crowd || len(status.Sessions) != crowd {
			t.Fatalf("%d waits and %d sessions", len(status.Waiting), len(status.Sessions))
		}
	}
	close(answer)
	for _, p := range prompts {
		var result fake.PromptResult
		b.must(p.Wait(b.ctx, &result))
		if result.StopReason != "complete" {
			t.Errorf("%+v", result)
		}
	}
	for n := range crowd {
		if name := fmt.Sprintf("%d.txt", n); b.text(name) != "1\n" {
			t.Errorf("%s has %q", name, b.text(name))
		}
	}
	b.checkSequence(crowd)
}

// checkSequence wants the events of each session numbered without gaps, and its
// session and done events at the ends.
func (b *bench) checkSequence(sessions int) {
	b.t.Helper()
	seqs := map[string][]fake.Event{}
	for _, e := range b.Events() {
		seqs[e.SessionID] = append(seqs[e.SessionID], e)
	}
	if len(seqs) != sessions {
		b.t.Errorf("%d sessions have events", len(seqs))
	}
	for id, events := range seqs {
		for i, e := range events {
			if e.Seq != int64(i+1) {
				b.t.Errorf("%s: event %d has number %d", id, i+1, e.Seq)
			}
		}
		if events[0].Type != "session" || events[len(events)-1].Type != "done" {
			b.t.Errorf("%s begins with %s and ends with %s", id, events[0].Type, events[len(events)-1].Type)
		}
	}
}

func TestTwoHundredCancelsRightBehindTheirRequests(t *testing.T) {
	const crowd = 200
	replies := slices.Repeat([]string{`{"text":"half","hang":true}`}, crowd)
	b := newBench(t, nil, replies, fake.Options{})
	var prompts []*fake.Pending
	for range crowd {
		p, err := b.Start("assent/prompt", fake.Prompt{Text: "go"})
		b.must(err)
		b.must(p.Cancel())
		prompts = append(prompts, p)
	}
	for _, p := range prompts {
		err := p.Wait(b.ctx, nil)
		if failed, ok := errors.AsType[*fake.Error](err); !ok || failed.Code != fake.CodeRequestCancelled {
			t.Errorf("answered with %v", err)
		}
	}
	answers := map[string]int{}
	for _, e := range b.Log() {
		if e.FromServer && e.Response {
			answers[e.ID]++
		}
	}
	for id, n := range answers {
		if n != 1 {
			t.Errorf("request %s was answered %d times", id, n)
		}
	}
}

// endless is a model that never stops, and counts.
type endless struct{ given atomic.Int64 }

func (m *endless) Stream(ctx context.Context, _ agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		piece := func() string { // never the same, or the session would stop it
			return strings.Repeat(fmt.Sprintf("%08d", m.given.Load()), 1<<7)
		}
		for ctx.Err() == nil && yield(agent.Chunk{Text: piece()}, nil) {
			m.given.Add(1)
		}
		yield(agent.Chunk{}, ctx.Err())
	}
}

// A client that does not read slows the model down, and holds up neither what it says
// itself nor its cancel.
func TestAClientThatDoesNotReadStopsTheModel(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		model := &endless{}
		fromClient, in := io.Pipe()
		out, toClient := io.Pipe()
		conn := rpc.New(fromClient, toClient, rpc.Options{})
		server := lsp.New(conn, lsp.Options{Dir: root, Open: func(lsp.InitializationOptions) (*lsp.Engine, error) {
			return &lsp.Engine{Host: host.New(host.Options{JournalDir: filepath.Join(root, "journal"), Model: model, Random: &counter{}})}, nil
		}})
		served := make(chan error, 1)
		go func() {
			err := conn.Serve(t.Context(), server)
			served <- errors.Join(err, server.Close())
			toClient.Close()
		}()
		say := func(message string) {
			if _, err := io.WriteString(in, message+"\n"); err != nil {
				t.Error(err)
			}
		}
		say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`)
		say(`{"jsonrpc":"2.0","id":2,"method":"assent/prompt","params":{"text":"go on and on"}}`)
		synctest.Wait()
		stalled := model.given.Load()
		if stalled > 300 { // KiB: what there is room for, twice, and what is kept back
			t.Errorf("the model gave %d pieces to a client that does not read", stalled)
		}
		say(`{"jsonrpc":"2.0","id":3,"method":"assent/status"}`)
		say(`{"jsonrpc":"2.0","method":"assent/cancel","params":{"sessionId":"20000101T000000Z-00000001"}}`)
		synctest.Wait()
		if more := model.given.Load() - stalled; more > 2 {
			t.Errorf("%d more pieces after the cancel", more)
		}
		in.Close()
		text, ids := readAll(t, out)
		if want := int(model.given.Load()) << 10; text < want-2<<10 || text > want {
			t.Errorf("%d bytes of text came, of %d", text, want)
		}
		if !slices.Equal(ids, []string{"1", "3", "2"}) && !slices.Equal(ids, []string{"1", "2", "3"}) {
			t.Errorf("answered were %v", ids)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// readAll reads what the server wrote to the end: how much text, and which answers.
func readAll(t *testing.T, out io.Reader) (text int, ids []string) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return text, ids
		}
		var m struct {
			ID     json.RawMessage
			Params struct{ Event struct{ Type, Delta string } }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m.Params.Event.Type == "text" {
			text += len(m.Params.Event.Delta)
		}
		if m.ID != nil {
			ids = append(ids, string(m.ID))
		}
	}
}
