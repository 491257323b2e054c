package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"assent/agent"
	"assent/agent/model/demo"
	"assent/agent/model/openai"
	"assent/agent/model/replay"
)

// newModel makes the model that the settings name.
func newModel(cfg config) (agent.Model, error) {
	switch cfg.Provider {
	case "demo":
		return demo.New(), nil
	case "replay":
		return replay.Open(cfg.Model)
	}
	return openai.New(cfg.modelOptions())
}

func (c config) modelOptions() openai.Options {
	return openai.Options{
		Provider: c.Provider, BaseURL: c.BaseURL, APIKey: c.APIKey, Headers: c.Headers, API: c.API, Model: c.Model,
		MaxTokens: c.MaxTokens, Effort: c.Effort, Idle: c.idle, Proxy: http.ProxyFromEnvironment,
		AddressName: c.called("base_url"), KeyName: c.called("api_key"),
	}
}

// called is what the person set to make a setting what it is; "" if nothing.
func (c config) called(name string) string {
	from := c.from[name]
	switch {
	case name == "api_key" && c.APIKeyEnv != "" && (c.noKey != "" || strings.Contains(from, "api_key_env")):
		return "the variable that api_key_env in config.toml names"
	case from == fromEditor:
		return name + " of the editor"
	case from == c.file && from != "":
		return name + " in config.toml"
	}
	if _, set, ok := strings.Cut(from, " "); ok && from == fromFlag(strings.TrimPrefix(set, "--")) || from == fromVariable(set) {
		return set
	}
	return ""
}

// fromEditor and fromPreset are origins of settings; others name a flag, a variable
// or the file.
const (
	fromEditor  = "the editor"
	fromPreset  = "preset"
	fromNothing = "nothing is set up"
)

func fromFlag(name string) string     { return "flag --" + name }
func fromVariable(name string) string { return "variable " + name }

// source is a value that a setting may have, and where it came from.
type source struct{ value, from string }

// pick is the first of some sources that is set, the strongest first.
func pick(sources ...source) source {
	for _, s := range sources {
		if s.value != "" {
			return s
		}
	}
	return source{}
}

// server is what config.toml says of the server that it names. It belongs to that
// one: the key, the headers and the rest are not for another that a flag, a variable
// or an editor chooses.
type server struct {
	provider, baseURL, api, key, keyEnv string
	headers                             map[string]string
}

// owner is the provider to which what the file says belongs.
func (s server) owner() string {
	if s.provider == "" {
		return "openai"
	}
	return s.provider
}

// chooser finds which server is asked, and with which key.
type chooser struct {
	file   server // of config.toml
	path   string // of config.toml
	editor config
	flags  config
	getenv func(string) string
}

// chooseServer settles the provider, its address, the key and the headers.
func (c *config) chooseServer(flags globalFlags, getenv func(string) string) {
	ch := chooser{
		file: server{c.Provider, strings.TrimSpace(c.BaseURL), c.API, strings.TrimSpace(c.APIKey), c.APIKeyEnv, c.Headers},
		path: c.file, editor: flags.editor, flags: flags.overrides, getenv: getenv,
	}
	c.remember(getenv)
	chosen := ch.provider()
	c.Provider = chosen.value
	c.from["provider"] = chosen.from
	c.BaseURL, c.APIKey, c.Headers = "", "", nil
	p, known := openai.ProviderNamed(c.Provider)
	if !known {
		c.API = orDefault(ch.flags.API, c.API)
		c.hintAtKeys(getenv)
		return
	}
	ofFile := ch.file.owner() == p.Name
	base := ch.address(p, ofFile)
	if own := ch.person().address(p, ofFile); base.from == fromEditor && same(base.value, orPreset(own.value, p)) {
		base = own // it only repeats what the person said
	}
	c.BaseURL = base.value
	if c.from["base_url"] = base.from; base.value == "" {
		c.from["base_url"] = fromPreset
	}
	atHome := ofFile && same(orPreset(base.value, p), orPreset(ch.file.baseURL, p)) // it is the server of the file
	c.chooseKey(ch, p, base, atHome)
	if atHome {
		c.Headers = ch.file.headers
	}
	api := pick(source{ch.flags.API, fromFlag("api")}, source{when(atHome, ch.file.api), ch.path})
	c.API, c.from["api"] = api.value, api.from
	if !ofFile && ch.file.provider == "" && ch.file.baseURL != "" {
		c.warn("base_url in config.toml is for the provider openai, since none stands beside it, and is not used for %s; write provider = %q beside it to use it", p.Name, p.Name)
	}
}

