package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// known are the files whose text the model was given lately, the newest last, so that
// it is told which they were when a compaction takes the text away. They belong to the
// goroutine of the loop.
type known struct{ files []knownFile }

type knownFile struct {
	name string
	hash Hash
}

const maxKnown = 20

func (k *known) note(file knownFile) {
	k.files = slices.DeleteFunc(k.files, func(f knownFile) bool { return f.name == file.name })
	k.files = append(k.files, file)
	if len(k.files) > maxKnown {
		k.files = slices.Delete(k.files, 0, 1)
	}
}

// take notes what a call read, if that was one file: one that looks through many does
// not give the model their texts.
func (k *known) take(r *reads) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.files) == 1 {
		for file := range r.files {
			k.note(file)
		}
	}
}

// String lists the files, "" if there are none.
func (k *known) String() string {
	if len(k.files) == 0 {
		return ""
	}
	var list []string
	for _, f := range slices.Backward(k.files) {
		list = append(list, fmt.Sprintf("%s (%.12s)", f.name, f.hash))
	}
	return "\nFiles read or changed lately, with the hash of their text then: " + strings.Join(list, ", ") + ". Read them again before you rely on them."
}

// reads are the files that a call read, which may outlive its time limit.
type reads struct {
	mu    sync.Mutex
	files map[knownFile]bool
}

// noted are files that remember what was read of them. Of a secret even the hash is
// not told.
type noted struct {
	Files
	reads *reads
}

func (n noted) Read(ctx context.Context, ok Approval, path string) (File, error) {
	f, err := n.Files.Read(ctx, ok, path)
	if err == nil && !f.Secret {
		n.reads.mu.Lock()
		defer n.reads.mu.Unlock()
		if n.reads.files == nil {
			n.reads.files = map[knownFile]bool{}
		}
		n.reads.files[knownFile{f.Name, f.Hash}] = true
	}
	return f, err
}
