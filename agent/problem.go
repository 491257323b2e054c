package agent

import (
	"fmt"
	"strings"
)

// Problems is how an edit changed what the editor's tools, such as a compiler or a
// linter, say of the files. The zero value is no change, or that nobody asked.
type Problems struct {
	New  []Problem // the gravest first
	More int       // new ones that are not among them
	Gone int       // of the edited file
}

// Problem is one thing that a tool of the editor says.
type Problem struct {
	Path     string // absolute
	Name     string // for people and models, as in Info
	Span     Span
	Severity Severity
	Message  string // of the tool, so it may say anything; "" in a file that may hold secrets
	Source   string // the tool, "" if it is not known
}

// Span is a part of a text in lines and columns, both from 0. Unlike all else here
// the columns are the editor's own: only the editor has use for them, and there may be
// no text at hand to convert them by.
type Span struct{ Line, Column, EndLine, EndColumn int }

// Severity is how grave a problem is.
type Severity int

const (
	SeverityError Severity = iota + 1
	SeverityWarning
	SeverityInfo
	SeverityHint
)

func (s Severity) String() string {
	switch s {
	case SeverityError:
		return "error"
	case SeverityWarning:
		return "warning"
	case SeverityInfo:
		return "information"
	case SeverityHint:
		return "hint"
	}
	return "unknown"
}

const (
	maxProblem = 300 // bytes of a message that the model is told
	maxSource  = 40
)

// words tell the model of the problems. file is the one that was edited.
func (p Problems) words(file string) string {
	var said []string
	if len(p.New) > 0 {
		said = append(said, "New problems the editor reports:")
	}
	for _, one := range p.New {
		said = append(said, one.words(file))
	}
	if p.More > 0 {
		said = append(said, fmt.Sprintf("and %d more.", p.More))
	}
	switch {
	case p.Gone == 1:
		said = append(said, "1 problem that the editor reported is gone.")
	case p.Gone > 1:
		said = append(said, fmt.Sprintf("%d problems that the editor reported are gone.", p.Gone))
	}
	return joinLines(said)
}

func (p Problem) words(file string) string {
	where := fmt.Sprintf("line %d", p.Span.Line+1)
	if p.Path != file {
		where = flat(p.Name, maxProblem) + " " + where
	}
	what := "not shown, since the file may hold secrets"
	if p.Message != "" {
		what = fmt.Sprintf("%q", flat(p.Message, maxProblem))
	}
	from := p.Severity.String()
	if source := flat(p.Source, maxSource); source != "" {
		from += ", " + source
	}
	return fmt.Sprintf("%s: %s (%s)", where, what, from)
}

// flat is a text of somebody else on one line, as far as it may be quoted.
func flat(text string, limit int) string {
	text = Printable(strings.Join(strings.Fields(text), " "))
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}
