package lsp_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"assent/agent/agenttest"
	"assent/editors/fake"
)

// TestCases runs every case of testdata/cases.jsonl, which are public bug reports of
// tools like this one, on a server with an editor at it.
func TestCases(t *testing.T) {
	agenttest.Cases(t, "testdata/cases.jsonl", map[string]func(*testing.T, sharedCase){
		"C01": changedOnTheWay, "C02": versionOfAClosedFile, "C03": unsavedText, "C05": windowsLineEnds, "C07": byteOrderMark,
		"C08": bytesThatAreNoText, "C10": unitsOfPositions, "C11": noFinalNewline, "C12": severalMatches, "C14": permissionBits,
		"C16": severalEdits, "C17": formattedOnSave, "C18": partlyAccepted, "C20": filesThatComeAndGo, "C22": copiedLineNumbers,
	})
}

// sharedCase is a line of the file. What a case is about stands in its input.
type sharedCase struct {
	ID    string
	Input struct {
		Open   *struct{ Text string }
		Disk   string
		Buffer struct{ Text string }
		Text   string
		Before hexText `json:"before_hex"`
		Args   stringEdit
		Edits  []stringEdit
	}
	Expect struct {
		After hexText `json:"after_hex"`
	}
}

type stringEdit struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
}

type hexText string

func (h *hexText) UnmarshalText(text []byte) error {
	data, err := hex.DecodeString(string(text))
	*h = hexText(data)
	return err
}

// editsOf is a call of edit_file.
func editsOf(path string, list ...stringEdit) string {
	return call("edit_file", object{"path": path, "edits": list})
}

func readOf(path string) string { return call("read_file", object{"path": path}) }

// sent are the edits that the server had the editor apply.
type sentEdit struct {
	DocumentChanges []struct {
		Kind         string
		URI          string
		Options      *struct{ Overwrite, IgnoreIfExists *bool }
		TextDocument struct {
			URI     string
			Version *int
		}
		Edits []struct {
			Range   fake.Range
			NewText string
		}
	}
}

func (b *bench) sent() (all []sentEdit) {
	b.t.Helper()
	for _, e := range b.Log() {
		if !e.FromServer || e.Response || e.Method != "workspace/applyEdit" {
			continue
		}
		var m struct{ Params struct{ Edit sentEdit } }
		b.must(json.Unmarshal(e.Raw, &m))
		all = append(all, m.Params.Edit)
	}
	return all
}

// reviews notes what the person is asked, and answers as then says.
func reviews(asked *[]fake.Review, then func(r fake.Review) fake.Answer) func(context.Context, fake.Review) (fake.Answer, error) {
	return func(_ context.Context, r fake.Review) (fake.Answer, error) {
		*asked = append(*asked, r)
		if then == nil {
			return fake.Answer{Decision: "accept"}, nil
		}
		return then(r), nil
	}
}

func (b *bench) want(what, got, want string) {
	b.t.Helper()
	if got != want {
		b.t.Errorf("%s is %q, want %q; the model was told:\n%s", what, got, want, strings.Join(b.told(), "\n---\n"))
	}
}

// heard checks what the model was told of its nth call, from 0.
func (b *bench) heard(n int, parts ...string) {
	b.t.Helper()
	told := b.told()
	if n >= len(told) {
		b.t.Fatalf("there are %d results", len(told))
	}
	for _, p := range parts {
		if !strings.Contains(told[n], p) {
			b.t.Errorf("result %d lacks %q:\n%s", n, p, told[n])
		}
	}
}

func changedOnTheWay(t *testing.T, c sharedCase) {
	for name, v := range map[string]struct {
		mode fake.ApplyMode
		text string
		told string
	}{
		// Right beside the new line, so it is asked anew and not sent again.
		"the client refuses the old version": {fake.Honest, "\napple\nbanana\n", "was not edited: 0 of 1 hunks landed"},
		"the client applies it all the same": {fake.AnyVersion, "pear\napple\nbanana\n", "0 of 1 hunks landed"},
		"the client says no":                 {fake.Refuses, "\napple\nbanana\n", "was not edited: 0 of 1 hunks landed"},
	} {
		t.Run(name, func(t *testing.T) {
			var b *bench
			typed := false
			o := fake.Options{Apply: v.mode, BeforeApply: func(uri string) {
				if !typed {
					b.must(b.Type(uri, fake.Range{}, "\n"))
				}
				typed = true
			}}
			b = newBench(t, map[string]string{"a.txt": "x\n"}, []string{editsOf("a.txt", stringEdit{"apple", "pear"}), say("ok")}, o)
			b.must(b.OpenFile(b.path("a.txt")))
			for range 3 { // up to version 4
				b.must(b.Type(b.uri("a.txt"), fake.Range{}, "x"))
			}
			text, _, _ := b.Text(b.uri("a.txt"))
			b.must(b.Replace(b.uri("a.txt"), text, c.Input.Open.Text))
			b.prompt(fake.Prompt{Text: "go"})
			sent := b.sent()
			first := sent[0].DocumentChanges[0]
			if len(sent) != 1 || *first.TextDocument.Version != 5 || first.Edits[0].NewText != "pear" || first.Edits[0].Range != (fake.Range{End: fake.Position{Character: 5}}) {
				t.Errorf("sent %d edits, the first %+v", len(sent), first)
			}
			b.want("the buffer", b.text("a.txt"), v.text)
			b.heard(0, v.told, "it now reads:\n[lines 1-3 of 3]\n"+strings.TrimSuffix(v.text, "\n"))
		})
	}
}

