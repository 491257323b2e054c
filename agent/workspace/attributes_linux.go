package workspace

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// accessList is the attribute that holds a POSIX access list. Without it a file
// is wider open than it was: its group bits then are those of the list's mask.
const accessList = "system.posix_acl_access"

// maxAttribute is the largest attribute, and the largest list of names, in bytes.
const maxAttribute = 64 << 10

// keepAttributes gives a file the access list and the user's attributes of
// another.
func keepAttributes(to, from *os.File) error {
	names, err := attributeNames(from)
	if err != nil {
		return cannotKeep("attributes", err)
	}
	for _, name := range names {
		value, found, err := attribute(from, name)
		if err == nil && found {
			err = unix.Fsetxattr(int(to.Fd()), name, value, 0)
		}
		if err != nil {
			return cannotKeep("attribute "+name, err)
		}
	}
	list, found, err := attribute(from, accessList)
	switch {
	case err != nil:
	case found:
		err = unix.Fsetxattr(int(to.Fd()), accessList, list, 0)
	default:
		// The directory may have given the new file a list of its own.
		if err = unix.Fremovexattr(int(to.Fd()), accessList); none(err) {
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
func none(err error) bool { return errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) }

// attributeNames lists the user's attributes.
func attributeNames(f *os.File) ([]string, error) {
	buf := make([]byte, maxAttribute)
	n, err := unix.Flistxattr(int(f.Fd()), buf)
	switch {
	case none(err):
		return nil, nil
	case err != nil:
		return nil, err
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
	n, err := unix.Fgetxattr(int(f.Fd()), name, buf)
	switch {
	case none(err):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	return buf[:n], true, nil
}
