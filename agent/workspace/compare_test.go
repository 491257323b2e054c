package workspace_test

import (
	"slices"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/workspace"

	"pgregory.net/rapid"
)

// hunkAt makes the hunk that replaces a text, which is in base once.
func hunkAt(t *testing.T, base, old, new string) agent.Hunk {
	t.Helper()
	if strings.Count(base, old) != 1 {
		t.Fatalf("%q is not in %q once", old, base)
	}
	return agent.NewHunk(strings.Index(base, old), old, new)
}

func TestCompareSaysWhatBecameOfEachHunk(t *testing.T) {
	const base = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
	for _, c := range []struct {
		name    string
		hunks   [][2]string
		actual  string
		want    string // of each hunk: l landed, a altered, m missing
		foreign bool
	}{
		{"all as approved", [][2]string{{"two\n", "2\n"}, {"six\n", "6\n"}}, "one\n2\nthree\nfour\nfive\n6\nseven\n", "ll", false},
		{"none", [][2]string{{"two\n", "2\n"}, {"six\n", "6\n"}}, base, "mm", false},
		{"the first alone", [][2]string{{"two\n", "2\n"}, {"six\n", "6\n"}}, "one\n2\nthree\nfour\nfive\nsix\nseven\n", "lm", false},
		{"the second alone", [][2]string{{"two\n", "2\n"}, {"six\n", "6\n"}}, "one\ntwo\nthree\nfour\nfive\n6\nseven\n", "ml", false},
		{"one that a formatter changed at once", [][2]string{{"two\n", "2\n"}, {"six\n", "6\n"}}, "one\n 2\nthree\nfour\nfive\n6\nseven\n", "al", true},
		{"one whose place has something else", [][2]string{{"two\n", "2\n"}}, "one\nzwei\nthree\nfour\nfive\nsix\nseven\n", "a", true},
		{"one whose place is gone", [][2]string{{"two\n", "2\n"}}, "one\nthree\nfour\nfive\nsix\nseven\n", "a", true},
		{"a foreign change elsewhere", [][2]string{{"two\n", "2\n"}}, "one\n2\nthree\nfour\nfive\nsix\n7!\n", "l", true},
		{"a foreign change elsewhere, before it", [][2]string{{"six\n", "6\n"}}, "zero\none\ntwo\nthree\nfour\nfive\n6\nseven\n", "l", true},
		{"a foreign change elsewhere, and the hunk is missing", [][2]string{{"two\n", "2\n"}}, "one\ntwo\nthree\nfour\nfive\nsix\n7!\n", "m", true},
		{"a line inserted", [][2]string{{"four\n", "four\nand a half\n"}}, "one\ntwo\nthree\nfour\nand a half\nfive\nsix\nseven\n", "l", false},
		{"a line removed", [][2]string{{"four\n", ""}}, "one\ntwo\nthree\nfive\nsix\nseven\n", "l", false},
		{"a line that should be gone and is not", [][2]string{{"four\n", ""}}, base + "eight\n", "m", true},
		{"a line that should be gone, and was changed", [][2]string{{"four\n", ""}}, "one\ntwo\nthree\nfour!\nfive\nsix\nseven\n", "a", true},
		{"the text is gone", [][2]string{{"two\n", "2\n"}}, "", "a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var hunks []agent.Hunk
			for _, h := range c.hunks {
				hunks = append(hunks, hunkAt(t, base, h[0], h[1]))
			}
			out := workspace.Compare(base, hunks, c.actual)
			got := ""
			for _, h := range hunks {
				got += kindOf(out, h.ID)
			}
			if got != c.want || (out.Foreign != "") != c.foreign {
				t.Errorf("%s, not %s; foreign: %s", got, c.want, out.Foreign)
			}
		})
	}
}

// kindOf says where a hunk is in an outcome: l, a or m, or all of them.
func kindOf(out workspace.Outcome, id string) string {
	got := ""
	for _, list := range []struct {
		kind string
		ids  []string
	}{{"l", out.Landed}, {"a", out.Altered}, {"m", out.Missing}} {
		if slices.Contains(list.ids, id) {
			got += list.kind
		}
	}
	return got
}

