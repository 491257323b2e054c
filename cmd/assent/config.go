package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"
)

// config is what a person can set. Flags win over the environment, that over what an
// editor sends, and that over config.toml. A repository can set none of it.
type config struct {
	Provider   string   `toml:"provider"` // openai, demo or replay
	BaseURL    string   `toml:"base_url"`
	APIKey     string   `toml:"api_key"`
	Model      string   `toml:"model"`
	MaxTurns   int      `toml:"max_turns"`
	Parallel   int      `toml:"parallel_reads"`
	JournalDir string   `toml:"journal_dir"`
	Tools      []string `toml:"tools"` // names; nil: the default set

	file     string   // that the settings were read from, or would be
	warnings []string // for the person
}

var providers = []string{"openai", "demo", "replay"}

// globalFlags are the flags of every command.
type globalFlags struct {
	configFile string
	dir        string
	overrides  config
	editor     config // initializationOptions
}

// register adds the flags about model and tools, for the commands that run sessions.
func (g *globalFlags) register(f *pflag.FlagSet) {
	f.StringVar(&g.overrides.Model, "model", "", "model name (default: ASSENT_MODEL); for the provider replay, a file of replies")
	f.StringVar(&g.overrides.Provider, "provider", "", "one of "+strings.Join(providers, ", ")+" (default: openai if a server or key is set, else demo)")
	f.StringVar(&g.overrides.BaseURL, "base-url", "", "model server (default: OPENAI_BASE_URL, else OpenAI)")
	f.IntVar(&g.overrides.MaxTurns, "max-turns", 0, "replies of the model before a last answer without tools (default 50)")
	f.StringSliceVar(&g.overrides.Tools, "tools", nil, "names of the tools that exist for the model (default: all; '': none)")
}

// loadConfig reads the settings; getenv is os.Getenv outside of tests.
func loadConfig(flags globalFlags, getenv func(string) string) (config, error) {
	cfg, err := readConfigFile(flags.configFile, getenv)
	if err != nil {
		return config{}, err
	}
	set := func(field *string, values ...string) {
		for _, v := range values { // the last one that is set wins
			if v != "" {
				*field = v
			}
		}
	}
	named := cfg.BaseURL
	set(&named, getenv("OPENAI_BASE_URL"), flags.overrides.BaseURL)
	cfg.heed(flags.editor)
	set(&cfg.Provider, getenv("ASSENT_PROVIDER"), flags.overrides.Provider)
	set(&cfg.BaseURL, getenv("OPENAI_BASE_URL"), flags.overrides.BaseURL)
	set(&cfg.APIKey, getenv("OPENAI_API_KEY"))
	cfg.APIKey = strings.TrimSpace(cfg.APIKey) // a line end from "$(cat key)" is no part of it
	cfg.keepKeyHome(named)
	set(&cfg.Model, getenv("ASSENT_MODEL"), flags.overrides.Model)
	set(&cfg.JournalDir, flags.overrides.JournalDir)
	if flags.overrides.MaxTurns != 0 {
		cfg.MaxTurns = flags.overrides.MaxTurns
	}
	if flags.overrides.Tools != nil {
		cfg.Tools = flags.overrides.Tools
	}
	if cfg.Provider == "" {
		cfg.Provider = "demo"
		if cfg.BaseURL != "" || cfg.APIKey != "" {
			cfg.Provider = "openai"
		}
	}
	if cfg.JournalDir == "" {
		if cfg.JournalDir, err = stateDir(getenv); err != nil {
			return config{}, err
		}
	}
	if cfg.Provider == "replay" && (flags.editor.Provider == "replay" || flags.editor.Model != "" && cfg.Model == flags.editor.Model) {
		return config{}, errors.New("an editor can't choose the file of the provider replay; name it with --model or in config.toml")
	}
	return cfg, cfg.check()
}

