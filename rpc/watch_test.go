package rpc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"assent/rpc"
)

// child is this binary as another process. It ends when its input does, if it is
// not ended before.
func child(role string) int {
	switch role {
	case "parent": // of a process that watches it
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"=watcher")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			return 1
		}
		_ = cmd.Wait()
	case "watcher":
		conn := rpc.New(os.Stdin, io.Discard, rpc.Options{})
		fmt.Println("watching:", conn.WatchProcess(os.Getppid()))
		fmt.Println("broken:", errors.Is(conn.Serve(context.Background(), standard()), rpc.ErrBroken))
	default:
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	return 0
}

// spawn starts a child and returns what it prints.
func spawn(t *testing.T, role string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	// Not StdoutPipe, which Wait would close before a grandchild has printed.
	out, childOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = childOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	childOut.Close()
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		out.Close()
	})
	if err := out.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Log(err)
	}
	return cmd, bufio.NewReader(out)
}

func printed(t *testing.T, out *bufio.Reader, want string) {
	t.Helper()
	if got, err := out.ReadString('\n'); got != want+"\n" {
		t.Fatalf("%q was printed; want %q (%v)", got, want, err)
	}
}

func TestTheEndOfTheWatchedProcessEndsTheConnection(t *testing.T) {
	cmd, out := spawn(t, "plain")
	printed(t, out, "ready")
	c := connect(t, rpc.Options{}, standard())
	if !c.WatchProcess(cmd.Process.Pid) {
		t.Fatal("the process is not watched")
	}
	c.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}`, ping)
	c.expect(pong)
	go io.Copy(io.Discard, c.lines)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := c.within(2 * time.Second); !errors.Is(err, rpc.ErrBroken) {
		t.Errorf("Serve = %v", err)
	}
	if c.WatchProcess(cmd.Process.Pid) {
		t.Error("a process that is gone is watched")
	}
}

// The parent stays a zombie here until the test ends.
func TestAParentThatIsDeadButNotBuriedEndsTheConnection(t *testing.T) {
	cmd, out := spawn(t, "parent")
	printed(t, out, "watching: true")
	began := time.Now()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	printed(t, out, "broken: true")
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestWhatIsNoProcessIsNotWatched(t *testing.T) {
	c := connect(t, rpc.Options{}, standard())
	for _, pid := range []int{0, -1, -os.Getpid(), 1<<22 + 1} { // the last is above what Linux gives
		if c.WatchProcess(pid) {
			t.Errorf("%d is watched", pid)
		}
	}
	if !c.WatchProcess(os.Getpid()) || !c.WatchProcess(os.Getppid()) {
		t.Error("a living process is not watched")
	}
	c.send(ping)
	c.expect(pong)
}
