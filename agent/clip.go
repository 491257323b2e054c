package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bytes of tool results that enter the history: of one, and of all of one reply. In
// a small window they are an eighth and a quarter of it.
const (
	maxResult  = 32 << 10
	maxResults = 128 << 10
	minResult  = 500
)

// shares divide what the results of one reply may take among its calls. What one
// leaves, the next ones may have.
type shares struct{ bytes, calls, most int }

func (s *Session) shares(calls int) shares {
	sh := shares{maxResults, calls, maxResult}
	if s.window > 0 {
		whole := s.bytesOf(s.window)
		sh.bytes, sh.most = min(sh.bytes, whole/4), min(sh.most, whole/8)
	}
	return sh
}

// cut is a result as far as it may enter the history.
func (s *shares) cut(out string) string {
	limit := min(max(s.bytes/max(s.calls, 1), minResult), max(s.most, minResult))
	out = clipResult(out, limit)
	s.bytes -= len(out)
	s.calls--
	return out
}

// clipResult cuts a long result in the middle and says so: its start says what it is,
// and its end how it ended.
func clipResult(out string, limit int) string {
	if limit < 400 {
		return clip(out, limit)
	}
	return cut(out, limit, 120, func(gone int) string {
		return fmt.Sprintf("\n[%d bytes cut here: the result was %d bytes long. Ask for a smaller part of it.]\n", gone, len(out))
	})
}

// clip cuts a long text in the middle.
func clip(text string, limit int) string {
	return cut(text, limit, 40, func(gone int) string { return fmt.Sprintf(" [… %d bytes left out …] ", gone) })
}

// cut takes out the middle of a text, at character borders and where it can at line
// ends, so that with the note of so many bytes it is no longer than limit.
func cut(text string, limit, note int, says func(gone int) string) string {
	if len(text) <= max(limit, note) {
		return text
	}
	room := max(limit-note, 0)
	head, tail := text[:room*2/3], text[len(text)-room/3:]
	for len(head) > 0 && !utf8.RuneStart(text[len(head)]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	return head + says(len(text)-len(head)-len(tail)) + tail
}
