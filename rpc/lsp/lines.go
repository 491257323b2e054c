package lsp

import (
	"slices"
	"strings"

	"go.lsp.dev/protocol"
)

// lineText is a text while changes are made in it. A client that replaces a word
// everywhere sends thousands at once, each with positions in the text that the one
// before left, so none may cost as much as the whole text.
type lineText struct {
	lines []string // each with its end, but the last, which has none and may be empty
	e     encoding
}

func newLineText(text string, e encoding) *lineText { return &lineText{splitLines(text), e} }

func splitLines(text string) []string {
	var lines []string
	for {
		body, whole := nextLine(text)
		lines = append(lines, text[:whole])
		if body == whole {
			return lines
		}
		text = text[whole:]
	}
}

func (t *lineText) String() string { return strings.Join(t.lines, "") }

// find is the line of a position and the byte offset in it, as [positions.offset] has
// it; but a place inside of a character is none, since what the client would make of
// its halves is not known.
func (t *lineText) find(p protocol.Position) (line, offset int, ok bool) {
	last := len(t.lines) - 1
	switch at := uint64(p.Line); {
	case at == uint64(last)+1 && p.Character == 0:
		return last, len(t.lines[last]), true
	case at > uint64(last):
		return 0, 0, false
	}
	body, _ := nextLine(t.lines[p.Line])
	offset, ok = within(t.lines[p.Line][:body], p.Character, t.e)
	return int(p.Line), offset, ok
}

// replace puts a text in the place of a range, and reports whether that is there.
func (t *lineText) replace(r protocol.Range, text string) bool {
	first, from, ok1 := t.find(r.Start)
	last, to, ok2 := t.find(r.End)
	if !ok1 || !ok2 || first > last || first == last && from > to {
		return false
	}
	merged := t.lines[first][:from] + text + t.lines[last][to:]
	if from == 0 && first > 0 && strings.HasSuffix(t.lines[first-1], "\r") { // it may become a CRLF
		first--
		merged = t.lines[first] + merged
	}
	if last+1 < len(t.lines) && strings.HasSuffix(merged, "\r") && strings.HasPrefix(t.lines[last+1], "\n") {
		last++
		merged += t.lines[last]
	}
	lines := splitLines(merged)
	if last+1 < len(t.lines) {
		lines = lines[:len(lines)-1] // merged ends its line, so the last one is empty
	}
	t.lines = slices.Replace(t.lines, first, last+1, lines...)
	return true
}
