package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assent/agent/model/openai"
)

// patient is a model server with a fault, or none.
type patient struct {
	list   string // body of /models; "": it has none
	text   []string
	call   string // JSON of a delta for a request with tools; "": it answers with text
	refuse func(body string) (status int, answer string)
	hang   bool
	asked  chan struct{} // a reply was asked for
}

const goodCall = `{"tool_calls":[{"index":0,"id":"c1","function":{"name":"assent_doctor_echo","arguments":"{\"text\":\"hello\"}"}}]}`

func healthy() patient {
	return patient{list: `{"data":[{"id":"m"},{"id":"big"}]}`, text: []string{"one ", "two ", "three"}, call: goodCall, asked: make(chan struct{}, 9)}
}

func (p patient) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if strings.HasSuffix(req.URL.Path, "/models") {
		if p.list == "" {
			http.NotFound(w, req)
			return
		}
		_, _ = io.WriteString(w, p.list)
		return
	}
	body, _ := io.ReadAll(req.Body)
	if p.refuse != nil {
		if status, answer := p.refuse(string(body)); status != 0 {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
			return
		}
	}
	p.asked <- struct{}{}
	if p.hang {
		<-req.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if strings.Contains(string(body), `"tools"`) && p.call != "" {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", p.call)
	} else {
		for _, text := range p.text {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text)
			w.(http.Flusher).Flush()
		}
	}
	_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// assent runs a command line in this process.
func assent(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	std := streams{open("in"), open("out"), open("err")}
	code = execute(args, std, func(name string) string {
		if value, ok := env[name]; ok || !strings.HasPrefix(name, "XDG_") {
			return value
		}
		return dir
	})
	read := func(f *os.File) string {
		data, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	return code, read(std.out), read(std.err)
}

func TestDoctorFindsWhatIsWrongWithAServer(t *testing.T) {
	with := func(change func(*patient)) patient {
		p := healthy()
		change(&p)
		return p
	}
	always := func(status int, answer string) func(string) (int, string) {
		return func(string) (int, string) { return status, answer }
	}
	withTools := func(status int, answer string) func(string) (int, string) {
		return func(body string) (int, string) {
			if strings.Contains(body, `"tools"`) {
				return status, answer
			}
			return 0, ""
		}
	}
	calls := func(name, arguments string) string {
		return fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":%q,"arguments":%q}}]}`, name, arguments)
	}
	cases := map[string]struct {
		patient patient
		model   string
		code    int
		wants   []string // patterns of lines
	}{
		"nothing": {healthy(), "m", 0, []string{
			`^ok    server      http://127.0.0.1:\d+/v1 answers$`, `^ok    models      2 models, and m is one of them$`,
			`^ok    answer      it answers, the first byte after \d+ ms`, `^ok    stream      it streams: [23] pieces$`, `^ok    tools       it calls a tool, with valid arguments$`}},
		"no list": {with(func(p *patient) { p.list = "" }), "m", 0, []string{
			`^ok    models      no list of models came \(HTTP 404\), which is no fault`, `^ok    tools `}},
		"a page for a list": {with(func(p *patient) { p.list = "<html>hello</html>" }), "m", 0, []string{`^ok    models      no list of models came`, `^ok    tools `}},
		"another name":      {healthy(), "bog", 5, []string{`^FAIL  models      bog is not one of its 2 models; name one that is, such as big, m$`, `^ok    tools `}},
		"the key": {with(func(p *patient) {
			p.refuse = always(401, `{"error":{"message":"bad key sk-test-000111"}}`)
			p.list = ""
		}), "m", 5, []string{
			`^FAIL  answer .*(check|set) OPENAI_API_KEY`}},
		"one piece":         {with(func(p *patient) { p.text = []string{"all at once"} }), "m", 5, []string{`^ok    answer `, `^FAIL  stream      the answer came in one piece.*; turn streaming on`, `^ok    tools `}},
		"an empty answer":   {with(func(p *patient) { p.text = nil }), "m", 5, []string{`^FAIL  answer `}},
		"no tools in text":  {with(func(p *patient) { p.call = "" }), "m", 5, []string{`^FAIL  tools       asked to call a tool, the model answered in text \("one two three"\); choose a model that can call tools`}},
		"no tools, refused": {with(func(p *patient) { p.refuse = withTools(400, `{"error":{"message":"m does not support tools"}}`) }), "m", 5, []string{`^ok    answer `, `^FAIL  tools       The model m can't call tools`}},
		"a written call": {with(func(p *patient) {
			p.call = `{"content":"<tool_call>{\"name\":\"assent_doctor_echo\",\"arguments\":{\"text\":\"hello\"}}</tool_call>"}`
		}), "m", 5, []string{`^FAIL  tools       asked to call a tool, the model wrote the call into its text; choose`}},
		"broken arguments":   {with(func(p *patient) { p.call = calls(echo, `{"text":`) }), "m", 5, []string{`^FAIL  tools       the model calls a tool, but .*arguments`}},
		"missing arguments":  {with(func(p *patient) { p.call = calls(echo, `{}`) }), "m", 5, []string{`^FAIL  tools       the model calls a tool, but leaves out the argument`}},
		"an unknown tool":    {with(func(p *patient) { p.call = calls("other", `{}`) }), "m", 5, []string{`^FAIL  tools       asked to call assent_doctor_echo, the model called "other"; use`}},
		"a failing server":   {with(func(p *patient) { p.refuse = always(500, `{"error":{"message":"out of memory"}}`) }), "m", 5, []string{`^FAIL  answer .*out of memory`}},
		"a refused setting":  {with(func(p *patient) { p.refuse = refusesUsage }), "m", 0, []string{`^ok    note        .*stream_options is left out from now on`, `^ok    tools `}},
		"no model is named":  {healthy(), "", 2, []string{`^FAIL  model       no model is named; use --model`, `^ok    models      2 models: big, m$`}},
		"a tagged name":      {with(func(p *patient) { p.list = `{"data":[{"id":"m:latest"}]}` }), "m", 0, []string{`^ok    models      1 model, and m is one of them$`}},
		"an answer too late": {with(func(p *patient) { p.hang = true }), "m", 5, []string{`^FAIL  answer      no answer within 300ms; run assent doctor again, with a longer --timeout`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.patient)
			defer server.Close()
			env := map[string]string{"OPENAI_BASE_URL": server.URL + "/v1", "OPENAI_API_KEY": "sk-test-000111", "ASSENT_MODEL": c.model}
			limit := "60s"
			if c.patient.hang {
				limit = "300ms"
			}
			code, out, _ := assent(t, env, "doctor", "--timeout", limit)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, want := range c.wants {
				if !regexp.MustCompile("(?m)" + want).MatchString(out) {
					t.Errorf("no line %s", want)
				}
			}
			if failed := strings.Contains(out, "FAIL"); failed != (c.code != 0) {
				t.Errorf("exit code %d beside these findings", c.code)
			}
			if strings.Contains(out, "sk-test-000111") {
				t.Error("the key is printed")
			}
			if t.Failed() {
				t.Log("\n" + out)
			}
		})
	}
}

