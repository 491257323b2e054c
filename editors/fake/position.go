package fake

import (
	"fmt"
	"sort"
	"unicode/utf8"
)

// Encoding is a position encoding: what one unit of [Position].Character is.
type Encoding string

// The encodings of LSP. A server that names none means UTF16.
const (
	UTF8  Encoding = "utf-8"  // bytes
	UTF16 Encoding = "utf-16" // code units: an astral character is two
	UTF32 Encoding = "utf-32" // code points
)

// Position is a place between two characters; both numbers begin at 0.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is half open: End is not part of it.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// line is a line's content in bytes, without its line end.
type line struct{ start, end int }

// splitLines finds the lines of text. A line ends at "\n", "\r\n" or a lone
// "\r"; what follows the last line end is a line too, even when it is empty.
func splitLines(text string) []line {
	var lines []line
	start := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\n' && c != '\r' {
			continue
		}
		lines = append(lines, line{start, i})
		if c == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			i++
		}
		start = i + 1
	}
	return append(lines, line{start, len(text)})
}

// width returns how many units one character takes. For UTF8 it is the size
// in text, which for a broken byte is 1 and not that of U+FFFD.
func (e Encoding) width(r rune, size int) int {
	switch {
	case e == UTF8:
		return size
	case e != UTF32 && r > 0xFFFF:
		return 2
	}
	return 1
}

// Offset converts p to a byte offset in text. As the specification says, a
// character past the end of its line means the end of the line; as clients do,
// a line past the last means the end of the text. A place inside a character,
// and a negative number, are errors.
func (e Encoding) Offset(text string, p Position) (int, error) {
	return e.offset(text, splitLines(text), p)
}

func (e Encoding) offset(text string, lines []line, p Position) (int, error) {
	if p.Line < 0 || p.Character < 0 {
		return 0, fmt.Errorf("position %d:%d is negative", p.Line, p.Character)
	}
	if p.Line >= len(lines) {
		return len(text), nil
	}
	at, end, left := lines[p.Line].start, lines[p.Line].end, p.Character
	for at < end && left > 0 {
		r, size := utf8.DecodeRuneInString(text[at:end])
		left -= e.width(r, size)
		at += size
		if left < 0 {
			return 0, fmt.Errorf("position %d:%d is inside the character %q", p.Line, p.Character, r)
		}
	}
	return at, nil
}

// Position converts a byte offset, which must be at a character's beginning,
// to a position. An offset between "\r" and "\n" has no position of its own
// and gives the end of its line.
func (e Encoding) Position(text string, offset int) Position {
	return e.position(text, splitLines(text), offset)
}

func (e Encoding) position(text string, lines []line, offset int) Position {
	n := sort.Search(len(lines), func(i int) bool { return lines[i].start > offset }) - 1
	units := 0
	for at := lines[n].start; at < min(offset, lines[n].end); {
		r, size := utf8.DecodeRuneInString(text[at:])
		units += e.width(r, size)
		at += size
	}
	return Position{Line: n, Character: units}
}
