package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// What is quoted of the closest place.
const (
	maxQuotedLines = 40
	maxQuotedBytes = 2000
)

// notFound says why an edit was not found, where it may have been meant, and what
// is there now. It never makes the edit fit: the text that a person is asked
// about must be the one that the model meant.
func (m *matcher) notFound(i int, e stringEdit) error {
	wanted := fold(e.Old).text
	var causes []string
	plain, prefix := withoutLineNumbers(wanted)
	if prefix != "" {
		causes = append(causes, fmt.Sprintf("old_string has line-number prefixes (%q) that are not in the file", prefix))
	}
	have, want := splitLines(m.seen.text), splitLines(plain)
	from, to, alike := m.closest(have, want, plain)
	if alike {
		causes = append(causes, differ(have, want, from, strings.HasSuffix(plain, "\n"))...)
	}
	causes = append(causes, m.elsewhere(i, e, wanted)...)

	from, to = max(from, 0), min(to, len(have))
	text := fmt.Sprintf("old_string of edits[%d] is not in %s, so nothing was changed", i, m.file.Name)
	if alike && from < to {
		text += fmt.Sprintf("; the closest place is %s", lineRange(from+1, to))
	} else {
		text += " and no place there is like it"
	}
	if len(causes) > 0 {
		text += ". What differs: " + strings.Join(causes, "; ")
	}
	switch {
	case !alike || from >= to:
		return fmt.Errorf("%s. Read the file again with read_file and copy old_string from it", text)
	case m.file.Secret: // what it holds must not get into the history once more
		return fmt.Errorf("%s. The lines are not shown here, since the file may hold secrets; read it again with read_file", text)
	}
	return fmt.Errorf("%s. Copy old_string from the text that is there now:\n%s", text, quote(have[from:to], from+1))
}

// closest is the place of plain if it is in the text as it is, the place most
// like it otherwise.
func (m *matcher) closest(have, want []string, plain string) (from, to int, alike bool) {
	if len(want) == 0 {
		return 0, 0, false
	}
	if at := strings.Index(m.seen.text, plain); at >= 0 {
		line := lineAt(m.seen.text, at) - 1
		return line, line + len(want), true
	}
	return closest(have, want)
}

// elsewhere names the reasons that lie outside the closest place.
func (m *matcher) elsewhere(i int, e stringEdit, wanted string) []string {
	var causes []string
	replacing := fold(e.New).text
	if len(strings.TrimSpace(replacing)) >= 3 {
		if at := strings.Index(m.seen.text, replacing); at >= 0 {
			causes = append(causes, fmt.Sprintf("the file already contains new_string, at line %d: this edit may have been made before", lineAt(m.seen.text, at)))
		}
	}
	if strings.Contains(wanted, "\uFFFD") && !utf8.ValidString(m.seen.text) {
		causes = append(causes, "U+FFFD in old_string stands for bytes of the file that are not UTF-8 and can't be given; choose text beside them")
	}
	for j, other := range m.edits {
		if j != i && strings.Contains(fold(other.New).text, wanted) {
			causes = append(causes, fmt.Sprintf("it is in new_string of edits[%d], but all edits are matched against the text before the call: make one edit of the two", j))
			break
		}
	}
	return causes
}

func lineRange(from, to int) string {
	if from == to {
		return fmt.Sprintf("line %d", from)
	}
	return fmt.Sprintf("lines %d to %d", from, to)
}

// quote is the lines as they are, as many as an error may hold.
func quote(lines []string, number int) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 && (i == maxQuotedLines || b.Len()+len(line) > maxQuotedBytes) {
			fmt.Fprintf(&b, "[%s not shown]", lineRange(number+i, number+len(lines)-1))
			break
		}
		b.WriteString(cut(line, maxQuotedBytes) + "\n")
	}
	return b.String()
}