// person is the choice without the word of the editor.
func (ch chooser) person() chooser {
	ch.editor = config{}
	return ch
}

// provider is the one that is named, or openai if a server or a key is.
func (ch chooser) provider() source {
	named := pick(
		source{ch.flags.Provider, fromFlag("provider")},
		source{ch.getenv("ASSENT_PROVIDER"), fromVariable("ASSENT_PROVIDER")},
		source{ch.editor.Provider, fromEditor},
		source{ch.file.provider, ch.path},
	)
	if named.value != "" {
		return named
	}
	told := pick(
		source{ch.flags.BaseURL, fromFlag("base-url")},
		source{ch.getenv("OPENAI_BASE_URL"), fromVariable("OPENAI_BASE_URL")},
		source{ch.editor.BaseURL, fromEditor},
		source{ch.file.baseURL, ch.path},
		source{ch.getenv("OPENAI_API_KEY"), fromVariable("OPENAI_API_KEY")},
		source{ch.file.key + ch.file.keyEnv, ch.path},
	)
	if told.value != "" {
		return source{"openai", told.from}
	}
	return source{"demo", fromNothing}
}

// address is the base URL; nothing stands for the provider's own.
func (ch chooser) address(p openai.Provider, ofFile bool) source {
	editors := ch.editor.Provider == "" || ch.editor.Provider == p.Name
	fromEnv := source{}
	if p.URLVar != "" {
		fromEnv = source{addressIn(p, ch.getenv(p.URLVar)), fromVariable(p.URLVar)}
	}
	return pick(
		source{strings.TrimSpace(ch.flags.BaseURL), fromFlag("base-url")},
		fromEnv,
		source{when(editors, strings.TrimSpace(ch.editor.BaseURL)), fromEditor},
		source{when(ofFile, ch.file.baseURL), ch.path},
	)
}

// chooseKey takes a key that was given for this server. A key in config.toml is for
// the server that stands there, and wins there: the one of the environment may be for
// another. A variable of the provider goes wherever the person says that this
// provider is, and not where an editor says it.
func (c *config) chooseKey(ch chooser, p openai.Provider, base source, atHome bool) {
	variable := source{}
	if p.KeyVar != "" {
		variable = source{strings.TrimSpace(ch.getenv(p.KeyVar)), fromVariable(p.KeyVar)}
	}
	kept := source{ch.file.key, ch.path}
	if ch.file.keyEnv != "" {
		kept = source{strings.TrimSpace(ch.getenv(ch.file.keyEnv)), fromVariable(ch.file.keyEnv) + ", by api_key_env in " + ch.path}
	}
	strange := base.from == fromEditor || base.from == fromFlag("base-url") && ch.provider().value != ch.person().provider().value
	var key source
	switch {
	case atHome && ch.file.keyEnv != "": // it names the key of this server: another one is not for it
		key = pick(kept)
	case atHome && base.from == ch.path:
		key = pick(kept, variable)
	case strange:
	case atHome:
		key = pick(variable, kept)
	default:
		key = variable
	}
	c.APIKey, c.from["api_key"] = key.value, key.from
	switch {
	case key.value != "":
	case strange && (variable.value != "" || kept.value != ""):
		c.warn("the editor names the provider or the address of the model server %s, and your key was given for another, so it is not used there; set %s or base_url beside the key to use it", c.place(), orDefault(p.URLVar, "--base-url"))
	case kept.value != "":
		c.warn("the key in config.toml is for another server than %s, so it is not sent there; set %s for this one", c.place(), orDefault(p.KeyVar, "provider, base_url and api_key"))
	}
	if ch.file.keyEnv != "" && kept.value == "" && atHome {
		c.warn("api_key_env in config.toml names a variable that is not set, so no key is sent to %s; set that variable to the key", c.place()) // not quoted: it may be the key, put there by mistake
		c.noKey = c.warnings[len(c.warnings)-1]
	}
	if len(ch.file.headers) > 0 && !atHome {
		c.warn("the headers in config.toml are for another server than %s, so they are not sent there", c.place())
	}
}

