package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"assent/agent/model/openai"
)

// post is a request as it came to a real server, with the address that it was meant for.
type post struct{ host, key, corp string }

// world takes the requests for every host of the world.
type world struct {
	server *httptest.Server
	mu     sync.Mutex
	posts  []post
}

func newWorld(t *testing.T) *world {
	w := &world{}
	w.server = httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		key := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ") + req.Header.Get("Api-Key")
		w.posts = append(w.posts, post{req.Header.Get("X-Meant-For"), key, req.Header.Get("X-Corp-Token")})
		fmt.Fprintln(res, `{"data":[{"id":"m"}]}`)
	}))
	t.Cleanup(w.server.Close)
	return w
}

// RoundTrip sends a request for any host to the one server.
func (w *world) RoundTrip(req *http.Request) (*http.Response, error) {
	here, err := url.Parse(w.server.URL)
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Header.Set("X-Meant-For", req.URL.Scheme+"://"+req.URL.Host+strings.TrimSuffix(req.URL.Path, "/models"))
	req.URL.Scheme, req.URL.Host = here.Scheme, here.Host
	return http.DefaultTransport.RoundTrip(req)
}

// sources are the settings of all four sources.
type sources struct {
	flag   config
	env    map[string]string
	editor config
	file   string
}

// ask sends a request as the settings say; it is not sent if they don't suffice.
func (w *world) ask(t *testing.T, s sources) (config, *post) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "assent", "config.toml"), s.file+"\n")
	env := map[string]string{"XDG_CONFIG_HOME": dir, "XDG_STATE_HOME": dir, "ASSENT_MODEL": "m"}
	maps.Copy(env, s.env)
	cfg, err := loadConfig(globalFlags{overrides: s.flag, editor: s.editor}, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	options := cfg.modelOptions()
	options.HTTPClient = &http.Client{Transport: w}
	w.posts = nil
	_, _ = openai.Models(t.Context(), options)
	switch len(w.posts) {
	case 0:
		return cfg, nil
	case 1:
		return cfg, &w.posts[0]
	}
	t.Fatalf("%d requests", len(w.posts))
	return cfg, nil
}

