package lsp

import (
	"encoding/json"
	"errors"
	"fmt"

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
	s.docs.open(p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text)
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
		if doc.broken != "" && was == "" {
			s.tell(protocol.MessageTypeWarning, fmt.Sprintf("assent can't follow the text of %s (%s), so it leaves the file alone; save it, or close it and open it again.", doc.uri, doc.broken))
		}
	})
}

// apply makes the changes, each on the text that the one before left. After one that
// can't be followed, only a whole text counts.
func (doc *document) apply(changes []contentChange, e encoding) {
	for _, c := range changes {
		switch {
		case c.Text == nil:
			doc.broken = "a change without a text"
		case c.Range == nil:
			doc.text, doc.broken = *c.Text, ""
		case doc.broken == "":
			doc.replace(*c.Range, *c.Text, e)
		}
	}
}

func (doc *document) replace(r protocol.Range, text string, e encoding) {
	from, ok1 := offsetAt(doc.text, r.Start, e)
	to, ok2 := offsetAt(doc.text, r.End, e)
	if !ok1 || !ok2 || from > to {
		doc.broken = fmt.Sprintf("a change from line %d to %d, of %d", uint64(r.Start.Line)+1, uint64(r.End.Line)+1, lineBreaks(doc.text)+1)
		return
	}
	doc.text = doc.text[:from] + text + doc.text[to:]
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
			doc.text, doc.broken, doc.unsure = *p.Text, "", false
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
