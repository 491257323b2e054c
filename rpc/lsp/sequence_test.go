package lsp_test

import (
	"os"
	"strings"
	"testing"

	"assent/editors/fake"
)

// A closed file is opened by an editor that shows it with line ends of its own.
func TestAFileOpenedWithOtherLineEndsIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	windows := strings.ReplaceAll(fiveLines, "\n", "\r\n")
	f := follow(t, fiveLines, twoHunks(), fake.Options{}, false, func(f *follower, _ fake.Review) fake.Answer {
		f.must(f.OpenText(f.uri("a.txt"), windows))
		f.now(windows)
		return fake.Answer{Decision: "accept", Revision: 1}
	})
	if got := f.text("a.txt"); got != "one\r\n2\r\nthree\r\nfour\r\n5\r\n" {
		t.Errorf("the text is %q; the model was told %q", got, f.told())
	}
}

func TestADeletionOfAFileOpenedWithOtherLineEndsIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	f := follow(t, fiveLines, call("delete_file", object{"path": "a.txt"}), fake.Options{}, false, func(f *follower, _ fake.Review) fake.Answer {
		f.must(f.OpenText(f.uri("a.txt"), strings.ReplaceAll(fiveLines, "\n", "\r\n")))
		return fake.Answer{Decision: "accept", Revision: 1}
	})
	if got := f.disk("a.txt"); got != "-" {
		t.Errorf("the disk has %q; the model was told %q", got, f.told())
	}
}

// Text put in by the person for one hunk, then line ends change.
func TestThePersonsHunkTextHasTheLineEndsOfTheText(t *testing.T) {
	t.Parallel()
	windows := strings.ReplaceAll(fiveLines, "\n", "\r\n")
	mine := "zwei\n"
	f := follow(t, fiveLines, twoHunks(), fake.Options{}, false, func(f *follower, r fake.Review) fake.Answer {
		f.must(f.OpenText(f.uri("a.txt"), windows))
		f.now(windows)
		return fake.Answer{Decision: "accept", Revision: 1, Hunks: map[string]any{r.Files[0].Hunks[0].ID: fake.HunkAnswer{Verdict: "accept", NewText: &mine}}}
	})
	if got := f.text("a.txt"); got != "one\r\nzwei\r\nthree\r\nfour\r\n5\r\n" {
		t.Errorf("the text is %q; the model was told %q", got, f.told())
	}
}

// The file vanishes while it is asked about; it comes back with another text.
func TestAFileThatVanishes(t *testing.T) {
	t.Parallel()
	f := follow(t, fiveLines, twoHunks(), fake.Options{SyncsAll: true}, false, func(f *follower, _ fake.Review) fake.Answer {
		f.must(os.Remove(f.path("a.txt")))
		return fake.Answer{Decision: "accept"}
	})
	if got := f.disk("a.txt"); got != "-" || !strings.Contains(f.told()[0], "not edited") {
		t.Errorf("the disk has %q; the model was told %q", got, f.told())
	}
}

func TestAFileThatBecomesBinary(t *testing.T) {
	t.Parallel()
	bytes := "one\x00\xff\ntwo\n"
	f := follow(t, fiveLines, twoHunks(), fake.Options{SyncsAll: true}, false, func(f *follower, _ fake.Review) fake.Answer {
		f.must(os.WriteFile(f.path("a.txt"), []byte(bytes), 0o600))
		return fake.Answer{Decision: "accept"}
	})
	if got := f.disk("a.txt"); got != bytes || !strings.Contains(f.told()[0], "not edited") {
		t.Errorf("the disk has %q; the model was told %q", got, f.told())
	}
}

