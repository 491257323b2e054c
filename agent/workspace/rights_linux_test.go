package workspace_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
)

// acl is an access list with one more user, as the kernel has it: the owner may
// all, user 1234 rw, the group and others nothing.
func acl() []byte {
	list := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 6, ^uint32(0)}, {2, 6, 1234}, {4, 0, ^uint32(0)}, {16, 6, ^uint32(0)}, {32, 0, ^uint32(0)}} {
		list = binary.LittleEndian.AppendUint16(list, e.tag)
		list = binary.LittleEndian.AppendUint16(list, e.perm)
		list = binary.LittleEndian.AppendUint32(list, e.id)
	}
	return list
}

// attribute is "" if there is none.
func attribute(w world, name, attr string) string {
	w.Helper()
	buf := make([]byte, 1024)
	n, err := syscall.Getxattr(w.path(name), attr, buf)
	if errors.Is(err, syscall.ENODATA) {
		return ""
	}
	w.must(err)
	return string(buf[:n])
}

// attributes reports whether the file system of the tests has them at all.
func attributes(w world, name string) bool {
	w.Helper()
	err := syscall.Setxattr(w.path(name), "system.posix_acl_access", acl(), 0)
	if errors.Is(err, syscall.ENOTSUP) {
		w.Log("the file system has no access lists, so there is nothing to keep")
		return false
	}
	w.must(err)
	w.must(syscall.Setxattr(w.path(name), "user.note", []byte("kept"), 0))
	return true
}

func TestAccessListsAndAttributesStay(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	if !attributes(w, "f") {
		return
	}
	mode := fileMode(w, "f")
	e := w.edit("f", "b\n")
	w.landed(w.apply(e), e)
	w.has("f", "b\n")
	if got := attribute(w, "f", "system.posix_acl_access"); got != string(acl()) {
		t.Errorf("the access list is %x, was %x", got, acl())
	}
	if got := attribute(w, "f", "user.note"); got != "kept" {
		t.Errorf("the attribute is %q", got)
	}
	if got := fileMode(w, "f"); got != mode {
		t.Errorf("the mode is %v, was %v", got, mode)
	}
}

func TestAnEditedFileGetsNoAccessListOfItsDirectory(t *testing.T) {
	w := newWorld(t, map[string]string{"d/f": "a\n", "g": ""})
	if !attributes(w, "g") {
		return
	}
	w.must(os.Chmod(w.path("d/f"), 0o660))
	w.must(syscall.Setxattr(w.path("d"), "system.posix_acl_default", acl(), 0))
	e := w.edit("d/f", "b\n")
	w.landed(w.apply(e), e)
	if got := attribute(w, "d/f", "system.posix_acl_access"); got != "" {
		t.Errorf("the file got the access list %x", got)
	}
	if got := fileMode(w, "d/f"); got != 0o660 {
		t.Errorf("the mode is %v", got)
	}
}

func fileMode(w world, name string) os.FileMode {
	w.Helper()
	info, err := os.Lstat(w.path(name))
	w.must(err)
	return info.Mode()
}

// asUser runs a function whose file operations are those of a user without
// rights of their own. Only root can; it reports whether it could.
func asUser(w world, id int, do func()) bool {
	w.Helper()
	if os.Geteuid() != 0 {
		return false // a file of somebody else can't be made
	}
	w.must(os.Chmod(filepath.Dir(w.dir), 0o755))
	w.must(os.Chmod(w.app, 0o777))
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never let go: the thread ends with the goroutine
		for _, call := range []uintptr{syscall.SYS_SETFSGID, syscall.SYS_SETFSUID} {
			if _, _, err := syscall.RawSyscall(call, uintptr(id), 0, 0); err != 0 {
				w.Error(err)
			}
		}
		do()
	}()
	<-done
	return true
}

func TestAFileOfSomebodyElseIsNotReplaced(t *testing.T) {
	w := newWorld(t, map[string]string{"theirs": "a\n", "shared": "a\n", "group": "a\n", "mine": "a\n"})
	for name, mode := range map[string]os.FileMode{"theirs": 0o644, "shared": 0o666, "group": 0o664, "mine": 0o644} {
		w.must(os.Chmod(w.path(name), mode))
	}
	if os.Geteuid() == 0 {
		w.must(os.Chown(w.path("group"), 1234, 2345))
		w.must(os.Chown(w.path("mine"), 1234, 1234))
	}
	type landing struct {
		e    agent.Edit
		ok   agent.Approval
		note string
	}
	var all []landing
	for name, note := range map[string]string{"theirs": "may not write", "shared": "owner", "group": "group"} {
		e := w.edit(name, "b\n")
		all = append(all, landing{e, agenttest.Approve(t, e), note})
	}
	gone := w.deletion("theirs")
	all = append(all, landing{gone, agenttest.Approve(t, gone), "may not write"})
	mine := w.edit("mine", "b\n")
	okMine := agenttest.Approve(t, mine)
	if !asUser(w, 1234, func() {
		for _, l := range all {
			got, err := w.Apply(t.Context(), l.ok, l.e)
			if err != nil || got.Status != agent.LandFailed || !strings.Contains(got.Note, l.note) {
				t.Errorf("%s: %+v, %v; want %q", filepath.Base(l.e.Path), got, err, l.note)
			}
		}
		if got, err := w.Apply(t.Context(), okMine, mine); err != nil || got.Status != agent.LandComplete {
			t.Errorf("one's own: %+v, %v", got, err)
		}
	}) {
		return
	}
	for _, name := range []string{"theirs", "shared", "group"} {
		w.has(name, "a\n")
	}
	w.has("mine", "b\n")
	w.clean(".")
}
