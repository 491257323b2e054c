package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"assent/agent"
)

// Reply scripts one stream of a model: what the reply is, and how the stream
// ends. Only the text of a reply that does not end is sent.
type Reply struct {
	Message agent.Message
	End     End
}

// End is how a scripted stream ends.
type End int

const (
	EndWhole End = iota // properly, with the reply
	EndCut              // in the middle, as a broken connection would
	EndHang             // not at all: nothing comes after the text until the context ends
)

// patience bounds what must happen soon, on a slow machine too.
const patience = 20 * time.Second

// TestModel holds a model against the contract of [agent.Model]. newModel makes
// one that gives the replies of a script, one for each stream, in order; streams
// that run at once may get them in any order. A reply's text is expected in at
// least two chunks if it has two words.
func TestModel(t *testing.T, newModel func(t *testing.T, script []Reply) agent.Model) {
	for _, c := range modelReplies() {
		t.Run("gives "+c.name, func(t *testing.T) {
			m := newModel(t, []Reply{{Message: c.message}})
			got := collect(context.Background(), m, ModelRequest())
			checkWhole(t, got)
			if got.reply != nil {
				checkMessage(t, *got.reply, c.message)
			}
			if words := strings.Fields(c.message.Text()); len(words) > 1 && got.textChunks < 2 {
				t.Errorf("%d words came in %d chunks", len(words), got.textChunks)
			}
		})
	}
	t.Run("gives the replies in order", func(t *testing.T) {
		script := []Reply{{Message: Say("first one")}, {Message: Say("second one")}}
		m := newModel(t, script)
		for _, r := range script {
			if got := collect(context.Background(), m, ModelRequest()); got.text != r.Message.Text() {
				t.Errorf("the text is %q, want %q", got.text, r.Message.Text())
			}
		}
	})
	testEnds(t, newModel)
	t.Run("keeps the rest of the contract", func(t *testing.T) {
		var script []Reply
		for range 24 { // more than TestModelReply asks for
			script = append(script, Reply{Message: calling(Say("two words"), "c1", "read_file", `{"path":"notes.txt"}`)})
		}
		TestModelReply(t, newModel(t, script), ModelRequest())
	})
}

// testEnds is about streams that do not come to their own end.
func testEnds(t *testing.T, newModel func(t *testing.T, script []Reply) agent.Model) {
	t.Run("gives no reply when the stream is cut", func(t *testing.T) {
		m := newModel(t, []Reply{{Message: Say("half of a sentence"), End: EndCut}, {Message: Say("a whole one")}})
		got := collect(context.Background(), m, ModelRequest())
		if got.reply != nil {
			t.Errorf("a cut stream gave the reply %v", got.reply.Blocks)
		}
		if got.text != "half of a sentence" {
			t.Errorf("the text before the cut is %q", got.text)
		}
		checkModelError(t, got.err)
		checkWhole(t, collect(context.Background(), m, ModelRequest()))
	})
	t.Run("ends with the context's error when it is cancelled in the middle", func(t *testing.T) {
		m := newModel(t, []Reply{{Message: Say("words and then silence"), End: EndHang}, {Message: Say("a whole one")}})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		got := collectUntil(ctx, m, ModelRequest(), func(s stream) {
			if s.text == "words and then silence" {
				cancel()
			}
		})
		checkCancelled(t, got, context.Canceled)
		checkWhole(t, collect(context.Background(), m, ModelRequest()))
	})
	t.Run("passes the error of a deadline on", func(t *testing.T) {
		m := newModel(t, []Reply{{Message: Say("words and then silence"), End: EndHang}})
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		checkCancelled(t, collect(ctx, m, ModelRequest()), context.DeadlineExceeded)
	})
	t.Run("leaves nothing running when the consumer breaks from a silent stream", func(t *testing.T) {
		m := newModel(t, []Reply{{Message: Say("words and then silence"), End: EndHang}})
		checkBreak(t, m, ModelRequest())
	})
}

// TestModelReply holds a model against what of the contract of [agent.Model]
// can be seen with any request that it answers properly, each time anew, at most
// 20 times.
func TestModelReply(t *testing.T, m agent.Model, req agent.Request) {
	t.Run("the chunks make up the reply, which comes last", func(t *testing.T) {
		checkWhole(t, collect(context.Background(), m, req))
	})
	t.Run("the request is left as it was", func(t *testing.T) {
		given, want := spare(clone(req)), spare(clone(req))
		collect(context.Background(), m, given)
		if !reflect.DeepEqual(beyond(given), beyond(want)) {
			t.Error("the request was changed")
		}
	})
	t.Run("a cancelled context gives its error and no reply", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		checkCancelled(t, collect(ctx, m, req), context.Canceled)
	})
	t.Run("a cancel at the first chunk gives no reply", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		got := collectUntil(ctx, m, req, func(stream) { cancel() })
		if got.chunks > 1 { // a reply that is its stream's only chunk came before the cancel
			checkCancelled(t, got, context.Canceled)
		}
	})
	t.Run("a consumer may break at any chunk", func(t *testing.T) {
		checkBreak(t, m, req)
	})
	t.Run("it may be used by several sessions at once", func(t *testing.T) {
		var wait sync.WaitGroup
		results := make([]stream, 8)
		for i := range results {
			wait.Go(func() { results[i] = collect(context.Background(), m, clone(req)) })
		}
		wait.Wait()
		for _, got := range results {
			checkWhole(t, got)
		}
	})
}

