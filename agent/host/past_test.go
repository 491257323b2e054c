package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/host"
	"assent/agent/journal"

	"pgregory.net/rapid"
)

// TestRandomPast has random models, cancels, kills, steers and full windows meet one
// session with its journal on disk. Whatever came before, each request is one that
// strict servers take and holds what the person said last, nothing runs twice, what is
// taken up from any byte prefix of the journal is what the live session had, and in the
// end the session answers. -rapid.checks=N sets the number of pasts.
func TestRandomPast(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		p := &past{random: rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)), dir: filepath.Join(dir, fmt.Sprint(n)), runs: map[string]int{}}
		synctest.Test(t, func(t *testing.T) { p.live(t) }) // waits before a retry cost nothing
		if len(p.faults) > 0 {
			rt.Fatalf("promise broken: %s", strings.Join(p.faults, "\n"))
		}
		if err := os.RemoveAll(p.dir); err != nil {
			rt.Fatal(err)
		}
	})
}

// TestEveryBytePrefixIsThePastOfASession cuts a journal with a compaction in it at each
// eighth byte and around each line end (ASSENT_PREFIXES=all: at each byte): what is read
// is what the live session had at that moment.
func TestEveryBytePrefixIsThePastOfASession(t *testing.T) {
	p := &past{random: rand.New(rand.NewPCG(1, 1)), dir: t.TempDir(), runs: map[string]int{}, window: 2400, step: 8}
	if os.Getenv("ASSENT_PREFIXES") == "all" {
		p.step = 1
	}
	n := 0
	p.next = func() agent.Message {
		if n++; n%7 == 0 {
			return agenttest.Say("part done")
		}
		first, second := agenttest.Use("", "look", fmt.Sprintf(`{"nonce":"%d","bytes":900}`, n)), agenttest.Use("", "no_such_tool", "{}")
		return agenttest.Call(first, second)
	}
	opts := p.options()
	opts.MaxTurns, opts.Window = 20, 2400
	p.host = host.New(opts)
	work := t.TempDir()
	var err error
	if p.session, err = p.host.Start(t.Context(), setup(work, host.ModeAsk)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"the first", "the second"} {
		p.say(text)
		run(t, p.session, text)
	}
	data := p.journal(t)
	if !bytes.Contains(data, []byte(`"type":"compacted"`)) {
		t.Error("nothing was put in short")
	}
	p.checkPrefixes(t)
	closed(t, p.host)
	for _, f := range p.faults {
		t.Error(f)
	}
}

// past is one session and what is known of it from outside.
type past struct {
	dir string

	mu       sync.Mutex
	random   *rand.Rand
	window   int // tokens that the server takes
	calm     bool
	damaged  bool                 // the journal is not what a session wrote
	next     func() agent.Message // what the model says, instead of anything
	step     int                  // of the bytes of the journal that are looked at; 0: a few
	newest   string
	requests [][]agent.Message // as the model saw them, without those for summaries; nil: in plain text
	live0    int               // of them, before this process
	runs     map[string]int    // calls that were done, by their nonce
	nonce    int
	faults   []string

	host    *host.Host
	session *host.Session
}

func (p *past) pick(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.random.IntN(n)
}

func (p *past) fault(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

func (p *past) options() host.Options {
	return host.Options{
		JournalDir: filepath.Join(p.dir, "journal"), Model: p, Tools: []agent.Tool{p.tool("look", agent.TierRead), p.tool("do", agent.TierRun), replace{}},
		MaxTurns: 2 + p.pick(12), Window: []int{0, 3000, 100000}[p.pick(3)],
	}
}

// live is the life of a session: prompts, and processes that end between and in them.
func (p *past) live(t *testing.T) {
	work := filepath.Join(p.dir, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.window = 2500 + p.pick(3000)
	p.host = host.New(p.options())
	var err error
	if p.session, err = p.host.Start(t.Context(), setup(work, host.ModeAsk)); err != nil {
		t.Fatal(err)
	}
	for i := range 2 + p.pick(6) {
		if killed := p.prompt(t, fmt.Sprintf("prompt %d", i)); killed != nil {
			p.takeUp(t, work, killed)
		}
	}
	p.calm = true
	p.prompt(t, "now be calm")
	p.checkPrefixes(t)
	closed(t, p.host)
}

// prompt runs one prompt, during which the person may cancel, steer, or the process be
// killed; then it returns the journal as the killed process left it.
func (p *past) prompt(t *testing.T, text string) (journalThen []byte) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop, how := -1, p.pick(3)
	if how > 0 && !p.calm {
		stop = p.pick(30)
	}
	p.say(text)
	n := 0
	for e, err := range p.session.Run(ctx, agent.UserText(text)) {
		if err != nil {
			p.fault("%s: %v", text, err)
			break
		}
		if d, ok := e.(agent.Done); ok && (p.calm && d.Reason != agent.StopComplete || d.Reason != agent.StopComplete && d.Explain() == "") {
			p.fault("%s ended with %+v", text, d)
		}
		if _, asked := e.(agent.Requested); asked && !p.calm && p.pick(6) == 0 {
			steer := fmt.Sprintf("%s, steer %d", text, n)
			if _, err := p.session.Steer(steer); err != nil && !errors.Is(err, agent.ErrIdle) && !errors.Is(err, agent.ErrEnding) {
				p.fault("steer: %v", err)
			}
		}
		if a, ok := e.(agent.Appended); ok && a.Message.Role == agent.RoleUser && a.Message.Text() != "" {
			p.say(a.Message.Text())
		}
		if n == stop && how == 1 {
			cancel()
		}
		if n == stop && how == 2 {
			journalThen = p.journal(t)
			break
		}
		n++
	}
	synctest.Wait()
	return journalThen
}

func (p *past) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest = text
}

