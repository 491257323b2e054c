//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"syscall"
)

// noWait keeps an open from waiting for the other end of a pipe.
const noWait = syscall.O_NONBLOCK

// keepOwner gives a file the owner and group of another. Only the group has to
// be kept, for the permission bits of the group to mean the same.
func keepOwner(f *os.File, from fs.FileInfo) (groupKept bool) {
	want, ok := from.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	if f.Chown(int(want.Uid), int(want.Gid)) == nil || f.Chown(-1, int(want.Gid)) == nil {
		return true
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}
	have, ok := info.Sys().(*syscall.Stat_t)
	return ok && have.Gid == want.Gid
}
