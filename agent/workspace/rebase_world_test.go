package workspace_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assent/agent"
	"assent/agent/workspace"
)

// TestRandomRebase lets an agent and a person change the same text at random, and holds
// Rebase to an account of which line is which that needs no diff: the lines of the person
// know where they came from. Words are unique: o of the old text, h of the person, a of the
// agent. So what is lost, or lands at another place, shows.
//
// -rapid.checks=N sets the number of texts.
func TestRandomRebase(t *testing.T) {
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		_ = checks.Value.Set("5000") // it is a number
		defer func() { _ = checks.Value.Set(checks.DefValue) }()
	}
	untouched, moved := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := newDraft(t)
		got, conflicts := w.rebased()
		if len(got)+len(conflicts) != len(w.hunks) {
			t.Fatalf("promise broken: %d hunks moved and %d are conflicts, of %d", len(got), len(conflicts), len(w.hunks))
		}
		w.checkPlaces(got)
		w.checkWords(got)
		w.checkConflicts(got)
		for n := range w.hunks {
			if w.apart(n) {
				untouched++
				if _, ok := w.find(got, n); ok {
					moved++
				}
			}
		}
	})
	t.Logf("%d of %d hunks that the person came nowhere near were moved", moved, untouched)
	if moved*10 < untouched*9 {
		t.Errorf("promise broken: %d of %d hunks that the person came nowhere near were moved", moved, untouched)
	}
}

// draft is a text, the hunks that an agent has for it, and what a person made of it.
type draft struct {
	t       *rapid.T
	repeats bool // some lines are not unique
	single  bool // the person only adds or removes one line
	old     []string
	hunks   []lineHunk
	now     []line
	words   int
}

// line is one of the person's text, and where it was in the old one, -1 for a new one.
type line struct {
	text string
	from int
}

// lineHunk replaces the old lines from, until to.
type lineHunk struct {
	from, to int
	agent.Hunk
}

func newDraft(t *rapid.T) *draft {
	w := &draft{t: t, repeats: rapid.Bool().Draw(t, "repeats")}
	for range w.draw(12, "lines") {
		w.old = append(w.old, w.line("o"))
	}
	w.plan()
	for n, text := range w.old {
		w.now = append(w.now, line{text, n})
	}
	if w.single = rapid.Bool().Draw(t, "single"); w.single {
		adds := w.draw(1, "added")
		w.change(1-adds, adds)
		return w
	}
	for range w.draw(4, "changes") {
		w.change(w.draw(2, "removed"), w.draw(2, "added"))
	}
	return w
}

func (w *draft) draw(most int, what string) int { return rapid.IntRange(0, most).Draw(w.t, what) }

// line is a new one, and where lines repeat it may be one of those.
func (w *draft) line(kind string) string {
	if w.repeats && w.draw(2, "unique") == 2 {
		return rapid.SampledFrom([]string{"\n", "}\n"}).Draw(w.t, "repeated")
	}
	w.words++
	return fmt.Sprintf("%s%d\n", kind, w.words)
}

func (w *draft) lines(kind string, n int) (all []string) {
	for range n {
		all = append(all, w.line(kind))
	}
	return all
}

// plan draws hunks that are at least a line apart.
func (w *draft) plan() {
	at := 0
	for from := w.draw(3, "gap"); from <= len(w.old); from += 1 + w.draw(4, "gap") {
		to := min(from+w.draw(3, "old lines"), len(w.old))
		old, new := strings.Join(w.old[from:to], ""), strings.Join(w.lines("a", w.draw(2, "new lines")), "")
		if old == new {
			continue
		}
		at = len(strings.Join(w.old[:from], ""))
		w.hunks = append(w.hunks, lineHunk{from, to, agent.NewHunk(at, old, new)})
		from = to
	}
}

func (w *draft) edit() agent.Edit {
	e := agent.Edit{Path: "/x", Kind: agent.EditText, Old: strings.Join(w.old, "")}
	e.Base = agent.HashText(e.Old)
	for _, h := range w.hunks {
		e.Hunks = append(e.Hunks, h.Hunk)
	}
	return e
}

// change is one of the person: lines are added, removed, or written anew.
func (w *draft) change(removes, adds int) {
	at := w.draw(len(w.now), "place")
	end := min(at+removes, len(w.now))
	var added []line
	for _, text := range w.lines("h", adds) {
		added = append(added, line{text, -1})
	}
	w.now = slices.Replace(w.now, at, end, added...)
}

func (w *draft) current() string { return textOf(w.now) }

func textOf(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
	}
	return b.String()
}

func (w *draft) rebased() (moved, conflicts []agent.Hunk) {
	defer func() {
		if r := recover(); r != nil {
			w.t.Fatalf("promise broken: %v; from %q to %q", r, w.old, w.current())
		}
	}()
	return workspace.Rebase(w.edit(), w.current())
}

