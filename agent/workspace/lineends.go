package workspace

import "strings"

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
	plain := strings.ReplaceAll(newText, crlf, lf)
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
	return alignEnds(plain, strings.ReplaceAll(replaced, crlf, lf), ends)
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
