package host_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/host"
	"assent/agent/model/openai"
)

func windowSmallerThanSet(t *testing.T, c sharedCase) {
	for _, m := range []strict{{density: 4, named: true}, {density: 3, named: true}, {density: 4}} {
		t.Run(fmt.Sprintf("%d bytes a token, told %v", m.density, m.named), func(t *testing.T) {
			s := windowStage(t, c, m)
			session := s.open("")
			for i := range 4 {
				checkCompactions(t, s.complete(session, fmt.Sprintf("part %d %s", i, strings.Repeat("of it ", 40))))
			}
			if s.model.overflows == 0 || m.named && s.model.overflows > 1 {
				t.Errorf("%d overflows", s.model.overflows)
			}
			for _, size := range s.model.summaries {
				if size > c.Input.Server*9/10 {
					t.Errorf("a summary is asked for with %d tokens", size)
				}
			}
			if len(s.model.summaries) == 0 {
				t.Error("nothing was put in short")
			}
			checkTooMuch(t, s, session)
		})
	}
	t.Run("however short", func(t *testing.T) {
		s := windowStage(t, c, strict{density: 4})
		session := s.open("")
		s.complete(session, "part 0") // a history that can be put in short
		s.model.tokens = 1
		sofar := len(s.model.requests)
		events, end := s.prompt(t.Context(), session, "part 1", nil)
		if end.Reason != agent.StopError || end.Explain() == "" || len(s.model.requests)-sofar > 2 || len(of[agent.Compacted](events)) != 1 || len(s.model.summaries) > 1 {
			t.Errorf("it ended with %s after %d requests and %d compactions", end.Explain(), len(s.model.requests)-sofar, len(of[agent.Compacted](events)))
		}
	})
}

// windowStage has a model that reads four files for a prompt, of 3 KB each.
func windowStage(t *testing.T, c sharedCase, m strict) *stage {
	t.Helper()
	s := newStage(t)
	m.t, m.tokens = t, c.Input.Server
	s.model = &m
	s.options.Model, s.options.Window = s.model, c.Input.Configured
	calls := 0
	s.model.rest = func(ctx context.Context, req agent.Request, yield func(agent.Chunk, error) bool) {
		if calls++; calls%4 == 0 {
			gives(agenttest.Say("that part is done"))(ctx, req, yield)
			return
		}
		name := fmt.Sprintf("part-%d.txt", calls)
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(strings.Repeat(name+" é\n", 200)), 0o600); err != nil {
			t.Fatal(err)
		}
		gives(agenttest.Call(agenttest.Use("", "read_file", map[string]string{"path": name})))(ctx, req, yield)
	}
	return s
}

// checkCompactions wants one compaction and one retry after each overflow.
func checkCompactions(t *testing.T, events []agent.Event) {
	t.Helper()
	overflowed, compacted := false, 0
	for _, e := range events {
		switch e := e.(type) {
		case agent.Compacted:
			compacted++
		case agent.Responded:
			failed, _ := e.Err.(*agent.ModelError)
			switch {
			case failed != nil && failed.Kind == agent.ErrorContextOverflow && overflowed:
				t.Error("a retry overflowed too")
			case failed != nil && failed.Kind == agent.ErrorContextOverflow:
				overflowed, compacted = true, 0
			case failed == nil && overflowed && compacted == 1:
				overflowed = false
			}
		}
	}
	if overflowed {
		t.Errorf("after an overflow there were %d compactions, and no answer", compacted)
	}
}

// checkTooMuch: what the person says is never cut, so it may be too much.
func checkTooMuch(t *testing.T, s *stage, session *host.Session) {
	t.Helper()
	requests := len(s.model.requests)
	_, end := s.prompt(t.Context(), session, strings.Repeat("a long story. ", 4000), nil)
	if end.Reason != agent.StopError || !strings.Contains(end.Explain(), "your newest message") || len(s.model.requests)-requests > 2 {
		t.Errorf("it ended with %q after %d requests", end.Explain(), len(s.model.requests)-requests)
	}
	s.complete(session, "in short, then")
}

func hugeResults(t *testing.T, c sharedCase) {
	var calls, megabytes int
	if _, err := fmt.Sscanf(c.Input.Model[0], "%d x read_file of %d MB", &calls, &megabytes); err != nil {
		t.Fatal(err)
	}
	for _, known := range []int{c.Input.Server, 0} {
		t.Run(fmt.Sprintf("window set to %d", known), func(t *testing.T) {
			s := newStage(t)
			s.model.tokens, s.model.density, s.model.named = c.Input.Server, 4, true
			s.options.Window = known
			var uses []agent.ToolUse
			for i := range calls {
				name := fmt.Sprintf("file-%d.txt", i)
				text := "head of " + name + "\n" + strings.Repeat("漢é\n", megabytes<<20/6) + "tail of " + name + "\n"
				if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				uses = append(uses, agenttest.Use("", "read_file", map[string]string{"path": name}))
			}
			s.model.answers = []answer{gives(agenttest.Call(uses...)), gives(agenttest.Say("enough"))}
			s.complete(s.open(""), "read them all")
			results := s.model.last()[2].ToolResults()
			if len(results) != calls || len(s.ran) != calls {
				t.Fatalf("%d results of %d calls, %v ran", len(results), calls, s.ran)
			}
			for i, r := range results {
				name := fmt.Sprintf("file-%d.txt\n", i)
				if !strings.HasPrefix(r.Output, "head of "+name) || !strings.HasSuffix(r.Output, "tail of "+name) || !strings.Contains(r.Output, "Ask for a smaller part") {
					t.Errorf("result %d is %.40q…%q", i, r.Output, r.Output[max(0, len(r.Output)-40):])
				}
				if !utf8.ValidString(r.Output) || strings.ContainsRune(r.Output, utf8.RuneError) || len(r.Output) > 32<<10 {
					t.Errorf("result %d has %d bytes, or half a character", i, len(r.Output))
				}
			}
			for i, req := range s.model.requests[1:] {
				sum := 0
				for _, r := range req.Messages[2].ToolResults() {
					sum += len(r.Output)
				}
				if sum > 128<<10 {
					t.Errorf("request %d has %d bytes of results", i+1, sum)
				}
			}
			if known > 0 && s.model.overflows > 0 || s.model.overflows > 1 {
				t.Errorf("%d overflows", s.model.overflows)
			}
		})
	}
}

