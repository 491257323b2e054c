package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"assent/agent"
	"assent/agent/workspace"
)

// terminal is an agent.Editor whose files are the workspace on disk and whose
// person sits at a terminal.
type terminal struct {
	*workspace.Workspace
	out    io.Writer
	style  style
	lines  *lineReader
	getenv func(string) string
}

// lineReader reads lines on request, so that a wait for one can be given up.
type lineReader struct {
	wanted chan struct{}
	lines  chan line
}

type line struct {
	text string
	err  error
}

// newLineReader starts the one goroutine that reads in; it ends with the process.
func newLineReader(in io.Reader) *lineReader {
	l := &lineReader{wanted: make(chan struct{}), lines: make(chan line, 1)}
	go func() {
		r := bufio.NewReader(in)
		for range l.wanted {
			text, err := r.ReadString('\n')
			if text != "" {
				err = nil
			}
			l.lines <- line{strings.TrimRight(text, "\r\n"), err}
		}
	}()
	return l
}

func (l *lineReader) next(ctx context.Context) (string, error) {
	select {
	case l.wanted <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	select {
	case got := <-l.lines:
		if got.err != nil {
			return "", fmt.Errorf("the terminal was closed: %w", agent.ErrInterrupted)
		}
		return got.text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// option is a key that may answer a question.
type option struct{ key, says string }

// choose asks until one of the keys comes. There is no default: an empty line,
// or anything else, asks again.
func (t *terminal) choose(ctx context.Context, question string, options []option) (string, error) {
	words := map[string]string{"y": "yes", "n": "no"}
	var short, long strings.Builder
	for _, o := range options {
		short.WriteString(o.key + "/")
		fmt.Fprintf(&long, "  %s  %s\n", o.key, o.says)
	}
	for {
		fmt.Fprintf(t.out, "%s ", t.style.paint(bold, fmt.Sprintf("%s [%s?]", question, short.String())))
		text, err := t.lines.next(ctx)
		if err != nil {
			fmt.Fprintln(t.out)
			return "", err
		}
		key := strings.ToLower(strings.TrimSpace(text))
		for _, o := range options {
			if key == o.key || key != "" && key == words[o.key] {
				return o.key, nil
			}
		}
		fmt.Fprint(t.out, long.String())
	}
}

func (t *terminal) reason(ctx context.Context) (string, error) {
	fmt.Fprint(t.out, t.style.paint(bold, "Why not? (one line, for the model) "))
	return t.lines.next(ctx)
}

// Review asks about each part in turn.
func (t *terminal) Review(ctx context.Context, p agent.Proposal) (agent.Decision, error) {
	d := agent.Decision{By: agent.ByPerson, Parts: make([]agent.PartDecision, len(p.Parts))}
	for i, part := range p.Parts {
		answer, rest, err := t.reviewPart(ctx, part, len(p.Parts)-i-1)
		if err != nil {
			return agent.Decision{}, err
		}
		d.Parts[i] = answer
		if rest {
			for j := i + 1; j < len(p.Parts); j++ {
				d.Parts[j].Accept = answer.Accept
			}
			break
		}
	}
	return d, nil
}

// reviewPart asks about one part; rest says that the answer is for the parts
// after it too.
func (t *terminal) reviewPart(ctx context.Context, part agent.Part, more int) (d agent.PartDecision, rest bool, err error) {
	edit, isEdit := part.Effect.(agent.Edit)
	fmt.Fprintf(t.out, "\n%s\n", t.style.paint(bold, printable(part.Title())))
	for _, note := range notes(part) {
		fmt.Fprintln(t.out, t.style.paint(red, note))
	}
	options := []option{{"y", "yes, do it"}, {"n", "no"}, {"r", "no, and say why"}}
	if isEdit {
		fmt.Fprint(t.out, t.style.colourDiff(unified(part.Info.Name, edit, edit.Hunks)))
		if len(edit.Hunks) > 1 {
			options = append(options, option{"h", "decide hunk by hunk"})
		}
		if len(edit.Hunks) > 0 {
			options = append(options, option{"e", "edit the result in your editor first"})
		}
	}
	if more > 0 {
		options = append(options, option{"a", fmt.Sprintf("yes to this and the %d after it", more)}, option{"q", fmt.Sprintf("no to this and the %d after it", more)})
	}
	for {
		key, err := t.choose(ctx, "Do this?", options)
		if err != nil {
			return agent.PartDecision{}, false, err
		}
		switch key {
		case "y", "a":
			return agent.PartDecision{Accept: true}, key == "a", nil
		case "n", "q":
			return agent.PartDecision{}, key == "q", nil
		case "r":
			why, err := t.reason(ctx)
			return agent.PartDecision{Comment: why}, false, err
		case "h":
			d, err := t.reviewHunks(ctx, part.Info.Name, edit)
			return d, false, err
		case "e":
			text, err := t.editText(ctx, part.Info.Name, edit.New())
			if err == nil {
				return rewritten(edit, text), false, nil
			}
			fmt.Fprintf(t.out, "%v; nothing was decided.\n", err)
		}
	}
}

func notes(part agent.Part) []string {
	var out []string
	for _, info := range []agent.Info{part.Info, part.To} {
		switch {
		case info.Protected:
			out = append(out, printable(info.Name)+" can change what runs on this machine, so it is always asked about.")
		case info.Outside && info.Path != "":
			out = append(out, printable(info.Path)+" is outside the workspace.")
		case info.Secret:
			out = append(out, printable(info.Name)+" may hold keys or passwords; the model server would see them.")
		}
	}
	return out
}

// rewritten is the answer that lands what the person left in their editor.
func rewritten(e agent.Edit, text string) agent.PartDecision {
	hunks := workspace.Diff(e.Old, text)
	if len(hunks) == 0 {
		return agent.PartDecision{Comment: "The person edited the proposal back to the old text."}
	}
	return agent.PartDecision{Accept: true, Rewrite: hunks}
}

func (t *terminal) reviewHunks(ctx context.Context, name string, e agent.Edit) (agent.PartDecision, error) {
	d := agent.PartDecision{Hunks: map[string]agent.HunkDecision{}}
	for i, h := range e.Hunks {
		_, diff, _ := strings.Cut(unified(name, e, e.Hunks[i:i+1]), "\n")
		_, diff, _ = strings.Cut(diff, "\n")
		fmt.Fprintf(t.out, "\n%s\n%s", t.style.paint(bold, fmt.Sprintf("Hunk %d of %d", i+1, len(e.Hunks))), t.style.colourDiff(diff))
		answer, rest, err := t.reviewHunk(ctx, name, h)
		if err != nil {
			return agent.PartDecision{}, err
		}
		d.Hunks[h.ID] = answer
		if rest {
			for _, later := range e.Hunks[i+1:] {
				d.Hunks[later.ID] = agent.HunkDecision{Accept: answer.Accept}
			}
			break
		}
	}
	return d, nil
}

func (t *terminal) reviewHunk(ctx context.Context, name string, h agent.Hunk) (d agent.HunkDecision, rest bool, err error) {
	options := []option{
		{"y", "yes, land this hunk"}, {"n", "no"}, {"r", "no, and say why"}, {"e", "edit it first"},
		{"a", "yes to this and all after it"}, {"d", "no to this and all after it"},
	}
	for {
		key, err := t.choose(ctx, "This hunk?", options)
		if err != nil {
			return agent.HunkDecision{}, false, err
		}
		switch key {
		case "y", "a":
			return agent.HunkDecision{Accept: true}, key == "a", nil
		case "n", "d":
			return agent.HunkDecision{}, key == "d", nil
		case "r":
			why, err := t.reason(ctx)
			return agent.HunkDecision{Comment: why}, false, err
		case "e":
			text, err := t.editText(ctx, name, h.New)
			if err == nil {
				return agent.HunkDecision{Accept: true, Text: &text}, false, nil
			}
			fmt.Fprintf(t.out, "%v; nothing was decided.\n", err)
		}
	}
}

// editText opens the person's editor on a text. The directory is theirs alone,
// and gone afterwards.
func (t *terminal) editText(ctx context.Context, name, text string) (string, error) {
	editor := t.getenv("VISUAL")
	if editor == "" {
		editor = t.getenv("EDITOR")
	}
	if editor == "" {
		return "", errors.New("no editor is set; set EDITOR or VISUAL")
	}
	dir, err := os.MkdirTemp("", "assent-")
	if err != nil {
		return "", fmt.Errorf("the editor could not be given a file: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, filepath.Base(name))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("the editor could not be given a file: %w", err)
	}
	words := strings.Fields(editor) // "code --wait"
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, t.out, t.out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the editor %q failed: %w", editor, err)
	}
	edited, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("the edited text could not be read: %w", err)
	}
	return string(edited), nil
}

// headless is an agent.Editor with nobody to ask.
type headless struct{ *workspace.Workspace }

// Review refuses, and says how a person can allow.
func (headless) Review(context.Context, agent.Proposal) (agent.Decision, error) {
	return agent.Decision{By: agent.ByHeadless, Comment: "nobody can be asked here; run assent in a terminal, or with --allow edit (which never covers protected paths)"}, nil
}
