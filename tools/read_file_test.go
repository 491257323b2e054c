package tools_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/tools"
)

func TestReadFileShowsTheTextUnderALineThatSaysWhichLinesItIs(t *testing.T) {
	long := strings.Repeat("0123456789", 4000)
	many := strings.Repeat("line\n", 9000)
	wide := strings.Repeat(strings.Repeat("w", 99)+"\n", 400)
	w := newWorld(t, map[string]string{
		"notes.txt": "a\nb\nc\n", "open.txt": "a\nb", "empty.txt": "", "crlf.txt": "a\r\nb\r\n", "mixed.txt": "a\r\nb\nc\r\n",
		"bom.txt": "\xef\xbb\xbfimport os\n", "blank.txt": "\n\n", "long.txt": "a\n" + long + "\nb\n", "many.txt": many, "wide.txt": wide,
		"latin.txt": "caf\xe9\n",
	})
	for _, c := range []struct {
		name string
		args args
		want string
	}{
		{"a whole file", args{"path": "notes.txt"}, "notes.txt: lines 1-3 of 3\na\nb\nc\n"},
		{"by an absolute path", args{"path": filepath.Join(w.dir, "notes.txt")}, "notes.txt: lines 1-3 of 3\na\nb\nc\n"},
		{"a part", args{"path": "notes.txt", "start_line": 2, "end_line": 2}, "notes.txt: lines 2-2 of 3\nb\n"},
		{"from a line on", args{"path": "notes.txt", "start_line": 3}, "notes.txt: lines 3-3 of 3\nc\n"},
		{"an end after the end", args{"path": "notes.txt", "end_line": 99}, "notes.txt: lines 1-3 of 3\na\nb\nc\n"},
		{"zero for not given", args{"path": "notes.txt", "start_line": 0, "end_line": 0}, "notes.txt: lines 1-3 of 3\na\nb\nc\n"},
		{"no newline at the end", args{"path": "open.txt"}, "open.txt: lines 1-2 of 2, no newline at the end\na\nb"},
		{"a part before that end", args{"path": "open.txt", "end_line": 1}, "open.txt: lines 1-1 of 2\na\n"},
		{"an empty file", args{"path": "empty.txt"}, "empty.txt: empty file"},
		{"CRLF as LF", args{"path": "crlf.txt"}, "crlf.txt: lines 1-2 of 2, CRLF line ends\na\nb\n"},
		{"mixed line ends as LF", args{"path": "mixed.txt"}, "mixed.txt: lines 1-3 of 3, mixed line ends\na\nb\nc\n"},
		{"no byte-order mark", args{"path": "bom.txt"}, "bom.txt: lines 1-1 of 1\nimport os\n"},
		{"blank lines", args{"path": "blank.txt"}, "blank.txt: lines 1-2 of 2\n\n\n"},
		{"bytes that are not text", args{"path": "latin.txt"}, "latin.txt: lines 1-1 of 1, bytes that are not UTF-8 shown as U+FFFD\ncaf\uFFFD\n"},
		{"a file with many lines in parts", args{"path": "many.txt"},
			"many.txt: lines 1-2000 of 9000; read on with start_line 2001\n" + many[:10_000]},
		{"a wide file in parts", args{"path": "wide.txt", "start_line": 2},
			"wide.txt: lines 2-301 of 400; read on with start_line 302\n" + wide[:30_000]},
		{"up to a long line", args{"path": "long.txt"}, "long.txt: lines 1-1 of 3; read on with start_line 2\na\n"},
		{"a long line cut", args{"path": "long.txt", "start_line": 2},
			"long.txt: lines 2-2 of 3; line 2 is 40000 bytes long and cut in its middle; read on with start_line 3\n" +
				long[:15_000] + "[… 10001 bytes of this line are left out here …]" + long[25_001:] + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ask(t, tools.ReadFile(), w, c.args)
			must(t, err)
			wantText(t, got, c.want)
		})
	}
}

func TestReadFileSaysWhatIsWrong(t *testing.T) {
	w := newWorld(t, map[string]string{
		"src/main.go": "x\n", "src/main_test.go": "x\n", "notes.txt": "a\nb\n", "README.md": "r", "bin": "a\x00b", "lib/util.go": "u",
	})
	for _, c := range []struct {
		name string
		args args
		want []string
	}{
		{"a misspelled name", args{"path": "src/mian.go"}, []string{"there is no src/mian.go", "src/main.go", "list_files"}},
		{"another case", args{"path": "readme.md"}, []string{"README.md"}},
		{"another extension", args{"path": "README.txt"}, []string{"README.md"}},
		{"a misspelled directory", args{"path": "scr/main.go"}, []string{"near names are src, src/main.go"}},
		{"another directory", args{"path": "src/util.go"}, []string{"there is no src/util.go", "lib/util.go"}},
		{"only the name", args{"path": "util.go"}, []string{"lib/util.go"}},
		{"nothing near", args{"path": "quite/another/thing.xyz"}, []string{"there is no quite/another/thing.xyz; list_files"}},
		{"a directory", args{"path": "src"}, []string{"src is a directory", "list_files"}},
		{"a file as a directory", args{"path": "notes.txt/x"}, []string{"notes.txt"}},
		{"an empty path", args{"path": ""}, []string{"empty path"}},
		{"a start after the end of the file", args{"path": "notes.txt", "start_line": 3}, []string{"start_line 3", "2 lines"}},
		{"an end before the start", args{"path": "notes.txt", "start_line": 2, "end_line": 1}, []string{"end_line 1 is before start_line 2"}},
		{"a negative line", args{"path": "notes.txt", "start_line": -5}, []string{"negative"}},
		{"a binary file", args{"path": "bin"}, []string{"binary"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ask(t, tools.ReadFile(), w, c.args)
			wantError(t, err, c.want...)
		})
	}
}

