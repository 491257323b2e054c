package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// The notifications about documents are decoded here and not by package protocol,
// which would give each URI its own spelling, and the client would not know it
// again.

type item struct {
	URI     string `json:"uri"`
	Version int32  `json:"version"`
	Text    string `json:"text"`
}

// contentChange is a change of a part or, without a range, of all.
type contentChange struct {
	Range *protocol.Range `json:"range"`
	Text  *string         `json:"text"`
}

func (s *Server) didOpen(raw json.RawMessage) {
	var p struct {
		TextDocument item `json:"textDocument"`
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.TextDocument.URI == "" {
		s.badNotification("textDocument/didOpen", err)
		return
	}
	s.docs.open(p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text, notText(raw))
}

// notText says why the texts in a message can't be relied on: each byte that is not
// UTF-8 became a replacement character, and positions in UTF-8 count others.
func notText(raw json.RawMessage) string {
	if utf8.Valid(raw) {
		return ""
	}
	return "it has bytes that are not UTF-8"
}

// didChange takes the changes to a document. If they can't be followed, its text is
// unknown from then on, and the person is told: to go on with a guess would show
// them a text that is not theirs.
func (s *Server) didChange(raw json.RawMessage) {
	var p struct {
		TextDocument   item            `json:"textDocument"`
		ContentChanges []contentChange `json:"contentChanges"`
	}
	err := json.Unmarshal(raw, &p)
	if p.TextDocument.URI == "" {
		s.badNotification("textDocument/didChange", err)
		return
	}
	s.docs.update(p.TextDocument.URI, func(doc *document) {
		was := doc.broken
		doc.version, doc.unsure = p.TextDocument.Version, false
		if err != nil {
			doc.broken = err.Error()
		} else {
			doc.apply(p.ContentChanges, s.client.encoding)
		}
		if bad := notText(raw); bad != "" {
			doc.broken = bad
		}
		if doc.broken != "" && was == "" {
			s.tell(protocol.MessageTypeWarning, fmt.Sprintf("assent can't follow the text of %s (%s), so it leaves the file alone; save it, or close it and open it again.", doc.uri, doc.broken))
		}
	})
}

// apply makes the changes, each on the text that the one before left. After one that
// can't be followed, only a whole text counts.
func (doc *document) apply(changes []contentChange, e encoding) {
	var text *lineText
	for _, c := range changes {
		switch {
		case c.Text == nil:
			doc.broken = "a change without a text"
		case c.Range == nil:
			doc.text, doc.broken, text = *c.Text, "", nil
		case doc.broken == "":
			if text == nil {
				text = newLineText(doc.text, e)
			}
			if !text.replace(*c.Range, *c.Text) {
				doc.broken = fmt.Sprintf("a change from line %d to %d, of %d", uint64(c.Range.Start.Line)+1, uint64(c.Range.End.Line)+1, len(text.lines))
			}
		}
	}
	if text != nil {
		doc.text = text.String()
	}
}

// didSave takes the text that was saved, which mends what could not be followed.
func (s *Server) didSave(raw json.RawMessage) {
	var p struct {
		TextDocument item    `json:"textDocument"`
		Text         *string `json:"text"`
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.TextDocument.URI == "" {
		s.badNotification("textDocument/didSave", err)
		return
	}
	s.docs.update(p.TextDocument.URI, func(doc *document) {
		if p.Text != nil {
			doc.text, doc.broken, doc.unsure = *p.Text, notText(raw), false
		}
	})
}

func (s *Server) didClose(raw json.RawMessage) {
	var p struct {
		TextDocument item `json:"textDocument"`
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.TextDocument.URI == "" {
		s.badNotification("textDocument/didClose", err)
		return
	}
	s.docs.close(p.TextDocument.URI)
}

func (s *Server) badNotification(method string, err error) {
	if err == nil {
		err = errors.New("it lacks a uri")
	}
	s.log.Warn("a notification was left out", "method", method, "error", err)
}
