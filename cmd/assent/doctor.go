package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"assent/agent"
	"assent/agent/model/openai"

	"github.com/spf13/cobra"
)

const doctorHelp = `Say what is configured and from where, and try the model server: is it there,
which models has it, does it answer in a stream, does it call a tool.

Nothing but the model server is asked, and if none is set up, the ports on this
machine where one may be. Your files are not read and nothing is sent of them.

Exit codes: 0 all is well, 2 the settings are wrong, 5 the model server fails a
check, 1 the journal can't be written, 130 cancelled.`

// doctorFlags are the flags of assent doctor.
type doctorFlags struct {
	json    bool
	timeout time.Duration
}

func doctorCommand(std streams, getenv func(string) string, global *globalFlags) *cobra.Command {
	var flags doctorFlags
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the settings, the model server and the journal", Long: doctorHelp, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.timeout <= 0 {
				return usage(fmt.Errorf("--timeout is %v; set it to a time such as 60s", flags.timeout))
			}
			ctx, stop := signal.NotifyContext(orBackground(cmd.Context()), os.Interrupt, syscall.SIGTERM)
			defer stop()
			d := &doctor{out: std.out, json: flags.json, timeout: flags.timeout}
			return d.examine(ctx, *global, getenv)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&flags.json, "json", false, "print one finding a line as JSON")
	f.DurationVar(&flags.timeout, "timeout", time.Minute, "for each check of the model server")
	global.registerServer(f)
	return cmd
}

// finding is the outcome of one check.
type finding struct {
	Section string `json:"section"` // settings, server or journal
	Check   string `json:"check"`
	OK      bool   `json:"ok"`
	Text    string `json:"text"`
	Remedy  string `json:"do,omitempty"` // where Text does not say what to do
}

// doctor prints findings as they come.
type doctor struct {
	out     io.Writer
	json    bool
	timeout time.Duration

	section string
	failed  map[string]bool // sections
	hide    func(string) string
	err     error // of out
}

func (d *doctor) examine(ctx context.Context, global globalFlags, getenv func(string) string) error {
	d.failed = map[string]bool{}
	d.hide = func(text string) string { return text }
	cfg, err := loadConfig(global, getenv)
	d.section = "settings"
	if err != nil {
		d.bad("settings", err.Error(), "")
	} else {
		d.hide = openai.Hide(cfg.secrets())
		d.settings(cfg)
		d.section = "server"
		d.server(ctx, cfg)
		d.section = "journal"
		if ctx.Err() == nil {
			d.journal(cfg)
		}
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{exitCancelled, nil}
	case d.err != nil:
		return &exitError{exitFault, fmt.Errorf("the findings could not be written: %w", d.err)}
	case d.failed["settings"]:
		return &exitError{exitUsage, nil}
	case d.failed["server"]:
		return &exitError{exitModel, nil}
	case d.failed["journal"]:
		return &exitError{exitFault, nil}
	}
	return nil
}

func (d *doctor) ok(check, format string, args ...any) {
	d.say(finding{Check: check, OK: true, Text: fmt.Sprintf(format, args...)})
}

func (d *doctor) bad(check, text, remedy string) {
	d.failed[d.section] = true
	d.say(finding{Check: check, Text: text, Remedy: remedy})
}

// say prints a finding on one line, without keys.
func (d *doctor) say(f finding) {
	f.Section, f.Text, f.Remedy = d.section, inline(d.hide(f.Text)), inline(d.hide(f.Remedy))
	var line []byte
	switch {
	case d.json:
		line, _ = json.Marshal(f) // strings and a bool
	case f.OK:
		line = fmt.Appendf(nil, "ok    %-11s %s", f.Check, f.Text)
	case f.Remedy != "":
		line = fmt.Appendf(nil, "FAIL  %-11s %s; %s", f.Check, f.Text, f.Remedy)
	default:
		line = fmt.Appendf(nil, "FAIL  %-11s %s", f.Check, f.Text)
	}
	if _, err := d.out.Write(append(line, '\n')); d.err == nil {
		d.err = err
	}
}

