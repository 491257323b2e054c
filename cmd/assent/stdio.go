package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"assent/agent/host"
	"assent/rpc"
	"assent/rpc/lsp"

	"github.com/spf13/pflag"
)

// daemonFlags are the flags of assent --stdio.
type daemonFlags struct {
	stdio    bool
	framing  string
	logFile  string
	logLevel string
	client   int // process ID
}

func (d *daemonFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&d.stdio, "stdio", false, "serve an editor, or a script, on standard input and output")
	f.StringVar(&d.framing, "framing", "auto", "how messages are framed: headers (as in LSP), lines (one JSON object each) or auto (by the first byte)")
	f.StringVar(&d.logFile, "log-file", "", "write the log to this file too (default: standard error only)")
	f.StringVar(&d.logLevel, "log-level", "warn", "least important messages in the log: error, warn, info or debug")
	f.IntVar(&d.client, "clientProcessId", 0, "end when this process does; some editors add it")
	f.Lookup("clientProcessId").Hidden = true
}

// opener makes what sessions need, by the settings that an editor sent.
type opener func(lsp.InitializationOptions) (*lsp.Engine, error)

// runDaemon serves one client, in the folder dir if it names none, until it leaves.
func runDaemon(std streams, dir string, flags daemonFlags, open opener) error {
	framing, err := rpc.ParseFraming(flags.framing)
	if err != nil {
		return usage(err)
	}
	log, closeLog, err := flags.log(std.err)
	if err != nil {
		return usage(err)
	}
	defer closeLog()
	out, err := takeOutput(std)
	if err != nil {
		return &exitError{exitFault, fmt.Errorf("standard output could not be kept for the protocol: %w", err)}
	}
	ctx, stop := signal.NotifyContext(context.Background(), endings(os.Interrupt)...)
	defer stop()
	defer holdBrokenPipes()()

	conn := rpc.New(std.in, out, rpc.Options{Framing: framing, Log: log, Hangup: func() bool { return rpc.Hungup(out) }})
	server := lsp.New(conn, lsp.Options{Version: version(), Dir: dir, Log: log, Open: open})
	if flags.client != 0 {
		conn.WatchProcess(flags.client)
	}
	served := conn.Serve(ctx, server)
	if served != nil {
		log.Error("the connection ended", "cause", served)
	}
	if err := server.Close(); err != nil {
		log.Error("a session could not be closed", "error", err)
	}
	if code := server.ExitCode(served); code != 0 {
		return &exitError{code, nil}
	}
	return nil
}

// endings are signals, and those that ask a program to end: also the one for a
// terminal that was closed, unless it is held off, as nohup does.
func endings(also ...os.Signal) []os.Signal {
	signals := append(also, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// openEngine makes what sessions need, by the settings as they are now.
func openEngine(global globalFlags, editor lsp.InitializationOptions, getenv func(string) string) (*lsp.Engine, error) {
	global.editor = config{Provider: editor.Provider, BaseURL: editor.BaseURL, Model: editor.Model, MaxTurns: editor.MaxTurns, Tools: editor.Tools}
	cfg, err := loadConfig(global, getenv)
	if err != nil {
		return nil, err
	}
	options, err := hostOptions(cfg)
	if err != nil && len(cfg.warnings) > 0 { // they may say why
		return nil, fmt.Errorf("%w (%s)", err, strings.Join(cfg.warnings, "; "))
	}
	if err != nil {
		return nil, err
	}
	warnings := cfg.warnings
	if cfg.Provider == "demo" {
		warnings = append(warnings, "no model is set up, so the built-in demo answers; see the README for real ones")
	}
	return &lsp.Engine{
		Host: host.New(options), Provider: cfg.Provider, Model: cfg.Model, Journal: cfg.JournalDir,
		Tools: options.Tools, Warnings: warnings,
	}, nil
}

// log is the daemon's log. It never goes to standard output.
func (d daemonFlags) log(stderr io.Writer) (*slog.Logger, func(), error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(d.logLevel)); err != nil {
		return nil, nil, fmt.Errorf("the log level %q is not known; use error, warn, info or debug", d.logLevel)
	}
	to, closeLog := stderr, func() {}
	if d.logFile != "" {
		f, err := os.OpenFile(d.logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, nil, fmt.Errorf("the log file could not be opened: %w; name another with --log-file", err)
		}
		to, closeLog = both{f, stderr}, func() { f.Close() }
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: level})), closeLog, nil
}

// both writes to a file and, as far as that still has a reader, to another.
type both struct{ file, other io.Writer }

func (b both) Write(p []byte) (int, error) {
	_, _ = b.other.Write(p)
	return b.file.Write(p)
}

// holdBrokenPipes has writes to a pipe without a reader fail. Without it the first
// line of the log after the end of an editor would end us before the journal is
// closed.
func holdBrokenPipes() (release func()) {
	ignored := make(chan os.Signal, 1)
	for _, s := range brokenPipe() { // all signals, if it were given none
		signal.Notify(ignored, s)
	}
	return func() { signal.Stop(ignored) }
}
