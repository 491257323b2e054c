package workspace

import (
	"crypto/rand"
	"path"
	"slices"
	"strings"
	"unicode"
)

// The names below are lower case. A name with a slash is some components in a row.

// protectedPlaces are protected with all that is below them, also where the
// workspace itself is below.
var protectedPlaces = []string{
	".git", "git~1", // its short name on Windows
	".ssh", ".gnupg",
	// our own settings and journals
	".assent", ".config/assent", ".local/state/assent",
	"application support/assent", "appdata/roaming/assent", "appdata/local/assent",
}

// protectedDirs are protected with all that is below them, in the workspace.
var protectedDirs = []string{
	".githooks", ".husky", ".lefthook",
	".vscode", ".idea", ".vs", ".fleet", ".zed", ".devcontainer",
	".github", ".github/workflows", ".github/actions", // the longer ones for a workspace that is .github itself
	".ci", ".semaphore", ".gitlab", ".gitea", ".forgejo", ".circleci", ".buildkite", ".teamcity",
	// instructions that other agents obey, and their settings that name commands
	".claude/hooks", ".claude/commands", ".claude/agents", ".cursor", ".clinerules",
	// what the system runs at login
	".config/autostart", ".config/systemd", ".config/environment.d", "library/launchagents", "start menu/programs/startup",
	// what a program runs when it starts
	".config/git", ".config/direnv", ".config/mise", ".config/nvim", ".config/emacs", ".config/tmux", ".emacs.d", ".vim",
}

// protectedBeginnings are protected with all names that begin like them.
var protectedBeginnings = []string{".woodpecker", ".windsurf", ".lefthook", "lefthook.", "lefthook-local.", ".cargo/config"}

// protectedFiles are protected themselves.
var protectedFiles = []string{
	".gitconfig", ".gitmodules", ".gitattributes", // the last can name filters, which are commands
	".pre-commit-config.yaml", ".pre-commit-config.yml",
	// CI
	".gitlab-ci.yml", ".gitlab-ci.yaml", ".travis.yml", ".travis.yaml", ".drone.yml", ".drone.yaml",
	".cirrus.yml", ".cirrus.star", ".appveyor.yml", "appveyor.yml",
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
	".emacs", ".tmux.conf", ".bazelrc", "user.bazelrc", ".yarnrc", ".yarnrc.yml", ".npmrc",
	// agents
	"agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", ".cursorrules",
	"assent.toml", ".mcp.json", ".claude/settings.json", ".claude/settings.local.json",
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
	".env", ".envrc", ".dev.vars", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd",
	".git-credentials", ".dockercfg", ".vault-token", ".boto", ".s3cfg", ".dockerconfigjson", "auth.json",
	"credentials", "credentials.json", "credentials.toml", "credentials.tfrc.json",
	"application_default_credentials.json", "secrets.json", "secrets.toml", "secrets.yml", "secrets.yaml",
	".docker/config.json", ".kube/config", ".config/gh/hosts.yml", ".config/hub", ".config/git/credentials",
	".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".gem/credentials", "etc/shadow",
}

var (
	secretEndings = []string{
		".env", ".pem", ".key", ".p8", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".kdb", ".kdbx",
		".tfvars", ".tfvars.json", ".tfstate", ".kubeconfig",
	}
	// secretStems are secret with whatever follows after a ".", "-" or "_".
	secretStems = []string{
		".env", ".envrc", ".dev.vars",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "id_xmss",
	}
	templates       = []string{"example", "sample", "template"} // what follows a stem that is none
	backupEndings   = []string{"~", "#", ".bak", ".backup", ".old", ".orig", ".save", ".swp", ".swo", ".tmp", ".copy", " copy"}
	kubeconfigForms = []string{"", ".yaml", ".yml", ".json", ".conf"}
)

// Protected reports whether an edit of the file can change what runs on this
// machine, so that editing always asks: .git, editor settings, CI, hooks, shell
// profiles, instructions to agents, our own settings.
//
// It goes by the name alone, a path with slashes. Names are compared as the most
// lenient file system would: case, trailing dots and blanks, stream names and
// characters that do not show make no difference. That can only add to what is
// asked, which is why no rule that allows may use it.
func Protected(name string) bool { return protectedBelow(name, nil) }

