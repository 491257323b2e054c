package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Model servers that we did not write, out of npm, in processes of their own: their
// replies are in testdata/npm of agent/model/openai, and so are their versions.

const mockPrompt = "make it say hello"

// TestAIMock goes through a call on both wires.
func TestAIMock(t *testing.T) {
	t.Parallel()
	mock := startMock(t, "/health", func(port string) *exec.Cmd {
		return exec.Command("node", mockFile("node_modules/@copilotkit/aimock/dist/cli.js"), "--port", port, "--strict", "--fixtures", mockFile("aimock.json"))
	})
	for _, api := range []string{"chat", "responses"} {
		t.Run(api, func(t *testing.T) {
			out := runWithMock(t, mock+"/v1", "--api", api)
			if !strings.Contains(out, "It says hello now.") { // which the mock says to a result that it likes
				t.Errorf("the answer is not there:\n%s", out)
			}
		})
	}
	var requests []struct {
		Path     string
		Response struct{ Status int }
	}
	if err := json.Unmarshal(get(t, mock+"/__aimock/journal"), &requests); err != nil {
		t.Fatal(err)
	}
	paths := map[string]int{}
	for _, r := range requests {
		if r.Response.Status == http.StatusOK {
			paths[r.Path]++
		}
	}
	if paths["/v1/chat/completions"] != 2 || paths["/v1/responses"] != 2 || len(requests) != 4 {
		t.Errorf("the mock had the requests %+v", requests)
	}
}

// TestMockLLM goes through a call with a server that has no calls in its streams: it
// stands behind a proxy that does not let anybody stream, and answers as a whole.
func TestMockLLM(t *testing.T) {
	t.Parallel()
	mock := startMock(t, "/ready", mockLLM)
	out := runWithMock(t, withoutStreams(t, mock)+"/v1")
	if !strings.Contains(out, "I was told that it landed.") {
		t.Errorf("the result did not reach the mock:\n%s", out)
	}
}

// TestMockLLMStreams has what that server can stream: text, with a call written in it.
func TestMockLLMStreams(t *testing.T) {
	t.Parallel()
	mock := startMock(t, "/ready", mockLLM)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "notes.txt"), "helo world\n")
	out, err := runAssent(t, dir, mock+"/v1", nil, "write your call as text")
	if err != nil || !strings.Contains(out, "I was told that it was text.") {
		t.Errorf("the model was not told, %v:\n%s", err, out)
	}
	if text := readAll(t, dir); text != "helo world\n" {
		t.Errorf("the text is %q", text)
	}
}

func mockLLM(port string) *exec.Cmd {
	cmd := exec.Command("node", mockFile("node_modules/@dwmkerr/mock-llm/dist/main.js"), "--config", mockFile("mock-llm.yaml"))
	cmd.Env = append(os.Environ(), "HOST=127.0.0.1", "PORT="+port)
	return cmd
}

func mockFile(name string) string {
	path, err := filepath.Abs(filepath.Join(moduleDir, "agent/model/openai/testdata/npm", name))
	if err != nil {
		panic(err)
	}
	return path
}

// startMock returns the address of a server once it answers. Its port was free a
// moment ago, so if it ends at once another one is tried.
func startMock(t *testing.T, ready string, command func(port string) *exec.Cmd) string {
	t.Helper()
	if _, err := os.Stat(mockFile("node_modules")); err != nil {
		missing(t, "mock server; run npm ci --ignore-scripts in agent/model/openai/testdata/npm")
	}
	var out bytes.Buffer
	for range 3 {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := free.Addr().String()
		_ = free.Close()
		_, port, _ := net.SplitHostPort(address)
		cmd := command(port)
		out.Reset()
		cmd.Stdout, cmd.Stderr, cmd.Dir = &out, &out, t.TempDir()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		if answers("http://"+address+ready, ended) {
			t.Cleanup(func() {
				_ = cmd.Process.Kill()
				<-ended
				if t.Failed() {
					t.Logf("the mock says:\n%s", out.String())
				}
			})
			return "http://" + address
		}
		_ = cmd.Process.Kill()
	}
	t.Fatalf("the mock server does not start:\n%s", out.String())
	return ""
}

// answers waits until a server does, or its process has ended.
func answers(address string, ended <-chan error) bool {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 600 {
		select {
		case <-ended:
			return false
		case <-tick.C:
		}
		if res, err := http.Get(address); err == nil {
			_ = res.Body.Close()
			return res.StatusCode == http.StatusOK
		}
	}
	return false
}

func get(t *testing.T, address string) []byte {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// withoutStreams is a proxy that asks the server for whole replies, whatever it was asked.
func withoutStreams(t *testing.T, server string) string {
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		var request map[string]json.RawMessage
		if err := json.NewDecoder(r.In.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		delete(request, "stream")
		delete(request, "stream_options")
		body, err := json.Marshal(request)
		if err != nil {
			t.Error(err)
		}
		r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Out.Header.Set("Content-Length", fmt.Sprint(len(body)))
	}})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// runWithMock has assent change a file as the mock wants it.
func runWithMock(t *testing.T, server string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "notes.txt"), "helo world\n")
	out, err := runAssent(t, dir, server, flags, mockPrompt)
	if err != nil {
		t.Errorf("assent failed, %v:\n%s", err, out)
	}
	if text := readAll(t, dir); text != "hello world\n" {
		t.Errorf("the text is %q, after\n%s", text, out)
	}
	return out
}

func runAssent(t *testing.T, dir, server string, flags []string, prompt string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	home := t.TempDir()
	cmd := exec.CommandContext(ctx, program(t), append(append([]string{"run", "-C", dir, "--mode", "accept_edits", "--model", "gpt-5"}, flags...), prompt)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home,
		"OPENAI_BASE_URL=" + server, "OPENAI_API_KEY=sk-mock",
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
