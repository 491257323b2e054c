//go:build !unix

package workspace

import (
	"io/fs"
	"os"
)

const noWait = 0

// keepsMode says that all bits of a mode can be set.
const keepsMode = false

// keepOwner has nothing to do: the directory gives a new file its owner.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

// hardLinks is not known without another look.
func hardLinks(fs.FileInfo) uint64 { return 1 }
