package tools_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/agent"
	"assent/tools"
)

func TestListFilesShowsNamesThatOtherToolsTake(t *testing.T) {
	w := newWorld(t, map[string]string{
		"main.go": "x", "src/a.go": "x", "src/b.txt": "x", "src/deep/c.go": "x", "src/deep/d.ts": "x", "empty/": "",
		".gitignore": "*.log\n", "x.log": "x", ".git/config": "x",
	})
	for _, c := range []struct {
		name string
		args args
		want string
	}{
		{"the workspace", args{}, ".: 9 entries\n.gitignore\nempty/\nmain.go\nsrc/\nsrc/a.go\nsrc/b.txt\nsrc/deep/\nsrc/deep/c.go\nsrc/deep/d.ts\n"},
		{"a directory", args{"path": "src"}, "src: 5 entries\nsrc/a.go\nsrc/b.txt\nsrc/deep/\nsrc/deep/c.go\nsrc/deep/d.ts\n"},
		{"a directory with a slash", args{"path": "src/deep/"}, "src/deep: 2 entries\nsrc/deep/c.go\nsrc/deep/d.ts\n"},
		{"an absolute directory", args{"path": filepath.Join(w.dir, "src", "deep")}, "src/deep: 2 entries\nsrc/deep/c.go\nsrc/deep/d.ts\n"},
		{"an empty directory", args{"path": "empty"}, "empty: 0 entries\n"},
		{"a glob without a slash goes by the last name", args{"glob": "*.go"}, ".: 3 entries\nmain.go\nsrc/a.go\nsrc/deep/c.go\n"},
		{"a glob with a slash goes by the name below path", args{"path": "src", "glob": "deep/*.{go,ts}"}, "src: 2 entries\nsrc/deep/c.go\nsrc/deep/d.ts\n"},
		{"or by the name in the workspace", args{"path": "src", "glob": "src/**/*.go"}, "src: 2 entries\nsrc/a.go\nsrc/deep/c.go\n"},
		{"a glob that begins with the place", args{"glob": "./src/*.go"}, ".: 1 entry\nsrc/a.go\n"},
		{"a directory as a glob", args{"glob": "src/deep/"}, ".: 3 entries\nsrc/deep/\nsrc/deep/c.go\nsrc/deep/d.ts\n"},
		{"all but some", args{"glob": "!*.go"}, ".: 6 entries\n.gitignore\nempty/\nsrc/\nsrc/b.txt\nsrc/deep/\nsrc/deep/d.ts\n"},
		{"null for both", args{"path": nil, "glob": nil}, ".: 9 entries\n.gitignore\nempty/\nmain.go\nsrc/\nsrc/a.go\nsrc/b.txt\nsrc/deep/\nsrc/deep/c.go\nsrc/deep/d.ts\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ask(t, tools.ListFiles(), w, c.args)
			must(t, err)
			wantText(t, got, c.want)
		})
	}
}

func TestListFilesShowsTheNearestWhenThereAreTooMany(t *testing.T) {
	files := map[string]string{"z.txt": "x"}
	for i := range 600 {
		files[fmt.Sprintf("a/b/%03d.txt", i)] = "x"
	}
	w := newWorld(t, files)
	got, err := ask(t, tools.ListFiles(), w, args{})
	must(t, err)
	wantText(t, got, ".: 3 of 603 entries, 2 levels deep; narrow with path or glob\na/\na/b/\nz.txt\n")
	got, err = ask(t, tools.ListFiles(), w, args{"path": "a/b"})
	must(t, err)
	if head, body, _ := strings.Cut(got, "\n"); head != "a/b: 500 of 600 entries, the first in order; narrow with path or glob" || strings.Count(body, "\n") != 500 {
		t.Errorf("got %s with %d entries", head, strings.Count(body, "\n"))
	}
}

func TestListFilesKeepsToWhatAResultCanHold(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("%s%03d.txt", strings.Repeat("n", 200), i)] = "x"
	}
	got, err := ask(t, tools.ListFiles(), newWorld(t, files), args{})
	must(t, err)
	if len(got) > 30_000 || !strings.Contains(got, "more are left out]") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-100:])
	}
}

func TestListAndSearchSayWhatIsWrong(t *testing.T) {
	outside := newWorld(t, map[string]string{"o.txt": "x"})
	w := newWorld(t, map[string]string{"src/a.go": "x", "notes.txt": "x"})
	must(t, os.Symlink(outside.dir, filepath.Join(w.dir, "esc")))
	for _, c := range []struct {
		name string
		tool agent.Tool
		args args
		want []string
	}{
		{"a missing directory", tools.ListFiles(), args{"path": "scr"}, []string{"there is no scr", "src"}},
		{"a file to list", tools.ListFiles(), args{"path": "notes.txt"}, []string{"is a file", "read_file"}},
		{"outside", tools.ListFiles(), args{"path": outside.dir}, []string{"outside the workspace", "read_file"}},
		{"a link that leads outside", tools.ListFiles(), args{"path": "esc"}, []string{"outside the workspace"}},
		{"a bad glob", tools.ListFiles(), args{"glob": "a[b"}, []string{"glob a[b is not a valid pattern"}},
		{"a search outside", tools.Search(), args{"pattern": "x", "path": "esc"}, []string{"outside the workspace"}},
		{"a search in what is missing", tools.Search(), args{"pattern": "x", "path": "note.txt"}, []string{"there is no note.txt", "notes.txt"}},
		{"no pattern", tools.Search(), args{"pattern": ""}, []string{"pattern is empty"}},
		{"a bad pattern", tools.Search(), args{"pattern": "f("}, []string{"missing closing )", "literal to true"}},
		{"a look-ahead", tools.Search(), args{"pattern": "a(?=b)"}, []string{"literal to true"}},
		{"a pattern of two lines", tools.Search(), args{"pattern": "a\nb"}, []string{"one line at a time"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ask(t, c.tool, w, c.args)
			wantError(t, err, c.want...)
		})
	}
}

