package workspace_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/workspace"
)

func TestAFileIsReadAsText(t *testing.T) {
	w := newWorld(t, map[string]string{"dir/f": "\xef\xbb\xbfone\r\ntwo", "link": "-> dir/f"})
	for _, path := range []string{"dir/f", "link", w.path("dir/f")} {
		got, err := w.Read(t.Context(), agent.Approval{}, path)
		want := agent.File{
			Info:   agent.Info{Path: w.path("dir/f"), Name: "dir/f", Exists: true, Size: 11},
			Text:   "one\r\ntwo",
			Hash:   agent.HashText("one\r\ntwo"),
			Source: agent.SourceDisk,
		}
		if err != nil || got != want {
			t.Errorf("Read(%q) = %+v, %v\nwant %+v", path, got, err, want)
		}
	}
}

func TestReadsThatNeedAYes(t *testing.T) {
	w := newWorld(t, map[string]string{
		".env": "T=abc", "id_rsa": "k", "src/.env.local": "x", "seen": "-> .env", ".env.example": "T=",
		"../outside/f": "far", "../outside/.env": "T=far", "esc": "-> DIR/outside",
	})
	env := agent.SecretRead{Path: w.path(".env")}
	far := agent.OutsideRead{Path: filepath.Join(w.outside, "f")}
	farEnv := filepath.Join(w.outside, ".env")
	for _, c := range []struct {
		name, path string
		approved   []agent.Effect
		want       string // the text, "" if the read is refused
	}{
		{"a secret without a yes", ".env", nil, ""},
		{"a key", "id_rsa", nil, ""},
		{"a secret further down", "src/.env.local", nil, ""},
		{"a link to a secret", "seen", nil, ""},
		{"a template of a secret", ".env.example", nil, "T="},
		{"a secret with a yes", ".env", []agent.Effect{env}, "T=abc"},
		{"a link to a secret with a yes for the file", "seen", []agent.Effect{env}, "T=abc"},
		{"a secret with a yes for another", "id_rsa", []agent.Effect{env}, ""},
		{"a secret with a yes of the wrong kind", ".env", []agent.Effect{agent.OutsideRead(env)}, ""},
		{"a file outside without a yes", w.outside + "/f", nil, ""},
		{"a file behind a link without a yes", "esc/f", nil, ""},
		{"a file outside with a yes", "esc/f", []agent.Effect{far}, "far"},
		{"a secret outside with one yes", "esc/.env", []agent.Effect{agent.OutsideRead{Path: farEnv}}, ""},
		{"a secret outside with the other yes", "esc/.env", []agent.Effect{agent.SecretRead{Path: farEnv}}, ""},
		{"a secret outside with both", "esc/.env", []agent.Effect{agent.OutsideRead{Path: farEnv}, agent.SecretRead{Path: farEnv}}, "T=far"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ok agent.Approval
			if c.approved != nil {
				ok = agenttest.Approve(t, c.approved...)
			}
			got, err := w.Read(t.Context(), ok, c.path)
			if c.want == "" && (!errors.Is(err, agent.ErrNotApproved) || got.Text != "") {
				t.Errorf("read %q, %v", got.Text, err)
			}
			if c.want != "" && (err != nil || got.Text != c.want) {
				t.Errorf("read %q, %v", got.Text, err)
			}
		})
	}
}

func TestWhatIsNoTextIsNotRead(t *testing.T) {
	w := newWorld(t, map[string]string{"dir/": "", "binary": "a\x00b", "wide": "\xff\xfea", "large": ""})
	w.must(os.Truncate(w.path("large"), workspace.MaxSize+1))
	for path, want := range map[string]string{
		"dir":       "read dir: it is a directory",
		".":         "read .: it is a directory",
		"none":      "read none: there is no such file",
		"none/none": "read none/none: there is no such file",
		"binary":    "read binary: it is binary",
		"wide":      "read wide: not valid UTF-16",
		"large":     "read large: it has 16777217 bytes",
		"":          "read an empty path",
	} {
		if _, err := w.Read(t.Context(), agent.Approval{}, path); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error = %v, want %q", err, want)
		}
	}
	if _, err := w.Read(t.Context(), agent.Approval{}, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error %v hides its cause", err)
	}
}

func TestNothingIsReadAfterACancel(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "text"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Read(ctx, agent.Approval{}, "f"); !errors.Is(err, context.Canceled) {
		t.Errorf("Read: %v", err)
	}
	if _, err := w.Stat(ctx, "f"); !errors.Is(err, context.Canceled) {
		t.Errorf("Stat: %v", err)
	}
}
