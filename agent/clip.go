package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxResult is how many bytes of a tool result enter the history.
const maxResult = 32 << 10

// clip cuts a long result in the middle, at character borders and where it can
// at line ends, and says so: the start says what it is and the end how it ended.
func clip(out string) string {
	if len(out) <= maxResult {
		return out
	}
	head, tail := out[:maxResult*2/3], out[len(out)-maxResult/3+200:] // 200: room for the note
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
	return fmt.Sprintf("%s\n[%d bytes cut here: the result was %d bytes long. Ask for a smaller part of it.]\n%s", head, cut, len(out), tail)
}
