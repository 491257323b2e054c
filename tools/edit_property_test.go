package tools_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assent/tools"
)

// Whatever the texts, an edit gives what replacing the one place by hand gives.
// The text is put together from pieces, and the pieces to be replaced have a
// mark of their own, so what must come out is known without searching.
func TestEditFileReplacesAnyUniqueText(t *testing.T) {
	w := newWorld(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		// Letters, white space, and signs that mean something to patterns, and no
		// CR: the line ends are put in below.
		piece := rapid.StringOfN(rapid.RuneFrom([]rune("ab \t\n$1\\.*{}é“\u2028")), 0, 40, -1)
		unique := rapid.StringOfN(rapid.RuneFrom([]rune("ab \t\n$1é")), 0, 20, -1)
		n := rapid.IntRange(1, 4).Draw(t, "edits")
		var before, after strings.Builder
		var edits []args
		for i := range n {
			between := piece.Draw(t, "between")
			before.WriteString(between)
			after.WriteString(between)
			mark := string(rune('A' + i)) // no piece has capitals
			old := mark + unique.Draw(t, "old") + mark
			new := piece.Draw(t, "new")
			before.WriteString(old)
			after.WriteString(new)
			edits = append(edits, change(old, new))
		}
		end := piece.Draw(t, "end") + "\n"
		text := strings.ReplaceAll(before.String()+end, "\n", eol)
		want := strings.ReplaceAll(after.String()+end, "\n", eol)
		edits = rapid.Permutation(edits).Draw(t, "order")

		file := newFile{w, text}
		e, err := edit(t, tools.EditFile(), file, args{"path": "f.txt", "edits": edits})
		if err != nil {
			t.Fatalf("%q with %v: %v", text, edits, err)
		}
		if got := e.New(); got != want {
			t.Fatalf("%q with %v gives\n%q, want\n%q", text, edits, got, want)
		}
	})
}

// No text and no edit, however far from each other, crash the search for the
// closest place or give an endless error.
func TestEditFileExplainsAnyMismatch(t *testing.T) {
	w := newWorld(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.RuneFrom([]rune("abAB12 \t\n\r|:“\u00a0é"))
		text := rapid.StringOfN(alphabet, 0, 200, -1).Draw(t, "text")
		edits := []args{change(rapid.StringOfN(alphabet, 1, 60, -1).Draw(t, "old"), "new text")}
		plan, err := tools.EditFile().Plan(t.Context(), newFile{w, text}, args{"path": "f.txt", "edits": edits}.json(t))
		switch {
		case err == nil && len(plan.Effects) == 0:
			t.Fatalf("no effect for %v in %q", edits, text)
		case err != nil && len(err.Error()) > 4000:
			t.Fatalf("the error has %d bytes", len(err.Error()))
		}
	})
}
