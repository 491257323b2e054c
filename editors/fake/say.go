package fake

import (
	"errors"
	"time"
)

// lateBy is how long Neovim holds a didChange back.
const lateBy = 150 * time.Millisecond

// say tells the server now what it is to know of b. e.mu is held.
func (e *Editor) say(b *buffer) error {
	if e.changes == Never {
		return e.saySave(b)
	}
	return e.sayAll(b)
}

// sayAll tells the server all of b, whatever the mode. e.mu is held.
func (e *Editor) sayAll(b *buffer) error {
	err := e.sayOpen(b)
	return errors.Join(err, e.sayChange(b), e.saySave(b))
}

// sayOpen sends didOpen, once, with the text as it is now.
func (e *Editor) sayOpen(b *buffer) error {
	if b.told {
		return nil
	}
	b.told, b.unsaid = true, nil
	if !e.sync.openClose {
		return nil
	}
	return e.Notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": b.uri, "languageId": languageOf(b.uri), "version": b.version, "text": b.text,
	}})
}

// sayChange sends one didChange with all that is unsaid.
func (e *Editor) sayChange(b *buffer) error {
	changes := b.unsaid
	b.unsaid = nil
	if len(changes) == 0 || e.sync.change == 0 {
		return nil
	}
	if e.opts.FullSync || e.sync.change == 1 {
		changes = []contentChange{{Text: b.text}}
	}
	return e.Notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": b.uri, "version": b.version},
		"contentChanges": changes,
	})
}

// saySave sends didSave when it is due.
func (e *Editor) saySave(b *buffer) error {
	due := b.saveDue
	b.saveDue = false
	if !due || !b.told || !e.sync.save {
		return nil
	}
	params := map[string]any{"textDocument": map[string]string{"uri": b.uri}}
	if e.sync.saveText {
		params["text"], b.unsaid = b.text, nil // a change of an older text would be made twice
	}
	return e.Notify("textDocument/didSave", params)
}

// sayLater says the buffers' changes after the time that Neovim takes, unless
// they were said or closed meanwhile. It is called by goroutines that Close
// waits for, and starts another one.
func (e *Editor) sayLater(buffers []*buffer) {
	e.owned.Go(func() {
		timer := time.NewTimer(lateBy)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-e.done:
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.sayThese(buffers)
	})
}

// sayThese says the buffers that are still open. e.mu is held.
func (e *Editor) sayThese(buffers []*buffer) {
	for _, b := range buffers {
		if e.buffers[key(b.uri)] == b {
			_ = e.say(b) // only fails when nobody is left to be told
		}
	}
}
