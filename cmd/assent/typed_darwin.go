package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropTyped drops what was typed and not yet read. If that fails, the terminal
// is none, and nothing was typed.
func dropTyped(tty *os.File) {
	const fread = 1 // the input side, <sys/fcntl.h>
	_ = unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCFLUSH, fread)
}
