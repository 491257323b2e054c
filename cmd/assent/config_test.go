package main

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What an editor sends may come out of a repository. It must not lead the key to
// another server than the one beside which the person set it.
func TestTheKeyStaysWithTheServerThatThePersonNamed(t *testing.T) {
	const home = "http://localhost:1/v1"
	cases := map[string]struct {
		env, file, editor, flag string // model servers, of each source
		wantServer, wantKey     string
	}{
		"no server is named":              {"", "", "", "", "", "key"},
		"in the environment":              {home, "", "", "", home, "key"},
		"the editor names another":        {"", "", "http://evil/v1", "", "http://evil/v1", ""},
		"the editor names the same":       {"", home, home, "", home, "key"},
		"the editor against the file":     {"", home, "http://evil/v1", "", "http://evil/v1", ""},
		"the environment wins":            {home, "", "http://evil/v1", "", home, "key"},
		"a flag wins":                     {"", "", "http://evil/v1", home, home, "key"},
		"the file, and no word of editor": {"", home, "", "", home, "key"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.file != "" {
				write(t, filepath.Join(dir, "assent", "config.toml"), "base_url = \""+c.file+"\"\n")
			}
			env := map[string]string{"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": c.env, "XDG_CONFIG_HOME": dir, "XDG_STATE_HOME": dir}
			flags := globalFlags{editor: config{BaseURL: c.editor}, overrides: config{BaseURL: c.flag}}
			cfg, err := loadConfig(flags, func(name string) string { return env[name] })
			if err != nil {
				t.Fatal(err)
			}
			if cfg.BaseURL != c.wantServer || cfg.APIKey != c.wantKey {
				t.Errorf("the server is %q and the key %q, want %q and %q", cfg.BaseURL, cfg.APIKey, c.wantServer, c.wantKey)
			}
			if warned := strings.Contains(strings.Join(cfg.warnings, " "), "your key was given for another"); warned != (c.wantKey == "") {
				t.Errorf("warnings %q", cfg.warnings)
			}
		})
	}
}

func TestAnEditorOnlyNarrows(t *testing.T) {
	cases := map[string]struct {
		file   string
		editor config
		want   config // tools and limit
		fails  string
	}{
		"tools that the person allows":  {`tools = ["read_file", "search"]`, config{Tools: []string{"search", "delete_file"}}, config{Tools: []string{"search"}}, ""},
		"tools where all are allowed":   {``, config{Tools: []string{"search"}}, config{Tools: []string{"search"}}, ""},
		"no tools at all":               {``, config{Tools: []string{}}, config{Tools: []string{}}, ""},
		"a higher limit":                {`max_turns = 5`, config{MaxTurns: 90}, config{MaxTurns: 5}, ""},
		"a lower limit":                 {`max_turns = 5`, config{MaxTurns: 2}, config{MaxTurns: 2}, ""},
		"a limit above the default":     {``, config{MaxTurns: 100000}, config{MaxTurns: 50}, ""},
		"a limit below the default":     {``, config{MaxTurns: 3}, config{MaxTurns: 3}, ""},
		"the provider replay":           {``, config{Provider: "replay", Model: "/etc/passwd"}, config{}, "can't choose the file"},
		"the file of a replay":          {`provider = "replay"`, config{Model: "/etc/passwd"}, config{}, "can't choose the file"},
		"a model beside a named server": {`base_url = "http://localhost:1"`, config{Model: "small"}, config{}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "assent", "config.toml"), c.file+"\n")
			env := map[string]string{"XDG_CONFIG_HOME": dir, "XDG_STATE_HOME": dir}
			cfg, err := loadConfig(globalFlags{editor: c.editor}, func(name string) string { return env[name] })
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("loadConfig = %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(cfg.Tools, c.want.Tools) || cfg.Tools == nil != (c.want.Tools == nil) || cfg.MaxTurns != c.want.MaxTurns {
				t.Errorf("tools %q, limit %d; want %q, %d", cfg.Tools, cfg.MaxTurns, c.want.Tools, c.want.MaxTurns)
			}
		})
	}
}

