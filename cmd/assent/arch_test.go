package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The tables in this file are the architecture, see the README. A package, a
// library or a call that is in none of them fails: give it a row, with its
// reason, or do without.

const module = "assent/"

// layer says what the packages that match pkg may import of this module.
type layer struct {
	pkg string   // a pattern of path.Match, the first that matches counts
	may []string // likewise
	why string
}

func layers() []layer {
	return []layer{
		{"agent", nil, "it is the hub: consent and order can be checked in it because nothing else is in it"},
		{"agent/workspace", []string{"agent"}, "it lands what was approved, and knows nothing of who asked or where it is written down"},
		{"agent/journal", []string{"agent"}, "it keeps the records of agent; it must be readable without a workspace or a model"},
		{"agent/model/*", []string{"agent"}, "a model sees requests only, so no provider can reach files or the person"},
		{"agent/agenttest", []string{"agent", "agent/workspace"}, "it is test support for every implementation, so it depends on none but the disk that its person uses"},
		{"agent/host", []string{"agent", "agent/workspace", "agent/journal"}, "every dialect shares it; tools and models are handed to it by cmd/assent"},
		{"tools", []string{"agent", "agent/workspace"}, "a tool plans; who asks, lands and records is not its business"},
		{"tools/*", []string{"agent", "agent/workspace", "tools"}, "a tool plans; who asks, lands and records is not its business"},
		{"rpc", nil, "the connection knows frames and order, nothing of agents, so that it can be tested as a connection"},
		{"rpc/*", []string{"rpc", "agent", "agent/workspace", "agent/host"}, "a dialect translates between the wire and the hub, and dialects never meet"},
		{"editors/*", nil, "an editor in Go knows what a real one knows: the wire"},
		{"cmd/assent", []string{"agent", "agent/workspace", "agent/journal", "agent/model/*", "agent/host", "tools", "tools/*", "rpc", "rpc/*"}, "only it sees everything, but for test support"},
	}
}

// forTests are packages that tests may import as well: those of a dialect run real
// sessions, with a model that needs no network.
func forTests() []string {
	return []string{"agent", "agent/agenttest", "agent/workspace", "agent/model/*", "tools", "editors/*"}
}

// home says which packages may import a library, with all that is below its path,
// or a package of Go's own that reaches out of the process. Tests may import
// anything that is here.
type home struct {
	path string
	in   []string
	why  string
}

func homes() []home {
	cmd, tests := []string{"cmd/assent"}, []string(nil)
	return []home{
		{"github.com/openai/openai-go", []string{"agent/model/openai"}, "a provider's types stay in its package"},
		{"github.com/spf13/cobra", cmd, "flags are the command's; packages take values"},
		{"github.com/spf13/pflag", cmd, "they are cobra's flags"},
		{"github.com/pelletier/go-toml", cmd, "settings are read once, in one place, so that no repository can bring its own"},
		{"golang.org/x/term", cmd, "only the command has a terminal"},
		{"golang.org/x/sys", []string{"cmd/assent", "agent/workspace", "rpc"}, "terminals, the access lists of files, and the ends of pipes and processes need the system's own calls; nothing else does"},
		{"github.com/sourcegraph/jsonrpc2", []string{"rpc"}, "a dialect speaks through rpc.Conn, which knows that library's traps"},
		{"github.com/go-json-experiment/json", []string{"rpc/lsp"}, "it comes with go.lsp.dev/protocol; answers of a person are decoded strictly with it"},
		{"go.lsp.dev/protocol", []string{"rpc/lsp"}, "wire types stay in their dialect"},
		{"go.lsp.dev/uri", []string{"rpc/lsp"}, "wire types stay in their dialect"},
		{"github.com/gofrs/flock", []string{"agent/journal", "agent/workspace"}, "locks between processes are there for one writer of a journal and one landing at a time"},
		{"github.com/aymanbagabas/go-udiff", []string{"agent/workspace"}, "hunks are made where they land, and so is what shows them"},
		{"github.com/bmatcuk/doublestar", []string{"tools"}, "globs are what a model writes"},
		{"github.com/invopop/jsonschema", []string{"tools"}, "the schema of a tool is made by tools.Define alone"},
		{"github.com/google/jsonschema-go", []string{"tools"}, "and arguments are validated there, against that same schema"},
		{"github.com/creack/pty", tests, "it is for tests"},
		{"github.com/rogpeppe/go-internal", tests, "it is for tests"},
		{"go.uber.org/goleak", tests, "it is for tests"},
		{"pgregory.net/rapid", tests, "it is for tests"},

		{"testing", []string{"agent/agenttest"}, "it is for tests and their support"},
		{"os/exec", cmd, "a program runs only because the person asked for it: their own editor. A tool that runs commands needs a row of its own, and Exec effects"},
		{"net/http", []string{"agent/model/openai", "cmd/assent"}, "nothing leaves this machine but requests to the model server"},
		{"net", []string{"agent/model/openai"}, "nothing leaves this machine but requests to the model server"},
		{"unsafe", tests, "an Approval can be forged with it"},
	}
}