// heed takes what an editor sent. That may come out of a repository, so it only
// narrows what the person set, and names no file.
func (c *config) heed(editor config) {
	for _, s := range []struct{ field, value *string }{{&c.Provider, &editor.Provider}, {&c.BaseURL, &editor.BaseURL}, {&c.Model, &editor.Model}} {
		if *s.value != "" {
			*s.field = *s.value
		}
	}
	if editor.MaxTurns != 0 && (c.MaxTurns == 0 || editor.MaxTurns < c.MaxTurns) {
		c.MaxTurns = editor.MaxTurns
	}
	if editor.Tools != nil {
		allowed := c.Tools
		c.Tools = []string{}
		for _, name := range editor.Tools {
			if allowed == nil || slices.Contains(allowed, name) {
				c.Tools = append(c.Tools, name)
			}
		}
	}
}

// keepKeyHome drops the key if an editor named another model server than the person
// did beside it: the settings of an editor may come out of a repository, and the key
// would go wherever that says.
func (c *config) keepKeyHome(named string) {
	if c.APIKey == "" || c.BaseURL == named {
		return
	}
	c.APIKey = ""
	c.warnings = append(c.warnings, "the editor names the model server "+c.BaseURL+", and your key was given for another, so it is not used there; set OPENAI_BASE_URL or base_url beside the key to use it")
}

func (c config) check() error {
	switch {
	case !slices.Contains(providers, c.Provider):
		return fmt.Errorf("the provider %q is not known; set one of %s", c.Provider, strings.Join(providers, ", "))
	case c.MaxTurns < 0:
		return fmt.Errorf("max_turns is %d; set it to 1 or more, or leave it out for 50", c.MaxTurns)
	case c.Parallel < 0:
		return fmt.Errorf("parallel_reads is %d; set it to 1 or more, or leave it out for 2", c.Parallel)
	}
	return nil
}

// readConfigFile reads the named file, or the person's own if none is named,
// which need not exist.
func readConfigFile(named string, getenv func(string) string) (config, error) {
	file := named
	if file == "" {
		dir, err := configDir(getenv)
		if err != nil {
			return config{}, nil //nolint:nilerr // no home, so no file in it
		}
		file = filepath.Join(dir, "assent", "config.toml")
	}
	data, err := os.ReadFile(file)
	if named == "" && errors.Is(err, fs.ErrNotExist) {
		return config{file: file}, nil
	}
	if err != nil {
		return config{}, fmt.Errorf("the configuration could not be read: %w; mend or remove the file, or name another with --config", err)
	}
	cfg := config{file: file}
	dec := toml.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&cfg); err != nil {
		return config{}, configError(file, err)
	}
	return cfg, nil
}

var settingName = regexp.MustCompile(`^[a-z_]{1,20}$`)

// configError says where in the file the fault is, without quoting what stands
// there: it may be the key.
func configError(file string, err error) error {
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		row, col := strict.Errors[0].Position()
		name := strings.Join(strict.Errors[0].Key(), ".")
		if !settingName.MatchString(name) {
			name = "this"
		}
		return fmt.Errorf("%s:%d:%d: %s is not a setting; see the README for those that are", file, row, col, name)
	}
	if bad, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, col := bad.Position()
		return fmt.Errorf("%s:%d:%d: %w; mend the line", file, row, col, err)
	}
	return fmt.Errorf("%s: %w", file, err)
}

func configDir(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
		return dir, nil
	}
	return os.UserConfigDir()
}

func stateDir(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "assent", "sessions"), nil
	}
	if dir := getenv("LocalAppData"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "assent", "sessions"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for the journal: %w; name one with --journal-dir", err)
	}
	return filepath.Join(home, ".local", "state", "assent", "sessions"), nil
}

var secretParameter = regexp.MustCompile(`(?i)key|token|secret|sig|auth|pass|code`)

// secrets are the settings that must not be written down.
func (c config) secrets() []string {
	secrets := []string{c.APIKey}
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return append(secrets, c.BaseURL)
	}
	password, _ := u.User.Password()
	secrets = append(secrets, password, u.User.Username())
	for name, values := range u.Query() {
		if secretParameter.MatchString(name) {
			secrets = append(secrets, values...)
		}
	}
	return secrets
}

// guarded are the files of our own, besides the journal, that a session must not
// change or read unasked: with them it could send the key elsewhere.
func (c config) guarded() []string {
	var paths []string
	if c.file != "" {
		paths = append(paths, c.file)
	}
	if c.Provider == "replay" {
		paths = append(paths, c.Model)
	}
	return paths
}
