package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"assent/agent"
	"assent/agent/model/openai"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"
)

// config is what a person can set. Flags win over the environment, that over what an
// editor sends, and that over config.toml. A repository can set none of it.
type config struct {
	Provider   string            `toml:"provider"` // one of providerNames
	BaseURL    string            `toml:"base_url"` // "": the provider's own
	APIKey     string            `toml:"api_key"`
	APIKeyEnv  string            `toml:"api_key_env"` // name of the variable with the key
	Headers    map[string]string `toml:"headers"`     // of requests to the model server
	API        string            `toml:"api"`
	Model      string            `toml:"model"`
	Window     int               `toml:"context_window"` // of the model, in tokens; 0: not known
	MaxTokens  int               `toml:"max_tokens"`
	Effort     string            `toml:"reasoning_effort"`
	Idle       string            `toml:"idle_timeout"`
	MaxTurns   int               `toml:"max_turns"`
	Parallel   int               `toml:"parallel_reads"`
	JournalDir string            `toml:"journal_dir"`
	Tools      []string          `toml:"tools"` // names; nil: the default set

	file     string            // that the settings were read from, or would be
	read     bool              // it was there
	from     map[string]string // where a setting came from, by its name in the file
	idle     time.Duration     // Idle, understood
	noKey    string            // the warning that api_key_env names nothing, if it does
	hidden   []string          // keys and the like that were found, used or not
	warnings []string          // for the person
}

// providerNames are the values of provider: the servers that are known by name, and
// what needs none.
func providerNames() []string {
	var names []string
	for _, p := range openai.Providers() {
		names = append(names, p.Name)
	}
	return append(names, "demo", "replay")
}

// globalFlags are the flags of every command.
type globalFlags struct {
	configFile string
	dir        string
	overrides  config
	editor     config // initializationOptions
}

// registerServer adds the flags about the model and its server.
func (g *globalFlags) registerServer(f *pflag.FlagSet) {
	f.StringVar(&g.overrides.Model, "model", "", "model name (default: ASSENT_MODEL); for the provider replay, a file of replies")
	f.StringVar(&g.overrides.Provider, "provider", "", "one of "+strings.Join(providerNames(), ", ")+" (default: openai if a server or key is set, else demo)")
	f.StringVar(&g.overrides.BaseURL, "base-url", "", "model server (default: the provider's variable, such as OPENAI_BASE_URL, else its own address)")
	f.StringVar(&g.overrides.API, "api", "", "what is spoken with the server: chat (Chat Completions) or responses (default: responses with OpenAI itself, else chat)")
	f.IntVar(&g.overrides.Window, "context-window", 0, "context of the model, in tokens (default: what the server says when it is full)")
	f.IntVar(&g.overrides.MaxTokens, "max-tokens", 0, "limit of one reply, in tokens (default: the server's)")
	f.StringVar(&g.overrides.Effort, "effort", "", "how much the model is to reason, such as low or high (default: the server's)")
}

// register adds the flags about model and tools, for the commands that run sessions.
func (g *globalFlags) register(f *pflag.FlagSet) {
	g.registerServer(f)
	f.IntVar(&g.overrides.MaxTurns, "max-turns", 0, "replies of the model before a last answer without tools (default 50)")
	f.StringSliceVar(&g.overrides.Tools, "tools", nil, "names of the tools that exist for the model (default: all; '': none)")
}

// loadConfig reads the settings; getenv is os.Getenv outside of tests.
func loadConfig(flags globalFlags, getenv func(string) string) (config, error) {
	cfg, err := readConfigFile(flags.configFile, getenv)
	if err != nil {
		return config{}, err
	}
	if err := cfg.checkSecrets(); err != nil {
		return config{}, err
	}
	cfg.from = map[string]string{}
	cfg.chooseServer(flags, getenv)
	cfg.heed(flags.editor)
	cfg.choose("model", &cfg.Model, source{flags.overrides.Model, fromFlag("model")},
		source{getenv("ASSENT_MODEL"), fromVariable("ASSENT_MODEL")}, source{flags.editor.Model, fromEditor})
	cfg.choose("reasoning_effort", &cfg.Effort, source{flags.overrides.Effort, fromFlag("effort")})
	cfg.choose("journal_dir", &cfg.JournalDir, source{flags.overrides.JournalDir, fromFlag("journal-dir")})
	if flags.overrides.Window != 0 {
		cfg.Window = flags.overrides.Window
	}
	if flags.overrides.MaxTokens != 0 {
		cfg.MaxTokens = flags.overrides.MaxTokens
	}
	if flags.overrides.MaxTurns != 0 {
		cfg.MaxTurns = flags.overrides.MaxTurns
	}
	if flags.overrides.Tools != nil {
		cfg.Tools = flags.overrides.Tools
	}
	if cfg.JournalDir == "" {
		if cfg.JournalDir, err = stateDir(getenv); err != nil {
			return config{}, err
		}
		cfg.from["journal_dir"] = "your state folder"
	}
	if cfg.Provider == "replay" && (flags.editor.Provider == "replay" || flags.editor.Model != "" && cfg.Model == flags.editor.Model) {
		return config{}, errors.New("an editor can't choose the file of the provider replay; name it with --model or in config.toml")
	}
	err = cfg.check()
	return cfg, err
}

// choose takes the first of some sources that is set, else what the file has.
func (c *config) choose(name string, field *string, sources ...source) {
	s := pick(append(sources, source{*field, c.file})...)
	*field, c.from[name] = s.value, s.from
}

