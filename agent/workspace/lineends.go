package workspace

import (
	"strings"

	"assent/agent"
)

const (
	lf   = "\n"
	crlf = "\r\n"
)

// MatchLineEnds gives a new text, which may have any line ends, those of the text
// that it replaces: a line that stays keeps its own, a new one takes that of the
// line it replaces or, if it replaces none, of the line before it. If the
// replaced text has no line end at all, the most frequent one of the whole text
// is taken, and a new line only if that has none either.
func MatchLineEnds(newText, replaced, whole string) string {
	plain := agent.FoldEnds(newText)
	ends := lineEnds(replaced)
	if len(ends) == 0 {
		ends = []string{mostFrequent(lineEnds(whole))}
	}
	if uniform(ends) {
		if ends[0] == lf {
			return plain
		}
		return strings.ReplaceAll(plain, lf, crlf)
	}
	return alignEnds(plain, agent.FoldEnds(replaced), ends)
}

// alignEnds finds by a diff which line of the replaced text, whose line ends
// are ends, each line of the new text stands for.
func alignEnds(newText, replaced string, ends []string) string {
	end := func(line int) string { return ends[max(0, min(line, len(ends)-1))] }
	var b strings.Builder
	oldLine, rest := 0, newText
	// take writes n lines of the new text for count old ones.
	take := func(text string, count int) {
		n := 0
		for line := range strings.Lines(text) {
			body, ended := strings.CutSuffix(line, lf)
			b.WriteString(body)
			if ended {
				b.WriteString(end(oldLine + min(n, count-1)))
			}
			n++
		}
		oldLine += count
		rest = rest[len(text):]
	}
	at := 0
	for _, e := range lineEdits(replaced, newText) {
		same := replaced[at:e.Start]
		take(same, strings.Count(same, lf))
		take(e.New, countLines(replaced[e.Start:e.End]))
		at = e.End
	}
	take(rest, strings.Count(rest, lf))
	return b.String()
}

// lineEnds lists the line ends of a text in order.
func lineEnds(text string) []string {
	var ends []string
	for line := range strings.Lines(text) {
		switch {
		case strings.HasSuffix(line, crlf):
			ends = append(ends, crlf)
		case strings.HasSuffix(line, lf):
			ends = append(ends, lf)
		}
	}
	return ends
}

func uniform(ends []string) bool {
	for _, end := range ends {
		if end != ends[0] {
			return false
		}
	}
	return true
}

func mostFrequent(ends []string) string {
	windows := 0
	for _, end := range ends {
		if end == crlf {
			windows++
		}
	}
	if windows > len(ends)-windows {
		return crlf
	}
	return lf
}

func countLines(text string) int {
	n := strings.Count(text, lf)
	if text != "" && !strings.HasSuffix(text, lf) {
		n++
	}
	return n
}

// endOf is the line end of a text that has one kind only, else "".
func endOf(text string) string {
	windows, all := strings.Count(text, crlf), strings.Count(text, lf)
	switch {
	case all > 0 && windows == 0:
		return lf
	case all > 0 && windows == all:
		return crlf
	}
	return ""
}

// withEndsOf is an edit as it is for a text that an editor shows with other line ends.
// Hunks keep their names. An edit that is about line ends stays as it is.
func withEndsOf(e agent.Edit, text string) agent.Edit {
	was, now := endOf(e.Old), endOf(text)
	if was == "" || now == "" || was == now {
		return e
	}
	other := e
	other.Old, other.Hunks = strings.ReplaceAll(e.Old, was, now), make([]agent.Hunk, len(e.Hunks))
	at, from := 0, 0
	for i, h := range e.Hunks {
		if end := endOf(h.New); end != was && (end != "" || strings.Contains(h.New, lf)) {
			return e
		}
		at += len(strings.ReplaceAll(e.Old[from:h.At], was, now))
		from = h.At
		h.At, h.Old, h.New = at, strings.ReplaceAll(h.Old, was, now), strings.ReplaceAll(h.New, was, now)
		other.Hunks[i] = h
	}
	return other
}
