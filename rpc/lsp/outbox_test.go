package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assent/agent"
	"assent/agent/host"
	"assent/rpc"

	"pgregory.net/rapid"
)

// screen is a client that reads what an outbox sends, and notes when.
type screen struct {
	began time.Time
	box   *outbox
	input *io.PipeWriter

	mu    sync.Mutex
	lines []sent
	stall chan struct{} // not nil: nothing is read until it is closed
	gone  bool
}

// sent is a message as it was on the wire.
type sent struct {
	at   time.Duration
	size int
	ID   json.RawMessage `json:"id"`

	Params struct {
		Seq   int64
		Event struct{ Type, Delta string }
	} `json:"params"`
}

// Write implements [io.Writer].
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	stall := s.stall
	s.mu.Unlock()
	if stall != nil {
		<-stall
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return 0, io.ErrClosedPipe
	}
	for line := range bytes.Lines(p) {
		one := sent{at: time.Since(s.began), size: len(line)}
		if err := json.Unmarshal(line, &one); err != nil {
			panic(err)
		}
		s.lines = append(s.lines, one)
	}
	return len(p), nil
}

// seen is what came so far, and what it says.
func (s *screen) seen() (all []sent, text string) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		text += fmt.Sprintf("%v %s %s\n", l.at, l.Params.Event.Type, l.Params.Event.Delta)
	}
	return s.lines, text
}

func (s *screen) expect(t interface{ Fatalf(string, ...any) }, want string) {
	if _, got := s.seen(); got != want {
		t.Fatalf("the client has\n%snot\n%s", got, want)
	}
}

type ponger struct{}

func (ponger) Notify(string, json.RawMessage) {}
func (ponger) Accept(context.Context, string, json.RawMessage) rpc.Work {
	return func() (any, error) { return "pong", nil }
}

// withScreen runs a test in a bubble, where time passes only when all wait.
func withScreen(t *testing.T, test func(t *testing.T, s *screen)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &screen{began: time.Now()}
		end := s.connect()
		defer end()
		test(t, s)
	})
}

func (s *screen) connect() (end func()) {
	in, input := io.Pipe()
	s.input = input
	conn := rpc.New(in, s, rpc.Options{Framing: rpc.FramingLines})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = conn.Serve(context.Background(), ponger{}) // ends with its input
	}()
	// The form of the frames counts from the first message on.
	_, _ = io.WriteString(input, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	synctest.Wait()
	s.lines = nil
	s.box = newOutbox(conn, &session{Session: &host.Session{ID: "s"}})
	return func() {
		s.box.close()
		_ = input.Close()
		<-served
	}
}

func (s *screen) text(t *testing.T, text string) {
	t.Helper()
	if err := s.box.delta(t.Context(), agent.Delta{Text: text}); err != nil {
		t.Fatal(err)
	}
}

func TestTheFirstPieceGoesAtOnceAndTheRestIsJoined(t *testing.T) {
	withScreen(t, func(t *testing.T, s *screen) {
		s.text(t, "a")
		s.expect(t, "0s text a\n")
		for _, piece := range []string{"b", "c", "d"} {
			time.Sleep(5 * time.Millisecond)
			s.text(t, piece)
		}
		s.expect(t, "0s text a\n")
		time.Sleep(time.Millisecond)
		s.expect(t, "0s text a\n16ms text bcd\n")
		time.Sleep(time.Second)
		s.text(t, "e") // long after the last one: at once
		s.expect(t, "0s text a\n16ms text bcd\n1.016s text e\n")
	})
}

func TestMuchTextDoesNotWaitForTheTime(t *testing.T) {
	withScreen(t, func(t *testing.T, s *screen) {
		s.text(t, "a")
		for range 5 {
			s.text(t, strings.Repeat("x", deltaBytes/4))
		}
		all, _ := s.seen()
		if len(all) != 2 || all[1].at != 0 || len(all[1].Params.Event.Delta) != deltaBytes {
			t.Errorf("%d pieces, the last of %d bytes", len(all), len(all[len(all)-1].Params.Event.Delta))
		}
		time.Sleep(deltaInterval)
		if all, _ := s.seen(); len(all) != 3 || all[2].at != deltaInterval {
			t.Errorf("%d pieces", len(all))
		}
	})
}

