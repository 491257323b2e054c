package tools

import (
	"sort"
	"strings"
)

// span is a range of bytes of a text.
type span struct{ from, to int }

// folded is a text with its CRLF line ends made LF, as the model sees it.
type folded struct {
	text string
	cuts []int // offsets in text of each LF that had a CR before it
}

func fold(text string) folded {
	n := strings.Count(text, "\r\n")
	if n == 0 {
		return folded{text: text}
	}
	f := folded{cuts: make([]int, 0, n)}
	var b strings.Builder
	b.Grow(len(text) - n)
	for line := range strings.Lines(text) {
		body, crlf := strings.CutSuffix(line, "\r\n")
		b.WriteString(body)
		if crlf {
			f.cuts = append(f.cuts, b.Len())
			b.WriteByte('\n')
		}
	}
	f.text = b.String()
	return f
}

// original is the offset in the text before folding. Where a CRLF begins, it is
// the one before the CR, so that a span never parts the two.
func (f folded) original(at int) int { return at + sort.SearchInts(f.cuts, at) }

// find lists where want is in a text, at most limit places. Overlapping places
// count when asked for: to change one of them is as much a guess as to change
// one of two apart.
//
// Line ends are folded, since the model sees only LF. A want with a CR of its own
// is looked for as it is first.
func find(text string, f folded, want string, overlapping bool, limit int) []span {
	if strings.Contains(want, "\r") {
		if exact := findIn(text, want, overlapping, limit); len(exact) > 0 {
			for i, s := range exact {
				if text[s.from] == '\n' && s.from > 0 && text[s.from-1] == '\r' {
					exact[i].from--
				}
			}
			return exact
		}
	}
	spans := findIn(f.text, fold(want).text, overlapping, limit)
	for i, s := range spans {
		spans[i] = span{f.original(s.from), f.original(s.to)}
	}
	return spans
}

func findIn(text, want string, overlapping bool, limit int) []span {
	var spans []span
	for at := 0; len(spans) < limit; {
		i := strings.Index(text[at:], want)
		if i < 0 || want == "" {
			break
		}
		from := at + i
		spans = append(spans, span{from, from + len(want)})
		at = from + len(want)
		if overlapping {
			at = from + 1
		}
	}
	return spans
}

// lineAt is the line, from 1, that holds the byte at an offset.
func lineAt(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }
