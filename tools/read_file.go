package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"assent/agent"
)

// What one read shows at most; with its first line it fits into a result.
const (
	maxReadLines = 2000
	maxReadBytes = 30_000
)

type readFileArgs struct {
	Path  string `json:"path" jsonschema_description:"File to read, relative to the workspace or absolute"`
	Start int    `json:"start_line,omitempty" jsonschema_description:"First line to show, counted from 1; the start of the file if left out"`
	End   int    `json:"end_line,omitempty" jsonschema_description:"Last line to show; the end of the file if left out"`
}

// ReadFile shows a text file to the model.
func ReadFile() agent.Tool {
	return Define(agent.Spec{
		Name: "read_file",
		Description: "Reads a text file. The first line of the result says which lines follow; then comes the text itself, without line numbers. " +
			"Unsaved changes in the editor are included. A long file comes in parts: go on with start_line.",
		Tier: agent.TierRead,
	}, planReadFile)
}

func planReadFile(ctx context.Context, files agent.Files, args readFileArgs) (agent.Plan, error) {
	if err := checkRange(args.Start, args.End); err != nil {
		return agent.Plan{}, err
	}
	info, err := files.Stat(ctx, args.Path)
	switch {
	case err != nil:
		return agent.Plan{}, err
	case info.Outside: // what is there, if anything, is told once the person agreed to the look
	case !info.Exists:
		return agent.Plan{}, missing(ctx, files, args.Path, info, "list_files shows what is there")
	case info.Dir:
		return agent.Plan{}, fmt.Errorf("%s is a directory; use list_files to see what is in it", args.Path)
	}
	plan := agent.Plan{Run: func(ctx context.Context, ok agent.Approval) (agent.Result, error) {
		file, err := files.Read(ctx, ok, args.Path)
		if err != nil {
			return agent.Result{}, err
		}
		out, err := excerpt(info.Name, file.Text, args.Start, args.End)
		return agent.Result{Output: out}, err
	}}
	if info.Outside {
		plan.Effects = append(plan.Effects, agent.OutsideRead{Path: info.Path})
	}
	if info.Secret {
		plan.Effects = append(plan.Effects, agent.SecretRead{Path: info.Path})
	}
	return plan, nil
}

func checkRange(start, end int) error {
	switch {
	case start < 0 || end < 0:
		return errors.New("start_line and end_line count from 1 and can't be negative; leave both out to read from the start")
	case end > 0 && end < start:
		return fmt.Errorf("end_line %d is before start_line %d; give them in order", end, start)
	}
	return nil
}

// excerpt is the lines from start to end, 0 meaning the first and the last, under
// a line that says which they are. Line ends come out as LF.
func excerpt(name, text string, start, end int) (string, error) {
	if text == "" {
		return name + ": empty file", nil
	}
	plain := agent.FoldEnds(text)
	total := countLines(plain)
	start = max(start, 1)
	if start > total {
		return "", fmt.Errorf("start_line %d is after the end of %s, which has %d lines; start at a line that exists", start, name, total)
	}
	if end == 0 || end > total {
		end = total
	}
	body, last, long := takeLines(plain, start, end)
	head := fmt.Sprintf("%s: lines %d-%d of %d%s", name, start, last, total, lineEndNote(text))
	if !utf8.ValidString(body) {
		// Encoding the result would do it without a word.
		body = string([]rune(body))
		head += ", bytes that are not UTF-8 shown as U+FFFD"
	}
	if last == total && !strings.HasSuffix(plain, "\n") {
		head += ", no newline at the end"
	}
	if long > 0 {
		head += fmt.Sprintf("; line %d is %d bytes long and cut in its middle", start, long)
	}
	if last < end {
		head += fmt.Sprintf("; read on with start_line %d", last+1)
	}
	return head + "\n" + body, nil
}

// takeLines takes what fits of the lines from start to end, at least one; last is
// the last of them. A line that does not fit alone is cut in its middle, and long
// is then its length.
func takeLines(text string, start, end int) (body string, last, long int) {
	var b strings.Builder
	line := 0
	for content := range strings.Lines(text) {
		line++
		if line < start {
			continue
		}
		if line > end || line-start == maxReadLines || line > start && b.Len()+len(content) > maxReadBytes {
			break
		}
		last = line
		if len(content) > maxReadBytes {
			return cutMiddle(content, maxReadBytes), last, len(strings.TrimSuffix(content, "\n"))
		}
		b.WriteString(content)
	}
	return b.String(), last, 0
}

func cutMiddle(text string, limit int) string {
	head, tail := limit/2, len(text)-limit/2
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s[… %d bytes of this line are left out here …]%s", text[:head], tail-head, text[tail:])
}

func lineEndNote(text string) string {
	switch windows := strings.Count(text, "\r\n"); windows {
	case 0:
		return ""
	case strings.Count(text, "\n"):
		return ", CRLF line ends"
	}
	return ", mixed line ends"
}

// countLines counts the lines of a text with LF or CRLF line ends.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
