package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// How much of a text the model is shown around what it does not know yet.
const (
	aroundLines   = 40  // altogether
	aroundContext = 2   // beside a place, at most
	aroundLine    = 240 // bytes of one line
)

// around shows the lines of the text that is there now where it is not the wanted
// one, "" if it is that one. Line ends do not count: the model sees LF only.
func around(want, now string) string {
	have := textLines(now)
	var b strings.Builder
	left := aroundLines
	places := withContext(differing(textLines(want), have), len(have))
	for i, p := range places {
		if left == 0 {
			fmt.Fprintf(&b, "[%d more places are not shown, the next at line %d; read the file]\n", len(places)-i, p.from+1)
			break
		}
		to := min(p.to, p.from+left)
		left -= to - p.from
		if p.from == to {
			continue // of an empty text
		}
		fmt.Fprintf(&b, "[lines %d-%d of %d]\n", p.from+1, to, len(have))
		for _, line := range have[p.from:to] {
			b.WriteString(clip(line, aroundLine) + "\n")
		}
		if to < p.to {
			fmt.Fprintf(&b, "[%d more lines are not shown; read the file]\n", p.to-to)
		}
	}
	switch {
	case len(places) == 0:
		return ""
	case len(have) == 0:
		return "The file is empty now."
	}
	return "Where the text is not as you asked for, it now reads:\n" + strings.TrimSuffix(b.String(), "\n")
}

// textLines are the lines of a text as a model sees them.
func textLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(FoldEnds(strings.ToValidUTF8(text, "\uFFFD")), "\n"), "\n")
}

// place is some lines, none where something was taken out.
type place struct{ from, to int }

// withContext adds the lines beside each place, and makes one of those that meet.
func withContext(places []place, lines int) []place {
	var out []place
	for _, p := range places {
		p = place{max(p.from-aroundContext, 0), min(p.to+aroundContext, lines)}
		if last := len(out) - 1; last >= 0 && p.from <= out[last].to {
			out[last].to = p.to
			continue
		}
		out = append(out, p)
	}
	return out
}

// differing are the places of have that are not in want. Lines that are once in each
// text, in the same order, hold the two together; it need not be the smallest
// difference, as it is only shown.
func differing(want, have []string) []place {
	var out []place
	w, h := 0, 0
	for _, a := range append(anchors(want, have), anchor{len(want), len(have)}) {
		wTo, hTo := a.want, a.have
		for w < wTo && h < hTo && want[w] == have[h] {
			w, h = w+1, h+1
		}
		for w < wTo && h < hTo && want[wTo-1] == have[hTo-1] {
			wTo, hTo = wTo-1, hTo-1
		}
		if w < wTo || h < hTo {
			out = append(out, place{h, hTo})
		}
		w, h = a.want, a.have
	}
	return out
}

// anchor is a line that is the same in two texts, by its numbers.
type anchor struct{ want, have int }

// anchors are the most lines, once in each text, that are in the same order in both.
func anchors(want, have []string) []anchor {
	type once struct{ want, have, inWant, inHave int }
	seen := map[string]*once{}
	for i, line := range want {
		if seen[line] == nil {
			seen[line] = &once{want: i}
		}
		seen[line].inWant++
	}
	for i, line := range have {
		if o := seen[line]; o != nil {
			o.have = i
			o.inHave++
		}
	}
	// The longest run of pairs that rises in both: the best run of each length so far
	// is known by its last pair, and each pair knows the one before it.
	var pairs []anchor
	var before, ends []int
	for i, line := range want {
		o := seen[line]
		if o.inWant != 1 || o.inHave != 1 {
			continue
		}
		n, _ := slices.BinarySearchFunc(ends, o.have, func(p, have int) int { return cmp.Compare(pairs[p].have, have) })
		previous := -1
		if n > 0 {
			previous = ends[n-1]
		}
		pairs, before = append(pairs, anchor{i, o.have}), append(before, previous)
		if n == len(ends) {
			ends = append(ends, 0)
		}
		ends[n] = len(pairs) - 1
	}
	if len(ends) == 0 {
		return nil
	}
	run := make([]anchor, len(ends))
	for i, p := len(ends)-1, ends[len(ends)-1]; i >= 0; i, p = i-1, before[p] {
		run[i] = pairs[p]
	}
	return run
}
