//go:build unix

package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// brokenPipe is the signal that comes with a write that nobody reads.
func brokenPipe() []os.Signal { return []os.Signal{syscall.SIGPIPE} }

// takeOutput keeps standard output for the protocol alone: what any code prints
// there from now on, ours or a library's or a child's, goes to standard error.
func takeOutput(std streams) (*os.File, error) {
	fd, err := unix.FcntlInt(std.out.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := redirect(int(std.err.Fd()), int(std.out.Fd())); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "stdout"), nil
}
