package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropTyped drops what was typed and not yet read. If that fails, the terminal
// is none, and nothing was typed.
func dropTyped(tty *os.File) {
	_ = unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
