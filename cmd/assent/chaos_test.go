package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/agent"
	"assent/agent/host"
	"assent/agent/journal"
	"assent/agent/model/openai"
	"assent/agent/workspace"
	"assent/tools"

	"go.uber.org/goleak"
)

// TestChaos has sessions with a model server that stalls, cuts, refuses and fails at
// random, and then compares the files with what the server knows it sent as a whole:
// a call of such a reply landed once, one of any other reply did not.
//
// ASSENT_CHAOS is the number of turns, ASSENT_SEED another run of as many.
func TestChaos(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	turns, err := strconv.Atoi(cmp.Or(os.Getenv("ASSENT_CHAOS"), "300"))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("ASSENT_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	c := &chaos{t: t, turns: turns, dir: t.TempDir(), journals: filepath.Join(t.TempDir(), "sessions"), shown: map[int]int{}}
	for i := range 3*turns/slotsPerFile + 1 {
		write(t, filepath.Join(c.dir, slotFile(i)), slotText(i))
	}
	began := time.Now()
	c.server = &chaosServer{seed: seed, slots: &slots{}}
	synctest.Test(t, func(*testing.T) { c.run(rand.New(rand.NewPCG(seed, 1<<32))) })
	took := time.Since(began)

	c.checkServer()
	c.checkCalls()
	c.checkRecords()
	t.Logf("seed %d: %d turns in %d prompts and %d sessions, %d requests, %d retries, %d resumed", seed, c.asked, c.prompts, c.sessions, len(c.server.replies), c.retries, c.resumed)
	t.Logf("%d edits landed; %d of %d replies were whole, %d calls of others did not land, %d could have; %v", c.landed, c.whole, len(c.server.replies), c.lost, c.open, took)
	t.Logf("prompts ended: %v; faults: %v", c.ends, c.faults)
	if c.landed < turns*3/10 {
		t.Errorf("only %d edits landed in %d turns", c.landed, turns)
	}
	if c.lost < turns/10 {
		t.Errorf("only %d calls were lost in %d turns, so little was tested", c.lost, turns)
	}
}

// chaos is the person's side of the run.
type chaos struct {
	t        *testing.T
	turns    int // wanted
	dir      string
	journals string
	server   *chaosServer

	asked, prompts, sessions, requests, retries, resumed int
	ends, faults                                         map[string]int
	words                                                strings.Builder // shown since a reply was asked for
	shown                                                map[int]int     // words by reply

	whole, landed, lost, open int // what came of replies, and of their calls
}

// run is everything that happens within the bubble.
func (c *chaos) run(random *rand.Rand) {
	network := newPipes()
	server := &http.Server{
		Handler: c.server, ErrorLog: log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, chaosConn{}, conn.(served).client)
		},
	}
	over := make(chan error, 1)
	go func() { over <- server.Serve(network) }()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return network.dial() }}
	model, err := openai.New(openai.Options{BaseURL: "http://model.test/v1", APIKey: "sk-chaos", Model: "m", HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		c.t.Error(err)
		return
	}
	h := host.New(host.Options{JournalDir: c.journals, Provider: "chaos", ModelName: "m", Model: model, Tools: tools.Default(), MaxTurns: 12})
	c.ends = map[string]int{}
	for c.asked < c.turns && !c.t.Failed() {
		c.session(h, random)
	}
	if err := errors.Join(h.Close(), server.Close()); err != nil {
		c.t.Error(err)
	}
	if err := <-over; !errors.Is(err, http.ErrServerClosed) {
		c.t.Error(err)
	}
	transport.CloseIdleConnections()
	synctest.Wait() // for what the server still does
}

// session is some prompts, between which it may be closed and taken up again.
func (c *chaos) session(h *host.Host, random *rand.Rand) {
	setup := host.Setup{Folders: []string{c.dir}, Mode: host.ModeAcceptEdits, Editor: func(w *workspace.Workspace) agent.Editor { return headless{w} }}
	s, err := h.Start(context.Background(), setup)
	if err != nil {
		c.t.Error(err)
		return
	}
	c.sessions++
	for range 12 {
		if c.asked >= c.turns || c.t.Failed() {
			break
		}
		c.prompt(s)
		if random.IntN(6) > 0 {
			continue
		}
		if err := s.Close(); err != nil {
			c.t.Error(err)
		}
		c.resumed++
		if s, err = h.Resume(context.Background(), s.ID, setup); err != nil {
			c.t.Errorf("a session could not be taken up: %v", err)
			return
		}
	}
	if err := s.Close(); err != nil {
		c.t.Error(err)
	}
}

// prompt wants an answer, and an end whatever the server does.
func (c *chaos) prompt(s *host.Session) {
	c.prompts++
	var last agent.Event
	for event, err := range s.Run(context.Background(), agent.UserText(fmt.Sprintf("prompt %d", c.prompts))) {
		if err != nil {
			c.t.Errorf("prompt %d: the session can't go on: %v", c.prompts, err)
			return
		}
		last = event
		switch e := event.(type) {
		case agent.Requested:
			c.requests++
			if e.Attempt == 1 {
				c.asked++
				c.see()
			}
		case agent.Delta:
			c.words.WriteString(e.Thinking + e.Text)
		case agent.Retrying:
			c.retries++
			if failed, _ := errors.AsType[*agent.ModelError](e.Err); failed == nil || failed.Status == http.StatusForbidden {
				c.t.Errorf("prompt %d: %v is tried again", c.prompts, e.Err)
			}
		}
	}
	c.see()
	done, ok := last.(agent.Done)
	if !ok || (done.Reason == agent.StopError) != (done.Err != nil) {
		c.t.Errorf("prompt %d ends with %#v", c.prompts, last)
		return
	}
	why := string(done.Reason)
	if failed, _ := errors.AsType[*agent.ModelError](done.Err); failed != nil {
		why = string(failed.Kind)
	}
	c.ends[why]++
}

