package lsp

import (
	"strings"
	"testing"
	"unicode/utf8"

	"assent/editors/fake"

	"go.lsp.dev/protocol"
	"pgregory.net/rapid"
)

var allEncodings = []encoding{utf8Units, utf16Units, utf32Units}

func at(line, character uint32) protocol.Position {
	return protocol.Position{Line: line, Character: character}
}

func TestAPositionIsAPlaceInTheText(t *testing.T) {
	const astral = "a𐐀b\n" // a, one character of 4 bytes or 2 units of UTF-16, b
	for _, c := range []struct {
		name   string
		text   string
		enc    encoding
		p      protocol.Position
		offset int
		ok     bool
	}{
		{"the start of an empty text", "", utf16Units, at(0, 0), 0, true},
		{"beyond the end of an empty text", "", utf16Units, at(0, 7), 0, true},
		{"the line after an empty text", "", utf16Units, at(1, 0), 0, true},
		{"into the line after an empty text", "", utf16Units, at(1, 1), 0, false},
		{"two lines after an empty text", "", utf16Units, at(2, 0), 0, false},
		{"the end of a line", "ab\ncd", utf16Units, at(0, 2), 2, true},
		{"beyond the end of a line", "ab\ncd", utf8Units, at(0, 9), 2, true},
		{"far beyond the end of a line", "ab\ncd", utf8Units, at(0, 1<<32-1), 2, true},
		{"far beyond the end of a line, UTF-16", "ab\ncd", utf16Units, at(0, 1<<32-1), 2, true},
		{"beyond the end of a line before CRLF", "ab\r\ncd", utf16Units, at(0, 3), 2, true},
		{"a line after CRLF", "ab\r\ncd", utf16Units, at(1, 1), 5, true},
		{"a line after a lone CR", "ab\rcd", utf16Units, at(1, 1), 4, true},
		{"lines after LF, CR, CRLF, CR", "\n\r\r\n\rx", utf16Units, at(4, 1), 6, true},
		{"after LF CR, which are two ends", "a\n\rb", utf16Units, at(2, 0), 3, true},
		{"the empty line after the last end", "ab\n", utf16Units, at(1, 0), 3, true},
		{"the line after that", "ab\n", utf16Units, at(2, 0), 3, true},
		{"far beyond the last line", "ab\n", utf16Units, at(3, 0), 3, false},
		{"far beyond the last line, with the largest number", "ab\n", utf16Units, at(1<<32-1, 0), 3, false},
		{"after an astral character, UTF-16", astral, utf16Units, at(0, 3), 5, true},
		{"inside of a surrogate pair", astral, utf16Units, at(0, 2), 1, true},
		{"after an astral character, UTF-32", astral, utf32Units, at(0, 2), 5, true},
		{"after an astral character, UTF-8", astral, utf8Units, at(0, 5), 5, true},
		{"inside of the bytes of a character", astral, utf8Units, at(0, 3), 1, true},
		{"after a character of two bytes", "éa", utf8Units, at(0, 2), 2, true},
		{"after a combining mark", "e\u0301x", utf16Units, at(0, 2), 3, true},
		{"no line end but in Unicode: NEL, LS, PS, VT, FF", "a\u0085b\u2028c\u2029d\ve\ff", utf32Units, at(0, 11), 16, true},
		{"after a byte order mark", "\ufeffa", utf16Units, at(0, 1), 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			offset, ok := offsetAt(c.text, c.p, c.enc)
			if ok != c.ok || ok && offset != c.offset {
				t.Errorf("offsetAt(%q, %v, %s) = %d, %t, not %d, %t", c.text, c.p, c.enc, offset, ok, c.offset, c.ok)
			}
		})
	}
}

func TestBetweenCRAndLFIsTheEndOfTheLine(t *testing.T) {
	for _, enc := range allEncodings {
		for text, want := range map[string]protocol.Position{"a𐐀\r\nb": at(0, units("a𐐀", enc)), "\r\n": at(0, 0), "x\r\r\n": at(1, 0), "x\n\r\n": at(1, 0)} {
			offset := strings.Index(text, "\r\n") + 1
			if got := positionAt(text, offset, enc); got != want {
				t.Errorf("positionAt(%q, %d, %s) = %v, not %v", text, offset, enc, got, want)
			}
		}
	}
}

