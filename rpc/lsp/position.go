package lsp

import (
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

// positionAt is the position of a byte offset that is not inside of a character.
func positionAt(text string, offset int, e encoding) protocol.Position {
	before := text[:offset]
	line := lineBreaks(before)
	start := strings.LastIndexAny(before, "\r\n") + 1
	if strings.HasSuffix(before, "\r") && strings.HasPrefix(text[offset:], "\n") {
		// Between the two bytes of a line end, which no position names: before it.
		line--
		start = strings.LastIndexAny(before[:offset-1], "\r\n") + 1
		offset--
	}
	return protocol.Position{Line: uint32(line), Character: units(text[start:offset], e)}
}

// offsetAt is the byte offset of a position. A character beyond the end of its
// line means that end, and one inside of a character its start. ok is false for a
// line that is not there: the client and we have different texts.
func offsetAt(text string, p protocol.Position, e encoding) (offset int, ok bool) {
	at := 0
	for line := uint32(0); line < p.Line; line++ {
		body, whole := nextLine(text[at:])
		if whole == body { // the last line
			// Some clients end a range on the line after the last, at its start.
			return len(text), line+1 == p.Line && p.Character == 0
		}
		at += whole
	}
	body, _ := nextLine(text[at:])
	return at + within(text[at:at+body], p.Character, e), true
}

// within is the byte offset of so many units into a line.
func within(line string, character uint32, e encoding) int {
	if e == utf8Units {
		i := min(int(character), len(line))
		for i < len(line) && i > 0 && !utf8.RuneStart(line[i]) {
			i--
		}
		return i
	}
	n := uint32(0)
	for i, r := range line {
		width := uint32(1)
		if e == utf16Units {
			width = utf16Len(r)
		}
		if n+width > character {
			return i
		}
		n += width
	}
	return len(line)
}