// TestModelBegins wants a model to say that its server has begun to answer before
// there is anything to show. The server of m has to send the beginning of an answer,
// without text in it, and nothing more until the context ends.
func TestModelBegins(t *testing.T, m agent.Model, req agent.Request) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for c, err := range m.Stream(ctx, req) {
		if err != nil || c.Reply != nil {
			t.Errorf("the stream began with the reply %v, the error %v", c.Reply, err)
		}
		return
	}
	t.Error("the stream ended without a chunk")
}

// stream is what came of one.
type stream struct {
	text, thinking string // as they are shown: what was recast is thinking
	chunks         int
	textChunks     int
	reply          *agent.Message
	replies        int
	afterReply     int // chunks and errors
	afterError     int
	err            error
}

func collect(ctx context.Context, m agent.Model, req agent.Request) stream {
	return collectUntil(ctx, m, req, func(stream) {})
}

func collectUntil(ctx context.Context, m agent.Model, req agent.Request, seen func(stream)) stream {
	var s stream
	for c, err := range m.Stream(ctx, req) {
		if s.reply != nil {
			s.afterReply++
		}
		if s.err != nil {
			s.afterError++
		}
		if err != nil {
			s.err = err
			continue
		}
		s.add(c)
		if c.Reply != nil {
			s.reply = c.Reply
			s.replies++
		}
		seen(s)
	}
	return s
}

// add sums a chunk up. One with nothing in it is a chunk too.
func (s *stream) add(c agent.Chunk) {
	s.chunks++
	if c.Recast { // before what else is in the chunk
		s.thinking += s.text
		s.text, s.textChunks = "", 0
	}
	s.text += c.Text
	s.thinking += c.Thinking
	if c.Text != "" {
		s.textChunks++
	}
}

func checkWhole(t *testing.T, s stream) {
	t.Helper()
	switch {
	case s.err != nil:
		t.Errorf("the stream failed: %v", s.err)
		return
	case s.replies != 1:
		t.Errorf("the stream has %d replies, want 1", s.replies)
		return
	case s.afterReply != 0:
		t.Errorf("%d chunks came after the reply", s.afterReply)
	case s.reply.Role != agent.RoleAssistant:
		t.Errorf("the reply's role is %q", s.reply.Role)
	}
	if s.text != s.reply.Text() {
		t.Errorf("the chunks say\n%q, the reply\n%q", s.text, s.reply.Text())
	}
	if want := thinking(*s.reply); s.thinking != want {
		t.Errorf("the chunks think\n%q, the reply\n%q", s.thinking, want)
	}
	for _, u := range s.reply.ToolUses() {
		if object := map[string]any(nil); u.Invalid == "" && json.Unmarshal(u.Input, &object) != nil {
			t.Errorf("the arguments %q are not an object, and nothing says so", u.Input)
		}
	}
}

func checkCancelled(t *testing.T, s stream, want error) {
	t.Helper()
	if s.reply != nil {
		t.Error("a cancelled stream gave a reply")
	}
	if !errors.Is(s.err, want) {
		t.Errorf("the error is %v, want %v", s.err, want)
	}
	if s.afterError != 0 {
		t.Errorf("%d items came after the error", s.afterError)
	}
}

func checkModelError(t *testing.T, err error) {
	t.Helper()
	var known *agent.ModelError
	if err != nil && !errors.As(err, &known) { // no error at all and no reply says the same
		t.Errorf("the error is a %T, want a *agent.ModelError", err)
	}
}

func checkBreak(t *testing.T, m agent.Model, req agent.Request) {
	t.Helper()
	before := runtime.NumGoroutine()
	for range m.Stream(context.Background(), req) {
		break
	}
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before the stream, %d after the break", before, runtime.NumGoroutine())
		}
	}
}

func checkMessage(t *testing.T, got, want agent.Message) {
	t.Helper()
	if got.Stop != want.Stop {
		t.Errorf("the reply stopped as %q, want %q", got.Stop, want.Stop)
	}
	if got.Usage != want.Usage {
		t.Errorf("the usage is %+v, want %+v", got.Usage, want.Usage)
	}
	if got.Text() != want.Text() {
		t.Errorf("the text is %q, want %q", got.Text(), want.Text())
	}
	if thinking(got) != thinking(want) {
		t.Errorf("the thinking is %q, want %q", thinking(got), thinking(want))
	}
	uses, wants := got.ToolUses(), want.ToolUses()
	if len(uses) != len(wants) {
		t.Fatalf("the reply has %d calls, want %d", len(uses), len(wants))
	}
	for i, u := range uses {
		w := wants[i]
		if u.ID != w.ID || u.Name != w.Name || u.RawInput != w.RawInput || (u.Invalid == "") != (w.Invalid == "") {
			t.Errorf("the call is %+v, want %+v", u, w)
		}
		if !sameJSON(u.Input, w.Input) {
			t.Errorf("the arguments are %s, want %s", u.Input, w.Input)
		}
	}
}