func (p *past) journal(t *testing.T) []byte {
	data, err := os.ReadFile(p.session.Journal)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// takeUp goes on in another process with what the killed one left: perhaps without
// the end of its last line.
func (p *past) takeUp(t *testing.T, work string, left []byte) {
	p.checkPrefixes(t)
	closed(t, p.host)
	switch p.pick(6) {
	case 0, 1, 2:
		left = left[:len(left)-p.pick(min(200, len(left)))]
	case 3:
		left = p.damage(left)
	}
	if err := os.WriteFile(p.session.Journal, left, 0o600); err != nil {
		t.Fatal(err)
	}
	p.host = host.New(p.options())
	session, err := p.host.Resume(t.Context(), p.session.ID, setup(work, host.ModeAsk))
	if err != nil {
		t.Fatal(err)
	}
	p.session = session
	p.mu.Lock()
	defer p.mu.Unlock()
	entries, _, _ := journal.Read(bytes.NewReader(left))
	p.live0 = len(entries)
	p.requests = nil
}

// damage loses a line, has it twice, moves it, or empties what it says, as a bad disk or
// a helpful hand may. The first one stays.
func (p *past) damage(left []byte) []byte {
	p.damaged = true
	lines := bytes.SplitAfter(left, []byte("\n"))
	for range 1 + p.pick(6) {
		if len(lines) < 4 {
			break
		}
		i := 1 + p.pick(len(lines)-2)
		switch p.pick(4) {
		case 0:
			lines = append(lines[:i], lines[i+1:]...)
		case 1:
			lines = append(lines[:i+1], append([][]byte{lines[i]}, lines[i+1:]...)...)
		case 2:
			j := 1 + p.pick(len(lines)-2)
			lines[i], lines[j] = lines[j], lines[i]
		case 3:
			for j := i; j < min(i+10, len(lines)); j++ {
				lines[j] = emptied.ReplaceAll(lines[j], []byte(`"$1":""`))
				lines[j] = broken.ReplaceAll(lines[j], []byte(`"input":["no object"]`))
			}
		}
	}
	return bytes.Join(lines, nil)
}

var (
	emptied = regexp.MustCompile(`"(text|output)":"[^"]*"`)
	broken  = regexp.MustCompile(`"input":\{[^}]*\}`)
)

// checkPrefixes compares what is read from the journal, cut at every line and in lines,
// with what the live session sent. The reference starts from the requests themselves.
func (p *past) checkPrefixes(t *testing.T) {
	if p.damaged { // the request is mended, the journal is not
		return
	}
	data := p.journal(t)
	entries, _, err := journal.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	ends := []int{0} // of lines, of which some may be torn and hold no record
	for i, b := range data {
		if b == '\n' {
			ends = append(ends, i+1)
		}
	}
	var want []agent.Message
	known := false
	requests := p.requests
	for i, e := range entries {
		if i < p.live0 {
			continue
		}
		from, at := ends[e.Line-1], ends[e.Line]
		switch r := e.Record.(type) {
		case agent.Requested:
			if !r.Compacting && len(requests) > 0 {
				if requests[0] != nil {
					want, known = requests[0], true
				}
				requests = requests[1:]
			}
		case agent.Compacted:
			if known = len(requests) > 0 && asksNext(entries[i+1:]); known {
				want = requests[0]
			}
		case agent.Appended:
			want = append(want[:len(want):len(want)], r.Message)
		case agent.Answered:
			want = withResult(want, r.Result)
		}
		if !known || p.step == 0 && p.pick(4) > 0 { // not all of them, for the sake of time
			continue
		}
		before := journal.History(entries[:i])
		cuts := []int{from, from + 1 + p.pick(at-from-1), at - 1, at}
		for cut := from + 1; p.step > 0 && cut < at-1; cut += p.step {
			cuts = append(cuts, cut)
		}
		for _, cut := range cuts {
			got, _, err := journal.Read(bytes.NewReader(data[:cut]))
			if err != nil {
				t.Fatal(err)
			}
			if cut < at-1 && !same(journal.History(got), before) || cut >= at-1 && !same(journal.History(got), want) {
				p.fault("after record %d (%s) of %d the journal has %s", i, e.Type, len(entries), difference(journal.History(got), want))
				return
			}
		}
	}
}

// asksNext reports whether the model is asked before the history changes again.
func asksNext(entries []journal.Entry) bool {
	for _, e := range entries {
		switch r := e.Record.(type) {
		case agent.Requested:
			if !r.Compacting {
				return true
			}
		case agent.Appended, agent.Answered, agent.Compacted:
			return false
		}
	}
	return false
}

func withResult(history []agent.Message, result agent.ToolResult) []agent.Message {
	out := append([]agent.Message(nil), history...)
	if n := len(out) - 1; n >= 0 && out[n].Role == agent.RoleTool {
		out[n].Blocks = append(append([]agent.Block(nil), out[n].Blocks...), result)
		return out
	}
	return append(out, agent.Message{Role: agent.RoleTool, Blocks: []agent.Block{result}})
}

// difference is the first message that is not the same.
func difference(got, want []agent.Message) string {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !reflect.DeepEqual(got[i], want[i]) {
			return fmt.Sprintf("%d messages, the live session %d, from the %dth on:\n%.900s\nand\n%.900s", len(got), len(want), i, fmt.Sprintf("%+v", got[min(i, len(got)):]), fmt.Sprintf("%+v", want[min(i, len(want)):]))
		}
	}
	return "the same"
}

func same(a, b []agent.Message) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}
