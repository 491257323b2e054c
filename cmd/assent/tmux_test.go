package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pane is a program in tmux, as a person has it: keys go in, and the screen is
// read.
type pane struct {
	t      *testing.T
	socket string
}

// patience is how long a screen may take to show what is to come.
const patience = time.Minute

// newPane runs a program in a directory. The environment is what is given, and
// nothing else.
func newPane(t *testing.T, dir string, env []string, program ...string) *pane {
	t.Helper()
	// Not in the directory of the test, whose name may be too long for a socket.
	short, err := os.MkdirTemp("", "tmux")
	if err != nil {
		t.Fatal(err)
	}
	x := &pane{t, filepath.Join(short, "s")}
	command := []string{"-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", "-c", dir, "env", "-i", "TERM=screen"}
	if out, err := x.tmux(append(append(command, env...), program...)...); err != nil {
		t.Fatalf("tmux: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen:\n%s", x.screen())
		}
		x.hangUp()
		_ = os.RemoveAll(short)
	})
	return x
}

// hangUp ends the program as the end of a terminal does, and waits for that: an editor
// writes files until then. tmux ends with it.
func (x *pane) hangUp() {
	pid, err := x.tmux("display-message", "-p", "#{pane_pid}")
	if err != nil {
		return // it has ended
	}
	_ = exec.Command("kill", "-HUP", strings.TrimSpace(pid)).Run()
	if !eventually(patience, func() bool { _, err := x.tmux("has-session"); return err != nil }) {
		x.t.Error("the program does not end when its terminal hangs up")
		_, _ = x.tmux("kill-server")
	}
}

func (x *pane) tmux(args ...string) (string, error) {
	out, err := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...).CombinedOutput()
	return string(out), err
}

// screen is what can be read, without blanks at the ends of its lines.
func (x *pane) screen() string {
	out, err := x.tmux("capture-pane", "-p")
	if err != nil {
		return fmt.Sprintf("(no screen: %v)", err)
	}
	return strings.TrimRight(out, "\n ")
}

// keys presses keys by their tmux names; what begins with "=" is typed as it stands.
func (x *pane) keys(keys ...string) {
	x.t.Helper()
	for _, k := range keys {
		args := []string{"send-keys", k}
		if text, ok := strings.CutPrefix(k, "="); ok {
			args = []string{"send-keys", "-l", text}
		}
		if out, err := x.tmux(args...); err != nil {
			x.t.Fatalf("tmux: %v: %s", err, out)
		}
	}
}

// shows waits for a text on the screen, and returns false if it does not come.
func (x *pane) shows(text string, limit time.Duration) bool {
	return eventually(limit, func() bool { return strings.Contains(x.screen(), text) })
}

// await is shows where the test can't go on without the text.
func (x *pane) await(text string) {
	x.t.Helper()
	if !x.shows(text, patience) {
		x.t.Fatalf("the screen does not show %q", text)
	}
}

// eventually looks again and again: neither a screen nor a file says when it changes.
func eventually(limit time.Duration, ready func() bool) bool {
	for end := time.Now().Add(limit); !ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
