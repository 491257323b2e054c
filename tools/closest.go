package tools

import (
	"strings"
)

const (
	// maxCompared bounds the text in which the closest place is looked for.
	maxCompared = 8 << 20
	// maxSameGram is for how many lines of the wanted text one trigram votes.
	maxSameGram = 6
	gramBits    = 16
)

// closest finds the lines of a text that are most like the wanted lines, and
// reports whether they are alike enough to be worth showing. from may be negative
// and to past the end: a place of as many lines as are wanted.
//
// It takes one pass over the text, whatever the number of wanted lines. Each
// trigram of a line, white space left out and case folded, votes for the places
// that would put a wanted line with the same trigram on that line; the place with
// most votes wins. A trigram votes for at most [maxSameGram] wanted lines and once
// in a line, so the work is bounded by a constant for each byte of the text: about
// 20 ms for 50,000 lines, see BenchmarkClosest.
func closest(have, want []string) (from, to int, alike bool) {
	grams := newGrams(want)
	votes := make([]int32, len(have)+len(want))
	size := 0
	for i, line := range have {
		if size += len(line); size > maxCompared {
			break
		}
		// The place that begins at line i-j has index i-j+len(want)-1.
		grams.vote(line, i, votes[i:i+len(want)])
	}
	best := 0
	for i, n := range votes {
		if n > votes[best] {
			best = i
		}
	}
	from = best - len(want) + 1
	return from, from + len(want), grams.total > 0 && int(votes[best])*3 >= grams.total
}

// grams are the trigrams of the wanted lines, by hash. Two with the same hash
// count as one, which only adds noise.
type grams struct {
	lines [1 << gramBits]gram
	total int // votes that an equal text would get
	text  []byte
}

type gram struct {
	met  int32 // the line, from 1, in which it was met last
	n    int32
	back [maxSameGram]int32 // for each wanted line that has it, how many wanted lines are below it
}

func newGrams(want []string) *grams {
	g := new(grams)
	for j, line := range want {
		below := int32(len(want) - 1 - j)
		g.fold(line)
		for i := range len(g.text) - 2 {
			same := g.at(i)
			if same.n < maxSameGram && (same.n == 0 || same.back[same.n-1] != below) {
				same.back[same.n] = below
				same.n++
				g.total++
			}
		}
	}
	return g
}

// vote adds the votes of line i. votes are those for the places at which line i
// would be the last wanted line up to the first.
func (g *grams) vote(line string, i int, votes []int32) {
	g.fold(line)
	for k := range len(g.text) - 2 {
		same := g.at(k)
		if same.n == 0 || same.met == int32(i+1) {
			continue
		}
		same.met = int32(i + 1)
		for _, below := range same.back[:same.n] {
			votes[below]++
		}
	}
}

func (g *grams) at(i int) *gram {
	key := uint32(g.text[i]) | uint32(g.text[i+1])<<8 | uint32(g.text[i+2])<<16
	return &g.lines[key*2654435761>>(32-gramBits)]
}

// fold puts a line into g.text, in lower case and without white space.
func (g *grams) fold(line string) {
	g.text = g.text[:0]
	for i := range len(line) {
		c := line[i]
		if c == ' ' || c == '\t' || c == '\r' {
			continue
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		g.text = append(g.text, c)
	}
}

// splitLines is the lines of a text without their ends.
func splitLines(text string) []string {
	lines := strings.Split(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}
