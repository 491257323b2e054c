package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"assent/agent"
	"assent/agent/host"
	"assent/agent/workspace"
	"assent/tools"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

const runHelp = `Answer one prompt, given as an argument or on standard input.

In a terminal each change is shown as a diff and asked about: yes, no, hunk by
hunk, edited by you, or no with a reason that the model hears. Where nobody can
be asked (no terminal, or --json) changes are refused, unless --allow edit lets
edits land; files that can change what runs here are refused all the same.

Exit codes: 0 complete, 1 a fault of assent or its journal, 2 wrong use,
3 something was refused, 4 the limit of turns or a repeated call, 5 the model
server failed, cut or refused its answer, 130 cancelled.`

// runFlags are the flags of assent run.
type runFlags struct {
	json    bool
	verbose bool
	allow   []string
	mode    string
	images  []string
}

func runCommand(std streams, getenv func(string) string, global *globalFlags) *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run [prompt]",
		Short: "Answer one prompt in this terminal, or in a script",
		Long:  runHelp,
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			r := &runner{std: std, getenv: getenv, global: *global, flags: flags}
			return r.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&flags.json, "json", false, "print one event a line as JSON")
	f.BoolVarP(&flags.verbose, "verbose", "v", false, "print every step with its time, and where the journal is")
	f.StringSliceVar(&flags.allow, "allow", nil, "let effects happen unasked: edit (never protected or secret files)")
	f.StringVar(&flags.mode, "mode", "", "ask (default), plan (no tools that change anything) or accept_edits")
	f.StringArrayVar(&flags.images, "image", nil, "show the model the picture in a `file` ("+host.ImageKinds+"); may be given several times")
	global.register(f)
	return cmd
}

// runner is one assent run.
type runner struct {
	std    streams
	getenv func(string) string
	global globalFlags
	flags  runFlags

	signals chan os.Signal
}