func TestAKeyGoesToTheServerThatItWasGivenFor(t *testing.T) {
	const (
		corp   = "http://corp.test/v1"
		other  = "http://other.test/v1"
		evil   = "http://evil.test/v1"
		groq   = "https://api.groq.com/openai/v1"
		atHome = "base_url = \"" + corp + "\"\napi_key = \"file-key\"\nheaders = {X-Corp-Token = \"corp-header\"}"
	)
	vars := func(pairs ...string) map[string]string {
		env := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			env[pairs[i]] = pairs[i+1]
		}
		return env
	}
	named := func(provider, base string) config { return config{Provider: provider, BaseURL: base} }
	cases := map[string]struct {
		sources
		want *post // nil: nothing is sent
		warn string
	}{
		"the preset and its variable":                  {sources{flag: named("groq", ""), env: vars("GROQ_API_KEY", "groq-key")}, &post{groq, "groq-key", ""}, ""},
		"the variable of another provider":             {sources{flag: named("groq", ""), env: vars("OPENAI_API_KEY", "openai-key")}, nil, ""},
		"a variable with the address of another":       {sources{flag: named("groq", ""), env: vars("OPENAI_BASE_URL", other, "OPENAI_API_KEY", "openai-key", "GROQ_API_KEY", "groq-key")}, &post{groq, "groq-key", ""}, ""},
		"OpenAI":                                       {sources{env: vars("OPENAI_API_KEY", "openai-key")}, &post{"https://api.openai.com/v1", "openai-key", ""}, ""},
		"a local server gets no key of others":         {sources{flag: named("ollama", ""), env: vars("OPENAI_API_KEY", "openai-key", "OPENAI_BASE_URL", other)}, &post{"http://localhost:11434/v1", "", ""}, ""},
		"a local server elsewhere":                     {sources{flag: named("ollama", ""), env: vars("OLLAMA_HOST", "gpu.test:99")}, &post{"http://gpu.test:99/v1", "", ""}, ""},
		"Azure, with its own header":                   {sources{flag: named("azure", ""), env: vars("AZURE_OPENAI_ENDPOINT", "https://x.openai.azure.com/", "AZURE_OPENAI_API_KEY", "azure-key")}, &post{"https://x.openai.azure.com/openai/v1", "azure-key", ""}, ""},
		"a flag names another address of the provider": {sources{flag: named("groq", other), env: vars("GROQ_API_KEY", "groq-key")}, &post{other, "groq-key", ""}, ""},
		"the file has all":                             {sources{file: atHome}, &post{corp, "file-key", "corp-header"}, ""},
		"the file has all, and a variable is for more": {sources{file: atHome, env: vars("OPENAI_API_KEY", "openai-key")}, &post{corp, "file-key", "corp-header"}, ""},
		"the file has the address, a variable the key": {sources{file: "base_url = \"" + corp + "\"", env: vars("OPENAI_API_KEY", "openai-key")}, &post{corp, "openai-key", ""}, ""},
		"the file names a provider elsewhere":          {sources{file: "provider = \"vllm\"\nbase_url = \"" + corp + "\"", env: vars("VLLM_API_KEY", "vllm-key")}, &post{corp, "vllm-key", ""}, ""},
		"the file names the variable":                  {sources{file: "base_url = \"" + corp + "\"\napi_key_env = \"CORP_KEY\"", env: vars("CORP_KEY", "corp-key", "OPENAI_API_KEY", "openai-key")}, &post{corp, "corp-key", ""}, ""},
		"the variable that the file names is not set":  {sources{file: "base_url = \"" + corp + "\"\napi_key_env = \"CORP_KEY\""}, &post{corp, "", ""}, "names a variable that is not set"},
		"it is not set, and the provider's own is":     {sources{file: "base_url = \"" + corp + "\"\napi_key_env = \"CORP_KEY\"", env: vars("OPENAI_API_KEY", "openai-key")}, &post{corp, "", ""}, "names a variable that is not set"},
		"it is blank, and a flag names the same":       {sources{file: "provider = \"vllm\"\nbase_url = \"" + corp + "\"\napi_key_env = \"CORP_KEY\"", flag: named("", corp), env: vars("CORP_KEY", " ", "VLLM_API_KEY", "vllm-key")}, &post{corp, "", ""}, "names a variable that is not set"},
		"it is not set, and a flag names another":      {sources{file: "base_url = \"" + corp + "\"\napi_key_env = \"CORP_KEY\"", flag: named("", other), env: vars("OPENAI_API_KEY", "openai-key")}, &post{other, "openai-key", ""}, ""},
		"a flag names another server than the file":    {sources{file: atHome, flag: named("", other)}, &post{other, "", ""}, "the key in config.toml is for another server than http://other.test/v1"},
		"a variable does":                              {sources{file: atHome, env: vars("OPENAI_BASE_URL", other)}, &post{other, "", ""}, "the headers in config.toml are for another server"},
		"a variable does, with a key":                  {sources{file: atHome, env: vars("OPENAI_BASE_URL", other, "OPENAI_API_KEY", "openai-key")}, &post{other, "openai-key", ""}, "the headers in config.toml"},
		"a flag names the same server as the file":     {sources{file: atHome, flag: named("", corp+"/")}, &post{corp, "file-key", "corp-header"}, ""},
		"a flag names another provider":                {sources{file: atHome, flag: named("ollama", "")}, &post{"http://localhost:11434/v1", "", ""}, "base_url in config.toml is for the provider openai"},
		"a variable names another provider":            {sources{file: atHome, env: vars("ASSENT_PROVIDER", "groq", "GROQ_API_KEY", "groq-key")}, &post{groq, "groq-key", ""}, "the headers in config.toml"},
		"another path on the host of the file":         {sources{file: atHome, editor: named("", "http://corp.test/evil/v1")}, &post{"http://corp.test/evil/v1", "", ""}, "your key was given for another"},
		"a line end behind the key":                    {sources{flag: named("groq", ""), env: vars("GROQ_API_KEY", "groq-key\n")}, &post{groq, "groq-key", ""}, ""},

		"an editor names a server":                           {sources{editor: named("", evil), env: vars("OPENAI_API_KEY", "openai-key")}, &post{evil, "", ""}, "your key was given for another"},
		"an editor names a server of a provider":             {sources{editor: named("groq", evil), env: vars("GROQ_API_KEY", "groq-key")}, &post{evil, "", ""}, "your key was given for another"},
		"an editor names a server for the person's provider": {sources{editor: named("", evil), flag: named("groq", ""), env: vars("GROQ_API_KEY", "groq-key")}, &post{evil, "", ""}, "your key was given for another"},
		"an editor against the file":                         {sources{editor: named("", evil), file: atHome}, &post{evil, "", ""}, "your key was given for another"},
		"an editor names a provider":                         {sources{editor: named("groq", ""), env: vars("GROQ_API_KEY", "groq-key")}, &post{groq, "groq-key", ""}, ""},
		"an editor names a provider for a flag's server":     {sources{editor: named("groq", ""), flag: named("", other), env: vars("GROQ_API_KEY", "groq-key")}, &post{other, "", ""}, "your key was given for another"},
		"an editor names another provider than the file":     {sources{editor: named("ollama", ""), file: atHome}, &post{"http://localhost:11434/v1", "", ""}, "the key in config.toml is for another server"},
		"an editor repeats the file":                         {sources{editor: named("openai", corp), file: atHome}, &post{corp, "file-key", "corp-header"}, ""},
		"an editor repeats a preset":                         {sources{editor: named("groq", groq), env: vars("GROQ_API_KEY", "groq-key")}, &post{groq, "groq-key", ""}, ""},
		"an editor without the s of https":                   {sources{editor: named("groq", "http://api.groq.com/openai/v1"), env: vars("GROQ_API_KEY", "groq-key")}, &post{"http://api.groq.com/openai/v1", "", ""}, "your key was given for another"},
		"an editor names a server of another provider":       {sources{editor: named("groq", evil), flag: named("vllm", ""), env: vars("VLLM_API_KEY", "vllm-key")}, &post{"http://localhost:8000/v1", "vllm-key", ""}, ""},
		"a flag against an editor":                           {sources{editor: named("", evil), flag: named("", other), env: vars("OPENAI_API_KEY", "openai-key")}, &post{other, "openai-key", ""}, ""},
	}
	w := newWorld(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg, got := w.ask(t, c.sources)
			if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Errorf("the server saw %+v, want %+v", got, c.want)
			}
			warned := strings.Join(cfg.warnings, "\n")
			if c.warn == "" && warned != "" || !strings.Contains(warned, c.warn) {
				t.Errorf("warnings %q, want %q", warned, c.warn)
			}
			for _, secret := range []string{"file-key", "corp-header", "openai-key", "groq-key"} {
				used := strings.Contains(c.file+fmt.Sprint(c.env), secret)
				if used && !slices.Contains(cfg.secrets(), secret) {
					t.Errorf("%s is not among the secrets", secret)
				}
			}
		})
	}
}

