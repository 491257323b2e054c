package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// maxNesting is far above what any tool takes; it keeps the recursion small.
const maxNesting = 100

// parseObject reads one JSON object, more strictly than encoding/json: a key that
// is there twice and text that would not survive decoding are errors, since
// either would make the call another one than the model wrote. Empty input is
// an empty object. Numbers come out as int64 where they are whole.
func parseObject(input []byte) (map[string]any, error) {
	input = bytes.TrimSpace(input)
	if len(input) == 0 {
		return map[string]any{}, nil
	}
	var whole json.RawMessage
	if err := json.Unmarshal(input, &whole); err != nil {
		return nil, fmt.Errorf("they are not valid JSON (%s%s)", cut(err.Error(), 200), offset(err, input))
	}
	if input[0] != '{' {
		return nil, fmt.Errorf("they must be one JSON object, and are %s", cut(string(input), 60))
	}
	if !utf8.Valid(input) {
		return nil, errors.New("they hold bytes that are not UTF-8")
	}
	if hasLoneSurrogate(input) {
		return nil, errors.New(`they hold half of a surrogate pair (a \ud800 to \udfff escape without its partner)`)
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	p := parser{dec}
	value, err := p.value("", 0)
	if err != nil {
		return nil, err
	}
	return value.(map[string]any), nil
}

func offset(err error, input []byte) string {
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf(" at byte %d of %d", wrong.Offset, len(input))
	}
	return ""
}

type parser struct{ dec *json.Decoder }

// value reads the next value; at is the field that it belongs to.
func (p parser) value(at string, depth int) (any, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("%s is nested more than %d deep", cut(at, 60), maxNesting)
	}
	token, err := p.dec.Token()
	if err != nil {
		return nil, fmt.Errorf("they are not valid JSON (%s)", cut(err.Error(), 200))
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return p.array(at, depth)
		}
		return p.object(at, depth)
	case json.Number:
		return number(at, token)
	}
	return token, nil // string, bool, nil
}

func (p parser) object(at string, depth int) (any, error) {
	object := map[string]any{}
	for p.dec.More() {
		token, err := p.dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		name := join(at, key)
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("%s is given twice", cut(name, 100))
		}
		if object[key], err = p.value(name, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := p.dec.Token()
	return object, err
}

func (p parser) array(at string, depth int) (any, error) {
	array := []any{}
	for p.dec.More() {
		item, err := p.value(index(at, len(array)), depth+1)
		if err != nil {
			return nil, err
		}
		array = append(array, item)
	}
	_, err := p.dec.Token()
	return array, err
}

// number turns 5, 5.0 and 5e0 into int64(5). A number that int64 can't hold stays
// a float64, and one that a float64 can't hold is refused here: arithmetic on
// 1e999999999 would take minutes.
func number(at string, n json.Number) (any, error) {
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return i, nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("%s is too large a number (%s)", cut(at, 60), cut(n.String(), 60))
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f), nil
	}
	return f, nil
}

// hasLoneSurrogate looks for the escapes that encoding/json replaces by U+FFFD
// without a word. The input is valid JSON, so a backslash begins an escape.
func hasLoneSurrogate(input []byte) bool {
	for i := 0; i < len(input); i++ {
		if input[i] != '\\' {
			continue
		}
		i++ // on the letter of the escape
		unit := escape(input, i)
		i += 4 * min(1, unit+1) // past the digits, if there are any
		if unit < 0xD800 || unit > 0xDFFF {
			continue
		}
		next := -1
		if i+2 < len(input) && input[i+1] == '\\' {
			next = escape(input, i+2)
		}
		if unit >= 0xDC00 || next < 0xDC00 || next > 0xDFFF {
			return true
		}
		i += 6
	}
	return false
}

// escape is the code unit of the \u escape whose letter is at i, or -1.
func escape(input []byte, i int) int {
	if input[i] != 'u' || i+4 >= len(input) {
		return -1
	}
	unit, err := strconv.ParseUint(string(input[i+1:i+5]), 16, 16)
	if err != nil {
		return -1
	}
	return int(unit)
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func index(at string, i int) string { return fmt.Sprintf("%s[%d]", at, i) }

// cut shortens a text for an error, at a character border.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:end], len(text))
}
