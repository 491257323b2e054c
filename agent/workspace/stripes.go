package workspace

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// stripes is how many lock files there are for all paths together.
const stripes = 64

// ShareLandings makes landings exclude each other across all workspaces, of this
// process and others, that share the directory, which is made if it is missing.
// Without it only landings through this Workspace do, and two sessions could each
// overwrite what the other just landed.
func (w *Workspace) ShareLandings(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the locks of landings could not be made: %w; choose another folder for the journal", err)
	}
	w.shared = dir
	return nil
}

// exclude waits for the sole right to change the paths.
func (w *Workspace) exclude(ctx context.Context, paths ...string) (release func(), err error) {
	unlock, err := w.landing.lock(ctx, paths...)
	if err != nil || w.shared == "" {
		return unlock, err
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
		const again = 2 * time.Millisecond
		if _, err := l.TryLockContext(ctx, again); err != nil {
			release()
			return nil, err
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
		h.Write([]byte(strings.ToLower(p)))
		out = append(out, h.Sum32()%stripes)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