func TestTheFirstEncodingThatWeKnowIsTaken(t *testing.T) {
	for _, c := range []struct {
		offered []encoding
		want    encoding
	}{
		{nil, utf16Units},
		{[]encoding{}, utf16Units},
		{[]encoding{"utf-7"}, utf16Units},
		{[]encoding{"utf-7", "utf-32", "utf-8"}, utf32Units},
		{[]encoding{"utf-8", "utf-16"}, utf8Units},
		{[]encoding{"UTF-8"}, utf16Units}, // names are exact
	} {
		if got := chooseEncoding(c.offered); got != c.want {
			t.Errorf("chooseEncoding(%q) = %s, not %s", c.offered, got, c.want)
		}
	}
}

func TestLinesAreCounted(t *testing.T) {
	for _, c := range []struct {
		text          string
		breaks, lines int
	}{
		{"", 0, 0}, {"a", 0, 1}, {"a\n", 1, 1}, {"a\nb", 1, 2}, {"\n", 1, 1}, {"\n\n", 2, 2},
		{"a\r\n", 1, 1}, {"a\r", 1, 1}, {"a\rb", 1, 2}, {"\r\n\r\n", 2, 2}, {"\n\r", 2, 2}, {"\r\r\n", 2, 2}, {"a\r\nb\rc\nd", 3, 4}, {"\u2028", 0, 1},
	} {
		if breaks, lines := lineBreaks(c.text), lineCount(c.text); breaks != c.breaks || lines != c.lines {
			t.Errorf("%q has %d breaks and %d lines, not %d and %d", c.text, breaks, lines, c.breaks, c.lines)
		}
	}
}

// texts are texts with all kinds of line ends and widths of characters.
func texts() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"a", "b ", "\t", "é", "漢", "𐐀", "🙂", "e\u0301", "\ufeff", "\ufffd", "\u2028", "\n", "\r\n", "\r", "\n\n"})
	return rapid.Map(rapid.SliceOfN(piece, 0, 30), func(all []string) string { return strings.Join(all, "") })
}

func TestPositionsAndOffsetsAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		enc := rapid.SampledFrom(allEncodings).Draw(t, "encoding")
		other := fake.Encoding(enc)
		for offset := 0; offset <= len(text); offset++ {
			if offset < len(text) && !utf8.RuneStart(text[offset]) {
				continue
			}
			p := positionAt(text, offset, enc)
			if want := other.Position(text, offset); int(p.Line) != want.Line || int(p.Character) != want.Character {
				t.Fatalf("the position of %d in %q is %v, for the editor %v", offset, text, p, want)
			}
			if offset > 0 && strings.HasPrefix(text[offset-1:], "\r\n") {
				continue // no position of its own
			}
			if back, ok := offsetAt(text, p, enc); !ok || back != offset {
				t.Fatalf("%d in %q is at %v, which is at %d, %t", offset, text, p, back, ok)
			}
		}
	})
}

func TestAnyPositionIsWhereTheEditorHasIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		enc := rapid.SampledFrom(allEncodings).Draw(t, "encoding")
		p := at(rapid.Uint32Range(0, 8).Draw(t, "line"), rapid.Uint32Range(0, 12).Draw(t, "character"))
		offset, ok := offsetAt(text, p, enc)
		if offset < 0 || offset > len(text) || offset < len(text) && !utf8.RuneStart(text[offset]) {
			t.Fatalf("%v in %q is at %d, which is no place between characters", p, text, offset)
		}
		want, err := fake.Encoding(enc).Offset(text, fake.Position{Line: int(p.Line), Character: int(p.Character)})
		switch {
		case err != nil: // inside of a character: ours is its start
			if !ok {
				t.Fatalf("%v in %q is at no place", p, text)
			}
		case !ok:
			if want != len(text) {
				t.Fatalf("%v in %q is at no place, for the editor at %d", p, text, want)
			}
		case offset != want:
			t.Fatalf("%v in %q is at %d, for the editor at %d", p, text, offset, want)
		}
	})
}

func TestLineBreaksAreTheLineOfTheLastPosition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		last := fake.UTF16.Position(text, len(text))
		if lineBreaks(text) != last.Line {
			t.Fatalf("%q has %d breaks, for the editor %d", text, lineBreaks(text), last.Line)
		}
		want := last.Line
		if last.Character > 0 {
			want++
		}
		if lineCount(text) != want {
			t.Fatalf("%q has %d lines, not %d", text, lineCount(text), want)
		}
	})
}

func positionAt(text string, offset int, e encoding) protocol.Position {
	return newPositions(text, e).of(offset)
}

func offsetAt(text string, p protocol.Position, e encoding) (int, bool) {
	return newPositions(text, e).offset(p)
}
