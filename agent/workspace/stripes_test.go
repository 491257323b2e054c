package workspace_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/workspace"
)

// numbered is a text of so many lines that all differ.
func numbered(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d\n", i)
	}
	return lines
}

// share opens one more workspace on the same folder.
func (w world) share() world {
	w.Helper()
	ws, err := workspace.Open(w.app)
	w.must(err)
	w.Cleanup(func() { ws.Close() })
	w.must(ws.ShareLandings(filepath.Join(w.dir, "locks")))
	w.Workspace = ws
	return w
}

// lineEdit changes one line of a text that f has now.
func (w world) lineEdit(lines []string, i int) (agent.Edit, agent.Approval) {
	w.Helper()
	old := strings.Join(lines, "")
	at := len(strings.Join(lines[:i], ""))
	e := agent.Edit{Path: w.path("f"), Kind: agent.EditText, Base: agent.HashText(old), Old: old,
		Hunks: []agent.Hunk{agent.NewHunk(at, lines[i], fmt.Sprintf("changed %d\n", i))}}
	return e, agenttest.Approve(w.T, e)
}

func TestLandingsThroughTwoWorkspacesLoseNothing(t *testing.T) {
	const n = 40 // more changes than that the comparison of texts takes for one block
	lines := numbered(2 * n)
	w := newWorld(t, map[string]string{"f": strings.Join(lines, "")})
	both := [2]world{w.share(), w.share()}
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		e, ok := w.lineEdit(lines, 2*i) // every other line, so that no two touch
		wg.Go(func() {
			<-start
			if l, err := both[i%2].Apply(t.Context(), ok, e); err != nil || l.Status != agent.LandComplete {
				t.Errorf("landing = %+v, %v", l, err)
			}
		})
	}
	close(start)
	wg.Wait()
	w.allChanged(n)
	w.clean(".")
	if info, err := os.Stat(filepath.Join(w.dir, "locks")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the locks are at %v, %v", info, err)
	}
}

func (w world) allChanged(n int) {
	w.Helper()
	text := w.get("f")
	for i := range n {
		if !strings.Contains(text, fmt.Sprintf("changed %d\n", 2*i)) {
			w.Errorf("landing %d was reported and is not in the text", i)
		}
	}
}

// The second process is this test again.
func TestLandingsOfTwoProcessesLoseNothing(t *testing.T) {
	const n = 40
	lines := numbered(2 * n)
	if dir := os.Getenv("ASSENT_TEST_LAND_IN"); dir != "" {
		w := world{T: t, dir: dir, app: filepath.Join(dir, "app")}.share()
		landHalf(w, lines, 1, func() {
			fmt.Println("ready")
			bufio.NewReader(os.Stdin).ReadString('\n')
		})
		return
	}
	w := newWorld(t, map[string]string{"f": strings.Join(lines, "")})
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLandingsOfTwoProcessesLoseNothing$", "-test.v")
	other.Env = append(os.Environ(), "ASSENT_TEST_LAND_IN="+w.dir)
	in, err := other.StdinPipe()
	w.must(err)
	out, err := other.StdoutPipe()
	w.must(err)
	w.must(other.Start())
	from := bufio.NewReader(out)
	landHalf(w.share(), lines, 0, func() {
		for line := ""; line != "ready\n"; {
			line, err = from.ReadString('\n')
			w.must(err)
		}
		_, err = in.Write([]byte("go\n"))
		w.must(err)
	})
	said, err := io.ReadAll(from)
	w.must(err)
	if err := other.Wait(); err != nil {
		t.Errorf("the other process: %v\n%s", err, said)
	}
	w.allChanged(n)
}

// landHalf lands each second of the edits, once all are there and it may begin.
func landHalf(w world, lines []string, half int, begin func()) {
	w.Helper()
	var edits []agent.Edit
	var oks []agent.Approval
	for i := half * 2; i < len(lines); i += 4 {
		e, ok := w.lineEdit(lines, i)
		edits, oks = append(edits, e), append(oks, ok)
	}
	begin()
	for i, e := range edits {
		if l, err := w.Apply(w.Context(), oks[i], e); err != nil || l.Status != agent.LandComplete {
			w.Errorf("landing = %+v, %v", l, err)
		}
	}
}

func TestAWaitForAnotherWorkspaceEndsWithItsContext(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	one, two := w.share(), w.share()
	e := w.edit("f", "b\n")
	moved := w.renaming("g", "f") // which takes the lock of f too
	ok, okMoved := agenttest.Approve(t, e), agenttest.Approve(t, moved)
	ctx := &meddler{Context: t.Context(), do: func(call int) {
		if w.get("f") != "a\n" || call < 2 { // the first is asked before the lock is had
			return
		}
		for _, second := range []struct {
			e  agent.Edit
			ok agent.Approval
		}{{e, ok}, {moved, okMoved}} {
			waiting, cancel := context.WithCancel(t.Context())
			asked := &meddler{Context: waiting, do: func(int) {}}
			asked.do = func(int) { go cancel() }
			l, err := two.Apply(asked, second.ok, second.e)
			w.must(err)
			w.failed(l, "cancelled before it landed")
		}
	}}
	l, err := one.Apply(ctx, ok, e)
	w.must(err)
	w.landed(l, e)
	if ctx.calls < 2 {
		t.Errorf("the context was asked %d times", ctx.calls)
	}
}

func TestARenameThatChangesOnlyCaseLocksOnce(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"}).share()
	if l := w.apply(w.renaming("f", "F")); l.Status != agent.LandComplete {
		t.Errorf("landing = %+v", l)
	}
	w.has("F", "a\n")
}

func TestLandingsThatCannotBeLockedDoNotLand(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n", "../file": ""})
	if err := w.ShareLandings(filepath.Join(w.dir, "file", "locks")); err == nil {
		t.Error("a directory below a file was made")
	}
	w = w.share()
	w.must(os.RemoveAll(filepath.Join(w.dir, "locks")))
	w.failed(w.apply(w.edit("f", "b\n")), "lock")
	w.has("f", "a\n")
}
