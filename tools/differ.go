package tools

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cause is a way in which a line of old_string differs from the line that it was
// meant to be.
type cause int

const (
	causeTrailing cause = iota
	causeIndent
	causeTypography
	causeCase
	causeBlanks
	causeOther
	causeBeyond // there is no such line
)

// normalizers take out one cause each, in this order.
var normalizers = [...]func(string) string{
	causeTrailing:   func(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) },
	causeIndent:     func(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) },
	causeTypography: plainTypography,
	causeCase:       strings.ToLower,
	causeBlanks:     func(s string) string { return strings.Join(strings.Fields(s), "") },
}

// typography is what word processors, and models, put in place of ASCII.
var typography = strings.NewReplacer(
	"\u2018", "'", "\u2019", "'", "\u201A", "'", "\u201B", "'",
	"\u201C", `"`, "\u201D", `"`, "\u201E", `"`, "\u00AB", `"`, "\u00BB", `"`,
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2212", "-",
	"\u00A0", " ", "\u202F", " ", "\u2026", "...", "\u200B", "", "\uFEFF", "",
)

func plainTypography(s string) string { return typography.Replace(s) }

// differ compares the wanted lines with those at the place they are closest to,
// and says what differs, each cause once.
func differ(have, want []string, from int, ended bool) []string {
	var first [causeBeyond + 1]string // of each cause, in words
	var times [causeBeyond + 1]int
	for j, w := range want {
		i := from + j
		if i < 0 || i >= len(have) {
			times[causeBeyond]++
			continue
		}
		fits := fitting(j == 0, j == len(want)-1 && !ended)
		for _, c := range lineCauses(have[i], w, j == 0, fits) {
			if times[c]++; times[c] == 1 {
				first[c] = describe(c, have[i], w, i+1)
			}
		}
	}
	var causes []string
	for c, n := range times {
		switch {
		case n == 0:
		case cause(c) == causeBeyond:
			causes = append(causes, fmt.Sprintf("%s of old_string would be before the start or after the end of the file", count(n, "line", "lines")))
		case n == 1:
			causes = append(causes, first[c])
		default:
			causes = append(causes, fmt.Sprintf("%s, and %s likewise", first[c], count(n-1, "more line", "more lines")))
		}
	}
	if len(causes) == 0 && ended && from+len(want) == len(have) {
		causes = append(causes, "the last line of the file has no newline at its end, and old_string has one")
	}
	return causes
}

// fitting says how a wanted line has to be in its line: the first may begin, and
// the last may end, in its middle.
func fitting(first, last bool) func(have, want string) bool {
	switch {
	case first && last:
		return strings.Contains
	case first:
		return strings.HasSuffix
	case last:
		return strings.HasPrefix
	}
	return func(have, want string) bool { return have == want }
}

// lineCauses lists why a wanted line does not fit, nothing if it does.
func lineCauses(have, want string, first bool, fits func(have, want string) bool) []cause {
	if fits(have, want) {
		return nil
	}
	var causes []cause
	for c, normalize := range normalizers {
		h, w := normalize(have), normalize(want)
		switch cause(c) {
		case causeTrailing:
			if have[len(h):] != want[len(w):] {
				causes = append(causes, causeTrailing)
			}
		case causeIndent:
			partial := first && w == want // it may begin after the indentation
			if !partial && have[:len(have)-len(h)] != want[:len(want)-len(w)] {
				causes = append(causes, causeIndent)
			}
		case causeTypography:
			if (h != have) != (w != want) {
				causes = append(causes, causeTypography)
			}
		}
		if fits(h, w) {
			if last := cause(c); len(causes) == 0 || causes[len(causes)-1] != last {
				causes = append(causes, last)
			}
			return causes
		}
		have, want = h, w
	}
	return []cause{causeOther}
}

// describe puts a cause into words; line is the number in the file.
func describe(c cause, have, want string, line int) string {
	switch c {
	case causeTrailing:
		if blanks := trailing(have); blanks != "" {
			return fmt.Sprintf("line %d has trailing blanks (%s at its end), old_string has %s there", line, blankNames(blanks), blankNames(trailing(want)))
		}
		return fmt.Sprintf("old_string has trailing blanks (%s) where line %d has none", blankNames(trailing(want)), line)
	case causeIndent:
		kind := "the indentation differs"
		if tabs(leading(have)) != tabs(leading(want)) {
			kind = "tabs against spaces"
		}
		return fmt.Sprintf("%s: line %d is indented by %s, in old_string by %s", kind, line, blankNames(leading(have)), blankNames(leading(want)))
	case causeTypography:
		return fmt.Sprintf("typographic quotes, dashes or blanks against plain ones in line %d", line)
	case causeCase:
		return fmt.Sprintf("line %d differs in letter case", line)
	case causeBlanks:
		return fmt.Sprintf("line %d differs in the white space within it", line)
	}
	return fmt.Sprintf("line %d differs from column %d on", line, 1+commonRunes(have, want))
}

func trailing(s string) string { return s[len(strings.TrimRightFunc(s, unicode.IsSpace)):] }

func leading(s string) string { return s[:len(s)-len(strings.TrimLeftFunc(s, unicode.IsSpace))] }

func tabs(blanks string) bool { return strings.Contains(blanks, "\t") }

// blankNames says what white space is: "1 tab and 2 spaces".
func blankNames(blanks string) string {
	t, s := strings.Count(blanks, "\t"), strings.Count(blanks, " ")
	var names []string
	if t > 0 {
		names = append(names, count(t, "tab", "tabs"))
	}
	if s > 0 {
		names = append(names, count(s, "space", "spaces"))
	}
	if other := utf8.RuneCountInString(blanks) - t - s; other > 0 {
		names = append(names, count(other, "other blank", "other blanks"))
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, " and ")
}

func commonRunes(a, b string) int {
	n := 0
	for a != "" && b != "" {
		ra, size := utf8.DecodeRuneInString(a)
		rb, _ := utf8.DecodeRuneInString(b)
		if ra != rb {
			break
		}
		a, b = a[size:], b[size:]
		n++
	}
	return n
}

// withoutLineNumbers takes the line numbers off that a model copied from a
// listing such as "   12| text", "12\ttext" or "12: text", and returns the first
// such prefix, "" if the text has none. The numbers must count up by one: a
// line may begin with a number of its own.
func withoutLineNumbers(text string) (plain, prefix string) {
	var b strings.Builder
	expected := -1
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			b.WriteString(line)
			continue
		}
		size, number := numberPrefix(line)
		if size == 0 || expected >= 0 && number != expected {
			return text, ""
		}
		if prefix == "" {
			prefix = line[:size]
		}
		expected = number + 1
		b.WriteString(line[size:])
	}
	return b.String(), prefix
}

// numberPrefix is the size of a line number and its separator, 0 if there is none.
func numberPrefix(line string) (size, number int) {
	rest := strings.TrimLeft(line, " \t")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if digits == 0 || digits > 7 {
		return 0, 0
	}
	for _, c := range rest[:digits] {
		number = number*10 + int(c-'0')
	}
	rest = rest[digits:]
	if after, tab := strings.CutPrefix(rest, "\t"); tab {
		return len(line) - len(after), number
	}
	rest = strings.TrimLeft(rest, " ")
	for _, separator := range [...]string{"|", ":", "→", "│", "-"} {
		if after, found := strings.CutPrefix(rest, separator); found {
			return len(line) - len(strings.TrimPrefix(after, " ")), number
		}
	}
	return 0, 0
}
