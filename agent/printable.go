package agent

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable shows what a terminal would obey (escape sequences), hide (zero width)
// or reorder (bidirectional controls), so that what the person reads is what they
// agree to. Tabs and newlines stay.
func Printable(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "<%02X>", text[0])
		case r == '\t' || r == '\n':
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune(0x2400 + r) // the control pictures: ␛ for escape
		case r == 0x7f, r >= 0x80 && r < 0xa0, hidden(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
		text = text[n:]
	}
	return b.String()
}

// hidden reports whether a character can't be told from a blank or from nothing,
// or moves those around it.
func hidden(r rune) bool {
	switch {
	case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector):
		return true
	case unicode.Is(unicode.Zs, r):
		return r != ' '
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r): // fillers, joiners
		return true
	}
	return r == 0x2800 // an empty braille cell
}
