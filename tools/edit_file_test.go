package tools_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/tools"
)

// change is an edit in a call, old and new.
func change(old, new string) args { return args{"old_string": old, "new_string": new} }

func changeAll(old, new string) args {
	return args{"old_string": old, "new_string": new, "replace_all": true}
}

func TestEditFileChangesWhatItIsTold(t *testing.T) {
	for _, c := range []struct {
		name, before string
		edits        []args
		after        string
	}{
		{"one place", "a\nb\nc\n", []args{change("b\n", "B\n")}, "a\nB\nc\n"},
		{"C05: LF from the model in a CRLF file", "a\r\nb\r\nc\r\n", []args{change("b\nc\n", "B\nX\nc\n")}, "a\r\nB\r\nX\r\nc\r\n"},
		{"CRLF from the model in a LF file", "a\nb\nc\n", []args{change("b\r\nc\r\n", "B\r\nc\r\n")}, "a\nB\nc\n"},
		{"a match that begins at a CRLF", "a\r\nfoo\r\n", []args{change("\nfoo", "")}, "a\r\n"},
		{"a match with a CRLF in it that begins at another", "a\r\nfoo\r\nbar\r\n", []args{change("\nfoo\r\nbar", "")}, "a\r\n"},
		{"a line copied with half of its line end", "a\r\nb\r\n", []args{change("a\r", "x\r"), change("b\r", "y")}, "x\r\ny\r\n"},
		{"a CR alone", "a\rb\r\n", []args{change("a\rb", "a\rc")}, "a\rc\r\n"},
		{"a line added in the middle of a CRLF line", "a\r\nfoo bar\r\n", []args{change("foo ", "foo\n")}, "a\r\nfoo\r\nbar\r\n"},
		{"mixed line ends where nothing changed", "a\nb\r\nc\nd\r\n", []args{change("b\nc", "b\nC")}, "a\nb\r\nC\nd\r\n"},
		{"C16: two edits against the original", "1\n2\n3\n", []args{change("1\n", "1\n1b\n1c\n"), change("3\n", "three\n")}, "1\n1b\n1c\n2\nthree\n"},
		{"edits in any order", "1\n2\n3\n", []args{change("3\n", "three\n"), change("1\n", "one\n")}, "one\n2\nthree\n"},
		{"edits that swap", "a b\n", []args{change("a", "b"), change("b", "a")}, "b a\n"},
		{"edits that touch", "ab\n", []args{change("a", "x"), change("b", "y")}, "xy\n"},
		{"C12: each place with replace_all", "def dev():\n    debug = 1\ndef prod():\n    debug = 1\n", []args{changeAll("    debug = 1", "    debug = 0")},
			"def dev():\n    debug = 0\ndef prod():\n    debug = 0\n"},
		{"replace_all with overlapping places goes from left to right", "foo\nfoo\nfoo\n", []args{changeAll("foo\nfoo\n", "bar\n")}, "bar\nfoo\n"},
		{"replace_all of one place", "a\n", []args{changeAll("a", "b")}, "b\n"},
		{"replace_all over both kinds of line ends", "a\nb\r\na\r\nb\n", []args{changeAll("a\nb", "a\nc")}, "a\nc\r\na\r\nc\n"},
		{"$1 as it is", "a\n", []args{change("a", `$1 ${1} \1 \n %s`)}, `$1 ${1} \1 \n %s` + "\n"},
		{"an old_string that looks like a pattern", "f(.*)\n", []args{change("(.*)", "(x)")}, "f(x)\n"},
		{"a removal", "a\nb\nc\n", []args{change("b\n", "")}, "a\nc\n"},
		{"the last line without newline", "a\nb", []args{change("b", "c")}, "a\nc"},
		{"an empty file", "", []args{change("", "a\n")}, "a\n"},
		{"the whole text", "a\n", []args{change("a\n", "")}, ""},
		{"text that is not UTF-8 beside the place", "caf\xe9\nb\n", []args{change("b", "c")}, "caf\xe9\nc\n"},
		{"a byte-order mark in old_string and new_string", "import os\n", []args{change("\uFEFFimport os", "\uFEFFimport sys")}, "import sys\n"},
		{"typographic quotes in the file", "say “hi”\n", []args{change("“hi”", "“ho”")}, "say “ho”\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"f.txt": c.before})
			e, err := edit(t, tools.EditFile(), w, args{"path": "f.txt", "edits": c.edits})
			must(t, err)
			wantText(t, e.New(), c.after)
			if e.Path != filepath.Join(w.dir, "f.txt") || e.Kind != agent.EditText || e.Old != c.before || e.Base != agent.HashText(c.before) {
				t.Errorf("the edit is %+v", e)
			}
		})
	}
}

