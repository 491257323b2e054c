package lsp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"assent/agent"
	"assent/agent/workspace"
)

// document is an open document at one moment. It is never changed: a change makes
// a new one.
type document struct {
	uri     string // as the client spells it
	key     string
	path    string // of a file: absolute, resolved; else ""
	version int32
	text    string

	// broken says why text is not what the client has, until the client sends a
	// whole one.
	broken string
	// unsure says that an edit was sent and the client never showed its result.
	unsure bool
	// hidden says that the file on disk is newer: we wrote it, since the client
	// can't, and it has not told of the document since.
	hidden bool
	// rev counts what the client told of all documents, so it is higher after each.
	rev int
}

// documents are what the client has open.
type documents struct {
	mu      sync.Mutex
	byKey   map[string]document
	byPath  map[string]string // keys
	rev     int
	doubts  map[string]agent.Hash // what was on disk, of files that are not open, when an edit of them was sent and never shown
	changed chan struct{}         // closed and made anew with each change
}

func newDocuments() *documents {
	return &documents{byKey: map[string]document{}, byPath: map[string]string{}, doubts: map[string]agent.Hash{}, changed: make(chan struct{})}
}

// put sets a document of which the client told something. The caller holds mu.
func (d *documents) put(doc document) {
	d.rev++
	doc.rev, doc.hidden = d.rev, false
	d.byKey[doc.key] = doc
	if doc.path != "" {
		d.byPath[doc.path] = doc.key
		delete(d.doubts, doc.path)
	}
	close(d.changed)
	d.changed = make(chan struct{})
}

// open takes a text whole, also of a document that was open before.
func (d *documents) open(rawURI string, version int32, text string) {
	l := locate(rawURI)
	doc := document{uri: rawURI, key: l.key, version: version, text: text}
	if l.path != "" {
		doc.path = l.path
		if real, err := workspace.Resolve(l.path); err == nil {
			doc.path = real
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.put(doc)
}

// update makes a document what edit says, if it is open.
func (d *documents) update(rawURI string, edit func(*document)) bool {
	key := locate(rawURI).key
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, open := d.byKey[key]
	if !open {
		return false
	}
	edit(&doc)
	d.put(doc)
	return true
}

func (d *documents) close(rawURI string) {
	key := locate(rawURI).key
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, open := d.byKey[key]
	if !open {
		return
	}
	delete(d.byKey, key)
	if d.byPath[doc.path] == key {
		d.unbind(doc.path)
	}
	close(d.changed)
	d.changed = make(chan struct{})
}

// unbind has the file be that of another document, if the client has it open twice,
// as by its name and through a link: the one of which it told last. The caller holds
// mu.
func (d *documents) unbind(path string) {
	delete(d.byPath, path)
	last := document{}
	for _, doc := range d.byKey {
		if doc.path == path && doc.rev > last.rev {
			last = doc
			d.byPath[path] = doc.key
		}
	}
}

// get finds a document by any spelling of its URI.
func (d *documents) get(rawURI string) (document, bool) {
	key := locate(rawURI).key
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, open := d.byKey[key]
	return doc, open
}

// at finds the document of a file, by its resolved path.
func (d *documents) at(path string) (document, bool) {
	doc, open, _ := d.look(path)
	return doc, open
}

// look is at, with a channel that is closed when something changes.
func (d *documents) look(path string) (doc document, open bool, changed <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, open = d.byKey[d.byPath[path]]
	return doc, open && !doc.hidden, d.changed
}

// await waits until the document of a file is as wanted, or ctx ends; then it is
// what it is.
func (d *documents) await(ctx context.Context, path string, wanted func(doc document, open bool) bool) (document, bool) {
	for {
		doc, open, changed := d.look(path)
		if wanted(doc, open) {
			return doc, open
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return doc, open
		}
	}
}

// nudge has those who wait look again.
func (d *documents) nudge() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.changed)
	d.changed = make(chan struct{})
}

// hide has the disk count for a file that we wrote there, until the client tells of
// it again.
func (d *documents) hide(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc, open := d.byKey[d.byPath[path]]; open {
		doc.hidden = true
		d.byKey[doc.key] = doc
	}
}

// doubt notes that an edit of a file was sent and its result not shown.
func (d *documents) doubt(path string, disk agent.Hash) {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, open := d.byKey[d.byPath[path]]
	if !open {
		d.doubts[path] = disk
		return
	}
	doc.unsure = true
	d.byKey[doc.key] = doc
}

// unsureAt says why a file that is not open can't be relied on: as long as the disk
// is as it was, an unsaved buffer may have the change.
func (d *documents) unsureAt(path string, disk agent.Hash) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	was, doubted := d.doubts[path]
	if !doubted {
		return nil
	}
	if was != disk {
		delete(d.doubts, path)
		return nil
	}
	return errUnsure
}

var errUnsure = errors.New("a change was sent to the editor, which has not told its text since; save the file, or close it and open it again")

// Buffer implements [workspace.Buffers].
func (d *documents) Buffer(path string) (text string, open bool, err error) {
	doc, open := d.at(path)
	if !open {
		return "", false, nil
	}
	return doc.text, true, doc.trouble()
}

// trouble says why the text of a document can't be relied on.
func (doc document) trouble() error {
	switch {
	case doc.broken != "":
		return fmt.Errorf("its text in the editor is not known (%s); save it, or close it and open it again", doc.broken)
	case doc.unsure:
		return errUnsure
	}
	return nil
}