// httpCase is a server with one of the answers of F11, which comes to itself later.
type httpCase struct {
	url     string
	answer  string
	status  int // 0: it never answers
	after   time.Duration
	healthy bool
	asked   int
}

func newHTTPCase(t *testing.T, line string) *httpCase {
	t.Helper()
	c := &httpCase{answer: line}
	server := httptest.NewUnstartedServer(c)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail
	t.Cleanup(server.Close)
	switch line {
	case "connection refused":
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		c.url = "http://" + listener.Addr().String()
		closed(t, listener)
		return c
	case "TLS error":
		server.StartTLS() // with a certificate that nobody trusts
	default:
		if _, err := fmt.Sscanf(line, "%d", &c.status); err != nil {
			t.Fatalf("what does a server do that answers %q?", line)
		}
		if strings.Contains(line, "Retry-After") {
			c.after = 7 * time.Second
		}
		server.Start()
	}
	c.url = server.URL
	return c
}

func (c *httpCase) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.asked++
	if c.healthy {
		(&wire{}).ServeHTTP(w, r)
		return
	}
	if c.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(c.after.Seconds())))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(c.status)
	fmt.Fprintf(w, `{"error":{"message":"said by the server: %s"}}`, c.answer)
}

// tries is how often a request is made that gets this answer.
func (c *httpCase) tries() int {
	if c.status >= 500 || c.answer == "connection refused" {
		return 3
	}
	return 1
}

func answersOfServers(t *testing.T, c sharedCase) {
	var firstWaits []time.Duration
	for _, line := range c.Input.Answers {
		t.Run(line, func(t *testing.T) {
			server := newHTTPCase(t, line)
			synctest.Test(t, func(t *testing.T) { // the waits cost nothing
				s := newStage(t)
				s.options.Model = server.model(t)
				session := s.open("")
				events, end := s.prompt(t.Context(), session, "hello", nil)
				requests, waits := len(of[agent.Requested](events)), of[agent.Retrying](events)
				if end.Reason != agent.StopError || requests != server.tries() || len(waits) != server.tries()-1 || server.status > 0 && server.asked != requests {
					t.Errorf("it ended with %s after %d tries and %d waits: %v", end.Reason, requests, len(waits), end.Err)
				}
				if told := end.Explain(); server.status > 0 && (!strings.Contains(told, strconv.Itoa(server.status)) || !strings.Contains(told, "said by the server: "+line)) {
					t.Errorf("the person is told %q", told)
				}
				checkWaits(t, server, waits)
				if len(waits) > 0 && server.after == 0 {
					firstWaits = append(firstWaits, waits[0].Wait)
				}
				checkCancelledWait(t, s, session, server)
				if server.healthy = true; server.status > 0 { // nothing is blocked by what was
					s.complete(session, "and now?")
				}
			})
		})
	}
	if len(slices.Compact(slices.Clone(firstWaits))) < 2 {
		t.Errorf("the waits are not random: %v", firstWaits)
	}
}

// model makes a connection for each request: an open one would keep the fake time
// from going on.
func (c *httpCase) model(t *testing.T) *openai.Model {
	t.Helper()
	m, err := openai.New(openai.Options{BaseURL: c.url + "/v1", APIKey: "key-of-a-test", Model: "m",
		HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func checkWaits(t *testing.T, server *httpCase, waits []agent.Retrying) {
	t.Helper()
	var before time.Duration
	for _, w := range waits {
		switch {
		case w.Err == nil || w.Attempt < 2:
			t.Errorf("the notice says %+v", w)
		case server.after > 0 && w.Wait != server.after:
			t.Errorf("it waits %v, the server asked for %v", w.Wait, server.after)
		case server.after == 0 && (w.Wait <= before || w.Wait > time.Minute):
			t.Errorf("it waits %v, after %v", w.Wait, before)
		}
		before = cmp.Or(w.Wait, before)
	}
}

// checkCancelledWait cancels in the first wait.
func checkCancelledWait(t *testing.T, s *stage, session *host.Session, server *httpCase) {
	t.Helper()
	if server.tries() == 1 {
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := time.Now()
	events, end := s.prompt(ctx, session, "again", func(e agent.Event) {
		if w, ok := e.(agent.Retrying); ok {
			time.AfterFunc(w.Wait/2, cancel)
		}
	})
	waits := of[agent.Retrying](events)
	if end.Reason != agent.StopCancelled || len(waits) != 1 || time.Since(began) != waits[0].Wait/2 {
		t.Errorf("it ended with %s after %v and %d waits", end.Reason, time.Since(began), len(waits))
	}
}