// place says which packages, or files, may use a name of another package.
type place struct {
	names string // "package: name name…"
	in    []string
	why   string
}

func places() []place {
	return []place{
		{"os: Getenv LookupEnv Environ ExpandEnv Getwd UserHomeDir UserConfigDir UserCacheDir", []string{"cmd/assent"},
			"settings come from one place and are handed down as values; a package that looks around for itself can't be tested or trusted"},
		{"os: Create CreateTemp OpenFile WriteFile Mkdir MkdirAll MkdirTemp Remove RemoveAll Rename Truncate Chmod Chown Lchown Chtimes Link Symlink CopyFS",
			[]string{
				"agent/workspace",       // user files, with an Approval, and the locks of landings
				"agent/journal",         // journals and their locks
				"cmd/assent/console.go", // the temporary file that the person's own editor gets
				"cmd/assent/stdio.go",   // the log file that was asked for
				"rpc/lsp/show.go",       // the temporary file in which a client shows a diff
				"cmd/assent/doctor.go",  // an empty file where journals are, to see whether that is possible
				"agent/agenttest",       // test support
				"editors/fake",          // an editor saves its files
			},
			"user files are written in one package, where the Approval is checked; plan an agent.Edit instead"},
		{"os: OpenRoot OpenInRoot", []string{"agent/workspace"}, "a root writes too, see above"},
		{"os: Open ReadFile ReadDir Stat Lstat Readlink DirFS", []string{
			"agent/workspace",    // user files
			"agent/journal",      // journals
			"agent/host",         // journals, to list and find them
			"agent/model/replay", // the file of replies that a person named
			"cmd/assent",         // config.toml, a journal to show, the text that an editor left
			"agent/agenttest",    // test support
			"editors/fake",       // an editor opens its files
		}, "user files are read through agent.Files, which knows links, secrets and unsaved buffers"},
		{"os: Stdin Stdout Stderr", []string{"cmd/assent/main.go"}, "stdout carries the protocol and nothing else, so it is handed down as a value"},
		{"fmt: Print Println Printf Scan Scanf Scanln", nil, "stdout carries the protocol and nothing else; print to a writer that you were given"},
	}
}

// sourceFile is a Go file of this module.
type sourceFile struct {
	name string // relative to the module, with slashes
	pkg  string // its directory
	test bool
	tree *ast.File
}

func TestImportsGoOneWay(t *testing.T) {
	for _, f := range sourceFiles(t) {
		i := slices.IndexFunc(layers(), func(l layer) bool { return matches(l.pkg, f.pkg) })
		if i < 0 {
			t.Errorf("%s is in no layer.\n\tWhy it matters: imports go one way only as long as each package has its place.\n\tWhat to do: give %s a row in layers().", f.name, f.pkg)
			continue
		}
		l := layers()[i]
		for _, imported := range f.own() {
			ok := imported == f.pkg || matchesAny(l.may, imported) || f.test && matchesAny(forTests(), imported)
			if !ok {
				t.Errorf("%s imports %s.\n\tWhy not: %s.\n\tWhat to do: %s may import %s of this module; declare the interface that you need, and let cmd/assent pass the rest in.", f.name, imported, l.why, f.pkg, list(l.may))
			}
		}
	}
}

func TestLibrariesStayWhereTheyBelong(t *testing.T) {
	for _, f := range sourceFiles(t) {
		for _, imported := range f.imports() {
			if isOwn(imported) {
				continue
			}
			i := slices.IndexFunc(homes(), func(h home) bool { return h.holds(imported) })
			switch {
			case i < 0 && !isStandard(imported):
				t.Errorf("%s imports %s, which has no home.\n\tWhy it matters: each library is weighed once, and can be replaced in one place.\n\tWhat to do: give it a row in homes(), with the reason why it is needed.", f.name, imported)
			case i >= 0 && !f.test && !slices.Contains(homes()[i].in, f.pkg):
				t.Errorf("%s imports %s.\n\tWhy not: %s.\n\tWhat to do: use it in %s.", f.name, imported, homes()[i].why, list(homes()[i].in))
			}
		}
	}
}

func TestEffectsHaveTheirPlaces(t *testing.T) {
	for _, f := range sourceFiles(t) {
		if f.test {
			continue
		}
		for _, p := range places() {
			pkg, names, _ := strings.Cut(p.names, ": ")
			for _, used := range f.uses(pkg) {
				if slices.Contains(strings.Fields(names), used) && !slices.Contains(p.in, f.pkg) && !slices.Contains(p.in, f.name) {
					t.Errorf("%s uses %s.%s.\n\tWhy not: %s.\n\tWhat to do: leave it to %s.", f.name, pkg, used, p.why, list(p.in))
				}
			}
		}
	}
}

