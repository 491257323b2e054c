//go:build !linux

package workspace

import "os"

// keepAttributes keeps none: what they are differs from system to system.
func keepAttributes(_, _ *os.File) error { return nil }
