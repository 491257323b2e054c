package demo

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// task is one command of the prompt.
type task struct {
	sentence string // as the person wrote it
	doing    string // said beside the calls
	first    []call
	report   func([]outcome) (text string, good bool) // what came of the first calls

	// then, if not nil, makes a second call out of the result of the first, or
	// says why not.
	then func(output string) (next call, problem string, ok bool)
}

type call struct {
	tool  string
	input any
}

// The inputs of the tools.
type (
	readInput struct {
		Path  string `json:"path"`
		Start int    `json:"start_line,omitempty"`
		End   int    `json:"end_line,omitempty"`
	}
	listInput struct {
		Path string `json:"path,omitempty"`
		Glob string `json:"glob,omitempty"`
	}
	searchInput struct {
		Pattern string `json:"pattern"`
		Literal bool   `json:"literal,omitempty"`
		Path    string `json:"path,omitempty"`
		Glob    string `json:"glob,omitempty"`
	}
	replacement struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
		All bool   `json:"replace_all"`
	}
	editInput struct {
		Path  string        `json:"path"`
		Edits []replacement `json:"edits"`
	}
	writeInput struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	moveInput struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	deleteInput struct {
		Path string `json:"path"`
	}
	weatherInput struct {
		City string `json:"city"`
	}
)

// reportAll passes on what tools said, all of it: what landed may be less than
// what was asked for, and only the result knows.
func reportAll(done []outcome) (string, bool) {
	var said []string
	good := true
	for _, o := range done {
		text := strings.TrimRight(o.result.Output, "\n")
		if text == "" {
			text = "(nothing)"
		}
		said = append(said, o.tool+" says: "+text)
		good = good && !o.result.IsError
	}
	return strings.Join(said, "\n"), good
}

// reportPlain passes on a result that needs no introduction.
func reportPlain(done []outcome) (string, bool) {
	o := done[0]
	if o.result.IsError || o.result.Output == "" {
		return reportAll(done)
	}
	return strings.TrimRight(o.result.Output, "\n"), true
}

// reportFile shows a text as code, in a fence that no line of it can end.
func reportFile(done []outcome) (string, bool) {
	o := done[0]
	head, text, hasText := strings.Cut(o.result.Output, "\n")
	if o.result.IsError || !hasText {
		return reportPlain(done)
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return strings.TrimSpace(head) + "\n\n" + fence + "\n" + text + fence, true
}

// wholeFile is the text of a file out of the result of read_file, or why it is not
// known as a whole. To write a file back from a part of it would lose the rest.
func (g grammar) wholeFile(path, output string) (text, problem string) {
	head, text, _ := strings.Cut(output, "\n")
	if g.readEmpty.MatchString(head) {
		return "", ""
	}
	m := g.readLines.FindStringSubmatch(head)
	if m == nil {
		return "", fmt.Sprintf("I can't tell from the result whether I have read all of %s, so I leave it as it is.", path)
	}
	from, _ := strconv.Atoi(m[1]) // digits; a number out of range differs from the count below
	to, _ := strconv.Atoi(m[2])
	all, _ := strconv.Atoi(m[3])
	if from != 1 || to != all {
		return "", fmt.Sprintf("I could read only lines %d to %d of the %d lines of %s. "+
			"I add to a file by writing it anew, which would drop the rest, so I leave it as it is.", from, to, all, path)
	}
	ended := true
	for _, note := range strings.FieldsFunc(m[4], func(r rune) bool { return r == ',' || r == ';' }) {
		switch note = strings.TrimSpace(note); note {
		case "no newline at the end":
			ended = false
		case "CRLF line ends", "mixed line ends": // write_file keeps them
		default:
			return "", fmt.Sprintf("Of %s the result says: %s. I add to a file by writing it anew, which could spoil it, so I leave it as it is.", path, note)
		}
	}
	if ended && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if countLines(text) != all || g.cutMark.MatchString(text) {
		return "", fmt.Sprintf("The text of %s reached me with a part cut out. "+
			"I add to a file by writing it anew, which would drop that part, so I leave it as it is.", path)
	}
	return text, ""
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// appendTask reads a file, then writes it with a line more.
func (g grammar) appendTask(path, text string) task {
	return task{
		doing:  fmt.Sprintf("I read %s and propose it with the new text at its end.", path),
		first:  []call{{"read_file", readInput{Path: path}}},
		report: reportAll,
		then: func(output string) (call, string, bool) {
			old, problem := g.wholeFile(path, output)
			if problem != "" {
				return call{}, problem, false
			}
			return call{"write_file", writeInput{path, endLine(old) + endLine(text)}}, "", true
		},
	}
}

// endLine gives a text that has no newline at its end one.
func endLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// help is the answer to what was not understood.
func help(unknown, prompt string) string {
	begin := "I am the built-in demo model: a few fixed commands, no intelligence."
	switch {
	case unknown != "" && unknown != strings.TrimSpace(prompt):
		begin += " I did not understand “" + unknown + "”, so I did nothing."
	case unknown != "":
		begin += " I did not understand that."
	}
	return begin + " What I can do on your files:\n\n" + examples
}

const examples = `- show notes.txt
- list files in src
- find TODO in src
- create notes.txt with buy milk
- append buy bread to notes.txt
- replace "milk" with "oat milk" in notes.txt
- rename notes.txt to shopping.txt
- delete shopping.txt
- what's the weather in Paris?

Put several into one message with "and then", or one on each line.

For a real model set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server (Ollama: http://localhost:11434/v1), and ASSENT_MODEL to the model's name, in the environment or in config.toml. Other servers have names: --provider ollama, groq and more, see ` + "`assent run --help`; `assent doctor` tries what is set up."

func compile(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?is)` + pattern) }