// printWarnings is for commands; an editor gets them as messages.
func (c config) printWarnings(to io.Writer) {
	for _, text := range c.warnings {
		fmt.Fprintf(to, "assent: %s\n", agent.Printable(text))
	}
}

// heed takes what an editor sent of limits and tools. That may come out of a
// repository, so it only narrows what the person set.
func (c *config) heed(editor config) {
	if limit := cmp.Or(c.MaxTurns, agent.DefaultMaxTurns); editor.MaxTurns != 0 {
		c.MaxTurns = min(limit, editor.MaxTurns)
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

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName   = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
)

// checkSecrets refuses what can't be a header or the name of a variable, without
// quoting it: it may be a key.
func (c config) checkSecrets() error {
	if c.APIKeyEnv != "" && !variableName.MatchString(c.APIKeyEnv) {
		return errors.New("api_key_env is no name of a variable; set it to a name such as CORP_KEY, and that variable to the key")
	}
	if openai.LooksLikeKey(c.APIKeyEnv) {
		return errors.New("api_key_env holds what looks like a key; set it to the name of a variable such as CORP_KEY, and that variable to the key")
	}
	for name, value := range c.Headers {
		if !headerName.MatchString(name) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return errors.New("a header in config.toml has a name or a value that no header may have; mend it, on one line and without spaces in the name")
		}
	}
	return nil
}

// minWindow is a context in which there is no room for a conversation any more.
const minWindow = 2000

// check refuses what makes no sense.
func (c *config) check() error {
	switch {
	case !slices.Contains(providerNames(), c.Provider):
		return fmt.Errorf("the provider %q is not known; set one of %s", c.Provider, strings.Join(providerNames(), ", "))
	case c.API != "" && c.API != openai.APIChat && c.API != openai.APIResponses:
		return fmt.Errorf("the api %q is not known; set it to chat or responses, or leave it out", c.API)
	case c.Window < 0 || c.Window > 0 && c.Window < minWindow:
		return fmt.Errorf("context_window is %d; set it to the tokens that the model takes, %d or more, or leave it out to learn it from the server", c.Window, minWindow)
	case c.MaxTokens < 0:
		return fmt.Errorf("max_tokens is %d; set it to 1 or more, or leave it out for the server's limit", c.MaxTokens)
	case c.MaxTurns < 0:
		return fmt.Errorf("max_turns is %d; set it to 1 or more, or leave it out for 50", c.MaxTurns)
	case c.Parallel < 0:
		return fmt.Errorf("parallel_reads is %d; set it to 1 or more, or leave it out for 2", c.Parallel)
	}
	if c.Idle != "" {
		var err error
		if c.idle, err = time.ParseDuration(c.Idle); err != nil || c.idle < time.Second {
			return fmt.Errorf("idle_timeout is %q; set it to a time of 1s or more, such as 2m or 90s, or leave it out for 5m", c.Idle)
		}
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
		return config{}, fmt.Errorf("the configuration could not be read: %w; mend or remove the file, or name another with --config", ofFile(err))
	}
	cfg := config{file: file, read: true}
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
		what := "this line is no TOML; mend it"
		switch key := strings.Join(bad.Key(), "."); {
		case strings.Contains(err.Error(), "already defined"):
			what = "this is there a second time; leave one of the two out"
		case settingTakes(key) != "":
			what = fmt.Sprintf("%s can't be what stands there; write %s", key, settingTakes(key))
		}
		return fmt.Errorf("%s:%d:%d: %s", file, row, col, what)
	}
	return fmt.Errorf("%s: %w", file, err)
}

// settingTakes says what a setting is in the file; "" if there is none of that name.
func settingTakes(name string) string {
	for field := range reflect.TypeFor[config]().Fields() {
		if name == "" || field.Tag.Get("toml") != name {
			continue
		}
		switch field.Type.Kind() {
		case reflect.Int:
			return "a whole number"
		case reflect.Slice:
			return "a list of texts in quotes, in brackets"
		case reflect.Map:
			return `a table of texts in quotes, such as { X-Team = "editors" }`
		}
		return "a text in quotes"
	}
	return ""
}

// configDir and stateDir heed no folder that is not absolute, as the XDG
// specification has it: it would be one of the repository that we were started in.
func configDir(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	switch runtime.GOOS {
	case "windows", "darwin": // which do not look at XDG_CONFIG_HOME
		return absolute(os.UserConfigDir())
	}
	home, err := absolute(os.UserHomeDir())
	return filepath.Join(home, ".config"), err
}

func stateDir(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "assent", "sessions"), nil
	}
	if dir := getenv("LocalAppData"); runtime.GOOS == "windows" && filepath.IsAbs(dir) {
		return filepath.Join(dir, "assent", "sessions"), nil
	}
	home, err := absolute(os.UserHomeDir())
	if err != nil {
		return "", fmt.Errorf("there is no place for the journal: %w; name one with --journal-dir", err)
	}
	return filepath.Join(home, ".local", "state", "assent", "sessions"), nil
}

func absolute(dir string, err error) (string, error) {
	if err == nil && !filepath.IsAbs(dir) {
		err = fmt.Errorf("your home folder is set to %q, which is no absolute path", dir)
	}
	return dir, err
}

// secrets are the settings that must not be written down.
func (c config) secrets() []string {
	secrets := append([]string{c.APIKey}, c.hidden...)
	return append(secrets, openai.Secrets(openai.Options{BaseURL: c.BaseURL, Headers: c.Headers})...)
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
