package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"assent/agent"
	"assent/agent/host"
)

// printer shows the events of a run.
type printer interface{ print(agent.Event) error }

// humanPrinter writes the model's text to out and everything else to err.
type humanPrinter struct {
	out, err io.Writer
	style    style
	verbose  bool

	began    time.Time
	midLine  bool // out is in the middle of a line
	thinking bool // err is in the middle of what the model thinks
}

func (p *humanPrinter) begin(s *host.Session, provider string) {
	p.began = time.Now()
	if provider == "demo" {
		p.note(dim, "No model is set up: the built-in demo answers. See the README for real ones.")
	}
	if p.verbose {
		p.note(dim, "Session %s, journal %s", s.ID, s.Journal)
	}
}

func (p *humanPrinter) note(colour, format string, args ...any) {
	p.endThought()
	fmt.Fprintln(p.err, p.style.paint(colour, p.stamp()+agent.Printable(fmt.Sprintf(format, args...))))
}

// stamp is the time before a step, for --verbose.
func (p *humanPrinter) stamp() string {
	if !p.verbose {
		return ""
	}
	return fmt.Sprintf("%8.3fs  ", time.Since(p.began).Seconds())
}

// think shows a piece of what the model thinks, behind those before it.
func (p *humanPrinter) think(piece string) error {
	if !p.verbose {
		return nil
	}
	if err := p.endLine(); err != nil {
		return err
	}
	text := agent.Printable(piece)
	if !p.thinking {
		text = p.stamp() + "thinking: " + text
	}
	p.thinking = true
	fmt.Fprint(p.err, p.style.paint(dim, text))
	return nil
}

func (p *humanPrinter) endThought() {
	if p.thinking {
		p.thinking = false
		fmt.Fprintln(p.err)
	}
}

func (p *humanPrinter) print(e agent.Event) error {
	d, isDelta := e.(agent.Delta)
	if d.Recast {
		if err := p.endLine(); err != nil {
			return err
		}
		p.note(dim, "(That was the model's reasoning; its answer follows.)")
	}
	if d.Thinking != "" {
		if err := p.think(d.Thinking); err != nil {
			return err
		}
	}
	if d.Text != "" {
		p.endThought()
		p.midLine = !strings.HasSuffix(d.Text, "\n")
		_, err := io.WriteString(p.out, agent.Printable(d.Text))
		return err
	}
	if isDelta {
		return nil
	}
	p.endThought()
	if err := p.endLine(); err != nil {
		return err
	}
	switch e := e.(type) {
	case agent.Answered:
		colour := dim
		if e.Result.IsError {
			colour = red
		}
		p.note(colour, "• %s", firstLine(e.Result.Output))
	case agent.Requested:
		if e.Compacting && e.Attempt == 1 {
			p.note(dim, "The conversation fills the model's context, so it is being put in short.")
		}
	case agent.Compacted:
		p.note(dim, "The conversation was put in short: about %d tokens of %d are left.", e.After, e.Before)
	case agent.Retrying:
		p.note(dim, "The model server failed (%v); attempt %d follows in %v.", e.Err, e.Attempt, e.Wait)
	case agent.Done:
		if text := e.Explain(); text != "" {
			p.note(red, "%s", text)
		}
	}
	if p.verbose {
		p.explain(e)
	}
	return nil
}

// endLine ends the line that out is in the middle of.
func (p *humanPrinter) endLine() error {
	if !p.midLine {
		return nil
	}
	p.midLine = false
	_, err := io.WriteString(p.out, "\n")
	return err
}

// explain adds what only --verbose prints.
func (p *humanPrinter) explain(e agent.Event) {
	switch e := e.(type) {
	case agent.Requested:
		p.note(dim, "request: %s", describeRequest(e))
	case agent.Responded:
		p.note(dim, "response: %s", describeResponse(e))
	case agent.Appended:
		for _, b := range e.Message.Blocks {
			if note, ok := b.(agent.Note); ok {
				p.note(dim, "assent told the model: %s", note.Text)
			}
		}
		if e.Message.Role == agent.RoleAssistant {
			p.note(dim, "reply: %d calls", len(e.Message.ToolUses()))
			for _, u := range e.Message.ToolUses() {
				p.note(dim, "call %s: %s %s", u.ID, u.Name, u.Input)
			}
		}
	case agent.Answered:
		p.note(dim, "result of %s after %v, %d bytes", e.Use.ID, e.Elapsed.Round(time.Microsecond), len(e.Result.Output))
	case agent.Proposed:
		p.note(dim, "proposed %s: %s", e.Proposal.ID, e.Proposal.Title)
	case agent.Decided:
		p.note(dim, "decided %s by %s", e.ProposalID, e.Decision.By)
	case agent.Landed:
		p.note(dim, "landed: %s, %s, %s", e.Edit.Path, e.Landing.Status, e.Landing.Where)
	case agent.Done:
		p.note(dim, "done: %s, %d turns, %d refused, %d tokens in, %d out", e.Reason, e.Turns, e.Denied, e.Usage.Input, e.Usage.Output)
	}
}
