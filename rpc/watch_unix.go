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
func Hungup(f *os.File) (hungup bool) {
	conn, err := f.SyscallConn() // f.Fd would make the file block, for all who have it
	if err != nil {
		return false
	}
	_ = conn.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(poll, 0)
		hungup = err == nil && n > 0 && poll[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
	return hungup
}