func TestThinkingAndTextKeepTheirOrder(t *testing.T) {
	withScreen(t, func(t *testing.T, s *screen) {
		for _, d := range []agent.Delta{{Thinking: "1"}, {Thinking: "2"}, {Thinking: "3", Text: "4"}, {Text: "5"}, {Thinking: "6"}, {}, {Text: "7"}} {
			if err := s.box.delta(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(deltaInterval)
		s.expect(t, "0s thinking 1\n16ms thinking 23\n16ms text 45\n16ms thinking 6\n16ms text 7\n")
	})
}

// What is kept back was said before the recast, and what follows was not.
func TestARecastGoesAtOnceAndKeepsItsPlace(t *testing.T) {
	withScreen(t, func(t *testing.T, s *screen) {
		for _, d := range []agent.Delta{{Text: "1"}, {Text: "2"}, {Thinking: "3"}, {Text: "4", Recast: true}, {Text: "5"}} {
			if err := s.box.delta(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		s.expect(t, "0s text 1\n0s text 2\n0s thinking 3\n0s recast \n0s text 4\n")
		time.Sleep(deltaInterval)
		s.expect(t, "0s text 1\n0s text 2\n0s thinking 3\n0s recast \n0s text 4\n16ms text 5\n")
	})
}

func TestAnEventComesAfterThePiecesBeforeIt(t *testing.T) {
	withScreen(t, func(t *testing.T, s *screen) {
		s.text(t, "a")
		s.text(t, "b")
		if err := s.box.events(t.Context(), agent.Done{Reason: agent.StopComplete}); err != nil {
			t.Fatal(err)
		}
		s.expect(t, "0s text a\n0s text b\n0s done \n")
		time.Sleep(time.Second)
		s.expect(t, "0s text a\n0s text b\n0s done \n")
	})
}

func TestTheFirstPieceOfTheNextReplyGoesAtOnce(t *testing.T) {
	withScreen(t, func(t *testing.T, s *screen) {
		s.text(t, "a")
		if err := s.box.events(t.Context(), agent.Requested{Messages: 1, Attempt: 1}); err != nil {
			t.Fatal(err)
		}
		s.text(t, "b")
		s.text(t, "c")
		s.expect(t, "0s text a\n0s request \n0s text b\n")
		s.box.close()
		s.expect(t, "0s text a\n0s request \n0s text b\n0s text c\n")
	})
}

func TestNoPieceIsLostAndNoneComesTooOften(t *testing.T) {
	type step struct {
		pause time.Duration
		delta agent.Delta
	}
	rapid.Check(t, func(r *rapid.T) {
		var steps []step
		want := ""
		for range rapid.IntRange(0, 40).Draw(r, "pieces") {
			d := agent.Delta{Text: strings.Repeat("t", rapid.SampledFrom([]int{0, 1, 3, 9000}).Draw(r, "text")), Thinking: strings.Repeat("T", rapid.IntRange(0, 2).Draw(r, "thinking")), Recast: rapid.IntRange(0, 9).Draw(r, "recast") == 0}
			steps = append(steps, step{time.Duration(rapid.IntRange(0, 20).Draw(r, "ms")) * time.Millisecond, d})
			if d.Recast {
				want += "R"
			}
			want += d.Thinking + d.Text
		}
		var all []sent
		var closing time.Duration
		withScreen(t, func(t *testing.T, s *screen) {
			for _, one := range steps {
				time.Sleep(one.pause)
				if err := s.box.delta(t.Context(), one.delta); err != nil {
					t.Error(err)
				}
				synctest.Wait()
			}
			closing = time.Since(s.began)
			s.box.close()
			all, _ = s.seen()
		})
		got, sizes, recasts := "", map[time.Duration]int{}, map[time.Duration]bool{}
		for i, l := range all {
			if l.Params.Event.Type == recast {
				got += "R"
				recasts[l.at] = true
			}
			got += l.Params.Event.Delta
			sizes[l.at] += len(l.Params.Event.Delta)
			if l.Params.Seq != int64(i+1) {
				r.Fatalf("event %d has seq %d", i+1, l.Params.Seq)
			}
		}
		last := -deltaInterval
		for _, at := range slices.Sorted(maps.Keys(sizes)) {
			if at-last < deltaInterval && sizes[at] < deltaBytes && at != closing && !recasts[at] {
				r.Fatalf("%d bytes came %v after the last", sizes[at], at-last)
			}
			last = at
		}
		if got != want {
			r.Fatalf("%d bytes of %d came", len(got), len(want))
		}
	})
}

// fill sends pieces until the outbox waits, and returns what frees when it goes on.
func (s *screen) fill(ctx context.Context) (freed <-chan error) {
	done := make(chan error, 1)
	go func() {
		for range 40 {
			if err := s.box.delta(ctx, agent.Delta{Text: strings.Repeat("x", deltaBytes)}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	synctest.Wait()
	return done
}

func TestAClientThatStallsHoldsThePieces(t *testing.T) {
	withScreen(t, func(t *testing.T, s *screen) {
		s.stall = make(chan struct{})
		freed := s.fill(t.Context())
		time.Sleep(time.Hour)
		select {
		case err := <-freed:
			t.Fatalf("it did not wait: %v", err)
		default:
		}
		close(s.stall)
		if err := <-freed; err != nil {
			t.Fatal(err)
		}
		s.box.close()
		all, _ := s.seen()
		total := 0
		for _, l := range all {
			total += len(l.Params.Event.Delta)
		}
		if total != 40*deltaBytes {
			t.Errorf("%d bytes came", total)
		}
	})
}

func TestACancelFreesWhatWaitsForTheClient(t *testing.T) {
	withScreen(t, func(t *testing.T, s *screen) {
		s.stall = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		freed := s.fill(ctx)
		cancel()
		if err := <-freed; err != nil {
			t.Errorf("after a cancel the error is %v", err)
		}
		if err := s.box.events(ctx, agent.Done{Reason: agent.StopCancelled}); err != nil {
			t.Errorf("the last event after a cancel: %v", err)
		}
		close(s.stall)
		s.box.close()
		all, _ := s.seen()
		if last := all[len(all)-1]; last.Params.Event.Type != "done" {
			t.Errorf("the last event is %s", last.Params.Event.Type)
		}
	})
}

func TestAClientThatIsGoneEndsTheWait(t *testing.T) {
	withScreen(t, func(t *testing.T, s *screen) {
		s.stall = make(chan struct{})
		freed := s.fill(t.Context())
		s.mu.Lock()
		s.gone = true
		s.mu.Unlock()
		close(s.stall)
		if err := <-freed; err == nil {
			t.Error("there is no error")
		}
	})
}

func TestAReplyIsNotBehindThePieces(t *testing.T) {
	withScreen(t, func(t *testing.T, s *screen) {
		s.stall = make(chan struct{})
		freed := s.fill(t.Context())
		if _, err := io.WriteString(s.input, `{"jsonrpc":"2.0","id":7,"method":"ping"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		close(s.stall)
		if err := <-freed; err != nil {
			t.Fatal(err)
		}
		all, _ := s.seen()
		before := 0
		for _, l := range all {
			if string(l.ID) == "7" {
				if before > 8*deltaBytes {
					t.Errorf("%d bytes were before the reply", before)
				}
				return
			}
			before += l.size
		}
		t.Error("the reply did not come")
	})
}