// protectedBelow is Protected for a path in one of some folders, given as foldPath
// has them. What of a name is above the folder counts only for protectedPlaces,
// and else protects nothing: all of a project in ~/.config/x would be asked.
func protectedBelow(name string, folders []string) bool {
	p := foldPath(name)
	above := 0 // length of the folder, the outermost of them
	for _, folder := range folders {
		if strings.HasPrefix(p, folder) && (above == 0 || len(folder)-1 < above) {
			above = len(folder) - 1
		}
	}
	return holds(p, 0, protectedPlaces, "/") || holds(p, above, protectedDirs, "/") || holds(p, above, protectedBeginnings, "") ||
		endsIn(p, protectedFiles) || strings.HasSuffix(p, ".code-workspace/") ||
		strings.HasPrefix(name, "/proc/") // memory and control files of running programs
}

// Secret reports whether the file holds keys or credentials, so that reading it
// asks, each time; a backup of such a file holds them too. It compares names as
// [Protected] does.
func Secret(name string) bool {
	p := foldPath(name)
	if holds(p, 0, secretDirs, "/") {
		return true
	}
	dir, base := path.Split(strings.TrimSuffix(p, "/"))
	if base == "environ" && strings.HasPrefix(name, "/proc/") { // where the keys of running programs are
		return true
	}
	return secretBase(dir, original(base))
}

// secretBase reports whether a folded file name in a folded directory is secret.
func secretBase(dir, base string) bool {
	if strings.HasPrefix(base, "id_") && strings.HasSuffix(base, ".pub") {
		return false
	}
	for _, stem := range secretStems {
		if rest, ok := strings.CutPrefix(base, stem); ok && rest != "" && strings.Contains(".-_", rest[:1]) {
			return !slices.Contains(templates, rest[1:])
		}
	}
	if strings.Contains(dir, "/.git/") && (base == "config" || base == "config.worktree") { // a URL in it may have a password
		return true
	}
	return endsIn(dir+base+"/", secretFiles) || slices.Contains(secretStems, base) || kubeconfig(base) ||
		slices.ContainsFunc(secretEndings, func(end string) bool { return strings.HasSuffix(base, end) })
}

func kubeconfig(base string) bool {
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	return slices.Contains(kubeconfigForms, ext) && (stem == "kubeconfig" || strings.HasPrefix(stem, "kubeconfig-") || strings.HasPrefix(stem, "kubeconfig_"))
}

// original is the name of the file that a backup, an autosave or a lock of an
// editor is for, the same name if it is none.
func original(base string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(base, ".#"), "#")
	for cut := true; cut; {
		cut = false
		for _, end := range backupEndings {
			if rest, ok := strings.CutSuffix(name, end); ok && rest != "" {
				name, cut = rest, true
				if end == ".swp" || end == ".swo" { // Vim's are hidden
					if hidden, ok := strings.CutPrefix(name, "."); ok && slices.Contains(secretStems, hidden) {
						name = hidden
					}
				}
			}
		}
		if ext := path.Ext(name); len(ext) > 1 && ext != name && strings.Trim(ext[1:], "0123456789") == "" {
			name, cut = strings.TrimSuffix(name, ext), true
		}
	}
	return name
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

// holds reports whether one of some names, with what must follow it, is in a
// folded path and ends after the first so many bytes of it.
func holds(p string, above int, names []string, end string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return strings.Contains(p[max(0, above-len(name)):], "/"+name+end)
	})
}

func endsIn(p string, files []string) bool {
	return slices.ContainsFunc(files, func(file string) bool { return strings.HasSuffix(p, "/"+file+"/") })
}

// temporaryName is a name for a file that is written before it takes the name of
// another. That of a process that was killed stays; it may hold half of a file,
// a secret one perhaps, so it is left out of lists.
func temporaryName() string { return ".assent-" + rand.Text() + ".tmp" }

func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".assent-") && strings.HasSuffix(name, ".tmp")
}