func TestEditFileShowsOnlyTheLinesThatChange(t *testing.T) {
	w := newWorld(t, map[string]string{"f.txt": "a\r\nb\r\nc\r\n"})
	e, err := edit(t, tools.EditFile(), w, args{"path": "f.txt", "edits": []args{change("b\nc\n", "B\nX\nc\n")}})
	must(t, err)
	if len(e.Hunks) != 1 || e.Hunks[0].Old != "b\r\n" || e.Hunks[0].New != "B\r\nX\r\n" {
		t.Errorf("hunks %+v", e.Hunks)
	}
}

func TestEditFileKeepsTheByteOrderMark(t *testing.T) {
	before, err := hex.DecodeString("efbbbf696d706f7274206f730a783d310a") // case C07
	must(t, err)
	w := newWorld(t, map[string]string{"f.txt": string(before)})
	for name, c := range map[string]struct {
		tool agent.Tool
		args args
	}{
		"an edit":              {tools.EditFile(), args{"path": "f.txt", "edits": []args{change("import os\n", "import sys\n")}}},
		"a full write":         {tools.WriteFile(), args{"path": "f.txt", "content": "import sys\nx=1\n"}},
		"a full write with it": {tools.WriteFile(), args{"path": "f.txt", "content": "\uFEFFimport sys\nx=1\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"f.txt": string(before)})
			e, err := edit(t, c.tool, w, c.args)
			must(t, err)
			if shown := e.Old + e.New() + e.Hunks[0].Old + e.Hunks[0].New; strings.Contains(shown, "\uFEFF") {
				t.Errorf("the mark is shown: %q", shown)
			}
			landing, err := w.Apply(t.Context(), agenttest.Approve(t, e), e)
			must(t, err)
			after, err := os.ReadFile(e.Path)
			must(t, err)
			if want := "efbbbf696d706f7274207379730a783d310a"; hex.EncodeToString(after) != want {
				t.Errorf("landed %x (%v)", after, landing)
			}
		})
	}
	_, err = edit(t, tools.EditFile(), w, args{"path": "f.txt", "edits": []args{change("import os", "\uFEFFimport os")}})
	wantError(t, err, "byte-order mark")
}

func TestEditFileRefusesWhatIsNotOnePlace(t *testing.T) {
	twice := "def dev():\n    debug = 1\ndef prod():\n    debug = 1\n"
	for _, c := range []struct {
		name, before string
		edits        []args
		want         []string
	}{
		{"C12: two places", twice, []args{change("    debug = 1", "    debug = 0")}, []string{"edits[0]", "2 times", "lines 2, 4", "replace_all"}},
		{"C12: two places that overlap", "foo\nfoo\nfoo\n", []args{change("foo\nfoo\n", "bar\n")}, []string{"2 times", "lines 1, 2"}},
		{"two places that differ in line ends only", "a\nb\nx\r\na\r\nb\r\n", []args{change("a\nb", "c")}, []string{"2 times", "lines 1, 4"}},
		{"many places", strings.Repeat("x\n", 5000), []args{change("x", "y")}, []string{"1000 or more times", "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and further on"}},
		{"overlapping edits", "a\nb\nc\n", []args{change("a\nb\n", "x\n"), change("b\nc\n", "y\n")}, []string{"edits[0] and edits[1] overlap at line 2"}},
		{"the same edit twice", "a\nb\n", []args{change("a", "x"), change("a", "y")}, []string{"edits[0] and edits[1] overlap at line 1"}},
		{"an edit inside another", "a b c\n", []args{change("b", "x"), change("a b c", "y")}, []string{"edits[0] and edits[1] overlap"}},
		{"an empty old_string", "a\n", []args{change("", "x")}, []string{"old_string of edits[0] is empty", "write_file"}},
		{"nothing to change", "a\n", []args{change("a", "a")}, []string{"edits[0] are the same"}},
		{"no edits", "a\n", []args{}, []string{"edits has 0 items, expected at least 1"}},
		{"a good edit beside a bad one", "a\nb\n", []args{change("a", "x"), change("zzz", "y")}, []string{"edits[1]", "nothing was changed"}},
		{"the second edit made for the result of the first", "a\n", []args{change("a", "some text"), change("some text", "other")},
			[]string{"it is in new_string of edits[0]", "make one edit of the two"}},
		{"a NUL byte", "a\n", []args{change("a", "\x00")}, []string{"NUL byte"}},
		{"flat arguments", "a\n", nil, []string{"edits is missing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"f.txt": c.before})
			a := args{"path": "f.txt"}
			if c.edits != nil {
				a["edits"] = c.edits
			}
			_, err := edit(t, tools.EditFile(), w, a)
			wantError(t, err, c.want...)
		})
	}
}