func refusesUsage(body string) (int, string) {
	if strings.Contains(body, "stream_options") {
		return 400, `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`
	}
	return 0, ""
}

func TestDoctorInJSON(t *testing.T) {
	server := httptest.NewServer(healthy())
	defer server.Close()
	code, out, _ := assent(t, map[string]string{"OPENAI_BASE_URL": server.URL + "/v1", "ASSENT_MODEL": "bog"}, "doctor", "--json")
	var checks []string
	for line := range strings.Lines(out) {
		var f finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		checks = append(checks, fmt.Sprintf("%s/%s %v", f.Section, f.Check, f.OK))
	}
	want := "settings/file true, settings/provider true, settings/base_url true, settings/api true, settings/model true, settings/key true, " +
		"server/server true, server/models false, server/answer true, server/stream true, server/tools true, journal/journal true"
	if got := strings.Join(checks, ", "); got != want || code != exitModel {
		t.Errorf("exit code %d, findings:\n%s\nwant:\n%s", code, got, want)
	}
}

// The interrupt ends doctor while the server is silent, with its own exit code.
func TestAnInterruptEndsDoctor(t *testing.T) {
	sick := healthy()
	sick.hang = true
	server := httptest.NewServer(sick)
	defer server.Close()
	go func() {
		<-sick.asked
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Signal(os.Interrupt)
		}
		if err != nil {
			t.Error(err)
		}
	}()
	code, out, _ := assent(t, map[string]string{"OPENAI_BASE_URL": server.URL + "/v1", "ASSENT_MODEL": "m"}, "doctor")
	if code != exitCancelled || strings.Contains(out, "FAIL") {
		t.Errorf("exit code %d, findings:\n%s", code, out)
	}
}

func TestModelsAreListedOneALine(t *testing.T) {
	cases := map[string]struct {
		list   string
		code   int
		stdout string
		stderr string
	}{
		"sorted":      {`{"data":[{"id":"m"},{"id":"big"},{"id":"m"}]}`, 0, "big\nm\n", ""},
		"on one line": {`{"data":[{"id":"a\nb\u001b[31m"}]}`, 0, "a␊b", ""},
		"no list":     {"", 5, "", "127.0.0.1"},
		"a page":      {"<html></html>", 5, "", "no list of models"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := healthy()
			p.list = c.list
			server := httptest.NewServer(p)
			defer server.Close()
			code, out, errs := assent(t, map[string]string{"OPENAI_BASE_URL": server.URL + "/v1"}, "models")
			if code != c.code || !strings.HasPrefix(out, c.stdout) || !strings.Contains(errs, c.stderr) || strings.ContainsRune(out, '\x1b') {
				t.Errorf("exit code %d, %q, %q; want %d, %q, %q", code, out, errs, c.code, c.stdout, c.stderr)
			}
		})
	}
}

