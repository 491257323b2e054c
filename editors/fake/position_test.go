package fake

import (
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

var encodings = []Encoding{UTF8, UTF16, UTF32}

func TestOffsetOfAPosition(t *testing.T) {
	const text = "a€𝄞b\r\nx\ry\n"
	tests := []struct {
		enc             Encoding
		line, character int
		want            int // -1: an error
	}{
		{UTF8, 0, 0, 0}, {UTF8, 0, 4, 4}, {UTF8, 0, 8, 8}, {UTF8, 0, 5, -1}, {UTF8, 0, 2, -1},
		{UTF16, 0, 2, 4}, {UTF16, 0, 4, 8}, {UTF16, 0, 3, -1}, {UTF16, 0, 5, 9},
		{UTF32, 0, 3, 8}, {UTF32, 0, 4, 9},
		{UTF16, 0, 99, 9},  // past the end of a line: its end, before the line end
		{UTF16, 1, 0, 11},  // after CRLF
		{UTF16, 2, 1, 14},  // after a lone CR
		{UTF16, 3, 0, 15},  // the empty last line
		{UTF16, 77, 0, 15}, // past the last line
		{UTF16, -1, 0, -1}, {UTF16, 0, -1, -1},
	}
	for _, tt := range tests {
		got, err := tt.enc.Offset(text, Position{tt.line, tt.character})
		if (err != nil) != (tt.want < 0) || err == nil && got != tt.want {
			t.Errorf("%s %d:%d is %d, %v; want %d", tt.enc, tt.line, tt.character, got, err, tt.want)
		}
	}
}

var lineEnd = regexp.MustCompile("\r\n|\r|\n")

// slowPosition counts in another way than the code under test.
func slowPosition(enc Encoding, text string, offset int) Position {
	lines := lineEnd.Split(text[:offset], -1)
	last := lines[len(lines)-1]
	n := len(last)
	switch enc {
	case UTF16:
		n = len(utf16.Encode([]rune(last)))
	case UTF32:
		n = utf8.RuneCountInString(last)
	}
	return Position{len(lines) - 1, n}
}

// randomText is full of line ends and wide characters.
func randomText(rng *rand.Rand, n int) string {
	parts := []string{"a", "bc", " ", "\t", "é", "€", "𝄞", "👩‍🚀", "\n", "\r\n", "\r", "\n", "\u2028", "\uFEFF"}
	var b strings.Builder
	for range rng.Intn(n + 1) {
		b.WriteString(parts[rng.Intn(len(parts))])
	}
	return b.String()
}

// places are the offsets that a position can name.
func places(text string) []int {
	var out []int
	for at := range text + "x" {
		if at == 0 || at == len(text) || text[at-1] != '\r' || text[at] != '\n' {
			out = append(out, at)
		}
	}
	return out
}

func TestEveryPlaceHasOnePositionAndBack(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 1000 {
		text := randomText(rng, 30)
		for _, enc := range encodings {
			for _, at := range places(text) {
				p := enc.Position(text, at)
				if want := slowPosition(enc, text, at); p != want {
					t.Fatalf("%s: offset %d of %q is %v, want %v", enc, at, text, p, want)
				}
				if back, err := enc.Offset(text, p); err != nil || back != at {
					t.Fatalf("%s: %v of %q is %d, %v; want %d", enc, p, text, back, err, at)
				}
			}
		}
	}
}

// randomSpans are sorted, do not overlap, and no two begin at one place.
func randomSpans(rng *rand.Rand, text string) []span {
	at := places(text)
	var cuts []int
	for range 2 * rng.Intn(5) {
		cuts = append(cuts, at[rng.Intn(len(at))])
	}
	slices.Sort(cuts)
	var out []span
	for i := 0; i+1 < len(cuts); i += 2 {
		if len(out) == 0 || out[len(out)-1].start < cuts[i] {
			out = append(out, span{cuts[i], cuts[i+1], randomText(rng, 4)})
		}
	}
	return out
}

func TestEditsByPositionsEqualEditsByBytes(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	for range 3000 {
		text := randomText(rng, 40)
		bySpan := randomSpans(rng, text)
		want := text
		for _, s := range slices.Backward(bySpan) {
			want = want[:s.start] + s.text + want[s.end:]
		}
		for _, enc := range encodings {
			var edits []TextEdit
			for _, s := range bySpan {
				edits = append(edits, TextEdit{Range{slowPosition(enc, text, s.start), slowPosition(enc, text, s.end)}, s.text})
			}
			rng.Shuffle(len(edits), func(i, j int) { edits[i], edits[j] = edits[j], edits[i] })
			spans, err := enc.spans(text, edits)
			if err != nil {
				t.Fatalf("%s: %q, %v: %v", enc, text, edits, err)
			}
			if got := splice(text, spans); got != want {
				t.Fatalf("%s: %q with %v gives %q, want %q", enc, text, edits, got, want)
			}
			if got, err := enc.replay(text, enc.changes(text, spans)); err != nil || got != want {
				t.Fatalf("%s: %q told as %v gives %q, %v, want %q", enc, text, enc.changes(text, spans), got, err, want)
			}
		}
	}
}
