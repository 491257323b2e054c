package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// childEnv makes the test binary a process that holds a journal: it prints a
// line for each record that it wrote, until its standard input ends.
const childEnv = "ASSENT_JOURNAL_TEST_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		if err := child(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(path string) error {
	r, _, _, err := Open(path, Options{})
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // the parent has gone
		os.Exit(1)
	}()
	for n := 1; ; n++ {
		if err := r.Append(user(fmt.Sprint("record ", n))); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, path string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
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
	p := &process{t, cmd, bufio.NewScanner(out)}
	t.Cleanup(p.kill)
	return p
}

// await returns once the process has written n records.
func (p *process) await(n int) {
	p.t.Helper()
	for range n {
		if !p.lines.Scan() {
			p.t.Fatal("the child ended")
		}
	}
}

// kill ends the process as a crash would, and returns once it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func wantLocked(t *testing.T, pid int, err error) {
	t.Helper()
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != pid || !strings.Contains(err.Error(), fmt.Sprint(pid)) {
		t.Errorf("error %v, want one that names process %d", err, pid)
	}
}

// B08: never two writers, also through another name of the file.
func TestAJournalHasOneWriter(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "real", "s.jsonl")
	r := mustCreate(t, path, Options{})
	mustClose(t, r)
	link, folder := filepath.Join(dir, "link.jsonl"), filepath.Join(dir, "folder")
	for name, target := range map[string]string{link: path, folder: filepath.Dir(path)} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{path, link, filepath.Join(folder, "s.jsonl")}

	t.Run("in another process", func(t *testing.T) {
		p := startChild(t, link)
		p.await(1)
		for _, name := range names {
			_, _, _, err := Open(name, Options{})
			wantLocked(t, p.cmd.Process.Pid, err)
		}
		_, err := Create(names[2], Options{})
		wantLocked(t, p.cmd.Process.Pid, err)
	})
	t.Run("in this process", func(t *testing.T) {
		for _, mine := range names {
			r, _, _ := mustOpen(t, mine, Options{})
			if r.Path() != path {
				t.Errorf("path %s, want %s", r.Path(), path)
			}
			for _, name := range names {
				_, _, _, err := Open(name, Options{})
				wantLocked(t, os.Getpid(), err)
			}
			mustClose(t, r)
		}
	})
}

func TestAKilledProcessLosesNothingAndBlocksNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	mustClose(t, mustCreate(t, path, Options{}))
	const written = 200
	p := startChild(t, path)
	p.await(written)
	p.kill()
	if _, err := os.Stat(path + ".lock"); err != nil {
		t.Errorf("the killed process left no lock file: %v", err)
	}
	r, entries, _ := mustOpen(t, path, Options{})
	if len(entries) < written {
		t.Errorf("%d records, but %d were written", len(entries), written)
	}
	mustAppend(t, r, user("go on"))
	_, _, _, err := Open(path, Options{})
	wantLocked(t, os.Getpid(), err)
}

func TestCloseLeavesNoLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	r := mustCreate(t, path, Options{})
	mustClose(t, r)
	mustClose(t, r)
	if _, err := os.Stat(path + ".lock"); err == nil {
		t.Error("the lock file is still there")
	}
}

func TestALockFileOfAnyContentDoesNotBlock(t *testing.T) {
	for _, content := range []string{"", "1", "\x00999999999999999999999999", "garbage\n", "\x001                   \n"} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		writeFile(t, path+".lock", content)
		r := mustCreate(t, path, Options{})
		_, _, _, err := Open(path, Options{})
		wantLocked(t, os.Getpid(), err)
		mustClose(t, r)
	}
}

func TestALockWithoutAnOwnerStillSaysWhatToDo(t *testing.T) {
	err := (&LockedError{Path: "/j"}).Error()
	if !strings.Contains(err, "/j") || !strings.Contains(err, "fork") {
		t.Error(err)
	}
	if pid := lockOwner(filepath.Join(t.TempDir(), "none")); pid != 0 {
		t.Errorf("owner %d of nothing", pid)
	}
}