// combination is what the four sources say, and the line of config.toml about its key.
type combination struct {
	flag, env, editor, file config
	key                     string
}

// combinations are all of them, but of those with api_key_env only each fourth.
func combinations() (all []combination) {
	choices := []config{{}, {Provider: "groq"}, {Provider: "openai"}, {Provider: "vllm"}}
	with := func(base string) (all []config) {
		for _, c := range choices {
			all = append(all, c, config{Provider: c.Provider, BaseURL: base})
		}
		return all
	}
	for _, flag := range with("http://flag.test/v1") {
		for _, env := range with("http://env.test/v1") {
			for _, editor := range with("http://evil.test/v1") {
				for _, file := range with("http://file.test/v1") {
					all = append(all, combination{flag, env, editor, file, `api_key = "file-key"`})
					if flag.Provider < "h" && editor.Provider < "h" { // none, or groq
						all = append(all, combination{flag, env, editor, file, `api_key_env = "CORP_KEY"`},
							combination{flag, env, editor, file, `api_key_env = "GONE_KEY"`})
					}
				}
			}
		}
	}
	return all
}

func (c combination) sources() sources {
	vars := map[string]string{
		"CORP_KEY": "file-key", "OPENAI_API_KEY": "openai-key", "GROQ_API_KEY": "groq-key", "VLLM_API_KEY": "vllm-key",
		"ASSENT_PROVIDER": c.env.Provider, "OPENAI_BASE_URL": c.env.BaseURL,
	}
	text := c.key + "\nheaders = {X-Corp-Token = \"corp-header\"}\n"
	if c.file.Provider != "" {
		text = fmt.Sprintf("provider = %q\n", c.file.Provider) + text
	}
	if c.file.BaseURL != "" {
		text = fmt.Sprintf("base_url = %q\n", c.file.BaseURL) + text
	}
	return sources{c.flag, vars, c.editor, text}
}