func versionOfAClosedFile(t *testing.T, _ sharedCase) {
	for _, open := range []bool{false, true} {
		var asked []fake.Review
		b := newBench(t, map[string]string{"closed.txt": "one\n"}, []string{editsOf("closed.txt", stringEdit{"one", "1"}), say("ok")}, fake.Options{Review: reviews(&asked, nil)})
		if open {
			b.must(b.OpenFile(b.path("closed.txt")))
			b.must(b.Type(b.uri("closed.txt"), fake.Range{}, "typed\n"))
		}
		b.prompt(fake.Prompt{Text: "go"})
		for what, version := range map[string]*int{"review": asked[0].Files[0].Version, "applyEdit": b.sent()[0].DocumentChanges[0].TextDocument.Version} {
			if open && (version == nil || *version != 2) || !open && version != nil {
				t.Errorf("open %v: the version of the %s is %v", open, what, version)
			}
		}
	}
}

func unsavedText(t *testing.T, c sharedCase) {
	b := newBench(t, map[string]string{"a.txt": c.Input.Disk}, []string{readOf("a.txt"), editsOf("a.txt", stringEdit{"B", "BB"}), say("ok")}, fake.Options{})
	b.must(b.OpenFile(b.path("a.txt")))
	b.must(b.Replace(b.uri("a.txt"), c.Input.Disk, c.Input.Buffer.Text))
	b.prompt(fake.Prompt{Text: "go"})
	b.heard(0, c.Input.Buffer.Text)
	b.want("the buffer", b.text("a.txt"), "A\nBB\nunsaved\n")
	b.want("the disk", b.disk("a.txt"), c.Input.Disk)
}

// bothWays runs an edit of a file on disk and of one that is open and saved.
func bothWays(t *testing.T, before string, replies []string, then func(t *testing.T, b *bench, asked []fake.Review, result string)) {
	t.Helper()
	for _, open := range []bool{false, true} {
		t.Run(map[bool]string{false: "on disk", true: "open"}[open], func(t *testing.T) {
			var asked []fake.Review
			b := newBench(t, map[string]string{"f.txt": before}, append(slices.Clone(replies), say("ok")), fake.Options{SyncsAll: true, Review: reviews(&asked, nil)})
			if open {
				b.must(b.OpenFile(b.path("f.txt")))
			}
			b.prompt(fake.Prompt{Text: "go"})
			if open {
				b.must(b.Save(b.uri("f.txt")))
			}
			then(t, b, asked, b.disk("f.txt"))
		})
	}
}

func windowsLineEnds(t *testing.T, c sharedCase) {
	bothWays(t, string(c.Input.Before), []string{readOf("f.txt"), editsOf("f.txt", c.Input.Args)}, func(t *testing.T, b *bench, asked []fake.Review, result string) {
		b.want("the file", result, string(c.Expect.After))
		if h := asked[0].Files[0].Hunks; len(h) != 1 || h[0].OldLines != 1 || h[0].NewLines != 2 {
			t.Errorf("the diff is %+v", h)
		}
		if strings.Contains(b.told()[0], "\r") {
			t.Errorf("the model reads %q", b.told()[0])
		}
	})
}

func byteOrderMark(t *testing.T, c sharedCase) {
	whole := call("write_file", object{"path": "f.txt", "content": "\uFEFFimport re\n"})
	bothWays(t, string(c.Input.Before), []string{readOf("f.txt"), editsOf("f.txt", c.Input.Args), readOf("f.txt"), whole}, func(t *testing.T, b *bench, asked []fake.Review, result string) {
		b.want("the file after a full write", result, "\xef\xbb\xbfimport re\n")
		shown, err := json.Marshal(asked)
		b.must(err)
		if all := strings.Join(b.told(), "") + string(shown); strings.Contains(all, "\uFEFF") || strings.Contains(all, "feff") {
			t.Errorf("the mark is shown: %s", all)
		}
		b.heard(2, strings.TrimPrefix(string(c.Expect.After), "\xef\xbb\xbf"))
	})
	bothWays(t, string(c.Input.Before), []string{editsOf("f.txt", c.Input.Args)}, func(t *testing.T, b *bench, _ []fake.Review, result string) {
		b.want("the file", result, string(c.Expect.After))
	})
}