// A folder that is not absolute would be one of the repository.
func TestSettingsAndJournalsAreNowhereInTheRepository(t *testing.T) {
	home, repo := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("AppData", filepath.Join(home, ".config"))
	t.Chdir(repo)
	write(t, filepath.Join(repo, ".config", "assent", "config.toml"), "max_turns = 7\n")
	write(t, filepath.Join(repo, "assent", "config.toml"), "max_turns = 7\n")
	for _, dir := range []string{".config", "./.config", ".", "../" + filepath.Base(repo)} {
		t.Setenv("XDG_CONFIG_HOME", dir) // as package os sees it
		cfg, err := loadConfig(globalFlags{}, func(name string) string {
			return map[string]string{"XDG_CONFIG_HOME": dir, "XDG_STATE_HOME": dir, "LocalAppData": dir}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		if cfg.MaxTurns != 0 || !strings.HasPrefix(cfg.file, home) || !strings.HasPrefix(cfg.JournalDir, home) {
			t.Errorf("%s: the settings are %s, the journals in %s, the limit %d", dir, cfg.file, cfg.JournalDir, cfg.MaxTurns)
		}
	}
	t.Setenv("HOME", "home")
	t.Setenv("USERPROFILE", "home")
	write(t, filepath.Join(repo, "home", ".config", "assent", "config.toml"), "max_turns = 7\n")
	if _, err := loadConfig(globalFlags{}, func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), "no absolute path; name one with --journal-dir") {
		t.Errorf("a home that is not absolute: %v", err)
	}
}

// What stands in api_key_env may be the key, put there by mistake.
func TestAKeyInPlaceOfANameIsNotRepeated(t *testing.T) {
	for _, key := range []string{"gsk_AbCdEfGh1234", "0123456789abcdef0123456789abcdef", "sk-test-000111", "Zk9abCdEfGh12Zk9abCd", "oddly_named"} {
		server := httptest.NewServer(healthy())
		defer server.Close()
		file := filepath.Join(t.TempDir(), "config.toml")
		write(t, file, fmt.Sprintf("provider = \"vllm\"\nbase_url = %q\napi_key_env = %q\nmodel = \"m\"\n", server.URL+"/v1", key))
		refused := key != "oddly_named"
		for _, args := range [][]string{{"run", "hi"}, {"doctor"}, {"models"}, {"log", "list"}} {
			code, out, errs := assent(t, nil, append(args, "--config", file)...)
			if strings.Contains(out+errs, key) || refused && (code != exitUsage || !strings.Contains(out+errs, "api_key_env")) {
				t.Errorf("%s: exit code %d, %s%s", args, code, out, errs)
			}
		}
		cfg, err := loadConfig(globalFlags{configFile: file}, func(name string) string { return map[string]string{"XDG_STATE_HOME": t.TempDir()}[name] })
		if refused != (err != nil) || !refused && !slices.Contains(cfg.secrets(), key) {
			t.Errorf("%s: hidden are %q, the error is %v", key, cfg.secrets(), err)
		}
	}
}

// Names of Go types are no help to who wrote the file.
func TestAMistakeInTheFileIsSaidInItsOwnWords(t *testing.T) {
	for text, want := range map[string]string{
		`max_tokens = "x"`:                  "config.toml:1:14: max_tokens can't be what stands there; write a whole number",
		`max_turns = 1.5`:                   "config.toml:1:13: max_turns can't be what stands there; write a whole number",
		`tools = "x"`:                       `config.toml:1:9: tools can't be what stands there; write a list of texts in quotes, in brackets`,
		`headers = {a = 1}`:                 `config.toml:1:16: headers can't be what stands there; write a table of texts in quotes, such as`,
		"[model]\na = 1":                    "config.toml:1:2: model can't be what stands there; write a text in quotes",
		`api_key = 5`:                       "config.toml:1:11: api_key can't be what stands there; write a text in quotes",
		"model = 'a'\nmodel = 'b'":          "config.toml:2:1: this is there a second time; leave one of the two out",
		`max_turns = 99999999999999999999`:  "config.toml:1:13: max_turns can't be what stands there",
		`api_key = "sk-secret`:              "config.toml:1:20: this line is no TOML; mend it",
		"[sk-secret]\na = 1\n[sk-secret]\n": "config.toml:",
	} {
		file := filepath.Join(t.TempDir(), "config.toml")
		write(t, file, text)
		_, err := loadConfig(globalFlags{configFile: file}, func(string) string { return "" })
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "toml: ") || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "struct") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
