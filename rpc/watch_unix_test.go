//go:build unix

package rpc_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"assent/rpc"
)

func TestAPipeIsHungUpWhenItsReadEndIsClosed(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if rpc.Hungup(w) {
		t.Error("an open pipe is hung up")
	}
	if err := w.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Errorf("asking has made the pipe block: %v", err)
	}
	fill(t, w)
	if rpc.Hungup(w) {
		t.Error("a full pipe is hung up")
	}
	r.Close()
	if !rpc.Hungup(w) {
		t.Error("a closed pipe is not hung up")
	}
	w.Close()
	if rpc.Hungup(w) {
		t.Error("our own end is closed, which says nothing of the other")
	}
}

// fill writes until nothing more fits.
func fill(t *testing.T, w *os.File) {
	t.Helper()
	if err := w.SetWriteDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 4<<20)); !os.IsTimeout(err) {
		t.Fatalf("Write = %v", err)
	}
}

func TestASocketIsHungUpWhenTheOtherEndIsClosed(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	defer ours.Close()
	if rpc.Hungup(ours) {
		t.Error("an open socket is hung up")
	}
	theirs.Close()
	if !rpc.Hungup(ours) {
		t.Error("a closed socket is not hung up")
	}
}

func TestAFileIsNeverHungUp(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if rpc.Hungup(f) || rpc.Hungup(null) {
		t.Error("it is")
	}
}
