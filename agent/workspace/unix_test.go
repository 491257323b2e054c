//go:build unix

package workspace_test

import (
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"assent/agent"
)

func TestPipesAndDevicesAreNeverOpened(t *testing.T) {
	w := newWorld(t, map[string]string{"null": "-> /dev/null", "f": "a\n", ".gitignore/": ""})
	w.must(syscall.Mkfifo(w.path("pipe"), 0o644))
	w.must(os.Remove(w.path(".gitignore")))
	w.must(syscall.Mkfifo(w.path(".gitignore"), 0o644)) // in the way of List
	if _, err := w.Read(t.Context(), agent.Approval{}, "pipe"); err == nil || !strings.Contains(err.Error(), "a pipe or a socket") {
		t.Errorf("error = %v", err)
	}
	e := w.edit("f", "b\n")
	e.Path = w.path("pipe")
	w.failed(w.apply(e), "a pipe or a socket")
	w.failed(w.apply(w.renaming("pipe", "g")), "a pipe or a socket")
	w.failed(w.apply(w.creation("pipe", "x")), "something is there already")
	if got := strings.Join(listed(w, "."), " "); got != ".gitignore f pipe" {
		t.Errorf("listed %q", got)
	}
	if info, err := w.Stat(t.Context(), "null"); err != nil || info.Path != "/dev/null" || !info.Outside {
		t.Errorf("info = %+v, %v", info, err)
	}
}

func TestAPipeThatTakesTheFilesPlaceDoesNotBlock(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	e := w.edit("f", "b\n")
	ctx := &meddler{Context: t.Context(), do: func(call int) {
		if call == 1 {
			w.must(os.Remove(w.path("f")))
			w.must(syscall.Mkfifo(w.path("f"), 0o644))
		}
	}}
	w.failed(w.applyIn(ctx, e), "a pipe or a socket")
	w.clean(".")
}

func TestNewFilesFollowTheUmask(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	w := newWorld(t, nil)
	e := w.creation("d/f", "x")
	w.landed(w.apply(e), e)
	for name, want := range map[string]fs.FileMode{"d": fs.ModeDir | 0o750, "d/f": 0o640} {
		if info, err := os.Lstat(w.path(name)); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	syscall.Umask(0o077)
	w.put("shared.txt", "a\n")
	w.must(os.Chmod(w.path("shared.txt"), 0o664))
	e = w.edit("shared.txt", "b\n")
	w.landed(w.apply(e), e)
	if info, err := os.Lstat(w.path("shared.txt")); err != nil || info.Mode() != 0o664 {
		t.Errorf("the edited file has mode %v, %v", info.Mode(), err)
	}
}

// Tests may run as root, whom no permission stops; a limit on the size of files
// does.
func TestAFailedWriteLeavesEverythingAsItWas(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	large := strings.Repeat("x", 9<<20)
	for _, e := range []agent.Edit{w.edit("f", large), w.creation("new/dir/g", large)} {
		limited := &meddler{Context: t.Context(), do: func(call int) {
			if call == 1 {
				limitFileSize(t, 8<<20) // far above what the test itself writes
			}
		}}
		w.failed(w.applyIn(limited, e), "writing failed (file too large)")
		limitFileSize(t, 0)
	}
	w.has("f", "a\n")
	w.clean(".")
	w.gone("new")
}

// limitFileSize sets the limit for this process, 0 for as much as is allowed.
func limitFileSize(t *testing.T, size uint64) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = limit.Max
	if size != 0 {
		limit.Cur = size
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
}

func TestTheOwnerStays(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	before, err := os.Stat(w.path("f"))
	w.must(err)
	if os.Geteuid() == 0 { // else only one's own files can be made
		w.must(os.Chown(w.path("f"), 1234, 2345))
		before, err = os.Stat(w.path("f"))
		w.must(err)
	}
	e := w.edit("f", "b\n")
	w.landed(w.apply(e), e)
	after, err := os.Stat(w.path("f"))
	w.must(err)
	was, is := before.Sys().(*syscall.Stat_t), after.Sys().(*syscall.Stat_t)
	if was.Uid != is.Uid || was.Gid != is.Gid {
		t.Errorf("the owner was %d:%d and is %d:%d", was.Uid, was.Gid, is.Uid, is.Gid)
	}
}

func TestSpecialBitsStay(t *testing.T) {
	w := newWorld(t, nil)
	for name, mode := range map[string]os.FileMode{
		"suid": fs.ModeSetuid | 0o755, "sgid": fs.ModeSetgid | 0o755, "all": fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky | 0o750,
	} {
		w.put(name, "a\n")
		w.must(os.Chmod(w.path(name), mode))
		e := w.edit(name, "b\n")
		w.landed(w.apply(e), e)
		if info, err := os.Lstat(w.path(name)); err != nil || info.Mode() != mode {
			t.Errorf("%s has mode %v, %v; want %v", name, info.Mode(), err, mode)
		}
	}
}

func TestOtherNamesOfAFileAreTold(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	w.must(os.Link(w.path("f"), w.path("g")))
	w.must(os.Link(w.path("f"), w.path("h")))
	e := w.edit("f", "b\n")
	l := w.apply(e)
	w.landed(l, e)
	if !strings.Contains(l.Note, "3 names") {
		t.Errorf("the note is %q", l.Note)
	}
	w.has("f", "b\n")
	w.has("g", "a\n")
	e = w.edit("f", "c\n")
	if l := w.apply(e); l.Note != "" {
		t.Errorf("with one name the note is %q", l.Note)
	}
}
