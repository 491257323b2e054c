package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Clients that we did not write, in real processes, with editors/plain: what they do
// and how to run them by hand is told there. CI has both; without them the tests are
// skipped, and only there.

func TestANodeClient(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(moduleDir, "editors", "plain")
	if _, err := os.Stat(filepath.Join(plain, "node_modules")); err != nil {
		missing(t, "the packages of editors/plain; run npm ci --ignore-scripts there")
	}
	rounds := os.Getenv("ASSENT_ROUNDS")
	if rounds == "" {
		rounds = "12"
	}
	runClient(t, "node", filepath.Join(plain, "client.mjs"), program(t), rounds)
}

func TestNeovimsOwnClient(t *testing.T) {
	t.Parallel()
	nvim := os.Getenv("ASSENT_NVIM")
	if nvim == "" {
		missing(t, "Neovim 0.10 in ASSENT_NVIM; .ci/editors DIR gets one")
	}
	runClient(t, nvim, "--headless", "-u", "NONE", "-l", filepath.Join(moduleDir, "editors", "plain", "neovim.lua"), program(t), t.TempDir())
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("there is no %s", what)
	}
	t.Skipf("there is no %s", what)
}

func runClient(t *testing.T, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	home := t.TempDir()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