func (w *draft) find(moved []agent.Hunk, n int) (agent.Hunk, bool) {
	i := slices.IndexFunc(moved, func(h agent.Hunk) bool { return h.ID == w.hunks[n].ID })
	if i < 0 {
		return agent.Hunk{}, false
	}
	return moved[i], true
}

// checkPlaces wants each moved hunk to quote what is there, between the same words as
// before, as far as they are left. A hunk that no word marks is where lines are that look
// like its own: a person who moves a word past such a line, and one who moves the line,
// make the same text.
func (w *draft) checkPlaces(moved []agent.Hunk) {
	current := w.current()
	for n, h := range w.hunks {
		m, ok := w.find(moved, n)
		if !ok {
			continue
		}
		if m.Old != h.Old || m.New != h.New || m.At < 0 || !strings.HasPrefix(current[min(m.At, len(current)):], m.Old) {
			w.t.Fatalf("promise broken: the hunk %+v became %+v in %q", h.Hunk, m, current)
		}
		if !w.marked(h) {
			continue
		}
		above, below := strings.Fields(current[:m.At]), strings.Fields(current[m.At+len(m.Old):])
		for o, text := range w.old {
			word := strings.TrimSpace(text)
			wrong := o < h.from && slices.Contains(below, word) || o >= h.to && slices.Contains(above, word)
			if wrong && strings.HasPrefix(word, "o") {
				w.t.Fatalf("promise broken: %+v landed on the other side of %s; from %q to %q", m, word, w.old, current)
			}
		}
	}
	checkApart(w.t, current, moved)
}

// marked reports whether a hunk has an old word, or adds lines beside one.
func (w *draft) marked(h lineHunk) bool {
	from, to := h.from, h.to
	if from == to {
		from, to = max(from-1, 0), min(to+1, len(w.old))
	}
	return strings.Contains(strings.Join(w.old[from:to], ""), "o")
}

func checkApart(t *rapid.T, current string, moved []agent.Hunk) {
	e := agent.Edit{Path: "/x", Kind: agent.EditText, Base: agent.HashText(current), Old: current, Hunks: moved}
	if err := e.Check(); err != nil && len(moved) > 0 {
		t.Fatalf("promise broken: %v: %+v in %q", err, moved, current)
	}
}

// checkWords wants all words of the person in the result, in their order, and of the old
// ones all but those that a moved hunk shows as gone.
func (w *draft) checkWords(moved []agent.Hunk) {
	var want []string
	gone := map[string]bool{}
	for _, h := range moved {
		for _, word := range strings.Fields(h.Old) {
			gone[word] = true
		}
	}
	for _, word := range strings.Fields(w.current()) {
		if word != "}" && !gone[word] {
			want = append(want, word)
		}
	}
	result := agent.Edit{Old: w.current(), Hunks: moved}.New()
	kept := slices.DeleteFunc(strings.Fields(result), func(word string) bool { return word == "}" || word[0] == 'a' })
	if !slices.Equal(kept, want) {
		w.t.Fatalf("promise broken: %q became %q by %+v", w.current(), result, moved)
	}
}

// checkConflicts wants a conflict where the person touched a hunk, and nowhere else. Lines
// that repeat leave open what the person did; there it wants one for each change that is
// so small that all who compare the texts find the same.
func (w *draft) checkConflicts(moved []agent.Hunk) {
	if w.repeats && !w.single {
		return
	}
	for n, h := range w.hunks {
		_, ok := w.find(moved, n)
		touched := slices.ContainsFunc(w.gaps(), func(g gap) bool { return g.touches(h.from, h.to) })
		if ok && touched || !ok && !touched && !w.repeats {
			w.t.Fatalf("promise broken: the hunk %+v was moved: %t, touched: %t; from %q to %q", h.Hunk, ok, touched, w.old, w.current())
		}
	}
}

// gap is a place where the person put other lines in that of the old lines from, until to.
type gap struct{ from, to int }

func (w *draft) gaps() (all []gap) {
	next, added := 0, false
	for _, l := range append(slices.Clip(w.now), line{"", len(w.old)}) {
		if l.from < 0 {
			added = true
			continue
		}
		if added || l.from > next {
			all = append(all, gap{next, l.from})
		}
		next, added = l.from+1, false
	}
	return all
}

// touches is as in the comment on Rebase: they overlap, or one adds at an end of the other.
func (g gap) touches(from, to int) bool {
	if g.from == g.to || from == to {
		return g.from <= to && from <= g.to
	}
	return g.from < to && from < g.to
}

// apart reports whether the person changed nothing between the unique lines around a hunk.
func (w *draft) apart(n int) bool {
	h := w.hunks[n]
	from, to := h.from-1, h.to
	for from > 0 && !strings.HasPrefix(w.old[from], "o") {
		from--
	}
	for to < len(w.old) && !strings.HasPrefix(w.old[to], "o") {
		to++
	}
	return !slices.ContainsFunc(w.gaps(), func(g gap) bool { return g.touches(max(from, 0), min(to+1, len(w.old))) })
}
