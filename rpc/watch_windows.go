package rpc

import (
	"os"

	"golang.org/x/sys/windows"
)

func alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return err == windows.ERROR_ACCESS_DENIED
	}
	defer windows.CloseHandle(h)
	state, err := windows.WaitForSingleObject(h, 0)
	return err != nil || state == uint32(windows.WAIT_TIMEOUT)
}

// Hungup can't be found out here; a write fails then.
func Hungup(*os.File) bool { return false }
