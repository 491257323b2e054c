package workspace

import (
	"context"
	"slices"
	"sync"
)

// locks lets one landing at a time work on a path. The zero value is ready.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when let go
}

// lock waits for the paths, in an order of its own so that two landings never
// wait for each other, and returns what lets them go.
func (l *locks) lock(ctx context.Context, paths ...string) (unlock func(), err error) {
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
