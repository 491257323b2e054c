//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// noWait keeps an open from waiting for the other end of a pipe.
const noWait = syscall.O_NONBLOCK

// keepsMode says that all bits of a mode can be set.
const keepsMode = true

// keepOwner gives a file the owner and group of another, or fails.
func keepOwner(f *os.File, from fs.FileInfo) error {
	want, ok := from.Sys().(*syscall.Stat_t)
	if !ok {
		return cannotKeep("owner", errors.New("the system does not tell it"))
	}
	info, err := f.Stat()
	if err != nil {
		return writing(err)
	}
	have, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return cannotKeep("owner", errors.New("the system does not tell it"))
	}
	// Only where they differ: not every file system has owners to give.
	if have.Uid != want.Uid {
		if err := f.Chown(int(want.Uid), -1); err != nil {
			return cannotKeep("owner", err)
		}
	}
	if have.Gid != want.Gid {
		if err := f.Chown(-1, int(want.Gid)); err != nil {
			return cannotKeep("group", err)
		}
	}
	return nil
}

// hardLinks is how many names a file has.
func hardLinks(info fs.FileInfo) uint64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(stat.Nlink)
}
