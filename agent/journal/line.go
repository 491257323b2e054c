package journal

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"assent/agent"
)

// line builds a JSON object by appending to b. encoding/json would copy each
// text twice, compact the model's arguments and replace what isn't UTF-8.
type line struct {
	b        []byte
	secrets  redactor
	redacted bool // a secret was replaced
}

// sep puts a comma before the next key or element, unless it is the first.
func (l *line) sep() {
	if last := l.b[len(l.b)-1]; last != '{' && last != '[' {
		l.b = append(l.b, ',')
	}
}

func (l *line) key(name string) {
	l.sep()
	l.b = append(l.b, '"')
	l.b = append(l.b, name...)
	l.b = append(l.b, '"', ':')
}

// begin opens the object or list that is the value of a key.
func (l *line) begin(name string, bracket byte) {
	l.key(name)
	l.b = append(l.b, bracket)
}

// element opens an object in a list.
func (l *line) element() {
	l.sep()
	l.b = append(l.b, '{')
}

func (l *line) end(bracket byte) { l.b = append(l.b, bracket) }

// text writes a text without the secrets in it, and nothing if it is empty.
func (l *line) text(name, s string) {
	if s != "" {
		l.key(name)
		l.value(s)
	}
}

// value is a text without the secrets in it.
func (l *line) value(s string) {
	clean, found := l.secrets.text(s)
	l.redacted = l.redacted || found
	l.quote(clean)
}

// word writes one of our own words. No secret is looked for in it: somebody's
// password may well be "person".
func (l *line) word(name, s string) {
	if s != "" {
		l.key(name)
		l.quote(s)
	}
}

func (l *line) texts(name string, list []string) {
	if len(list) == 0 {
		return
	}
	l.begin(name, '[')
	for _, s := range list {
		l.sep()
		l.value(s)
	}
	l.end(']')
}

// bytes writes what is no text in base64, without the secrets in it, and nothing
// if it is empty.
func (l *line) bytes(name string, data []byte) {
	if len(data) == 0 {
		return
	}
	clean, found := l.secrets.text(string(data))
	l.redacted = l.redacted || found
	l.key(name)
	l.b = append(l.b, '"')
	l.b = base64.StdEncoding.AppendEncode(l.b, []byte(clean))
	l.b = append(l.b, '"')
}

func (l *line) num(name string, n int64) {
	if n != 0 {
		l.key(name)
		l.b = strconv.AppendInt(l.b, n, 10)
	}
}

func (l *line) flag(name string, b bool) {
	if b {
		l.key(name)
		l.b = append(l.b, "true"...)
	}
}

func (l *line) hash(name string, h agent.Hash) {
	if h != (agent.Hash{}) {
		l.word(name, h.String())
	}
}

// input writes arguments as they are where they fit on a line, else as a text.
func (l *line) input(in json.RawMessage) {
	if len(in) == 0 {
		return
	}
	if !fitsLine(in) {
		l.text("inputText", string(in))
		return
	}
	clean, found := l.secrets.json(in)
	l.redacted = l.redacted || found
	l.key("input")
	l.b = append(l.b, clean...)
}

// maxBrackets keeps the nesting of a line far below the limit at which
// encoding/json refuses to read it.
const maxBrackets = 5000

// fitsLine reports whether a value comes back byte by byte out of a line.
func fitsLine(in []byte) bool {
	return in[0] > ' ' && in[len(in)-1] > ' ' &&
		bytes.IndexByte(in, '\n') < 0 && bytes.IndexByte(in, '\r') < 0 &&
		bytes.Count(in, []byte("{"))+bytes.Count(in, []byte("[")) <= maxBrackets &&
		utf8.Valid(in) && json.Valid(in)
}

// quote appends s as a JSON string, or as {"base64":"…"} if it isn't UTF-8.
func (l *line) quote(s string) {
	if !utf8.ValidString(s) {
		l.b = append(l.b, `{"base64":"`...)
		l.b = base64.StdEncoding.AppendEncode(l.b, []byte(s))
		l.b = append(l.b, `"}`...)
		return
	}
	l.b = appendQuoted(l.b, s)
}

// appendQuoted appends a valid UTF-8 text as a JSON string.
func appendQuoted(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}
