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
)

// console is the terminal as something to ask a person with.
type console struct {
	in     *os.File
	out    io.Writer
	style  style
	getenv func(string) string
	lines  *lineReader

	// holdInterrupts is called while the person's own editor has the terminal: an
	// interrupt typed there is meant for it.
	holdInterrupts func() (release func())
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
// or anything else, asks again. What was typed before the question was on the
// screen is dropped: it was no answer to it.
func (c *console) choose(ctx context.Context, question string, options []option) (string, error) {
	words := map[string]string{"y": "yes", "n": "no"}
	var short, long strings.Builder
	for _, o := range options {
		short.WriteString(o.key + "/")
		fmt.Fprintf(&long, "  %s  %s\n", o.key, o.says)
	}
	for {
		dropTyped(c.in)
		fmt.Fprintf(c.out, "%s ", c.style.paint(bold, fmt.Sprintf("%s [%s?]", question, short.String())))
		text, err := c.lines.next(ctx)
		if err != nil {
			fmt.Fprintln(c.out)
			return "", err
		}
		key := strings.ToLower(strings.TrimSpace(text))
		for _, o := range options {
			if key == o.key || key != "" && key == words[o.key] {
				return o.key, nil
			}
		}
		fmt.Fprint(c.out, long.String())
	}
}

func (c *console) reason(ctx context.Context) (string, error) {
	fmt.Fprint(c.out, c.style.paint(bold, "Why not? (one line, for the model) "))
	return c.lines.next(ctx)
}

// edit opens the person's editor on a text. ok is false, and the person told
// why, if they did not leave another text: the editor failed, or went into the
// background, or they emptied the file, which is how one says "never mind".
func (c *console) edit(ctx context.Context, name, text string) (edited string, ok bool) {
	edited, err := c.runEditor(ctx, name, text)
	switch {
	case err != nil:
		fmt.Fprintf(c.out, "%s; nothing was decided.\n", agent.Printable(err.Error()))
	case edited == text:
		fmt.Fprintln(c.out, "The text was not changed; nothing was decided. (Does your editor wait? VS Code needs EDITOR='code --wait'.)")
	case edited == "":
		fmt.Fprintln(c.out, "The text was emptied; nothing was decided.")
	default:
		return edited, true
	}
	return "", false
}

// runEditor gives the editor a file in a directory that is the person's alone,
// and gone afterwards.
func (c *console) runEditor(ctx context.Context, name, text string) (string, error) {
	editor := c.getenv("VISUAL")
	if editor == "" {
		editor = c.getenv("EDITOR")
	}
	words := strings.Fields(editor) // "code --wait"
	if len(words) == 0 {
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
	defer c.holdInterrupts()()
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.in, c.out, c.out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the editor %q failed: %w", editor, err)
	}
	edited, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("the edited text could not be read: %w", err)
	}
	return string(edited), nil
}