// The policy, of two that the case leaves open: byte-exactly where the lines are text,
// else refused.
func bytesThatAreNoText(t *testing.T, c sharedCase) {
	before := string(c.Input.Before)
	whole := call("write_file", object{"path": "f.txt", "content": "x = 1;\n// cafe\n"})
	for name, v := range map[string]struct{ reply, after, told string }{
		"beside them": {editsOf("f.txt", c.Input.Args), strings.Replace(before, "1", "2", 1), "1 of 1 hunks landed"},
		"their line":  {editsOf("f.txt", stringEdit{"// caf", "// tea"}), before, "not valid UTF-8 (byte offset 13)"},
		"whole":       {whole, before, "not valid UTF-8 (byte offset 13)"},
	} {
		for _, o := range []fake.Options{{}, {SyncsAll: true}} {
			b := newBench(t, map[string]string{"f.txt": before}, []string{v.reply, say("ok")}, o)
			b.prompt(fake.Prompt{Text: "go"})
			b.want(name+": the file", b.disk("f.txt"), v.after)
			b.heard(0, v.told)
		}
	}
}

func unitsOfPositions(t *testing.T, c sharedCase) {
	for enc, v := range map[string]struct {
		offered []string
		start   int
	}{"utf-16": {nil, 12}, "utf-8": {[]string{"utf-8"}, 15}, "utf-32": {[]string{"utf-32"}, 11}} {
		b := newBench(t, map[string]string{"e.txt": string(c.Input.Before)}, []string{editsOf("e.txt", c.Input.Args), say("ok")}, fake.Options{Encodings: v.offered})
		b.must(b.OpenFile(b.path("e.txt")))
		b.prompt(fake.Prompt{Text: "go"})
		b.want("the encoding", string(b.Encoding()), enc)
		got := b.sent()[0].DocumentChanges[0].Edits[0].Range
		if got.Start.Character != v.start || got.End.Character != v.start+4 || got.Start.Line != 0 || got.End.Line != 0 {
			t.Errorf("%s: the range is %+v", enc, got)
		}
		b.want("the buffer", b.text("e.txt"), strings.Replace(string(c.Input.Before), "name", "title", 1))
	}
}

func noFinalNewline(t *testing.T, c sharedCase) {
	whole := call("write_file", object{"path": "a.py", "content": "def g():\n    return 2"})
	b := newBench(t, map[string]string{"a.py": c.Input.Text}, []string{editsOf("a.py", stringEdit{"pass", "return 1"}), whole, say("ok")}, fake.Options{})
	b.must(b.OpenFile(b.path("a.py")))
	b.prompt(fake.Prompt{Text: "go"})
	b.want("the buffer", b.text("a.py"), "def g():\n    return 2")
	sent := b.sent()
	if got := sent[0].DocumentChanges[0].Edits[0]; got.Range != (fake.Range{Start: fake.Position{Line: 1, Character: 4}, End: fake.Position{Line: 1, Character: 8}}) || got.NewText != "return 1" {
		t.Errorf("the first edit is %+v", got)
	}
	for _, e := range sent[1].DocumentChanges[0].Edits {
		if e.Range.End.Line > 1 {
			t.Errorf("%+v ends after the text", e)
		}
	}
}

func severalMatches(t *testing.T, c sharedCase) {
	all := call("edit_file", object{"path": "f.txt", "edits": []object{{"old_string": c.Input.Args.Old, "new_string": c.Input.Args.New, "replace_all": true}}})
	for name, v := range map[string]struct{ before, reply, after, told string }{
		"apart":       {string(c.Input.Before), editsOf("f.txt", c.Input.Args), string(c.Expect.After), "2 times, at lines 2, 4"},
		"overlapping": {"foo\nfoo\nfoo\n", editsOf("f.txt", stringEdit{"foo\nfoo\n", "bar\n"}), "foo\nfoo\nfoo\n", "2 times, at lines 1, 2"},
		"all wanted":  {string(c.Input.Before), all, strings.ReplaceAll(string(c.Input.Before), "debug = 1", "debug = 0"), "2 of 2 hunks landed"},
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, v.before, []string{v.reply}, func(t *testing.T, b *bench, asked []fake.Review, result string) {
				b.want("the file", result, v.after)
				b.heard(0, v.told)
				if refused := v.before == v.after; refused != (len(asked) == 0) {
					t.Errorf("%d reviews", len(asked))
				}
			})
		})
	}
}
