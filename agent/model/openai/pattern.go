package openai

import (
	"regexp"
	"sync"
)

// lazy is a pattern that is compiled when it is first needed: most are of errors, and
// all of them together take longer than the rest of a start.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
