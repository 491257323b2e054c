package agent

import (
	"errors"
	"strings"
)

// errEndless says that a reply repeated itself and was ended.
var errEndless = errors.New("the reply repeats itself without end")

// echo notices a reply in which the same words come again and again, as of a model
// that lost its way: so many bytes that repeat with a short period.
type echo struct {
	tail  []byte
	fresh int // bytes since the last look
}

const (
	echoBytes  = 8 << 10
	echoPeriod = 1 << 10
	echoStep   = 2 << 10
)

// endless takes what comes next and reports whether to stop.
func (e *echo) endless(text string) bool {
	e.tail = append(e.tail, text...)
	if e.fresh += len(text); e.fresh < echoStep || len(e.tail) < echoBytes {
		return false
	}
	e.fresh = 0
	e.tail = append(e.tail[:0], e.tail[len(e.tail)-echoBytes:]...)
	return period(e.tail) <= echoPeriod
}

// period is the smallest distance at which a text is the same as itself.
func period(text []byte) int {
	border := make([]int16, len(text)) // of each beginning: how much of its start is also its end
	for i := 1; i < len(text); i++ {
		n := border[i-1]
		for n > 0 && text[n] != text[i] {
			n = border[n-1]
		}
		if text[n] == text[i] {
			n++
		}
		border[i] = n
	}
	return len(text) - int(border[len(text)-1])
}

// once is a text without the repetition at its end.
func once(text string) string {
	if len(text) < echoBytes {
		return text
	}
	p := period([]byte(text[len(text)-echoBytes:]))
	end := len(text)
	for end > p && text[end-1] == text[end-1-p] {
		end--
	}
	return strings.ToValidUTF8(text[:end], "") // not to end inside a character
}
