package journal

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	redactedText = "[redacted]"
	// minSecret is the length below which a secret is no secret: replacing every
	// "key" would make a journal unreadable.
	minSecret = 6
)

// redactor is the forms in which secrets may appear, the longest first, so that
// no rest stays of one that contains another.
type redactor []string

// newRedactor takes each secret as it is, and as it looks in a JSON text and in
// a URL.
func newRedactor(secrets []string) redactor {
	var r redactor
	for _, s := range secrets {
		if len(s) < minSecret {
			continue
		}
		r = append(r, s, url.QueryEscape(s), url.PathEscape(s))
		if utf8.ValidString(s) {
			quoted := appendQuoted(nil, s)
			r = append(r, string(quoted[1:len(quoted)-1]))
		}
	}
	slices.SortFunc(r, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(r)
}

// text replaces the secrets in s and reports whether there were any.
func (r redactor) text(s string) (string, bool) {
	found := false
	for _, secret := range r {
		if strings.Contains(s, secret) {
			s, found = strings.ReplaceAll(s, secret, redactedText), true
		}
	}
	return s, found
}

// json replaces the secrets in the string literals of a valid JSON value,
// whichever way their characters are escaped, and leaves every other byte.
func (r redactor) json(in []byte) ([]byte, bool) {
	if bytes.IndexByte(in, '\\') < 0 && !slices.ContainsFunc(r, func(s string) bool { return bytes.Contains(in, []byte(s)) }) {
		return in, false
	}
	var out []byte
	from := 0 // what is before it is in out
	for at := 0; ; {
		start := bytes.IndexByte(in[at:], '"')
		if start < 0 {
			break
		}
		start += at
		end := literalEnd(in, start)
		literal := in[start:end]
		var s string
		if bytes.IndexByte(literal, '\\') < 0 {
			s = string(literal[1 : len(literal)-1])
		} else if json.Unmarshal(literal, &s) != nil {
			return in, false // can't be: the value is valid
		}
		if clean, found := r.text(s); found {
			out = appendQuoted(append(out, in[from:start]...), clean)
			from = end
		}
		at = end
	}
	if from == 0 {
		return in, false
	}
	return append(out, in[from:]...), true
}

// literalEnd is the offset behind the string literal at start.
func literalEnd(in []byte, start int) int {
	for i := start + 1; i < len(in); i++ {
		switch in[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(in)
}