var chaosWord = regexp.MustCompile(`w(\d+)\.(\d)`)

// see takes what was shown of one answer, with all attempts at it: words of one reply
// from its first on, each once.
func (c *chaos) see() {
	text := c.words.String()
	c.words.Reset()
	reply := -1
	for i, w := range chaosWord.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(w[1])
		if i == 0 {
			reply = n
			if _, again := c.shown[n]; again {
				c.t.Errorf("reply %d is shown twice", n)
			}
		}
		if n != reply || w[2] != strconv.Itoa(i) {
			c.t.Errorf("of reply %d was shown %q", reply, text)
		}
		c.shown[n] = i + 1
	}
}

func (c *chaos) checkServer() {
	for _, p := range c.server.problems {
		c.t.Error(p)
	}
	if c.requests != len(c.server.replies) {
		c.t.Errorf("the server had %d requests, and the person saw %d", len(c.server.replies), c.requests)
	}
	c.faults = map[string]int{}
	for _, r := range c.server.replies {
		c.faults[string(r.fault)]++
		if r.whole {
			c.whole++
		}
		if r.whole && c.shown[r.n] != r.words {
			c.t.Errorf("of the %d words of reply %d, which is whole, %d were shown", r.words, r.n, c.shown[r.n])
		}
	}
}

// checkCalls looks for each call in the files, in the journals and in what the server
// was sent later.
func (c *chaos) checkCalls() {
	files, records := readAll(c.t, c.dir), journalLines(c.t, c.journals)
	requests := strings.Join(c.server.bodies, "\n")
	for _, r := range c.server.replies {
		if r.sent < r.finish && strings.Contains(requests, fmt.Sprintf(`w%d.0`, r.n)) {
			c.t.Errorf("the text of reply %d, which was cut, is in the history", r.n)
		}
		for _, call := range r.calls {
			if call.marker == "" {
				continue
			}
			found := traces{
				strings.Count(files, call.marker), count(records["proposed"], call.marker),
				count(records["landed"], call.marker), count(records["tool_result"], call.marker),
			}
			c.landed += found.files
			if problem := c.judge(r, call, found); problem != "" {
				c.t.Errorf("call %s (%s, %d of %d bytes sent) %s: %+v", call.marker, r.fault, r.sent, len(r.body), problem, found)
			}
			if r.sent < r.finish && r.fault != faultWritten && (found.results > 0 || strings.Contains(requests, call.marker)) {
				c.t.Errorf("call %s of a cut reply is in the history", call.marker)
			}
		}
	}
}

// traces are how often a call is found in the files and in records.
type traces struct{ files, proposed, landed, results int }

// judge says what is wrong about what came of a call.
func (c *chaos) judge(r *chaosReply, call chaosCall, found traces) string {
	once := traces{1, 1, 1, 1}
	if call.file == "" {
		once = traces{results: 1}
	}
	switch {
	case r.whole && r.vague: // as if cut: a cut one would look the same
		c.lost++
		if found != (traces{}) {
			return "of a reply that may have been cut was done"
		}
	case r.whole && r.fault != faultWritten:
		if found != once {
			return "of a whole reply was not done once"
		}
	case r.fault == faultWritten || r.sent < r.finish || r.sent < call.end:
		c.lost++
		found.results = 0 // it may have been answered by an error
		if found != (traces{}) {
			return "of a cut reply was done"
		}
	default: // the reply said that it was finished, and then was cut
		c.open++
		if found != once && found != (traces{}) && found != (traces{results: 1}) {
			return "was done in part, or more than once"
		}
	}
	return ""
}

// checkRecords wants every journal in order, and one result for each call.
func (c *chaos) checkRecords() {
	for _, file := range journalFiles(c.t, c.journals) {
		f, err := os.Open(file)
		if err != nil {
			c.t.Fatal(err)
		}
		entries, warnings, err := journal.Read(f)
		_ = f.Close()
		if problems := journal.Verify(entries); err != nil || len(warnings) > 0 || len(problems) > 0 {
			c.t.Errorf("%s: %v %v %v", file, err, warnings, problems)
		}
		calls, results := map[string]int{}, map[string]int{}
		for _, e := range entries {
			switch r := e.Record.(type) {
			case agent.Appended:
				for _, u := range r.Message.ToolUses() {
					calls[u.ID]++
				}
			case agent.Answered:
				results[r.Use.ID]++
			}
		}
		for id, n := range calls {
			if n != 1 || results[id] != 1 {
				c.t.Errorf("%s: the call %s was made %d times and has %d results", file, id, n, results[id])
			}
		}
	}
}

// readAll is the text of all files of a folder.
func readAll(t *testing.T, dir string) string {
	var all strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func journalFiles(t *testing.T, dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no journals in %s: %v", dir, err)
	}
	return files
}

// journalLines are the lines of all journals by type, as they are on disk, but for
// the output of tools: a read shows what landed before.
func journalLines(t *testing.T, dir string) map[string][]string {
	lines := map[string][]string{}
	for _, file := range journalFiles(t, dir) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if _, rest, ok := strings.Cut(line, `"type":"`); ok {
				kind, _, _ := strings.Cut(rest, `"`)
				line, _, _ = strings.Cut(line, `,"output":`)
				lines[kind] = append(lines[kind], line)
			}
		}
	}
	return lines
}

// count is how many lines hold a text.
func count(lines []string, text string) (n int) {
	for _, l := range lines {
		if strings.Contains(l, text) {
			n++
		}
	}
	return n
}
