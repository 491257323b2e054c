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
	minResult  = 2 << 10
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
	limit := min(max(s.bytes/max(s.calls, 1), minResult), max(s.most, minResult/2))
	out = clip(out, limit)
	s.bytes -= len(out)
	s.calls--
	return out
}

// clip cuts a long text in the middle, at character borders and where it can
// at line ends, and says so: the start says what it is and the end how it ended.
func clip(out string, limit int) string {
	if len(out) <= limit {
		return out
	}
	room := max(limit-120, limit/2) // without the note
	head, tail := out[:room*2/3], out[len(out)-room/3:]
	for len(head) > 0 && !utf8.RuneStart(out[len(head)]) {
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
	cut := len(out) - len(head) - len(tail)
	if limit < 400 {
		return fmt.Sprintf("%s [%d bytes cut] %s", head, cut, tail)
	}
	return fmt.Sprintf("%s\n[%d bytes cut here: the result was %d bytes long. Ask for a smaller part of it.]\n%s", head, cut, len(out), tail)
}
