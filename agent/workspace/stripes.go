package workspace

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// stripes is how many lock files there are for all paths together.
const stripes = 64

// ShareLandings makes landings exclude each other across all workspaces, of this
// process and others, that share the directory, which is made if it is missing.
// Without it only landings through this Workspace do, and two sessions could each
// overwrite what the other just landed. It must be called before the workspace is
// used.
func (w *Workspace) ShareLandings(dir string) error {
	abs, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(abs, 0o700)
	}
	if err != nil {
		return fmt.Errorf("the locks of landings could not be made in %s (%w); choose another directory", dir, plain(err))
	}
	w.shared = abs
	return nil
}

// tryAgain is how long a landing waits before it tries a lock of another
// workspace again.
const tryAgain = 2 * time.Millisecond

// exclude waits for the sole right to change the paths. The locks of this
// workspace come first: no landing that has a stripe waits for one of them.
func (w *Workspace) exclude(ctx context.Context, paths ...string) (release func(), err error) {
	unlock, err := w.landing.lock(ctx, paths...)
	if err != nil {
		return nil, errCancelled
	}
	if w.shared == "" {
		return unlock, nil
	}
	var held []*flock.Flock
	release = func() {
		for _, l := range held {
			l.Close() // which lets go; there is nobody to tell if that fails
		}
		unlock()
	}
	for _, n := range stripesOf(paths) {
		l := flock.New(filepath.Join(w.shared, fmt.Sprintf("%02d", n)), flock.SetPermissions(0o600))
		held = append(held, l)
		if _, err := l.TryLockContext(ctx, tryAgain); err != nil {
			release()
			if ctx.Err() != nil {
				return nil, errCancelled
			}
			return nil, fmt.Errorf("the lock of other landings could not be had (%w); see that %s can be written", plain(err), w.shared)
		}
	}
	return release, nil
}

// stripesOf are the stripes of paths, each once and in order, so that no two
// landings wait for each other.
func stripesOf(paths []string) []uint32 {
	var out []uint32
	for _, p := range paths {
		h := fnv.New32a()
		h.Write([]byte(lockKey(p)))
		out = append(out, h.Sum32()%stripes)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
