package lsp_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// account is the reference of [TestRandomEdits]: what each file has to hold. It knows no
// hunks, versions or positions and compares no texts line by line. Each word of a world is
// unique, so it is enough to know which words there are and in which order, which of them
// the person removed, and which an edit removes or adds that the person said yes to, as it
// was shown to them.
type account struct {
	formats bool // the editor writes the disk when it makes an edit
	files   map[string]content
	grants  map[string][]grant // by file; until the model is asked again
}

// content is what there is of a file.
type content struct {
	open, there  bool // in the editor, on disk
	buffer, disk []string
	unsaved      bool
}

// grant is what the person said yes to.
type grant struct {
	kind           string
	removed, added map[string]bool
	part           string   // call of a proposal that it is for
	order          []string // of the words of the whole text then, if it was shown
	to             string   // of a rename
}

// wordsOf are the words of a text, without those that may be there often.
func wordsOf(text string) []string {
	return slices.DeleteFunc(strings.Fields(text), func(word string) bool { return word == noise })
}

const noise = "}"

func set(words []string) map[string]bool {
	all := map[string]bool{}
	for _, word := range words {
		all[word] = true
	}
	return all
}

// minus are the words that are in a, or more often there than in b.
func minus(a, b []string) map[string]bool {
	all, inA, inB := map[string]bool{}, count(a), count(b)
	for word := range inA {
		if inA[word] > inB[word] {
			all[word] = true
		}
	}
	return all
}

// settle takes what there is now as what has to be there, and says what of it should not
// be so.
func (a *account) settle(now map[string]content) (faults []string) {
	for name := range now {
		for _, fault := range a.compare(name, now) {
			faults = append(faults, name+": "+fault)
		}
	}
	a.files = now
	return faults
}

func (a *account) compare(name string, now map[string]content) []string {
	was, is := a.files[name], now[name]
	grants := a.grants[name]
	if from, moved := a.movedFrom(name, now); moved {
		// What was in the other file is to be here, as far as it is not there any more.
		grants = append(slices.Clip(grants), a.grants[from]...)
		old := a.files[from]
		if old.there && !now[from].there {
			was.disk, was.there = old.disk, old.there
		}
		if old.open && !now[from].open {
			was.buffer, was.open = old.buffer, old.open
		}
	}
	movedAway := slices.ContainsFunc(grants, func(g grant) bool { return g.kind == "rename" && g.to != name && now[g.to].there })
	var faults []string
	if !(movedAway && !is.open) {
		for _, fault := range compareTexts(a.bufferBefore(was, is), is.buffer, was.open, is.open, grants) {
			faults = append(faults, "in the editor "+fault)
		}
	}
	if a.formats && is.open && is.there && slices.Equal(is.disk, is.buffer) || movedAway && !is.there {
		return faults
	}
	onDisk := compareTexts(was.disk, is.disk, was.there, is.there, grants)
	if a.formats && was.open && was.there && !is.there && len(onDisk) > 0 { // it may have been saved before it was removed
		onDisk = compareTexts(was.buffer, nil, true, false, grants)
	}
	for _, fault := range onDisk {
		faults = append(faults, "on disk "+fault)
	}
	if was.open && was.unsaved && !slices.Equal(was.buffer, was.disk) && is.there && !slices.Equal(was.disk, is.disk) {
		faults = append(faults, "the disk was written behind unsaved changes")
	}
	return faults
}

// bufferBefore is what the buffer was made of: one that was not open is loaded.
func (a *account) bufferBefore(was, is content) []string {
	if !was.open && is.open {
		return was.disk
	}
	return was.buffer
}

// movedFrom is the file that a granted rename moved to a name.
func (a *account) movedFrom(name string, now map[string]content) (string, bool) {
	for from, grants := range a.grants {
		for _, g := range grants {
			if g.kind == "rename" && g.to == name && a.files[from].there && !now[from].there && !a.files[name].there {
				return from, true
			}
		}
	}
	return "", false
}

// compareTexts says what is wrong with the words that there are now.
func compareTexts(was, is []string, before, after bool, grants []grant) (faults []string) {
	had, new := count(was), set(is)
	granted := func(word string, in func(grant) map[string]bool) bool {
		return slices.ContainsFunc(grants, func(g grant) bool { return in(g)[word] })
	}
	for _, word := range was {
		if !new[word] && !granted(word, func(g grant) map[string]bool { return g.removed }) {
			faults = append(faults, "nobody agreed to lose "+word)
		}
	}
	for word, times := range count(is) {
		if times > had[word] && !granted(word, func(g grant) map[string]bool { return g.added }) {
			faults = append(faults, "nobody accepted or wrote "+word)
		}
	}
	switch {
	case before && !after && !slices.ContainsFunc(grants, func(g grant) bool { return g.kind == "delete" || g.kind == "rename" }):
		faults = append(faults, "it is gone")
	case !before && after && len(grants) == 0:
		faults = append(faults, "it was made")
	}
	if !sameOrder(was, is) {
		faults = append(faults, fmt.Sprintf("%q is in another order: %q", was, is))
	}
	for _, g := range grants {
		// One that was asked again has been shown with several texts.
		asShown := func(o grant) bool { return o.part == g.part && (o.order == nil || sameOrder(o.order, is)) }
		if !slices.ContainsFunc(grants, asShown) {
			faults = append(faults, fmt.Sprintf("what was shown as %q landed as %q", g.order, is))
		}
	}
	return faults
}

// sameOrder reports whether the words that two texts share, once each, have the same order
// in both.
func sameOrder(a, b []string) bool {
	inA, inB := count(a), count(b)
	other := func(word string) bool { return inA[word] != 1 || inB[word] != 1 }
	return slices.Equal(slices.DeleteFunc(slices.Clone(a), other), slices.DeleteFunc(slices.Clone(b), other))
}

// count says how often each word is there: twice, if of a line that is removed and added
// again with a change only the second half was accepted.
func count(words []string) map[string]int {
	times := map[string]int{}
	for _, word := range words {
		times[word]++
	}
	return times
}

// grant notes a yes.
func (a *account) grant(name string, g grant) { a.grants[name] = append(a.grants[name], g) }

// acted notes what the person made of a file.
func (a *account) acted(name string, now content) {
	a.files = maps.Clone(a.files)
	a.files[name] = now
}
