//go:build unix

package rpc

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func alive(pid int) bool { return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

// Hungup reports whether nobody has the other end of a pipe or socket open for
// reading any more.
func Hungup(f *os.File) bool {
	poll := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n > 0 && poll[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
