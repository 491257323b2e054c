package demo

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A quoted text may hold anything, also words that mean something here. So each
// is taken out before a sentence is looked at, and a mark is left in its place
// that looks like one word.

const markRune = "\x00"

// quotes are the quoted texts of a prompt, by number.
type quotes []quote

type quote struct {
	whole string // with the quotation marks
	text  string // between them
}

var closing = map[rune]string{'"': `"`, '\'': `'`, '`': "`", '“': "”", '‘': "’", '„': "“", '«': "»"}

// mask replaces quoted texts by marks.
func mask(prompt string) (string, quotes) {
	prompt = strings.ReplaceAll(prompt, markRune, "�")
	var out strings.Builder
	var q quotes
	before := ' '
	for prompt != "" {
		if quoted, ok := quotedAt(prompt); ok && (unicode.IsSpace(before) || strings.ContainsRune("([,:", before)) {
			if strings.HasPrefix(quoted.whole, "```") { // belongs to the sentence on the line before
				trimmed := strings.TrimRight(out.String(), " \t\r\n")
				out.Reset()
				out.WriteString(trimmed + " ")
			}
			out.WriteString(markRune + strconv.Itoa(len(q)) + markRune)
			q = append(q, quoted)
			prompt, before = prompt[len(quoted.whole):], 'x'
			continue
		}
		r, size := utf8.DecodeRuneInString(prompt)
		out.WriteString(prompt[:size])
		prompt, before = prompt[size:], r
	}
	return out.String(), q
}

// quotedAt is the quoted text at the beginning of s.
func quotedAt(s string) (quote, bool) {
	if rest, fenced := strings.CutPrefix(s, "```"); fenced {
		_, body, ok := strings.Cut(rest, "\n")
		end := strings.Index(body, "```")
		if !ok || end < 0 {
			return quote{}, false
		}
		whole := s[:len(s)-len(body)+end+3]
		return quote{whole, strings.TrimSuffix(body[:end], "\n")}, true
	}
	open, size := utf8.DecodeRuneInString(s)
	end := closing[open]
	if end == "" {
		return quote{}, false
	}
	for at := size; ; {
		i := strings.Index(s[at:], end)
		if i < 0 {
			return quote{}, false
		}
		at += i
		next, _ := utf8.DecodeRuneInString(s[at+len(end):])
		// An apostrophe inside of a word does not close.
		if next == utf8.RuneError || !unicode.IsLetter(next) && !unicode.IsDigit(next) {
			return quote{s[:at+len(end)], s[size:at]}, true
		}
		at += len(end)
	}
}

// original puts the quoted texts back, quotation marks included.
func (q quotes) original(masked string) string {
	for i, quoted := range q {
		masked = strings.ReplaceAll(masked, markRune+strconv.Itoa(i)+markRune, quoted.whole)
	}
	return masked
}

// text is what a part of a sentence means as a text: without its quotation marks
// if it is quoted, else as it is.
func (q quotes) text(masked string) string {
	if quoted, ok := q.whole(masked); ok {
		return quoted
	}
	return q.original(masked)
}

// path is what a part of a sentence means as a name.
func (q quotes) path(masked string) string {
	if quoted, ok := q.whole(masked); ok {
		return quoted
	}
	return strings.TrimRight(q.original(masked), ".,:;!?")
}

// whole is the text of a part that is one quotation and nothing else but
// punctuation.
func (q quotes) whole(masked string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(masked), markRune)
	number, after, closed := strings.Cut(rest, markRune)
	n, err := strconv.Atoi(number)
	if !ok || !closed || err != nil || n >= len(q) || strings.Trim(after, ".,:;!?") != "" {
		return "", false
	}
	return q[n].text, true
}

// place is where to look: a directory or file, or a pattern of names, or neither
// for the whole workspace.
func (q quotes) place(masked string) (dir, glob string, ok bool) {
	if quoted, is := q.whole(masked); is {
		return quoted, "", true
	}
	word := strings.ToLower(strings.TrimRight(strings.TrimSpace(masked), ".,:;!?"))
	for _, lead := range []string{"the ", "this ", "my ", "all ", "current ", "file ", "folder ", "directory "} {
		if rest, cut := strings.CutPrefix(word, lead); cut {
			word, masked = rest, strings.TrimSpace(masked)[len(lead):]
		}
	}
	switch word {
	case "", "all", "files", "file", "here", "workspace", "project", "folder", "directory", "repository", "repo":
		return "", "", true
	}
	name := q.path(masked)
	if strings.ContainsAny(name, "*?[") {
		return "", name, !strings.Contains(name, " ")
	}
	return name, "", !strings.Contains(name, " ")
}
