package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// known are the files whose text the model was given lately, the newest last, so that
// it is told which they were when a compaction takes the text away.
type known struct {
	mu    sync.Mutex
	files []knownFile
}

type knownFile struct {
	name string
	hash Hash
}

const maxKnown = 20

func (k *known) note(name string, hash Hash) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.files = slices.DeleteFunc(k.files, func(f knownFile) bool { return f.name == name })
	k.files = append(k.files, knownFile{name, hash})
	if len(k.files) > maxKnown {
		k.files = slices.Delete(k.files, 0, 1)
	}
}

// String lists the files, "" if there are none.
func (k *known) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.files) == 0 {
		return ""
	}
	var list []string
	for _, f := range slices.Backward(k.files) {
		list = append(list, fmt.Sprintf("%s (%.12s)", f.name, f.hash))
	}
	return "\nFiles read or changed lately, with the hash of their text then: " + strings.Join(list, ", ") + ". Read them again before you rely on them."
}

// noted are files that remember what was read of them. Of a secret even the hash is
// not told.
type noted struct {
	Files
	known *known
}

func (n noted) Read(ctx context.Context, ok Approval, path string) (File, error) {
	f, err := n.Files.Read(ctx, ok, path)
	if err == nil && !f.Secret {
		n.known.note(f.Name, f.Hash)
	}
	return f, err
}
