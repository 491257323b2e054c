package lsp

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"assent/agent"
	"assent/agent/workspace"
)

// document is an open document at one moment. It is never changed: a change makes
// a new one.
type document struct {
	uri     string // as the client spells it
	key     string
	path    string // of a file: absolute, resolved when it was opened; else ""
	version int32
	text    string
	rev     int // counts what the client told of all documents, so it is higher after each
	told    int // the rev at which it told the text last: a save may come without one

	// broken says why text is not what the client has, until it sends a whole one.
	broken string
	// unsure says that an edit was sent and the client never showed its result.
	unsure bool
	// hidden says that the file on disk is newer: we wrote it, since the client
	// can't, and it has not told of the document since.
	hidden bool
}

// documents are what the client has open.
type documents struct {
	mu      sync.Mutex
	byKey   map[string]document
	byPath  map[string][]string // keys, the one last told of at the end, by pathKey
	rev     int
	closed  map[string]int        // the rev at which a file was closed last, by pathKey; the older ones are forgotten
	doubts  map[string]agent.Hash // what was on disk, of files that are not open, when an edit of them was sent and never shown
	changed chan struct{}         // closed and made anew with each change
}

// maxClosed is of how many files it is known that they were closed. Only a landing
// that began before the close asks for it, so the newest matter.
const maxClosed = 1000

func newDocuments() *documents {
	return &documents{
		byKey: map[string]document{}, byPath: map[string][]string{}, closed: map[string]int{}, doubts: map[string]agent.Hash{},
		changed: make(chan struct{}),
	}
}

// pathKey is the same for names that are one file. On systems where that is usual,
// case does not count.
func pathKey(path string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(path)
	}
	return path
}

// put sets a document of which the client told something, text or not. The caller
// holds mu.
func (d *documents) put(doc document, text bool) {
	d.rev++
	doc.rev, doc.hidden = d.rev, false
	if text {
		doc.told, doc.unsure = d.rev, false
	}
	d.byKey[doc.key] = doc
	if doc.path != "" {
		at := pathKey(doc.path)
		d.byPath[at] = append(without(d.byPath[at], doc.key), doc.key)
		delete(d.doubts, at)
	}
	d.wake()
}

func without(keys []string, key string) []string {
	return slices.DeleteFunc(keys, func(k string) bool { return k == key })
}

// wake has those who wait look again. The caller holds mu.
func (d *documents) wake() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// open takes a text whole, also of a document that was open before. broken says why
// the text can't be relied on, if it can't.
func (d *documents) open(rawURI string, version int32, text, broken string) {
	l := locate(rawURI)
	doc := document{uri: rawURI, key: l.key, path: l.real(), version: version, text: text, broken: broken}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(l.key) // its path may be another one
	d.put(doc, true)
}

// real is the resolved path, "" if there is none.
func (l location) real() string {
	if l.path == "" {
		return ""
	}
	if real, err := workspace.Resolve(l.path); err == nil {
		return real
	}
	return l.path
}

// update makes a document what edit says, if it is open. edit reports whether the
// client told the text.
func (d *documents) update(rawURI string, edit func(*document) (text bool)) bool {
	key := locate(rawURI).key
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, open := d.byKey[key]
	if !open {
		return false
	}
	text := edit(&doc)
	d.put(doc, text)
	return true
}

func (d *documents) close(rawURI string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc, open := d.remove(locate(rawURI).key); open {
		d.rev++
		if len(d.closed) >= maxClosed { // a landing that it was for is called unconfirmed
			clear(d.closed)
		}
		d.closed[pathKey(doc.path)] = d.rev
		d.wake()
	}
}

// remove forgets a document. The caller holds mu.
func (d *documents) remove(key string) (document, bool) {
	doc, open := d.byKey[key]
	delete(d.byKey, key)
	if at := pathKey(doc.path); open && doc.path != "" {
		if d.byPath[at] = without(d.byPath[at], key); len(d.byPath[at]) == 0 {
			delete(d.byPath, at)
		}
	}
	return doc, open
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

// look is at, with a channel that is closed when something changes. A file that is
// open under two names, with two texts, is one whose text is not known.
func (d *documents) look(path string) (doc document, open bool, changed <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range d.byPath[pathKey(path)] {
		other := doc
		doc = d.byKey[key]
		if open && other.text != doc.text {
			doc.broken = fmt.Sprintf("it is open twice, as %s and as %s, with different texts", other.uri, doc.uri)
		}
		open = open || !doc.hidden
	}
	return doc, open, d.changed
}

// await waits until the document of a file is as wanted, or ctx ends.
func (d *documents) await(ctx context.Context, path string, wanted func(doc document, open bool) bool) {
	for {
		doc, open, changed := d.look(path)
		if wanted(doc, open) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// watch is closed at the next change of a document.
func (d *documents) watch() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changed
}

// nudge has those who wait look again.
func (d *documents) nudge() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wake()
}

// now is the rev of what was told last, of any document.
func (d *documents) now() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rev
}

// closedSince reports whether a file was closed after a rev.
func (d *documents) closedSince(path string, rev int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed[pathKey(path)] > rev
}

// hide has the disk count for a file that we wrote there, until the client tells of
// it again. What it told after rev stays.
func (d *documents) hide(path string, rev int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range d.byPath[pathKey(path)] {
		if doc := d.byKey[key]; doc.rev <= rev {
			doc.hidden = true
			d.byKey[key] = doc
		}
	}
}

// doubt notes that an edit of a file was sent and its result not shown until rev. A
// text that was told after that is sure.
func (d *documents) doubt(path string, disk agent.Hash, rev int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	keys := d.byPath[pathKey(path)]
	if len(keys) == 0 {
		d.doubts[pathKey(path)] = disk
	}
	for _, key := range keys {
		doc := d.byKey[key]
		doc.unsure = doc.unsure || doc.told <= rev
		d.byKey[key] = doc
	}
}

// unsureAt says why a file that is not open can't be relied on: as long as the disk
// is as it was, an unsaved buffer may have the change.
func (d *documents) unsureAt(path string, disk agent.Hash) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	was, doubted := d.doubts[pathKey(path)]
	if !doubted {
		return nil
	}
	if was != disk {
		delete(d.doubts, pathKey(path))
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
