package openai

import "strings"

// line is what of Markdown has to be known at a place of a text: whether it stands in
// code, where a model speaks about tags and does not mean them.
type line struct {
	filled   bool // the line has more than space by now
	indented bool // by as much as code is

	run     int  // length of the run of ` or ~ that was just read
	char    byte // of that run
	first   bool // that run began the line
	span    int  // length of the run that opened a code span, 0: none
	fence   int  // length of the run that opened a fence, 0: none
	fenceOf byte // ` or ~
	closing bool // the line is such a run so far, which would end the fence
	leading int  // space at the start of the line
}

// quoted reports whether the place is in code.
func (l *line) quoted() bool { return l.fence > 0 || l.span > 0 }

// text takes letters that are none of the marks.
func (l *line) text(s string) {
	l.settle()
	body := strings.TrimLeft(s, space)
	if !l.filled {
		for _, c := range []byte(s[:len(s)-len(body)]) {
			l.leading++
			if c == '\t' {
				l.leading += 3
			}
		}
		l.indented = l.leading >= 4
	}
	if body != "" {
		l.filled, l.closing = true, false
	}
}

// tick takes one ` or ~.
func (l *line) tick(c byte) {
	if l.run > 0 && l.char != c {
		l.settle()
	}
	if l.run == 0 {
		l.char, l.first = c, !l.filled
	}
	l.run++
	l.filled = true
}

// settle ends a run, which opens or closes a fence or a code span.
func (l *line) settle() {
	n := l.run
	l.run = 0
	switch {
	case n == 0:
	case l.fence > 0:
		l.closing = l.first && l.char == l.fenceOf && n >= l.fence // if nothing follows on the line
	case l.first && n >= 3 && !l.indented:
		l.fence, l.fenceOf, l.span, l.closing = n, l.char, 0, false
	case l.char == '~':
	case l.span == 0:
		l.span = n
	case l.span == n:
		l.span = 0
	}
}

// end takes a line end. A code span may go on behind it, but a tag on a line of its own
// is in none.
func (l *line) end() {
	l.settle()
	if l.closing {
		l.fence = 0
	}
	l.filled, l.indented, l.leading, l.span, l.closing = false, false, 0, 0, false
}
