package workspace

import (
	"slices"
	"strings"
	"unicode"
)

// The names below are lower case. A name with a slash is some components in a row.

// protectedDirs are protected with all that is below them.
var protectedDirs = []string{
	".git", "git~1", // its short name on Windows
	".githooks", ".husky", ".lefthook",
	".vscode", ".idea", ".vs", ".fleet", ".zed", ".devcontainer",
	".ci", ".semaphore", ".github", ".gitlab", ".gitea", ".forgejo", ".circleci", ".buildkite", ".woodpecker", ".teamcity",
	".ssh", ".gnupg",
	// our own settings and journals
	".assent", ".config/assent", ".local/state/assent",
	"application support/assent", "appdata/roaming/assent", "appdata/local/assent",
	// settings of other agents that name commands
	".claude/hooks", ".cursor/hooks",
	// what the system runs at login
	".config/autostart", ".config/systemd", ".config/environment.d", "library/launchagents", "start menu/programs/startup",
	".config/git", ".config/direnv", ".config/mise", ".config/nvim", ".config/tmux", ".emacs.d",
	// instructions that other agents obey
	".cursor", ".windsurf", ".clinerules",
}

// protectedFiles are protected themselves.
var protectedFiles = []string{
	".gitconfig", ".gitmodules", ".gitattributes", // the last can name filters, which are commands
	".pre-commit-config.yaml", ".pre-commit-config.yml",
	"lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json",
	".lefthook.yml", ".lefthook.yaml", ".lefthook.toml", ".lefthook.json",
	// CI
	".gitlab-ci.yml", ".gitlab-ci.yaml", ".travis.yml", ".travis.yaml", ".drone.yml", ".drone.yaml",
	".woodpecker.yml", ".woodpecker.yaml", ".cirrus.yml", ".cirrus.star", ".appveyor.yml", "appveyor.yml",
	"azure-pipelines.yml", "azure-pipelines.yaml", "bitbucket-pipelines.yml", "jenkinsfile", "cloudbuild.yaml",
	"cloudbuild.yml", "buildspec.yml", "buildspec.yaml", ".build.yml", "codefresh.yml", "wercker.yml",
	// shells
	".profile", ".login", ".logout", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
	".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".inputrc",
	".xinitrc", ".xprofile", ".xsession", ".xsessionrc", ".pam_environment",
	"fish/config.fish", "nushell/config.nu", "nushell/env.nu",
	"profile.ps1", "microsoft.powershell_profile.ps1", "microsoft.vscode_profile.ps1",
	// read by a tool as soon as it starts in the directory
	".envrc", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".gvimrc", ".lvimrc", ".dir-locals.el", ".mise.toml", "mise.toml",
	".emacs", ".tmux.conf", ".bazelrc", ".yarnrc", ".yarnrc.yml", ".npmrc", ".cargo/config", ".cargo/config.toml",
	// agents
	"agents.md", "claude.md", "gemini.md", ".cursorrules", ".windsurfrules", ".github/copilot-instructions.md",
	"assent.toml", ".mcp.json", ".cursor/mcp.json", ".claude/settings.json", ".claude/settings.local.json",
	".codex/config.toml", ".gemini/settings.json",
	"devcontainer.json", ".devcontainer.json",
}

// secretDirs hold secrets in all that is below them.
var secretDirs = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".password-store", ".config/gcloud", ".config/op", ".config/assent",
	".local/share/keyrings", "application support/assent", "appdata/roaming/assent", "library/keychains",
}

// secretFiles hold secrets themselves.
var secretFiles = []string{
	".env", ".envrc", ".dev.vars", "auth.json", "kubeconfig", ".git/config", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".git-credentials", ".dockercfg",
	".vault-token", ".boto", ".s3cfg", ".dockerconfigjson", "credentials", "credentials.json", "credentials.toml",
	"credentials.tfrc.json", "application_default_credentials.json", "secrets.json", "secrets.toml", "secrets.yml",
	"secrets.yaml", ".docker/config.json", ".kube/config", ".config/gh/hosts.yml", ".config/hub", ".config/git/credentials",
	".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".gem/credentials", "etc/shadow",
}

var (
	secretEndings = []string{".pem", ".key", ".p8", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".kdb", ".kdbx", ".tfvars", ".tfstate"}
	keyNames      = []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "id_xmss"}
	envTemplates  = []string{".env.example", ".env.sample", ".env.template"}
)

// Protected reports whether an edit of the file can change what runs on this
// machine, so that editing always asks: .git, editor settings, CI, hooks, shell
// profiles, our own settings.
//
// It goes by the name alone, a path with slashes. Names are compared as the most
// lenient file system would: case, trailing dots and blanks, stream names and
// characters that do not show make no difference. That can only add to what is
// asked, which is why no rule that allows may use it.
func Protected(name string) bool {
	p := foldPath(name)
	return below(p, protectedDirs) || endsIn(p, protectedFiles) || strings.HasSuffix(p, ".code-workspace/") ||
		strings.HasPrefix(name, "/proc/") // memory and control files of running programs
}

// Secret reports whether the file holds keys or credentials, so that reading it
// asks, each time. It compares names as [Protected] does.
func Secret(name string) bool {
	p := foldPath(name)
	if below(p, secretDirs) || endsIn(p, secretFiles) {
		return true
	}
	base := p[:len(p)-1]
	base = base[strings.LastIndexByte(base, '/')+1:]
	original := backedUp(base)
	if original != base && Secret(original) {
		return true
	}
	switch {
	case strings.HasPrefix(base, ".env.") || strings.HasPrefix(base, ".env-") || strings.HasPrefix(base, ".env_"):
		return !slices.Contains(envTemplates, base)
	case strings.HasSuffix(base, ".env"):
		return true
	case strings.HasSuffix(base, ".pub"):
		return false
	case base == "environ":
		return strings.HasPrefix(name, "/proc/") // where the keys of running programs are
	}
	return slices.ContainsFunc(secretEndings, func(end string) bool { return strings.HasSuffix(base, end) }) ||
		slices.ContainsFunc(keyNames, func(key string) bool { return base == key || strings.HasPrefix(base, key+".") })
}

// backedUp is the name that a backup or lock file of an editor stands for.
func backedUp(base string) string {
	base = strings.TrimPrefix(strings.Trim(base, "#~"), ".#")
	for _, end := range []string{".bak", ".old", ".orig", ".swp", ".save"} {
		base = strings.TrimSuffix(base, end)
	}
	return base
}

// foldPath is a path as the tables have it, with a slash before and after.
func foldPath(name string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part = foldName(part); part != "" {
			b.WriteString("/" + part)
		}
	}
	return b.String() + "/"
}

// foldName is a component as the most lenient file system has it: NTFS drops
// trailing dots, blanks and "::$DATA", HFS+ drops characters that do not show,
// all fold case.
func foldName(part string) string {
	if i := strings.IndexByte(part, ':'); i > 0 {
		part = part[:i]
	}
	part = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, part)
	// Upper case first: it takes ſ to S, which lower case alone leaves.
	part = strings.ToLower(strings.ToUpper(part))
	return strings.TrimRight(part, ". \t")
}

func below(p string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return strings.Contains(p, "/"+dir+"/") })
}

func endsIn(p string, files []string) bool {
	return slices.ContainsFunc(files, func(file string) bool { return strings.HasSuffix(p, "/"+file+"/") })
}
