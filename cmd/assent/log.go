package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"assent/agent"
	"assent/agent/host"
	"assent/agent/journal"

	"github.com/spf13/cobra"
)

func logCommand(std streams, getenv func(string) string, global *globalFlags) *cobra.Command {
	cmd := &cobra.Command{Use: "log", Short: "Look into the journals of sessions", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	var all bool
	list := &cobra.Command{
		Use: "list", Short: "List the sessions of this workspace, the newest first", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := loadConfig(*global, getenv)
			if err != nil {
				return usage(err)
			}
			return logList(std.out, cfg.JournalDir, global.dir, all)
		},
	}
	list.Flags().BoolVar(&all, "all", false, "of every workspace")
	var raw bool
	show := &cobra.Command{
		Use: "show ID", Short: "Show one session; the beginning of its ID is enough", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := loadConfig(*global, getenv)
			if err != nil {
				return usage(err)
			}
			return logShow(std, cfg.JournalDir, args[0], raw)
		},
	}
	show.Flags().BoolVar(&raw, "json", false, "print the records as they are")
	cmd.AddCommand(list, show)
	return cmd
}

func logList(out io.Writer, journalDir, dir string, all bool) error {
	var sessions []journal.Summary
	var err error
	if all {
		sessions, err = host.ListAll(journalDir)
	} else {
		sessions, err = host.List(journalDir, dir)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range sessions {
		outcome := string(s.Outcome)
		if outcome == "" {
			outcome = "unfinished"
		}
		fmt.Fprintf(w, "%s\t%s\t%d turns\t%s\t%s", s.ID, s.Started.Local().Format("2006-01-02 15:04"), s.Turns, outcome, s.Title)
		if all {
			fmt.Fprintf(w, "\t%s", inline(s.Dir))
		}
		fmt.Fprintln(w)
	}
	if flushErr := w.Flush(); err == nil {
		err = flushErr
	}
	if err != nil {
		return &exitError{exitFault, err}
	}
	return nil
}

func logShow(std streams, journalDir, id string, raw bool) error {
	file, err := host.Find(journalDir, id)
	if err != nil {
		return usage(err)
	}
	f, err := os.Open(file)
	if err != nil {
		return &exitError{exitFault, fmt.Errorf("the journal could not be read: %w", err)}
	}
	defer f.Close()
	if raw {
		if _, err := io.Copy(std.out, f); err != nil {
			return &exitError{exitFault, err}
		}
		return nil
	}
	for e, err := range journal.Entries(f) {
		if line, ok := errors.AsType[*journal.LineError](err); ok {
			fmt.Fprintf(std.err, "assent: %s:%d: %s\n", file, line.Line, line.Reason)
			continue
		}
		if err != nil {
			return &exitError{exitFault, err}
		}
		if text := describeEntry(e); text != "" {
			fmt.Fprintf(std.out, "%s  %s\n", e.Time.Local().Format("15:04:05.000"), agent.Printable(text))
		}
	}
	return nil
}

// describeEntry is a record in words.
func describeEntry(e journal.Entry) string {
	switch r := e.Record.(type) {
	case agent.Started:
		return fmt.Sprintf("session %s in %s, model %s, assent %s", r.ID, r.Dir, modelOf(r.Model, r.Provider), r.Version)
	case agent.Requested:
		return "request  " + describeRequest(r)
	case agent.Responded:
		return "response " + describeResponse(r)
	case agent.Appended:
		return describeMessage(r.Message)
	case agent.Answered:
		word := "result"
		if r.Result.IsError {
			word = "error"
		}
		return indent(fmt.Sprintf("%s   %s: %s", word, r.Use.Name, r.Result.Output))
	case agent.Proposed:
		var b strings.Builder
		fmt.Fprintf(&b, "proposed %s", r.Proposal.Title)
		for _, part := range r.Proposal.Parts {
			fmt.Fprintf(&b, "\n%s", part.Title())
			if edit, ok := part.Effect.(agent.Edit); ok {
				for _, h := range edit.Hunks {
					b.WriteString("\n" + marked("-", h.Old) + marked("+", h.New))
				}
			}
		}
		return indent(b.String())
	case agent.Decided:
		return describeDecision(r.Decision)
	case agent.Landed:
		return fmt.Sprintf("landed   %s: %s %s", r.Edit.Path, r.Landing.Status, r.Landing.Note)
	case agent.Compacted:
		return indent(fmt.Sprintf("compacted %d tokens to %d; the newest %d replies stay\n%s", r.Before, r.After, r.Kept, r.Summary))
	case agent.Done:
		return strings.TrimSpace(fmt.Sprintf("done     %s %s", r.Reason, r.Explain()))
	}
	return fmt.Sprintf("(a record of the type %q, which this version does not know)", e.Type)
}

func describeMessage(m agent.Message) string {
	var b strings.Builder
	if m.Role == agent.RoleUser {
		b.WriteString("prompt   " + m.Text())
		for _, block := range m.Blocks {
			switch block := block.(type) {
			case agent.Image:
				fmt.Fprintf(&b, "\n[image %s, %d bytes]", block.MediaType, len(block.Data))
			case agent.Note:
				fmt.Fprintf(&b, "\n(assent:) %s", block.Text)
			}
		}
		return indent(b.String())
	}
	b.WriteString("reply    " + m.Text())
	for _, u := range m.ToolUses() {
		fmt.Fprintf(&b, "\ncall %s %s%s", u.Name, u.Input, u.RawInput)
	}
	return indent(b.String())
}

func describeDecision(d agent.Decision) string {
	yes, no := 0, 0
	for _, p := range d.Parts {
		if len(p.Hunks) == 0 {
			if p.Accept {
				yes++
			} else {
				no++
			}
		}
		for _, h := range p.Hunks {
			if h.Accept {
				yes++
			} else {
				no++
			}
		}
	}
	text := fmt.Sprintf("decided  by %s: %d accepted, %d refused", d.By, yes, no)
	if d.Comment != "" {
		text += ": " + d.Comment
	}
	for _, p := range d.Parts {
		if p.Comment != "" {
			text += fmt.Sprintf("; %q", p.Comment)
		}
	}
	return text
}

func marked(mark, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(mark + strings.TrimRight(line, "\r\n") + "\n")
	}
	return b.String()
}

// indent puts the lines after the first one under the text of the first.
func indent(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+strings.Repeat(" ", 23))
}