func TestSearchShowsLinesWithTheirPlace(t *testing.T) {
	w := newWorld(t, map[string]string{
		"a.go": "package a\n\nfunc Foo() {}\n", "src/b.go": "// foo\r\nvar x = Foo()\r\n", "c.txt": "Foo (no newline)", "bin": "Foo\x00", "d.txt": "a.b\naxb\n",
	})
	for _, c := range []struct {
		name string
		args args
		want string
	}{
		{"a regular expression", args{"pattern": `Foo\(\)`}, "2 matching lines in 2 files\na.go:3: func Foo() {}\nsrc/b.go:2: var x = Foo()\n[1 entry skipped: not text, too large, or not readable]\n"},
		{"plain text", args{"pattern": "Foo(", "literal": true, "glob": "*.go"}, "2 matching lines in 2 files\na.go:3: func Foo() {}\nsrc/b.go:2: var x = Foo()\n"},
		{"case ignored", args{"pattern": "(?i)FOO", "path": "src"}, "2 matching lines in 1 file\nsrc/b.go:1: // foo\nsrc/b.go:2: var x = Foo()\n"},
		{"in one file", args{"pattern": "a.b", "literal": true, "path": "d.txt"}, "1 matching line in 1 file\nd.txt:1: a.b\n"},
		{"the ends of lines", args{"pattern": `\)$`, "path": "src/b.go"}, "1 matching line in 1 file\nsrc/b.go:2: var x = Foo()\n"},
		{"the last line without newline", args{"pattern": "newline", "glob": "*.txt"}, "1 matching line in 1 file\nc.txt:1: Foo (no newline)\n"},
		{"all but some", args{"pattern": "Foo", "glob": "!src/**"}, "2 matching lines in 2 files\na.go:3: func Foo() {}\nc.txt:1: Foo (no newline)\n[1 entry skipped: not text, too large, or not readable]\n"},
		{"nothing", args{"pattern": "Bar", "glob": "*.go"}, "no matches in 2 files\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ask(t, tools.Search(), w, c.args)
			must(t, err)
			wantText(t, got, c.want)
		})
	}
}

func TestSearchLeavesSecretsOutAndSaysSo(t *testing.T) {
	outside := newWorld(t, map[string]string{"s.txt": "T=out\n"})
	w := newWorld(t, map[string]string{".env": "T=abc\n", "id_rsa": "T=k\n", "src/.env.local": "T=x\n", ".env.example": "T=\n"})
	must(t, os.Symlink(filepath.Join(outside.dir, "s.txt"), filepath.Join(w.dir, "l.txt")))
	must(t, os.Symlink(".env", filepath.Join(w.dir, "plain.txt")))
	got, err := ask(t, tools.Search(), w, args{"pattern": "T="})
	must(t, err)
	wantText(t, got, "1 matching line in 1 file\n.env.example:1: T=\n[4 files that may hold secrets were left out: .env, id_rsa, plain.txt, src/.env.local]\n")
	got, err = ask(t, tools.Search(), w, args{"pattern": "T=", "path": ".env"})
	must(t, err)
	wantText(t, got, "no matches in 0 files\n[1 file that may hold secrets was left out: .env]\n")
}

func TestSearchIsBounded(t *testing.T) {
	w := newWorld(t, map[string]string{
		"many.txt": strings.Repeat("match\n", 1000), "long.txt": strings.Repeat("é", 5000) + "needle" + strings.Repeat("é", 5000) + "\n",
		"wide.txt": strings.Repeat(strings.Repeat("w", 300)+"\n", 1000), "huge.txt": strings.Repeat("needle\n", 800_000),
	})
	got, err := ask(t, tools.Search(), w, args{"pattern": "match", "glob": "m*.txt"})
	must(t, err)
	if head, body, _ := strings.Cut(got, "\n"); head != "the first 200 matching lines, there are more; narrow with pattern, path or glob" || strings.Count(body, "\n") != 200 {
		t.Errorf("got %s and %d lines", head, strings.Count(body, "\n"))
	}
	got, err = ask(t, tools.Search(), w, args{"pattern": "w+", "path": "wide.txt"})
	must(t, err)
	if len(got) > 30_000 {
		t.Errorf("the result has %d bytes", len(got))
	}
	got, err = ask(t, tools.Search(), w, args{"pattern": "needle"})
	must(t, err)
	head, line, _ := strings.Cut(got, "\n")
	if head != "1 matching line in 1 file" || !strings.Contains(line, "long.txt:1: …é") || !strings.Contains(line, "needle") || len(line) > 400 {
		t.Errorf("got %q", got)
	}
	if !strings.Contains(got, "[1 entry skipped: not text, too large, or not readable]") {
		t.Errorf("nothing is said of the huge file: %q", got)
	}
}

func TestListAndSearchEndWithTheirContext(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a"})
	for _, c := range []struct {
		tool agent.Tool
		args args
	}{{tools.ListFiles(), args{}}, {tools.Search(), args{"pattern": "a"}}} {
		ctx, cancel := context.WithCancel(t.Context())
		plan, err := c.tool.Plan(ctx, w, c.args.json(t))
		must(t, err)
		cancel()
		if out, err := plan.Run(ctx, agent.Approval{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v %v", c.tool.Spec().Name, out, err)
		}
	}
}
