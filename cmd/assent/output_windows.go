package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// brokenPipe is none: here such a write just fails.
func brokenPipe() []os.Signal { return nil }

// takeOutput keeps standard output for the protocol alone: what a child inherits
// from now on is standard error.
func takeOutput(std streams) (*os.File, error) {
	err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(std.err.Fd()))
	return std.out, err
}