func (r *runner) run(ctx context.Context, args []string) error {
	mode, err := r.mode()
	if err != nil {
		return usage(err)
	}
	cfg, err := loadConfig(r.global, r.getenv)
	if err != nil {
		return usage(err)
	}
	cfg.printWarnings(r.std.err)
	images, err := readImages(r.flags.images) // before standard input, which can be read only once
	if err != nil {
		return usage(err)
	}
	prompt, err := r.prompt(args)
	if err != nil {
		return usage(err)
	}
	options, err := hostOptions(cfg)
	if err != nil {
		return usage(err)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := r.untilSignal(ctx)
	defer stop()

	sessions := host.New(options)
	session, err := sessions.Start(ctx, host.Setup{Folders: []string{r.global.dir}, Mode: mode, Editor: r.editor})
	if errors.Is(err, workspace.ErrFolder) {
		return usage(err)
	}
	if err != nil {
		return &exitError{exitFault, err}
	}
	view := r.printer(session, cfg.Provider)
	done, runErr := consume(ctx, session, images.Prompt(prompt), view)
	if err := sessions.Close(); err != nil && runErr == nil {
		runErr = err
	}
	return exit(done, runErr)
}

// untilSignal cancels at the first signal; a second one ends the process at once.
// An interrupt that is typed while the person's editor runs is the editor's. If the
// terminal was closed nobody has cancelled, and what was asked is left open.
func (r *runner) untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	r.signals = make(chan os.Signal, 1)
	signal.Notify(r.signals, endings(os.Interrupt)...)
	go func() {
		defer signal.Stop(r.signals)
		select {
		case s := <-r.signals:
			if s == syscall.SIGHUP {
				cancel(fmt.Errorf("the terminal was closed: %w", agent.ErrInterrupted))
			}
			cancel(nil)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// holdInterrupts keeps interrupts from cancelling until release is called.
func (r *runner) holdInterrupts() (release func()) {
	held, last := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(held, os.Interrupt)
	signal.Notify(last, os.Interrupt)
	signal.Stop(r.signals)
	signal.Notify(r.signals, endings()...)
	return func() {
		signal.Stop(last) // which returns when all that came is delivered, to held
		signal.Notify(r.signals, os.Interrupt)
		signal.Stop(held)
	}
}

// consume runs the prompt and prints what happens. If printing fails there is
// nobody to tell, and the run is cancelled.
func consume(ctx context.Context, session *host.Session, prompt agent.Message, view printer) (done agent.Done, err error) {
	for event, err := range session.Run(ctx, prompt) {
		if err != nil {
			return done, err
		}
		if err := view.print(event); err != nil {
			return done, fmt.Errorf("the output could not be written: %w", err)
		}
		if d, ok := event.(agent.Done); ok {
			done = d
		}
	}
	return done, nil
}

// exit maps the end of a run to an exit code.
func exit(done agent.Done, err error) error {
	switch {
	case errors.Is(err, agent.ErrInterrupted):
		return &exitError{exitCancelled, fmt.Errorf("%w; nothing of the question was done", err)}
	case err != nil:
		return &exitError{exitFault, err}
	}
	switch done.Reason {
	case agent.StopCancelled:
		return &exitError{exitCancelled, nil}
	case agent.StopError, agent.StopTruncated, agent.StopRefused:
		return &exitError{exitModel, nil}
	}
	switch {
	case done.Denied > 0:
		return &exitError{exitDenied, nil}
	case done.Reason == agent.StopMaxTurns, done.Reason == agent.StopRepeated:
		return &exitError{exitLimit, nil}
	}
	return nil
}

func (r *runner) mode() (host.Mode, error) {
	mode, err := host.ParseMode(r.flags.mode)
	if err != nil {
		return "", err
	}
	for _, what := range r.flags.allow {
		if what != "edit" {
			return "", fmt.Errorf("--allow %q is not known; what can be allowed is: edit", what)
		}
	}
	if len(r.flags.allow) > 0 {
		if mode == host.ModePlan {
			return "", errors.New("--allow edit and --mode plan contradict each other; leave one out")
		}
		mode = host.ModeAcceptEdits
	}
	return mode, nil
}

// prompt is the argument, or standard input if that is not a terminal.
func (r *runner) prompt(args []string) (string, error) {
	text := strings.Join(args, " ")
	if len(args) == 0 {
		if term.IsTerminal(int(r.std.in.Fd())) {
			return "", errors.New(`there is no prompt; give one: assent run 'replace "helo" with "hello" in notes.txt'`)
		}
		const limit = 1 << 20
		data, err := io.ReadAll(io.LimitReader(r.std.in, limit+1))
		if err != nil {
			return "", fmt.Errorf("the prompt could not be read from standard input: %w", err)
		}
		if len(data) > limit {
			return "", errors.New("the prompt on standard input is longer than 1 MiB; name a file in it instead")
		}
		text = string(data)
	}
	if strings.TrimSpace(text) == "" {
		return "", errors.New("the prompt is empty; say what to do")
	}
	return strings.ToValidUTF8(text, "�"), nil
}

// interactive reports whether a person can be asked. The model's text goes to
// stdout, which may be a file; questions go to stderr.
func (r *runner) interactive() bool {
	return !r.flags.json && term.IsTerminal(int(r.std.in.Fd())) && term.IsTerminal(int(r.std.err.Fd()))
}

func (r *runner) editor(files *workspace.Workspace) agent.Editor {
	if !r.interactive() {
		return headless{files}
	}
	return &terminal{files, &console{
		in: r.std.in, out: r.std.err, style: r.style(r.std.err), getenv: r.getenv,
		lines: newLineReader(r.std.in), holdInterrupts: r.holdInterrupts,
	}}
}

func (r *runner) style(f *os.File) style {
	return style(term.IsTerminal(int(f.Fd())) && r.getenv("NO_COLOR") == "" && r.getenv("TERM") != "dumb")
}

func (r *runner) printer(session *host.Session, provider string) printer {
	if r.flags.json {
		return newJSONPrinter(r.std.out, session)
	}
	p := &humanPrinter{out: r.std.out, err: r.std.err, style: r.style(r.std.err), verbose: r.flags.verbose}
	p.begin(session, provider)
	return p
}

// hostOptions makes the model and the tools that the settings name.
func hostOptions(cfg config) (host.Options, error) {
	model, err := newModel(cfg)
	if err != nil {
		return host.Options{}, err
	}
	chosen, err := chooseTools(cfg)
	if err != nil {
		return host.Options{}, err
	}
	return host.Options{
		JournalDir: cfg.JournalDir, Version: version(),
		Provider: cfg.Provider, ModelName: cfg.Model, Model: model, Tools: chosen,
		NewModel: func(name string) (agent.Model, error) {
			if cfg.Provider == "replay" { // its model is a file, and only the person names one
				return nil, errors.New("the provider replay has no other model; leave it out")
			}
			other := cfg
			other.Model = name
			return newModel(other)
		},
		Secrets: cfg.secrets(), Guarded: cfg.guarded(),
		MaxTurns: cfg.MaxTurns, Parallel: cfg.Parallel, Window: cfg.Window,
	}, nil
}

func chooseTools(cfg config) ([]agent.Tool, error) {
	all := tools.Default()
	if cfg.Provider == "demo" || cfg.Provider == "replay" || slices.Contains(cfg.Tools, "get_weather") {
		all = append(all, tools.Weather()) // the classic example: nothing that a real task needs
	}
	if cfg.Tools == nil {
		return all, nil
	}
	return tools.Select(all, cfg.Tools)
}