// settings says what is configured, and from where.
func (d *doctor) settings(cfg config) {
	switch {
	case cfg.file == "":
		d.ok("file", "no configuration file, since you have no configuration folder")
	case cfg.read:
		d.ok("file", "%s was read", cfg.file)
	default:
		d.ok("file", "%s is not there, which is fine", cfg.file)
	}
	d.ok("provider", "%s (%s)", cfg.Provider, cfg.from["provider"])
	for _, w := range cfg.warnings {
		if w != cfg.noKey {
			d.ok("note", "%s", w)
		}
	}
	p, known := openai.ProviderNamed(cfg.Provider)
	if !known {
		if _, err := newModel(cfg); err != nil {
			d.bad("model", err.Error(), "")
		}
		return
	}
	d.serverSettings(cfg, p)
}

func (d *doctor) serverSettings(cfg config, p openai.Provider) {
	usable := func(key string) error { // that the model is missing is said apart
		options := cfg.modelOptions()
		options.Model, options.APIKey = orDefault(options.Model, "any"), key
		_, err := openai.New(options)
		return err
	}
	badAddress, badKey := usable("any"), usable(cfg.APIKey)
	if badAddress != nil {
		d.bad("base_url", badAddress.Error(), "")
	} else {
		d.ok("base_url", "%s (%s)", cfg.place(), cfg.from["base_url"])
	}
	if cfg.API == "" {
		d.ok("api", "the usual one of this server (%s)", fromPreset)
	} else {
		d.ok("api", "%s (%s)", cfg.API, cfg.from["api"])
	}
	if cfg.Model == "" {
		d.bad("model", "no model is named", "use --model, or set ASSENT_MODEL or model in config.toml; `assent models` lists what the server has")
	} else {
		d.ok("model", "%s (%s)", cfg.Model, cfg.from["model"])
	}
	switch {
	case cfg.noKey != "":
		d.bad("key", cfg.noKey, "")
	case badKey != nil && badAddress == nil:
		d.bad("key", badKey.Error(), "")
	case cfg.APIKey != "":
		d.ok("key", "set (%s)", cfg.from["api_key"])
	case p.KeyVar == "":
		d.ok("key", "none, and none is needed")
	default:
		d.ok("key", "none; if the server wants one, set %s", p.KeyVar)
	}
	if len(cfg.Headers) > 0 {
		d.ok("headers", "%d (%s)", len(cfg.Headers), cfg.file)
	}
}

// journal writes a file where journals are, or where their folder would be made.
func (d *doctor) journal(cfg config) {
	dir := cfg.JournalDir
	info, err := os.Stat(dir)
	for errors.Is(err, os.ErrNotExist) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
		info, err = os.Stat(dir)
	}
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", dir)
	}
	if err == nil {
		err = tryWrite(dir)
	}
	if err != nil {
		d.bad("journal", fmt.Sprintf("%s can't be written: %v", cfg.JournalDir, err), "name another folder with --journal-dir, or mend its permissions")
		return
	}
	d.ok("journal", "%s can be written (%s)", cfg.JournalDir, cfg.from["journal_dir"])
}

// tryWrite leaves nothing behind.
func tryWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".assent-doctor-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString("x")
	if closed := f.Close(); err == nil {
		err = closed
	}
	if removed := os.Remove(f.Name()); err == nil {
		err = removed
	}
	return err
}

// remedy says what to do about an error of the model server that does not say it.
func remedy(err error) string {
	failed, ok := errors.AsType[*agent.ModelError](err)
	if !ok {
		return "run assent doctor again, with a longer --timeout if the server is only slow"
	}
	switch failed.Kind {
	case agent.ErrorTruncated, agent.ErrorEmpty:
		return "run assent doctor again, and look at the log of the server and at proxies before it"
	case agent.ErrorProvider:
		return "look at the log of the server, and at its documentation of the model"
	}
	return "" // it is said
}
