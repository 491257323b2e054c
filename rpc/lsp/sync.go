package lsp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// The notifications about documents are decoded here and not by package protocol,
// which would give each URI its own spelling, and the client would not know it
// again.

type item struct {
	URI     string  `json:"uri"`
	Version int32   `json:"version"`
	Text    *string `json:"text"`
}

// named is all that counts of a document that is saved or closed.
type named struct {
	URI string `json:"uri"`
}

// contentChange is a change of a part or, without a range, of all.
type contentChange struct {
	Range *protocol.Range `json:"range"`
	Text  *string         `json:"text"`
}

// didOpen takes the text of a document. One that can't be read is open all the same:
// were it left out, the disk would be written behind what the person has.
func (s *Server) didOpen(raw json.RawMessage) {
	var p struct {
		TextDocument item `json:"textDocument"`
	}
	err := json.Unmarshal(raw, &p)
	doc := p.TextDocument
	if doc.URI == "" {
		s.badNotification("textDocument/didOpen", err)
		return
	}
	text, broken := "", notText(raw)
	switch {
	case err != nil:
		broken = misfit(err)
	case doc.Text == nil:
		broken = "it was opened without a text"
	default:
		text = *doc.Text
	}
	s.docs.open(doc.URI, doc.Version, text, broken)
	if broken != "" {
		s.cantFollow(doc.URI, broken)
	}
}

// cantFollow tells the person of a text that is not known.
func (s *Server) cantFollow(uri, why string) {
	s.tell(protocol.MessageTypeWarning, fmt.Sprintf("assent can't follow the text of %s (%s), so it leaves the file alone; save it, or close it and open it again.", uri, why))
}

// notText says why the texts in a message can't be relied on: each byte that is not
// UTF-8, and each half of a surrogate pair, became a replacement character. A client
// that compares its texts by UTF-16 units sends halves where one character takes the
// place of another.
func notText(raw json.RawMessage) string {
	switch {
	case !utf8.Valid(raw):
		return "it has bytes that are not UTF-8"
	case bytes.Contains(raw, []byte(`\u`)) && !jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true)):
		return "it has half a surrogate pair"
	}
	return ""
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
	s.docs.update(p.TextDocument.URI, func(doc *document) bool {
		was := doc.broken
		doc.version = p.TextDocument.Version
		if err != nil {
			doc.broken = misfit(err)
		} else {
			doc.apply(p.ContentChanges, s.client.encoding)
		}
		if bad := notText(raw); bad != "" {
			doc.broken = bad
		}
		if doc.broken != "" && was == "" {
			s.cantFollow(doc.uri, doc.broken)
		}
		return true
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
		TextDocument named   `json:"textDocument"`
		Text         *string `json:"text"`
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.TextDocument.URI == "" {
		s.badNotification("textDocument/didSave", err)
		return
	}
	s.docs.update(p.TextDocument.URI, func(doc *document) bool {
		if p.Text != nil {
			doc.text, doc.broken = *p.Text, notText(raw)
		}
		return p.Text != nil
	})
}

func (s *Server) didClose(raw json.RawMessage) {
	var p struct {
		TextDocument named `json:"textDocument"`
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