func TestNothingRunsWhenAPackageIsLoaded(t *testing.T) {
	for _, f := range sourceFiles(t) {
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has a func init.\n\tWhy not: every start pays for it, before the first answer to the editor, and its order is hidden.\n\tWhat to do: do the work in the constructor that needs it.", f.name)
			}
		}
	}
}

// Other packages can't make an Approval that covers anything, since its field has
// a lower-case name. Inside package agent there is one file that may.
func TestApprovalsAreMadeInOnePlace(t *testing.T) {
	const rule = "\n\tWhy not: an Approval stands for a yes, and consent.go is where a yes is read; it has to stay short enough to be checked by eye.\n\tWhat to do: pass on the Approval that you were given, or the zero one."
	for _, f := range sourceFiles(t) {
		if f.pkg != "agent" || f.name == "agent/consent.go" {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if name, ok := n.Type.(*ast.Ident); ok && name.Name == "Approval" && len(n.Elts) > 0 {
					t.Errorf("%s makes an Approval that covers something.%s", f.name, rule)
				}
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					if field, ok := to.(*ast.SelectorExpr); ok && field.Sel.Name == "effects" {
						t.Errorf("%s changes what an Approval covers.%s", f.name, rule)
					}
				}
			}
			return true
		})
	}
}

func TestTopLevel(t *testing.T) {
	known := []string{"cmd", "rpc", "agent", "tools", "editors", "go.mod", "go.sum", "README.md", "LICENSE"}
	out, err := exec.Command("git", "-C", moduleDir, "ls-files", "-z").Output()
	if err != nil && os.Getenv("CI") == "" {
		t.Skipf("what belongs to the repository is only known where git is: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		top, _, _ := strings.Cut(name, "/")
		if !seen[top] && !slices.Contains(known, top) && !strings.HasPrefix(top, ".") {
			t.Errorf("%s is at the top of the repository.\n\tWhy not: who opens it sees the parts of the program and nothing else; this list is fixed.\n\tWhat to do: put it into the part that it belongs to: %s.", top, list(known))
		}
		seen[top] = true
	}
}

// The README says which test holds which invariant. A test that is renamed or
// gone would make that a lie that nobody sees.
func TestTheReadmeNamesTestsThatExist(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(moduleDir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, f := range sourceFiles(t) {
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && fn.Recv == nil {
				known[fn.Name.Name] = true
			}
		}
	}
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		known[filepath.Base(s)] = true
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*|\\w+\\.txtar)`").FindAllSubmatch(readme, -1)
	if len(named) < 14 {
		t.Errorf("README.md names only %d tests, for 14 invariants", len(named))
	}
	for _, name := range named {
		if !known[string(name[1])] {
			t.Errorf("README.md names %s, and there is no such test.\n\tWhy it matters: the table of invariants is worth what its tests are.\n\tWhat to do: name the test that holds the invariant now, or write it.", name[1])
		}
	}
}

const moduleDir = "../.."

// sourceFiles parses every Go file of the module, whatever system it is for.
func sourceFiles(t *testing.T) []sourceFile {
	t.Helper()
	var files []sourceFile
	err := filepath.WalkDir(moduleDir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() && name != moduleDir && (base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_') {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(base) != ".go" {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(moduleDir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		files = append(files, sourceFile{rel, path.Dir(rel), strings.HasSuffix(rel, "_test.go"), tree})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("only %d Go files were found, so nothing was checked", len(files))
	}
	return files
}

func (f sourceFile) imports() []string {
	var all []string
	for _, spec := range f.tree.Imports {
		all = append(all, importPath(spec))
	}
	return all
}

// own are the imports of this module's packages, named as directories.
func (f sourceFile) own() []string {
	var all []string
	for _, imported := range f.imports() {
		if isOwn(imported) {
			all = append(all, strings.TrimPrefix(imported, module))
		}
	}
	return all
}

// uses lists the names of an imported package that the file mentions.
func (f sourceFile) uses(pkg string) []string {
	local := ""
	for _, spec := range f.tree.Imports {
		if importPath(spec) != pkg {
			continue
		}
		local = path.Base(pkg)
		if spec.Name != nil {
			local = spec.Name.Name
		}
	}
	var names []string
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && local != "" && x.Name == local {
				names = append(names, sel.Sel.Name)
			}
		}
		return true
	})
	return names
}

func importPath(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
	return p
}

func isOwn(imported string) bool { return strings.HasPrefix(imported, module) }

// isStandard goes by the dot that every other path has in its first element.
func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

func (h home) holds(imported string) bool {
	return imported == h.path || !isStandard(h.path) && strings.HasPrefix(imported, h.path+"/")
}

func matches(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

func list(names []string) string {
	if len(names) == 0 {
		return "nothing (tests apart)"
	}
	return strings.Join(names, ", ")
}
