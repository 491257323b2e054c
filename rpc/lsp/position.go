package lsp

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// This file is the only place where positions of the protocol, which are lines and
// units of an encoding, meet the byte offsets of the rest of the program.

// encoding is what the character of a position counts.
type encoding = protocol.PositionEncodingKind

const (
	utf8Units  = protocol.PositionEncodingKindUTF8
	utf16Units = protocol.PositionEncodingKindUTF16
	utf32Units = protocol.PositionEncodingKindUTF32
)

// chooseEncoding takes the first of the client's encodings that we know.
func chooseEncoding(offered []encoding) encoding {
	for _, e := range offered {
		if e == utf8Units || e == utf16Units || e == utf32Units {
			return e
		}
	}
	return utf16Units // what every client has
}

// nextLine is where the line that begins at a text's start ends, with and without
// its end, which is "\n", "\r\n" or "\r".
func nextLine(text string) (body, whole int) {
	i := strings.IndexAny(text, "\r\n")
	switch {
	case i < 0:
		return len(text), len(text)
	case strings.HasPrefix(text[i:], "\r\n"):
		return i, i + 2
	}
	return i, i + 1
}

// lineBreaks counts the line ends in a text.
func lineBreaks(text string) int {
	n := 0
	for len(text) > 0 {
		body, whole := nextLine(text)
		if whole > body {
			n++
		}
		text = text[whole:]
	}
	return n
}

// lineCount counts the lines of a text, of which the last need not end.
func lineCount(text string) int {
	n := lineBreaks(text)
	if text != "" && text[len(text)-1] != '\n' && text[len(text)-1] != '\r' {
		n++
	}
	return n
}

// units is the length of a text in an encoding.
func units(text string, e encoding) uint32 {
	switch e {
	case utf8Units:
		return uint32(len(text))
	case utf32Units:
		return uint32(utf8.RuneCountInString(text))
	}
	n := uint32(0)
	for _, r := range text {
		n += utf16Len(r)
	}
	return n
}

func utf16Len(r rune) uint32 {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// positions convert between the offsets and the positions of one text.
type positions struct {
	text   string
	starts []int // of the lines
	e      encoding
}

func newPositions(text string, e encoding) positions {
	p := positions{text: text, starts: []int{0}, e: e}
	for at := 0; ; {
		body, whole := nextLine(text[at:])
		if body == whole {
			return p
		}
		at += whole
		p.starts = append(p.starts, at)
	}
}

// of is the position of a byte offset that is not inside of a character.
func (p positions) of(offset int) protocol.Position {
	line, exact := slices.BinarySearch(p.starts, offset)
	if !exact {
		line--
		if strings.HasSuffix(p.text[:offset], "\r") && strings.HasPrefix(p.text[offset:], "\n") {
			offset-- // between the two bytes of a line end, which no position names: before it
		}
	}
	return protocol.Position{Line: uint32(line), Character: units(p.text[p.starts[line]:offset], p.e)}
}

// offset is the byte offset of a position. A character beyond the end of its line
// means that end, and one inside of a character its start. ok is false for a line
// that is not there: the client and we have different texts.
func (p positions) offset(pos protocol.Position) (offset int, ok bool) {
	lines := uint64(len(p.starts))
	switch {
	case uint64(pos.Line) == lines && pos.Character == 0: // some clients end a range there
		return len(p.text), true
	case uint64(pos.Line) >= lines:
		return len(p.text), false
	}
	start := p.starts[pos.Line]
	body, _ := nextLine(p.text[start:])
	in, _ := within(p.text[start:start+body], pos.Character, p.e)
	return start + in, true
}

// within is the byte offset of so many units into a line. whole is false for a place
// inside of a character.
func within(line string, character uint32, e encoding) (offset int, whole bool) {
	if e == utf8Units {
		i := min(int(character), len(line))
		at := i
		for i < len(line) && i > 0 && !utf8.RuneStart(line[i]) {
			i--
		}
		return i, i == at
	}
	n := uint32(0)
	for i, r := range line {
		width := uint32(1)
		if e == utf16Units {
			width = utf16Len(r)
		}
		if n+width > character {
			return i, n == character
		}
		n += width
	}
	return len(line), true
}
