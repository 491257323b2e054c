package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// The tests run this binary as assent, in a real process.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"assent": main, "noisy": noisy})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
			env.Setenv("TERM", "xterm")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"talk": talk,
			"exit": exits,
		},
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// exits runs a command and wants an exit code: exit CODE command [args...].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE command [args...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	checkCode(ts, args[0], err)
}

func checkCode(ts *testscript.TestScript, want string, err error) {
	code := 0
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		code = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if got := strconv.Itoa(code); got != want {
		ts.Fatalf("exit code %s, want %s", got, want)
	}
}

// talk runs a command in a terminal of its own and speaks with it: talk CODE
// dialog command [args...]. In the dialog file a line "> text" waits until the
// command has printed text, "< text" types a line, "^C" and "^D" type that
// key, and "$ file name" writes a file of the script over another. The screen can then be examined with stdout.
func talk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: talk CODE dialog command [args...]")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // a dialog that hangs fails
	defer cancel()
	cmd := exec.CommandContext(ctx, lookPath(ts, args[2]), args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, key := range []string{"PATH", "HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TERM", "NO_COLOR", "EDITOR", "TMPDIR", "ASSENT_PROVIDER", "ASSENT_MODEL"} {
		cmd.Env = append(cmd.Env, key+"="+ts.Getenv(key))
	}
	screen := &screen{}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200})
	ts.Check(err)
	defer tty.Close()
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		line = strings.TrimRight(line, "\n")
		kind, text, _ := strings.Cut(line, " ")
		switch {
		case line == "" || kind == "#":
		case kind == ">":
			if err := screen.wait(tty, text); err != nil {
				_ = cmd.Process.Kill()
				ts.Fatalf("waiting for %q: %v; the screen was:\n%s", text, err, screen.all)
			}
		case kind == "<":
			_, err = io.WriteString(tty, text+"\n")
			ts.Check(err)
		case kind == "$":
			from, to, _ := strings.Cut(text, " ")
			ts.Check(os.WriteFile(ts.MkAbs(to), []byte(ts.ReadFile(from)), 0o644))
		case kind == "^C":
			_, err = tty.Write([]byte{3})
			ts.Check(err)
		case kind == "^D":
			_, err = tty.Write([]byte{4})
			ts.Check(err)
		default:
			ts.Fatalf("%s: a line of a dialog begins with >, <, $, ^C, ^D or #: %q", args[1], line)
		}
	}
	_ = screen.wait(tty, "\x00 until the end")
	_, err = ts.Stdout().Write(screen.plain())
	ts.Check(err)
	checkCode(ts, args[0], cmd.Wait())
}

func lookPath(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if file := filepath.Join(dir, name); isFile(file) {
			return file
		}
	}
	ts.Fatalf("there is no command %q", name)
	return ""
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// screen is what a command printed.
type screen struct {
	all  []byte
	seen int // what earlier waits have matched
}

// wait reads until text came after what was waited for before.
func (s *screen) wait(r io.Reader, text string) error {
	buf := make([]byte, 4096)
	for {
		if i := bytes.Index(s.all[s.seen:], []byte(text)); i >= 0 {
			s.seen += i + len(text)
			return nil
		}
		n, err := r.Read(buf)
		s.all = append(s.all, buf[:n]...)
		if err != nil && n == 0 {
			return err
		}
	}
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// plain is the screen without colours, its lines ended as in a file.
func (s *screen) plain() []byte {
	return bytes.ReplaceAll(colours.ReplaceAll(s.all, nil), []byte("\r\n"), []byte("\n"))
}
