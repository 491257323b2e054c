package workspace

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"unsafe"
)

// accessList is the attribute that holds a POSIX access list. Without it a file
// is wider open than it was: its group bits then are those of the list's mask.
const accessList = "system.posix_acl_access"

// keepAttributes gives a file the access list and the user's attributes of
// another, by descriptor, so that no path can lead elsewhere.
func keepAttributes(to, from *os.File) error {
	names, err := attributeNames(from)
	if err != nil {
		return cannotKeep("attributes", err)
	}
	for _, name := range names {
		value, found, err := attribute(from, name)
		if err == nil && found {
			err = setAttribute(to, name, value)
		}
		if err != nil {
			return cannotKeep("attribute "+name, err)
		}
	}
	list, found, err := attribute(from, accessList)
	switch {
	case err != nil:
	case found:
		err = setAttribute(to, accessList, list)
	default:
		// The directory may have given the new file a list of its own.
		if err = removeAttribute(to, accessList); none(err) {
			err = nil
		}
	}
	if err != nil {
		return cannotKeep("access list", err)
	}
	return nil
}

// none reports whether an error says that there is no such attribute, or none on
// this file system.
func none(err error) bool { return errors.Is(err, syscall.ENODATA) || errors.Is(err, syscall.ENOTSUP) }

// maxAttribute is the largest attribute, and the largest list of names, in bytes.
const maxAttribute = 64 << 10

// attributeNames lists the user's attributes.
func attributeNames(f *os.File) ([]string, error) {
	buf := make([]byte, maxAttribute)
	n, _, errno := syscall.Syscall(syscall.SYS_FLISTXATTR, f.Fd(), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	if errno != 0 && !none(errno) {
		return nil, errno
	}
	if errno != 0 {
		return nil, nil
	}
	var names []string
	for name := range strings.SplitSeq(string(buf[:n]), "\x00") {
		if strings.HasPrefix(name, "user.") {
			names = append(names, name)
		}
	}
	return names, nil
}

func attribute(f *os.File, name string) (value []byte, found bool, err error) {
	buf := make([]byte, maxAttribute)
	n, err := onAttribute(syscall.SYS_FGETXATTR, f, name, buf)
	if none(err) {
		return nil, false, nil
	}
	return buf[:n], err == nil, err
}

func setAttribute(f *os.File, name string, value []byte) error {
	_, err := onAttribute(syscall.SYS_FSETXATTR, f, name, value)
	return err
}

func removeAttribute(f *os.File, name string) error {
	_, err := onAttribute(syscall.SYS_FREMOVEXATTR, f, name, nil)
	return err
}

// onAttribute calls the system, since package syscall has these calls only by
// path. Arguments that a call does not take are ignored.
func onAttribute(call uintptr, f *os.File, name string, buf []byte) (int, error) {
	p, err := syscall.BytePtrFromString(name)
	if err != nil {
		return 0, err
	}
	n, _, errno := syscall.Syscall6(call, f.Fd(), uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf)), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