// What is wrong is asked of the setting that is in use.
func TestTheSettingInUseIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	write(t, file, "base_url = \"http://127.0.0.1:1/v1\"\napi_key_env = \"CORP_KEY\"\n")
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"the file":   {[]string{"--config", file}, map[string]string{"CORP_KEY": "x"}, "is base_url in config.toml right?"},
		"a flag":     {[]string{"--base-url", "http://127.0.0.1:1/v1"}, nil, "is --base-url right?"},
		"a variable": {nil, map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "is OPENAI_BASE_URL right?"},
		"another":    {[]string{"--provider", "ollama"}, map[string]string{"OLLAMA_HOST": "127.0.0.1:1"}, "is OLLAMA_HOST right?"},
		"a bad key":  {[]string{"--config", file}, map[string]string{"CORP_KEY": "x y"}, "check the variable that api_key_env in config.toml names"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, out, _ := assent(t, c.env, append([]string{"doctor", "--model", "m"}, c.args...)...); !strings.Contains(out, c.want) {
				t.Errorf("%s\nwant %s", out, c.want)
			}
		})
	}
	code, out, _ := assent(t, map[string]string{"OPENAI_API_KEY": "openai-key"}, "doctor", "--model", "m", "--config", file)
	if code != exitUsage || !regexp.MustCompile("(?m)^FAIL  key         api_key_env in config.toml names a variable that is not set").MatchString(out) || strings.Contains(out, "note") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestDoctorReadsTheFileOfReplays(t *testing.T) {
	for name, want := range map[string]string{"nope.json": "the file of replies nope.json could not be read: no such file or directory; name another with --model", "": "no file of replies is named; name one with --model"} {
		code, out, _ := assent(t, nil, "doctor", "--provider", "replay", "--model", name)
		if code != exitUsage || !strings.Contains(out, "FAIL  model       "+want) || strings.Contains(out, "ok    server") {
			t.Errorf("exit code %d\n%s", code, out)
		}
	}
}

// The limit that the person sets for a check counts, also for the list.
func TestDoctorsTimeLimitIsThatOfTheList(t *testing.T) {
	held := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-req.Context().Done():
		case <-held:
		}
	}))
	defer server.Close()
	defer close(held)
	code, out, _ := assent(t, map[string]string{"OPENAI_BASE_URL": server.URL + "/v1"}, "doctor", "--model", "m", "--timeout", "200ms")
	if code != exitModel || !strings.Contains(out, "FAIL  server      no answer within 200ms; run assent doctor again, with a longer --timeout") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// A key may begin with another one.
func TestNoRestOfAKeyIsPrinted(t *testing.T) {
	p := healthy()
	p.list = `{"data":[{"id":"corp-1-and-more"},{"id":"corp-1"}]}`
	server := httptest.NewServer(p)
	defer server.Close()
	env := map[string]string{"OPENAI_BASE_URL": server.URL + "/v1", "OPENAI_API_KEY": "corp-1", "GROQ_API_KEY": "corp-1-and-more"}
	for _, command := range []string{"models", "doctor"} {
		if _, out, _ := assent(t, env, command); strings.Contains(out, "-and-more") || !strings.Contains(out, "[hidden]") {
			t.Error(out)
		}
	}
}

func TestLocalServersAreOffered(t *testing.T) {
	provider := func(name string) openai.Provider {
		p, ok := openai.ProviderNamed(name)
		if !ok {
			t.Fatalf("no provider %s", name)
		}
		return p
	}
	found := []openai.Local{{Provider: provider("llamacpp")}, {Provider: provider("lmstudio")}, {Provider: provider("ollama"), Models: []string{"a", "b", "c"}}, {Provider: provider("vllm"), Models: []string{"a"}}}
	want := []string{
		"llamacpp answers at http://localhost:8080/v1 with no list of models without a key: use --provider llamacpp --model NAME",
		"lmstudio answers at http://localhost:1234/v1 with no model yet: use --provider lmstudio --model NAME",
		"ollama answers at http://localhost:11434/v1 with 3 models: use --provider ollama --model NAME",
		"vllm answers at http://localhost:8000/v1 with 1 model: use --provider vllm --model NAME",
	}
	if got := offers(found); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("offers:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheClosestNamesAreOffered(t *testing.T) {
	names := []string{"gpt-4o", "llama3.1:8b", "qwen3:30b", "qwen3:8b", "mistral"}
	for name, want := range map[string]string{"qwen3": "qwen3:8b, qwen3:30b", "lama3.1:8b": "llama3.1:8b, qwen3:8b", "Mistral": "mistral", "gpt4o": "gpt-4o"} {
		got := strings.Join(closest(name, names, 2), ", ")
		if !strings.HasPrefix(got, want) {
			t.Errorf("closest to %s: %s, want %s", name, got, want)
		}
	}
}
