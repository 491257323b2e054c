package fake

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// bom is kept out of the text, as editors keep it out, and written back.
const bom = "\uFEFF"

// buffer is an open document.
type buffer struct {
	uri     string // as it was opened; the server hears this spelling
	text    string
	version int
	bom     bool
	saved   string // the text that the disk has
	told    bool   // didOpen was sent
	unsaid  []contentChange
	saveDue bool // didSave is still to be sent, after unsaid
}

// OpenFile reads a file and sends didOpen with version 1. It comes after
// Initialize, as all that documents do: before, the server has not said what it
// wants to hear, and hears nothing.
func (e *Editor) OpenFile(path string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, err := e.load(URI(path), true)
	return err
}

// OpenText opens a document with a text that is not on disk. The URI may be of
// any scheme and is told exactly as it is spelled.
func (e *Editor) OpenText(uri, text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !utf8.ValidString(text) {
		return fmt.Errorf("fake: opening %s: the text is no UTF-8", uri)
	}
	return e.add(&buffer{uri: uri, text: text, version: 1}, true)
}

// load opens a file as it is on disk. e.mu is held.
func (e *Editor) load(uri string, tell bool) (*buffer, error) {
	path := Path(uri)
	if path == "" {
		return nil, fmt.Errorf("fake: %s names no file", uri)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("fake: opening: %w", err)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("fake: opening %s: the file is no UTF-8", path)
	}
	text, marked := strings.CutPrefix(string(data), bom)
	b := &buffer{uri: uri, text: text, saved: text, version: 1, bom: marked}
	return b, e.add(b, tell)
}

// add makes b an open document. e.mu is held.
func (e *Editor) add(b *buffer, tell bool) error {
	if e.buffers[key(b.uri)] != nil {
		return fmt.Errorf("fake: opening %s: it is open already", b.uri)
	}
	e.buffers[key(b.uri)] = b
	if tell {
		return e.sayOpen(b)
	}
	return nil
}

// with runs f on an open document, under the lock.
func (e *Editor) with(doing, uri string, f func(*buffer) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.buffers[key(uri)]
	err := errNotOpen
	if b != nil {
		err = f(b)
	}
	if err != nil {
		return fmt.Errorf("fake: %s %s: %w", doing, uri, err)
	}
	return nil
}

// Type is the person who replaces r by newText: the version rises by one, and
// didChange goes out at once, together with what [Late] still held back.
func (e *Editor) Type(uri string, r Range, newText string) error {
	return e.with("typing in", uri, func(b *buffer) error {
		if !utf8.ValidString(newText) {
			return errors.New("the text is no UTF-8")
		}
		spans, err := e.enc.spans(b.text, []TextEdit{{Range: r, NewText: newText}})
		if err != nil {
			return err
		}
		e.edit(b, spans)
		return e.say(b)
	})
}

// Replace is the person who replaces the first occurrence of old.
func (e *Editor) Replace(uri, old, new string) error {
	return e.with("replacing in", uri, func(b *buffer) error {
		at := strings.Index(b.text, old)
		if at < 0 {
			return fmt.Errorf("%q is not in %q", old, b.text)
		}
		if !utf8.ValidString(new) {
			return errors.New("the text is no UTF-8")
		}
		e.edit(b, []span{{at, at + len(old), new}})
		return e.say(b)
	})
}

// Save writes the buffer to disk, in place, and sends didSave.
func (e *Editor) Save(uri string) error {
	return e.with("saving", uri, func(b *buffer) error {
		if err := e.save(b); err != nil {
			return err
		}
		return e.say(b)
	})
}

// CloseFile drops the buffer, saved or not, and sends didClose.
func (e *Editor) CloseFile(uri string) error {
	return e.with("closing", uri, func(b *buffer) error {
		return errors.Join(e.say(b), e.drop(b))
	})
}

// Flush sends what [Late] and [Never] hold back of a document: the didOpen or
// didChange, and the didSave.
func (e *Editor) Flush(uri string) error { return e.with("flushing", uri, e.sayAll) }

// Text returns what the editor has of a document, which need not be what the
// server was told.
func (e *Editor) Text(uri string) (text string, version int, open bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.buffers[key(uri)]
	if b == nil {
		return "", 0, false
	}
	return b.text, b.version, true
}

// Unsaved returns the URIs of the buffers that differ from the disk as the
// editor last saw it, sorted.
func (e *Editor) Unsaved() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var uris []string
	for _, b := range e.buffers {
		if b.text != b.saved {
			uris = append(uris, b.uri)
		}
	}
	slices.Sort(uris)
	return uris
}

// edit changes the text and keeps the change to be said. e.mu is held.
func (e *Editor) edit(b *buffer, spans []span) {
	if len(spans) == 0 {
		return
	}
	b.unsaid = append(b.unsaid, e.enc.changes(b.text, spans)...)
	b.text = splice(b.text, spans)
	b.version++
}

// save writes the buffer, formatted first where the editor does that. e.mu is
// held.
func (e *Editor) save(b *buffer) error {
	path := Path(b.uri)
	if path == "" {
		return errors.New("it has no file")
	}
	if e.apply == FormatsOnSave {
		spans := tidy(b.text)
		if e.opts.Format != nil {
			spans = []span{{0, len(b.text), e.opts.Format(b.text)}}
		}
		e.edit(b, spans)
	}
	data := b.text
	if b.bom {
		data = bom + data
	}
	if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
		return err
	}
	b.saved, b.saveDue = b.text, true
	return nil
}

// drop forgets the buffer. e.mu is held.
func (e *Editor) drop(b *buffer) error {
	delete(e.buffers, key(b.uri))
	if !b.told || !e.sync.openClose {
		return nil
	}
	return e.Notify("textDocument/didClose", map[string]any{"textDocument": map[string]string{"uri": b.uri}})
}
