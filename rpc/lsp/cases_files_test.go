package lsp_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"assent/editors/fake"
)

func permissionBits(t *testing.T, _ sharedCase) {
	modes := map[string]fs.FileMode{"run.sh": 0o755, "key.pem": 0o600, "shared.txt": 0o664, "fixed.txt": 0o444}
	files, replies := map[string]string{}, []string{readOf("key.pem")}
	for name := range modes {
		files[name] = "one\n"
		replies = append(replies, editsOf(name, stringEdit{"one", "1"}))
	}
	replies = append(replies, call("write_file", object{"path": "new/made.txt", "content": "x\n"}), say("ok"))
	b := newBench(t, files, replies, fake.Options{SyncsAll: true})
	for name, mode := range modes {
		b.must(os.Chmod(b.path(name), mode))
	}
	b.prompt(fake.Prompt{Text: "go"})
	mode := func(name string) fs.FileMode {
		info, err := os.Stat(b.path(name))
		b.must(err)
		return info.Mode().Perm()
	}
	for name, want := range modes {
		text := "1\n"
		if want == 0o444 {
			text = "one\n" // a failed write leaves it whole
		}
		b.want(name, b.disk(name), text)
		if got := mode(name); got != want {
			t.Errorf("%s has mode %v, want %v", name, got, want)
		}
	}
	b.must(os.WriteFile(b.path("beside.txt"), nil, 0o666)) // less the umask
	if got, want := mode("new/made.txt"), mode("beside.txt"); got != want {
		t.Errorf("a new file has mode %v, want %v", got, want)
	}
	entries, err := os.ReadDir(b.dir)
	b.must(err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".assent-") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

func severalEdits(t *testing.T, c sharedCase) {
	b := newBench(t, map[string]string{"m.txt": string(c.Input.Before)}, []string{editsOf("m.txt", c.Input.Edits...), say("ok")}, fake.Options{})
	b.must(b.OpenFile(b.path("m.txt")))
	b.prompt(fake.Prompt{Text: "go"})
	b.want("the buffer", b.text("m.txt"), string(c.Expect.After))
	sent := b.sent()
	if len(sent) != 1 || len(sent[0].DocumentChanges) != 1 || len(sent[0].DocumentChanges[0].Edits) != 2 {
		t.Fatalf("sent %+v", sent)
	}
	edits := sent[0].DocumentChanges[0].Edits
	if edits[0].Range.End.Line > edits[1].Range.Start.Line || edits[1].Range.Start.Line != 2 {
		t.Errorf("the ranges are not in order against the original: %+v", edits)
	}
	var asked []fake.Review
	b = newBench(t, map[string]string{"m.txt": string(c.Input.Before)}, []string{editsOf("m.txt", stringEdit{"1\n2\n", "a\n"}, stringEdit{"2\n3\n", "b\n"}), say("ok")}, fake.Options{SyncsAll: true, Review: reviews(&asked, nil)})
	b.prompt(fake.Prompt{Text: "go"})
	b.want("the file", b.disk("m.txt"), string(c.Input.Before))
	b.heard(0, "overlap at line 2")
	if len(asked) > 0 {
		t.Errorf("overlapping edits were shown: %+v", asked)
	}
}

func formattedOnSave(t *testing.T, _ sharedCase) {
	format := func(text string) string { return strings.ReplaceAll(text, "x={a:1}", "x = { a: 1 };") }
	replies := []string{editsOf("a.js", stringEdit{"x={}", "x={a:1}"})}
	for n := range 7 {
		replies = append(replies, editsOf("a.js", stringEdit{"x={a:1}", fmt.Sprintf("x={a:%d}", n+2)}))
	}
	b := newBench(t, map[string]string{"a.js": "x={}\n"}, append(replies, say("ok")), fake.Options{Apply: fake.FormatsOnSave, Format: format})
	b.must(b.OpenFile(b.path("a.js")))
	result := b.prompt(fake.Prompt{Text: "go"})
	b.want("the buffer", b.text("a.js"), "x = { a: 1 };\n")
	b.heard(0, "it now reads:\n[lines 1-1 of 1]\nx = { a: 1 };")
	b.heard(1, "is not in a.js", "\nx = { a: 1 };\n")
	b.heard(3, "failed edit number 3")
	if result.StopReason != "repeated" || len(b.told()) != 6 {
		t.Errorf("ended with %s after %d results", result.StopReason, len(b.told()))
	}
}

func partlyAccepted(t *testing.T, _ sharedCase) {
	const before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
	for name, v := range map[string]struct {
		answer func(r fake.Review) fake.Answer
		final  string
		told   []string
	}{
		"by hunk": {func(r fake.Review) fake.Answer {
			own := "2, my word\n"
			h := r.Files[0].Hunks
			return fake.Answer{Decision: "partial", Hunks: map[string]any{h[0].ID: fake.HunkAnswer{Verdict: "accept", NewText: &own}, h[1].ID: "reject"}}
		}, "one\n2, my word\nthree\nfour\nfive\nsix\nseven\ntyped\n", []string{"1 of 2 hunks landed", "own text at line 2", "Not landed, refused by the person: line 5", "2, my word\nthree\nfour\nfive\n"}},
		"the whole text": {func(r fake.Review) fake.Answer {
			return fake.Answer{Revision: r.Revision, Decision: "accept", Edited: map[string]string{r.Files[0].URI: strings.Replace(before, "two", "2, my word", 1)}}
		}, "one\n2, my word\nthree\nfour\nfive\nsix\nseven\ntyped\n", []string{"own text at line 2", "Not landed, refused by the person: line 5", "2, my word\nthree\nfour\nfive\n"}},
		"refused": {func(fake.Review) fake.Answer { return fake.Answer{Decision: "reject"} },
			before + "typed\n", []string{"was not edited: refused by the person"}},
	} {
		t.Run(name, func(t *testing.T) {
			var b *bench
			var asked []fake.Review
			b = newBench(t, map[string]string{"a.txt": before}, []string{editsOf("a.txt", stringEdit{"two", "2"}, stringEdit{"five", "5"}), say("ok")},
				fake.Options{Review: reviews(&asked, func(r fake.Review) fake.Answer {
					if len(asked) == 1 {
						b.must(b.Replace(r.Files[0].URI, "seven\n", "seven\ntyped\n"))
					}
					return v.answer(r)
				})})
			b.must(b.OpenFile(b.path("a.txt")))
			b.prompt(fake.Prompt{Text: "go"})
			b.want("the buffer", b.text("a.txt"), v.final)
			b.want("the disk", b.disk("a.txt"), before)
			b.heard(0, v.told...)
		})
	}
}

func filesThatComeAndGo(t *testing.T, _ sharedCase) {
	const name, mine = "x/y/z.txt", "appeared\n"
	create := call("write_file", object{"path": name, "content": "new\n"})
	t.Run("the client creates", func(t *testing.T) {
		b := newBench(t, nil, []string{create, say("ok")}, fake.Options{})
		b.prompt(fake.Prompt{Text: "go"})
		b.want("the buffer", b.text(name), "new\n")
		changes := b.sent()[0].DocumentChanges
		if len(b.sent()) != 1 || len(changes) != 2 || changes[0].Kind != "create" || len(changes[1].Edits) != 1 {
			t.Fatalf("sent %+v", b.sent())
		}
		if o := changes[0].Options; o == nil || o.Overwrite == nil || *o.Overwrite || o.IgnoreIfExists == nil || *o.IgnoreIfExists {
			t.Errorf("the options are %+v", o)
		}
	})
	for when, o := range map[string]fake.Options{"during the review": {}, "during the review, by us": {NoResourceOperations: true}, "on the way": {}} {
		t.Run("it appears "+when, func(t *testing.T) {
			var b *bench
			var asked []fake.Review
			o.Review = reviews(&asked, func(fake.Review) fake.Answer {
				if when != "on the way" {
					b.write(name, mine)
				}
				return fake.Answer{Decision: "accept"}
			})
			o.BeforeApply = func(string) { b.write(name, mine) }
			b = newBench(t, nil, []string{create, say("ok")}, o)
			b.prompt(fake.Prompt{Text: "go"})
			b.want("the file", b.disk(name), mine)
			b.heard(0, "was not created")
		})
	}
	t.Run("the client can't create", func(t *testing.T) {
		var b *bench
		var asked []fake.Review
		b = newBench(t, nil, []string{create, say("ok")}, fake.Options{NoResourceOperations: true, Review: reviews(&asked, func(r fake.Review) fake.Answer {
			b.want("the file before the yes", b.disk(name), "-")
			if _, err := os.Stat(b.path("x")); err == nil {
				t.Error("the folder is there before the yes")
			}
			return fake.Answer{Decision: "accept"}
		})})
		b.prompt(fake.Prompt{Text: "go"})
		b.want("the file", b.disk(name), "new\n")
		b.want("what was shown", asked[0].Files[0].NewText, "new\n")
	})
	move := call("move_file", object{"from": "a", "to": "b"})
	for when, there := range map[string]bool{"before": true, "during the review": false} {
		t.Run("a rename to what is there "+when, func(t *testing.T) {
			files := map[string]string{"a": "A\n"}
			if there {
				files["b"] = mine
			}
			var b *bench
			var asked []fake.Review
			b = newBench(t, files, []string{move, say("ok")}, fake.Options{Review: reviews(&asked, func(fake.Review) fake.Answer {
				b.write("b", mine)
				return fake.Answer{Decision: "accept"}
			})})
			b.prompt(fake.Prompt{Text: "go"})
			b.want("a", b.disk("a"), "A\n")
			b.want("b", b.disk("b"), mine)
			if there != (len(asked) == 0) {
				t.Errorf("asked %d times", len(asked))
			}
		})
	}
	for when, during := range map[string]bool{"before": false, "during the review": true} {
		t.Run("a deletion of what is typed "+when, func(t *testing.T) {
			var b *bench
			var asked []fake.Review
			typed := func() { b.must(b.Replace(b.uri("a"), "A\n", "A\ntyped\n")) }
			b = newBench(t, map[string]string{"a": "A\n"}, []string{call("delete_file", object{"path": "a"}), say("ok")}, fake.Options{Review: reviews(&asked, func(fake.Review) fake.Answer {
				if during && len(asked) == 1 { // it is asked again, for what was typed
					typed()
				}
				return fake.Answer{Decision: "accept"}
			})})
			b.must(b.OpenFile(b.path("a")))
			if !during {
				typed()
			}
			b.prompt(fake.Prompt{Text: "go"})
			if len(asked) == 0 || asked[0].Files[0].Kind != "delete" || during != (asked[0].Files[0].OldText == "A\n") {
				t.Fatalf("asked %+v", asked)
			}
			// The disk has another text than was shown: neither is removed.
			b.heard(0, "save it")
			b.want("the disk", b.disk("a"), "A\n")
			b.want("the buffer", b.text("a"), "A\ntyped\n")
		})
	}
}

func copiedLineNumbers(t *testing.T, c sharedCase) {
	bothWays(t, string(c.Input.Before), []string{editsOf("f.txt", c.Input.Args), editsOf("f.txt", stringEdit{"        return  \n", "\treturn 1\n"})}, func(t *testing.T, b *bench, asked []fake.Review, result string) {
		b.want("the file", result, string(c.Input.Before))
		b.heard(0, "line-number prefix", "trailing blanks", "line 2", "\treturn  \n")
		b.heard(1, "tabs against spaces", "\treturn  \n")
		if len(asked) > 0 {
			t.Errorf("it was shown: %+v", asked)
		}
	})
}
