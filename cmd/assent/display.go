package main

import (
	"fmt"
	"strings"
	"time"

	"assent/agent"
)

// style colours text for a terminal; the zero style does not.
type style bool

const (
	red   = "\x1b[31m"
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
)

func (s style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return code + text + "\x1b[0m"
}

// withoutHeader cuts the two lines with the file's names.
func withoutHeader(diff string) string {
	if header := headerLines(diff); header > 0 {
		return strings.SplitAfterN(diff, "\n", header+1)[header]
	}
	return diff
}

func headerLines(diff string) int {
	if strings.HasPrefix(diff, "--- ") && strings.Count(diff, "\n") >= 2 {
		return 2
	}
	return 0
}

// colourDiff makes a unified diff fit for a terminal: coloured, and with nothing
// in it that the terminal would obey or hide.
func (s style) colourDiff(diff string) string {
	header := headerLines(diff)
	lines := strings.SplitAfter(diff, "\n")
	crlf := allCRLF(lines[header:])
	var b strings.Builder
	for i, line := range lines {
		text, end := strings.CutSuffix(line, "\n")
		if crlf {
			text = strings.TrimSuffix(text, "\r")
		}
		text = agent.Printable(text)
		switch {
		case i < header:
			text = s.paint(bold, text)
		case strings.HasPrefix(text, "@@"):
			text = s.paint(cyan, text)
		case strings.HasPrefix(text, "+"):
			text = s.paint(green, text)
		case strings.HasPrefix(text, "-"):
			text = s.paint(red, text)
		}
		b.WriteString(text)
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// allCRLF reports whether every line of text in a diff ends in CRLF, so that the
// ends need not be shown.
func allCRLF(lines []string) bool {
	seen := false
	for _, line := range lines {
		if line == "" || line[0] == '@' || line[0] == '\\' {
			continue
		}
		if !strings.HasSuffix(line, "\r\n") {
			return false
		}
		seen = true
	}
	return seen
}

// describeRequest is a request in words; one of an older journal knows less.
func describeRequest(r agent.Requested) string {
	text := fmt.Sprintf("%d messages", r.Messages)
	if r.Tokens > 0 {
		text += fmt.Sprintf(", about %d tokens", r.Tokens)
	}
	text += fmt.Sprintf(", attempt %d", r.Attempt)
	if r.Model != "" || r.Provider != "" {
		text += ", to " + modelOf(r.Model, r.Provider)
	}
	return text
}

// modelOf is a model in words; the demo has no name besides its provider's.
func modelOf(model, provider string) string {
	if model == "" || provider == "" {
		return model + provider
	}
	return model + " of " + provider
}

// describeResponse is how an attempt ended, in words.
func describeResponse(r agent.Responded) string {
	var text string
	if r.FirstByte > 0 {
		text = fmt.Sprintf("first byte after %v, ", r.FirstByte.Round(time.Millisecond))
	}
	text += fmt.Sprintf("%v in all", r.Elapsed.Round(time.Millisecond))
	if r.Err != nil {
		return text + fmt.Sprintf(", failed: %v", r.Err)
	}
	if r.Finish != "" {
		text += ", finish " + r.Finish
	}
	return text + fmt.Sprintf(", %d tokens in, %d out", r.Usage.Input, r.Usage.Output)
}

// inline is printable for what has to stay on one line, such as a file's name.
func inline(text string) string {
	return strings.NewReplacer("\n", "␊", "\t", "␉").Replace(agent.Printable(text))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
