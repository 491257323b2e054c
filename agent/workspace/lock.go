package workspace

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// locks lets one landing at a time work on a path, however its case is spelled.
// The zero value is ready.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when let go
}

// lock waits for the paths, in an order of its own so that two landings never
// wait for each other, and returns what lets them go.
func (l *locks) lock(ctx context.Context, paths ...string) (unlock func(), err error) {
	paths = slices.Clone(paths)
	for i, path := range paths {
		paths[i] = lockKey(path)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for i, path := range paths {
		if err := l.one(ctx, path); err != nil {
			l.letGo(paths[:i])
			return nil, err
		}
	}
	return func() { l.letGo(paths) }, nil
}

// lockKey is the same for paths that are one file where case does not count;
// elsewhere a landing may wait for another one without need.
func lockKey(path string) string { return strings.ToLower(strings.ToUpper(path)) }

func (l *locks) one(ctx context.Context, path string) error {
	for {
		l.mu.Lock()
		other, busy := l.held[path]
		if !busy {
			if l.held == nil {
				l.held = map[string]chan struct{}{}
			}
			l.held[path] = make(chan struct{})
			l.mu.Unlock()
			return nil
		}
		l.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *locks) letGo(paths []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, path := range paths {
		close(l.held[path])
		delete(l.held, path)
	}
}