// hintAtKeys says how to use a key that lies ready, where nothing is set up.
func (c *config) hintAtKeys(getenv func(string) string) {
	if c.from["provider"] != fromNothing {
		return
	}
	for _, p := range openai.Providers() {
		if p.KeyVar != "" && strings.TrimSpace(getenv(p.KeyVar)) != "" {
			c.warn("%s is set: add --provider %s --model … to use it", p.KeyVar, p.Name)
			return
		}
	}
}

// remember collects what must not be written down, whether it is used or not.
func (c *config) remember(getenv func(string) string) {
	c.hidden = append(c.hidden, strings.TrimSpace(c.APIKey))
	if c.APIKeyEnv != "" {
		value := strings.TrimSpace(getenv(c.APIKeyEnv))
		c.hidden = append(c.hidden, orDefault(value, c.APIKeyEnv)) // what names nothing may be the key itself
	}
	c.hidden = append(c.hidden, openai.Secrets(openai.Options{Headers: c.Headers})...)
	for _, p := range openai.Providers() {
		if p.KeyVar != "" {
			c.hidden = append(c.hidden, strings.TrimSpace(getenv(p.KeyVar)))
		}
	}
}

// place is the server in words, without what is secret in its address.
func (c config) place() string {
	p, _ := openai.ProviderNamed(c.Provider)
	if base := orPreset(c.BaseURL, p); base != "" {
		return shown(base)
	}
	return p.Title
}

func (c *config) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// addressIn reads the variable with the address of a provider, which some write in
// their own way.
func addressIn(p openai.Provider, value string) string {
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		return ""
	case p.Name == "ollama":
		return ollamaAddress(value)
	case p.Name == "azure":
		base := strings.TrimRight(value, "/")
		if u, err := url.Parse(base); err == nil && u.Path == "" && u.RawQuery == "" {
			return base + "/openai/v1"
		}
	}
	return value
}

// ollamaAddress makes a base URL of OLLAMA_HOST, which also says where the server
// itself listens: on every address, then it is reached on this machine.
func ollamaAddress(value string) string {
	text, port := value, ""
	if !strings.Contains(text, "://") {
		if strings.Count(text, ":") > 1 && !strings.Contains(text, "[") { // an IPv6 address alone
			text = "[" + text + "]"
		}
		text, port = "http://"+text, ":11434"
	}
	u, err := url.Parse(text)
	if err != nil {
		return value // which is refused with a sentence
	}
	host := u.Hostname()
	switch host {
	case "", "0.0.0.0", "::":
		host = "127.0.0.1"
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Port() != "" {
		port = ":" + u.Port()
	}
	u.Host = host + port
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1") + "/v1"
	return u.String()
}

// same reports whether two base URLs are of one server. The path counts: behind one
// host a gateway may serve many people.
func same(a, b string) bool {
	u, errA := url.Parse(strings.TrimRight(a, "/"))
	v, errB := url.Parse(strings.TrimRight(b, "/"))
	if errA != nil || errB != nil || a == "" {
		return false
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	v.Scheme, v.Host = strings.ToLower(v.Scheme), strings.ToLower(v.Host)
	return u.String() == v.String()
}

func orPreset(base string, p openai.Provider) string { return orDefault(base, p.BaseURL) }

func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

func when(condition bool, value string) string {
	if condition {
		return value
	}
	return ""
}

// shown is a base URL without user, password and query, which may be secret.
func shown(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "(an address that is no URL)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