func TestUnsureHunksAreThoseWhoseOldLinesHoldAReplacementCharacter(t *testing.T) {
	sure, unsure := agent.NewHunk(0, "a\n", "\ufffd\n"), agent.NewHunk(2, "b\ufffd\n", "b\n")
	if h, found := workspace.Unsure([]agent.Hunk{sure, unsure}); !found || h.ID != unsure.ID {
		t.Errorf("%v, %t", h, found)
	}
	if h, found := workspace.Unsure([]agent.Hunk{sure}); found {
		t.Errorf("%v", h)
	}
	if _, found := workspace.Unsure(nil); found {
		t.Error("of no hunks, one is unsure")
	}
}

// edit is a text of lines that may repeat, and hunks at some of them.
func drawEdit(t *rapid.T, least int) (base string, hunks []agent.Hunk) {
	line := rapid.SampledFrom([]string{"a\n", "b\n", "\n", "}\n", "c\r\n", "dd\n"})
	lines := rapid.SliceOfN(line, least, 20).Draw(t, "lines")
	at, free := 0, true
	for _, l := range lines {
		if free && rapid.IntRange(0, 3).Draw(t, "change") == 0 {
			now := rapid.SampledFrom([]string{"", "new\n", l + "more\n", "x\ny\n", "a\n"}).Draw(t, "to")
			if now != l {
				hunks = append(hunks, agent.NewHunk(at, l, now))
				free = false // two hunks do not touch
			}
		} else {
			free = true
		}
		at += len(l)
		base += l
	}
	return base, hunks
}

func TestEveryHunkIsSomewhereAndTheExtremesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, hunks := drawEdit(t, 0)
		want := agent.Edit{Kind: agent.EditText, Old: base, Hunks: hunks}.New()
		all := len(hunks)
		if out := workspace.Compare(base, hunks, want); len(out.Landed) != all || len(out.Altered)+len(out.Missing) != 0 || out.Foreign != "" {
			t.Fatalf("all are there, and it says %+v", out)
		}
		if out := workspace.Compare(base, hunks, base); want != base && (len(out.Missing) != all || len(out.Landed)+len(out.Altered) != 0 || out.Foreign != "") {
			t.Fatalf("none is there, and it says %+v of %+v in %q", out, hunks, base)
		}
		other := rapid.StringMatching(`[ab}\n]{0,30}`).Draw(t, "other")
		out := workspace.Compare(base, hunks, other)
		for _, h := range hunks {
			if len(kindOf(out, h.ID)) != 1 {
				t.Fatalf("hunk %+v of %q is %q in %q: %+v", h, base, kindOf(out, h.ID), other, out)
			}
		}
	})
}

func TestWhatChangedFarFromTheHunksLeavesThemLanded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		middle, hunks := drawEdit(t, 1)
		const head, tail = "the head\n----------\n", "----------\nthe tail\n"
		for i := range hunks {
			hunks[i].At += len(head)
		}
		base := head + middle + tail
		want := agent.Edit{Kind: agent.EditText, Old: base, Hunks: hunks}.New()
		actual := want
		if rapid.Bool().Draw(t, "before") {
			actual = rapid.SampledFrom([]string{"", "new head\n", "more\nthe head\n"}).Draw(t, "head") + strings.TrimPrefix(actual, "the head\n")
		}
		if rapid.Bool().Draw(t, "after") {
			actual = strings.TrimSuffix(actual, "the tail\n") + rapid.SampledFrom([]string{"", "new tail", "the tail\nmore\n"}).Draw(t, "tail")
		}
		out := workspace.Compare(base, hunks, actual)
		if len(out.Landed) != len(hunks) || len(out.Altered)+len(out.Missing) != 0 {
			t.Fatalf("of %+v in %q, after a change elsewhere: %+v", hunks, actual, out)
		}
		if (out.Foreign != "") != (actual != want) {
			t.Fatalf("foreign is %q", out.Foreign)
		}
	})
}