func TestReadFileAsksForSecretsAndForWhatIsOutside(t *testing.T) {
	outside := newWorld(t, map[string]string{"o.txt": "out\n", ".env": "T=out\n"})
	w := newWorld(t, map[string]string{".env": "T=abc\n", "id_rsa": "k", "src/.env.local": "x", ".env.example": "T=\n"})
	must(t, os.Symlink(filepath.Join(outside.dir, "o.txt"), filepath.Join(w.dir, "link.txt")))
	at := func(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }
	out := func(name string) string { return filepath.Join(outside.dir, name) }
	for _, c := range []struct {
		name, path string
		want       []agent.Effect
	}{
		{"a secret", ".env", []agent.Effect{agent.SecretRead{Path: at(".env")}}},
		{"a key", "id_rsa", []agent.Effect{agent.SecretRead{Path: at("id_rsa")}}},
		{"a secret below", "src/.env.local", []agent.Effect{agent.SecretRead{Path: at("src/.env.local")}}},
		{"a template is free", ".env.example", nil},
		{"outside", out("o.txt"), []agent.Effect{agent.OutsideRead{Path: out("o.txt")}}},
		{"a link that leads outside, by its real path", "link.txt", []agent.Effect{agent.OutsideRead{Path: out("o.txt")}}},
		{"a secret outside", out(".env"), []agent.Effect{agent.OutsideRead{Path: out(".env")}, agent.SecretRead{Path: out(".env")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, err := tools.ReadFile().Plan(t.Context(), w, args{"path": c.path}.json(t))
			must(t, err)
			if !reflect.DeepEqual(plan.Effects, c.want) {
				t.Errorf("effects %#v", plan.Effects)
			}
			_, err = plan.Run(t.Context(), agent.Approval{})
			if refused := errors.Is(err, agent.ErrNotApproved); refused != (len(c.want) > 0) {
				t.Errorf("without an approval: %v", err)
			}
		})
	}
	plan, err := tools.ReadFile().Plan(t.Context(), w, args{"path": ".env"}.json(t))
	must(t, err)
	result, err := plan.Run(t.Context(), agenttest.Approve(t, plan.Effects...))
	must(t, err)
	wantText(t, result.Output, ".env: lines 1-1 of 1\nT=abc\n")
}

func TestReadFileDoesNotLookOutsideForNearNames(t *testing.T) {
	outside := newWorld(t, map[string]string{"secret-plan.txt": "x"})
	w := newWorld(t, nil)
	missed := filepath.Join(outside.dir, "secret-plans.txt")
	plan, err := tools.ReadFile().Plan(t.Context(), w, args{"path": missed}.json(t))
	must(t, err)
	_, err = plan.Run(t.Context(), agenttest.Approve(t, agent.OutsideRead{Path: missed}))
	wantError(t, err, "there is no")
	if strings.Contains(err.Error(), "secret-plan.txt") {
		t.Errorf("the error names a file outside: %v", err)
	}
}

func TestReadFilePartsGiveTheWholeText(t *testing.T) {
	var text strings.Builder
	for i := range 7000 {
		fmt.Fprintf(&text, "%d %s\n", i, strings.Repeat("é", i%50))
	}
	w := newWorld(t, map[string]string{"f.txt": text.String()})
	var got strings.Builder
	for start := 1; start <= 7000; {
		out, err := ask(t, tools.ReadFile(), w, args{"path": "f.txt", "start_line": start})
		must(t, err)
		head, body, _ := strings.Cut(out, "\n")
		var from, to, of int
		_, err = fmt.Sscanf(head, "f.txt: lines %d-%d of %d", &from, &to, &of)
		must(t, err)
		got.WriteString(body)
		start = to + 1
	}
	if got.String() != text.String() {
		t.Error("the parts are not the text")
	}
}

func TestReadFileEndsWithItsContext(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a"})
	ctx, cancel := context.WithCancel(t.Context())
	plan, err := tools.ReadFile().Plan(ctx, w, args{"path": "a.txt"}.json(t))
	must(t, err)
	cancel()
	if _, err := plan.Run(ctx, agent.Approval{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