// home is the server that the file speaks of.
func (c combination) home() (owner, at string) {
	presets := map[string]string{"openai": "https://api.openai.com/v1", "groq": "https://api.groq.com/openai/v1", "vllm": "http://localhost:8000/v1"}
	owner = orDefault(c.file.Provider, "openai")
	return owner, orDefault(c.file.BaseURL, presets[owner])
}

// may reports whether a host may see a key.
func (c combination) may(key, host string) bool {
	owner, at := c.home()
	person := orDefault(c.flag.Provider, orDefault(c.env.Provider, owner)) // the provider, without the editor
	p := strings.TrimSuffix(key, "-key")
	switch {
	case key == "":
		return true
	case key == "file-key":
		return host == at
	case p == owner && host == at:
		return !strings.Contains(c.key, "api_key_env") // else it names the key for this one
	case p == "openai" && (host == "https://api.openai.com/v1" || host == "http://env.test/v1"),
		p == "groq" && host == "https://api.groq.com/openai/v1", p == "vllm" && host == "http://localhost:8000/v1":
		return true
	}
	return p == person && host == "http://flag.test/v1"
}

// Every combination of what the four sources may say, with all keys at hand: each is
// seen by the servers that it was given for alone.
func TestNoCombinationLeadsAKeyElsewhere(t *testing.T) {
	const evil = "http://evil.test/v1"
	w := newWorld(t)
	seen := map[string]int{}
	for _, c := range combinations() {
		cfg, got := w.ask(t, c.sources())
		_, at := c.home()
		switch {
		case got == nil && strings.Contains(c.key, "GONE_KEY") && cfg.place() == at: // it wants a key, and there is none
		case got == nil:
			t.Fatalf("nothing was asked with %+v", c)
		case !c.may(got.key, got.host) || got.corp != "" && got.host != at:
			t.Fatalf("the server saw %+v with %+v", *got, c)
		default:
			seen[got.key+" at "+got.host]++
		}
	}
	for _, want := range []string{
		" at " + evil, "openai-key at http://env.test/v1", "openai-key at https://api.openai.com/v1", "groq-key at https://api.groq.com/openai/v1",
		"groq-key at http://flag.test/v1", "vllm-key at http://localhost:8000/v1", "file-key at http://file.test/v1",
	} {
		if seen[want] == 0 {
			t.Errorf("no combination led to %q, so nothing was tried of it; seen: %v", want, seen)
		}
	}
}

func TestAddressesInVariables(t *testing.T) {
	cases := []struct{ provider, value, want string }{
		{"ollama", "gpu", "http://gpu:11434/v1"},
		{"ollama", "gpu:99", "http://gpu:99/v1"},
		{"ollama", ":99", "http://127.0.0.1:99/v1"},
		{"ollama", "0.0.0.0", "http://127.0.0.1:11434/v1"},
		{"ollama", "http://0.0.0.0:11434", "http://127.0.0.1:11434/v1"},
		{"ollama", "http://gpu:99/", "http://gpu:99/v1"},
		{"ollama", "http://gpu:99/v1/", "http://gpu:99/v1"},
		{"ollama", "https://gpu/ollama", "https://gpu/ollama/v1"},
		{"ollama", "::1", "http://[::1]:11434/v1"},
		{"ollama", "[::]:99", "http://127.0.0.1:99/v1"},
		{"ollama", "", ""},
		{"azure", "https://x.openai.azure.com", "https://x.openai.azure.com/openai/v1"},
		{"azure", "https://x.openai.azure.com/openai/v1/", "https://x.openai.azure.com/openai/v1/"},
		{"openai", " http://corp/v1\n", "http://corp/v1"},
	}
	for _, c := range cases {
		p, ok := openai.ProviderNamed(c.provider)
		if !ok {
			t.Fatalf("no provider %s", c.provider)
		}
		if got := addressIn(p, c.value); got != c.want {
			t.Errorf("%s: %q is %q, want %q", c.provider, c.value, got, c.want)
		}
	}
}