func TestEditFileSaysWhatDiffersAtTheClosestPlace(t *testing.T) {
	code := "func a() {\n\tif x {\n\t\treturn 1\n\t}\n}\n\nfunc b() {\n    return 2  \n}\n"
	for _, c := range []struct {
		name, before, old, new string
		want                   []string
	}{
		{"C22: line numbers and trailing blanks", "func a() {\n\treturn  \n}\n", "     2| \treturn\n", "\treturn 1\n",
			[]string{"line-number prefixes (\"     2| \")", "line 2 has trailing blanks (2 spaces", "closest place is line 2", "now:\n\treturn  \n"}},
		{"line numbers with tabs", code, "1\tfunc a() {\n2\t\tif x {\n", "x", []string{`line-number prefixes ("1\t")`, "lines 1 to 2", "now:\nfunc a() {\n\tif x {\n"}},
		{"line numbers with arrows", code, "   7→func b() {\n   8→    return 2  \n", "x", []string{"line-number prefixes", "lines 7 to 8"}},
		{"trailing blanks in old_string", code, "\tif x { \n\t\treturn 1\n", "x", []string{"old_string has trailing blanks (1 space) where line 2 has none", "now:\n\tif x {\n\t\treturn 1\n"}},
		{"spaces for tabs", code, "    if x {\n        return 1\n", "x",
			[]string{"tabs against spaces: line 2 is indented by 1 tab, in old_string by 4 spaces, and 1 more line likewise", "now:\n\tif x {\n\t\treturn 1\n"}},
		{"less indentation", code, "func b() {\n  return 2  \n", "x", []string{"indentation differs: line 8 is indented by 4 spaces, in old_string by 2 spaces"}},
		{"no indentation", code, "if x {\nreturn 1\n", "x", []string{"line 3 is indented by 2 tabs, in old_string by nothing"}},
		{"letter case", code, "FUNC B() {", "x", []string{"line 7 differs in letter case"}},
		{"typographic quotes", "say(\"hello there\")\n", "say(“hello there”)", "x", []string{"typographic quotes, dashes or blanks against plain ones in line 1"}},
		{"plain quotes for typographic ones", "it’s – a text\n", "it's - a text", "x", []string{"typographic quotes"}},
		{"a no-break space", "a long\u00a0word here\n", "a long word here", "x", []string{"typographic quotes, dashes or blanks"}},
		{"white space within", "call(a,  b, c)\n", "call(a, b, c)", "x", []string{"line 1 differs in the white space within it"}},
		{"other words", code, "func a() {\n\tif y {\n\t\treturn 1\n", "x", []string{"closest place is lines 1 to 3", "line 2 differs from column 5 on"}},
		{"a typo", "the quick brown fox\njumps over\n", "the quikc brown fox", "x", []string{"closest place is line 1", "line 1 differs from column 8 on"}},
		{"a newline too many at the end", "one\nlast line", "last line\n", "x", []string{"no newline at its end"}},
		{"lines after the end", "one two three\nfour five six\n", "four five six\nseven eight\n", "x", []string{"1 line of old_string would be before the start or after the end"}},
		{"made before", "alpha\nnew text\n", "old text", "new text", []string{"already contains new_string, at line 2"}},
		{"nothing like it", code, "completely different words", "x", []string{"no place there is like it", "read_file"}},
		{"bytes that can't be given", "un café caf\xe9 noir\n", "caf\uFFFD noir", "x", []string{"U+FFFD in old_string stands for bytes"}},
		{"only signs", code, "]]", "x", []string{"no place there is like it"}},
		{"a CRLF file is quoted as the model sees it", "alpha beta\r\ngamma\r\n", "alpha  beta\ngamma", "x", []string{"now:\nalpha beta\ngamma\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"f.txt": c.before})
			_, err := edit(t, tools.EditFile(), w, args{"path": "f.txt", "edits": []args{change(c.old, c.new)}})
			wantError(t, err, append(c.want, "old_string of edits[0] is not in f.txt, so nothing was changed")...)
			if strings.Contains(err.Error(), "\r") {
				t.Errorf("the error shows a CR: %q", err)
			}
		})
	}
}

