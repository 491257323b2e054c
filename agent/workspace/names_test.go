package workspace_test

import (
	"testing"

	"assent/agent/workspace"
)

func TestProtectedNames(t *testing.T) {
	for name, want := range map[string]bool{
		".git":                                 true,
		".git/config":                          true,
		".Git/config":                          true,
		"sub/.gIt/hooks/pre-commit":            true,
		".git./config":                         true,
		".git /config":                         true,
		".git::$INDEX_ALLOCATION/config":       true,
		".g\u200cit/config":                    true,
		"GIT~1/config":                         true,
		`sub\.git\config`:                      true,
		".gitmodules":                          true,
		".gitignore":                           false,
		".gitattributes":                       false,
		".gitkeep":                             false,
		"git/config":                           false,
		".vscode/settings.json":                true,
		".VſCODE/settings.json":                true,
		".idea/workspace.xml":                  true,
		"app.code-workspace":                   true,
		".github/workflows/ci.yml":             true,
		".gitlab-ci.yml":                       true,
		"Jenkinsfile":                          true,
		".husky/pre-push":                      true,
		".githooks/pre-push":                   true,
		"hooks/useState.ts":                    false,
		"/home/ann/.bashrc":                    true,
		"/home/ann/.profile":                   true,
		"/home/ann/.zshrc":                     true,
		"dot/.config/fish/config.fish":         true,
		".envrc":                               true,
		".nvim.lua":                            true,
		".exrc":                                true,
		"/home/ann/.config/assent/config.toml": true,
		"/home/ann/.local/state/assent/sessions/x/y":                true,
		"/Users/ann/Library/Application Support/assent/config.toml": true,
		"/work/assent/agent/loop.go":                                false,
		"/home/ann/.ssh/authorized_keys":                            true,
		"/home/ann/.ssh/AUTHORIZED_KEYS":                            true,
		".claude/settings.json":                                     true,
		".claude/worktrees/a/main.go":                               false,
		"Makefile":                                                  false,
		"go.mod":                                                    false,
		"env.txt":                                                   false,
		"internal/proc/proc.go":                                     false,
		"":                                                          false,
		"/":                                                         false,
		"..":                                                        false,
	} {
		if got := workspace.Protected(name); got != want {
			t.Errorf("Protected(%q) = %v", name, got)
		}
	}
}

func TestSecretNames(t *testing.T) {
	for name, want := range map[string]bool{
		".env":                            true,
		".ENV":                            true,
		".ENV.":                           true,
		".env ":                           true,
		".env::$DATA":                     true,
		"src/.env.local":                  true,
		".env.example":                    false,
		".env.sample":                     false,
		".env.template":                   false,
		".env.example.local":              true,
		".env/lib/site.py":                false, // a Python environment
		"env.txt":                         false,
		"environment.ts":                  false,
		"id_rsa":                          true,
		"ID_RSA":                          true,
		"keys/id_ed25519":                 true,
		"id_rsa.bak":                      true,
		"id_rsa.pub":                      false,
		"server.pem":                      true,
		"tls/server.key":                  true,
		"keyboard.go":                     false,
		".netrc":                          true,
		".npmrc":                          true,
		".pypirc":                         true,
		"/home/ann/.aws/credentials":      true,
		"/home/ann/.docker/config.json":   true,
		"/home/ann/.kube/config":          true,
		"/home/ann/.ssh/config":           true,
		"/proc/self/environ":              true,
		"config.json":                     false,
		"config":                          false,
		"internal/credentials/provide.go": false,
		"docs/secrets.md":                 false,
		".git/config":                     false,
		"":                                false,
	} {
		if got := workspace.Secret(name); got != want {
			t.Errorf("Secret(%q) = %v", name, got)
		}
	}
}