// Two calls on one file, and a conflict in the first: the no to it leaves the second.
func TestAConflictInTheFirstOfTwoCalls(t *testing.T) {
	for _, verdict := range []string{"accept", "reject"} {
		t.Run(verdict, func(t *testing.T) {
			t.Parallel()
			reply := call("edit_file", change("a.txt", "two", "2"), "edit_file", change("a.txt", "five", "5"))
			f := follow(t, fiveLines, reply, fake.Options{}, true, func(f *follower, _ fake.Review) fake.Answer {
				f.typed("two\n", "two and more\n")
				f.now("one\ntwo and more\nthree\nfour\nfive\n")
				return fake.Answer{Decision: "accept", Revision: 1}
			}, func(f *follower, r fake.Review) fake.Answer {
				if len(r.Files) != 1 || r.Files[0].ToolUseID != "c1" {
					f.t.Errorf("asked again: %+v", r.Files)
				}
				return fake.Answer{Decision: verdict, Revision: r.Revision}
			})
			want := map[string]string{"accept": "one\n2\nthree\nfour\n5\n", "reject": "one\ntwo and more\nthree\nfour\n5\n"}[verdict]
			if got := f.text("a.txt"); got != want {
				t.Errorf("the text is %q; the model was told %q", got, f.told())
			}
		})
	}
}

// Two calls on one line, and the person changed it: both are in conflict.
func TestAConflictInBothOfTwoCallsOnOneLine(t *testing.T) {
	t.Parallel()
	reply := call("edit_file", change("a.txt", "two", "2"), "edit_file", change("a.txt", "2", "zwei"))
	f := follow(t, fiveLines, reply, fake.Options{}, true, func(f *follower, _ fake.Review) fake.Answer {
		f.typed("two\n", "two and more\n")
		f.now("one\ntwo and more\nthree\nfour\nfive\n")
		return fake.Answer{Decision: "accept", Revision: 1}
	}, func(f *follower, r fake.Review) fake.Answer {
		return fake.Answer{Decision: "reject", Revision: r.Revision}
	})
	if got := f.text("a.txt"); got != "one\ntwo and more\nthree\nfour\nfive\n" {
		t.Errorf("the text is %q; the model was told %q", got, f.told())
	}
	t.Log(f.told())
}

// An edit, and then the file's deletion.
func TestAnEditAndADeletionOfOneFile(t *testing.T) {
	t.Parallel()
	reply := call("edit_file", change("a.txt", "two", "2"), "delete_file", object{"path": "a.txt"})
	f := follow(t, fiveLines, reply, fake.Options{}, true, func(f *follower, _ fake.Review) fake.Answer {
		f.typed("five\n", "five\nmine\n")
		f.now(fiveLines + "mine\n")
		return fake.Answer{Decision: "accept", Revision: 1}
	}, func(f *follower, r fake.Review) fake.Answer {
		if len(r.Files) != 1 || r.Files[0].Kind != "delete" || !strings.Contains(r.Files[0].OldText, "mine") {
			f.t.Errorf("asked again: %+v", r.Files)
		}
		return fake.Answer{Decision: "reject", Revision: r.Revision}
	})
	if got := f.text("a.txt"); got != "one\n2\nthree\nfour\nfive\nmine\n" {
		t.Errorf("the text is %q; the model was told %q", got, f.told())
	}
}

// The edited text was made from the first revision; the text moved meanwhile at a place
// that the person did not touch in the diff, but that is in a hunk of theirs.
func TestADocumentThatBreaksWhileAsked(t *testing.T) {
	t.Parallel()
	f := follow(t, fiveLines, twoHunks(), fake.Options{}, true, func(f *follower, _ fake.Review) fake.Answer {
		f.must(f.Notify("textDocument/didChange", object{"textDocument": object{"uri": f.uri("a.txt"), "version": 9}, "contentChanges": []object{{"range": object{"start": object{"line": 99, "character": 0}, "end": object{"line": 100, "character": 0}}, "text": "x"}}}))
		return fake.Answer{Decision: "accept"}
	})
	if !strings.Contains(f.told()[0], "not known") || f.text("a.txt") != fiveLines {
		t.Errorf("the text is %q, the model was told %q", f.text("a.txt"), f.told())
	}
}