func TestEditFileDoesNotQuoteSecrets(t *testing.T) {
	w := newWorld(t, map[string]string{".env": "PASSWORD=hunter2-and-more\nOTHER=1\n"})
	edits := args{"path": ".env", "edits": []args{change("password=hunter2-and-more", "x")}}
	_, err := edit(t, tools.EditFile(), w, edits)
	wantError(t, err, "not approved", "read_file first")
	if !errors.Is(err, agent.ErrNotApproved) {
		t.Errorf("error %v", err)
	}
	ok := agenttest.Approve(t, agent.SecretRead{Path: filepath.Join(w.dir, ".env")})
	_, err = edit(t, tools.EditFile(), with{w, ok}, edits)
	wantError(t, err, "closest place is line 1", "letter case", "may hold secrets")
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error quotes the file: %v", err)
	}
	e, err := edit(t, tools.EditFile(), with{w, ok}, args{"path": ".env", "edits": []args{change("hunter2", "hunter3")}})
	must(t, err)
	wantText(t, e.New(), "PASSWORD=hunter3-and-more\nOTHER=1\n")
}

func TestEditFileRefusesWhatIsNoTextFile(t *testing.T) {
	w := newWorld(t, map[string]string{"notes.txt": "a\n", "dir/x": "a", "bin": "a\x00"})
	for path, want := range map[string][]string{
		"note.txt": {"there is no note.txt", "notes.txt", "use write_file to create it"},
		"dir":      {"dir is a directory"},
		"bin":      {"binary"},
		"":         {"empty path"},
	} {
		_, err := edit(t, tools.EditFile(), w, args{"path": path, "edits": []args{change("a", "b")}})
		wantError(t, err, want...)
	}
}

func TestEditFileErrorsAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "line number %d with some words %s\n", i, strings.Repeat("w", i%300))
	}
	w := newWorld(t, map[string]string{"f.txt": text.String()})
	old := strings.ReplaceAll(text.String(), "some words", "SOME words")
	var edits []args
	for i := range 20 {
		edits = append(edits, change(old[i*100:i*100+40_000], "x"))
	}
	_, err := edit(t, tools.EditFile(), w, args{"path": "f.txt", "edits": edits})
	wantError(t, err, "edits[0]", "edits[2]", "17 more edits failed too", "not shown]")
	if n := len(err.Error()); n > 12_000 {
		t.Errorf("the error has %d bytes", n)
	}
}

func TestEditFileSaysWhenOnlyLineEndsWouldChange(t *testing.T) {
	w := newWorld(t, map[string]string{"f.txt": "a\r\nb\r\n"})
	got, err := ask(t, tools.EditFile(), w, args{"path": "f.txt", "edits": []args{change("a\r\n", "a\n")}})
	must(t, err)
	wantText(t, got, "f.txt already has exactly this text; nothing to change")
}

func TestEditFileEndsWithItsContext(t *testing.T) {
	w := newWorld(t, map[string]string{"f.txt": "a\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := tools.EditFile().Plan(ctx, w, args{"path": "f.txt", "edits": []args{change("a", "b")}}.json(t))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
