package lsp_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"assent/editors/fake"
)

// shownFile is a file of a proposal, as an event or a review shows it.
type shownFile struct {
	fake.ReviewFile
	Conflict json.RawMessage `json:"conflict"` // of a delete of a text that is another one now
}

// given is an answer of the person, and what they had seen.
type given struct {
	proposal string
	answer   fake.Answer
	files    []shownFile // that it is about
	newest   int         // revision that was known; an answer without one may be about a later one
	single   bool        // one change was asked, alone

	name string // of the file that a plain question was about
	said *grant
}

// review is the person who looks at a review, does other things, and answers.
func (w *world) review(_ context.Context, r fake.Review) (fake.Answer, error) {
	w.Reviews++
	w.check()
	w.ask(r)
	for range w.Pick(5) {
		w.act(false)
		if w.Rarely(2) {
			w.pass(100 * time.Millisecond)
		}
	}
	w.check()
	w.about, w.asked = nil, nil
	w.follows(r.ProposalID)
	g := given{proposal: r.ProposalID, files: w.filesOf(r), single: changes(r.Files) == 1}
	known := w.shown[r.ProposalID]
	again := slices.ContainsFunc(w.answers, func(o given) bool { return o.proposal == r.ProposalID })
	if again {
		w.Again++
	}
	revision := r.Revision
	for n := range known {
		g.newest = max(g.newest, n)
	}
	if !again {
		revision = one(w, slices.Sorted(maps.Keys(known))...)
		if w.Rarely(2) {
			revision = g.newest
		}
		g.files = known[revision]
	}
	g.answer = w.answer(g.files)
	if g.answer.Revision = revision; revision == g.newest && w.Rarely(2) {
		g.answer.Revision = 0
	}
	text, _ := json.Marshal(g.answer)
	w.tell("review %s, revision %d: answered with %s", r.ProposalID, r.Revision, text)
	w.answers = append(w.answers, g)
	w.owe(g)
	return g.answer, nil
}

// follows wants a proposal that follows the texts to be for those that there are, after
// the time that it may take.
func (w *world) follows(proposal string) {
	if len(w.shown[proposal]) < 2 || !w.able() || !w.Rarely(3) {
		return
	}
	w.pass(3 * time.Second)
	w.check()
	seen := map[string]bool{}
	for _, f := range w.shown[proposal][len(w.shown[proposal])] {
		name := w.name(f.URI)
		text, _, open := w.Text(w.uri(name))
		disk, err := os.ReadFile(w.path(name))
		if f.Kind == "edit" && !seen[name] && f.OldText != text && f.OldText != string(disk) && (open || err == nil) {
			w.fault("%s is proposed for %q, and has %q in the editor, %q on disk", name, f.OldText, text, disk)
		}
		seen[name] = true
	}
}

// ask notes what a review is about: there the person does most.
func (w *world) ask(r fake.Review) {
	w.about, w.asked = nil, map[string]bool{}
	for _, f := range r.Files {
		w.about = append(w.about, w.name(f.URI))
		for _, h := range f.Hunks {
			maps.Copy(w.asked, set(wordsOf(h.OldText)))
		}
	}
}

// filesOf are the files of a review.
func (w *world) filesOf(r fake.Review) []shownFile {
	var files []shownFile
	for _, f := range r.Files {
		file := shownFile{ReviewFile: f}
		for _, s := range w.shown[r.ProposalID][r.Revision] {
			if s.ToolUseID == f.ToolUseID {
				file.Conflict = s.Conflict
			}
		}
		files = append(files, file)
	}
	return files
}

// changes counts what a review asks.
func changes(files []fake.ReviewFile) (n int) {
	for _, f := range files {
		n += max(len(f.Hunks), 1)
	}
	return n
}

// answer draws one.
func (w *world) answer(files []shownFile) fake.Answer {
	a := fake.Answer{Decision: one(w, "accept", "accept", "partial", "partial", "accept", "reject"), Comment: one(w, "", "good")}
	if a.Decision == "reject" || a.Decision == "accept" && w.Rarely(2) {
		return a
	}
	a.Files, a.Hunks, a.Edited = map[string]string{}, map[string]any{}, map[string]string{}
	whole := w.Rarely(4)
	for _, f := range files {
		_, edited := a.Edited[f.URI]
		switch {
		case len(f.Hunks) == 0 && f.Kind != "create":
			if !edited && w.Rarely(2) && a.Files[f.URI] == "" {
				a.Files[f.URI] = one(w, "accept", "reject")
			}
		case whole:
			if _, decided := a.Files[f.URI]; !decided && a.Edited[f.URI] == "" && sole(files, f) {
				text := one(w, f.NewText, f.NewText, f.OldText)
				a.Edited[f.URI] = w.change(text, "h").of(text)
			}
		default:
			w.answerHunks(a, f)
		}
	}
	return a
}

// sole reports whether a file is there once: else an edited text and a removal might meet.
func sole(files []shownFile, f shownFile) bool {
	others := slices.DeleteFunc(slices.Clone(files), func(o shownFile) bool { return o.URI != f.URI && o.NewURI != f.URI })
	return len(others) == 1
}

func (w *world) answerHunks(a fake.Answer, f shownFile) {
	for _, h := range f.Hunks {
		switch w.Pick(6) {
		case 0, 1:
			a.Hunks[h.ID] = "accept"
		case 2:
			a.Hunks[h.ID] = "reject"
		case 3:
			text := w.change(h.NewText, "h").of(h.NewText)
			a.Hunks[h.ID] = fake.HunkAnswer{Verdict: "accept", NewText: &text}
		}
	}
}

// allow makes grants of all answers. One that names no revision is about the newest,
// which may not have been seen yet.
func (w *world) allow() {
	clear(w.grants)
	for _, g := range w.answers {
		if g.said != nil {
			w.grant(g.name, *g.said)
			continue
		}
		w.allowFiles(g, g.files)
		for revision, files := range w.shown[g.proposal] {
			if g.answer.Revision == 0 && revision > g.newest {
				w.allowFiles(g, files)
			}
		}
	}
}

func (w *world) allowFiles(g given, files []shownFile) {
	taken := map[string]bool{}
	for _, f := range files {
		name := w.name(f.URI)
		text, edited := g.answer.Edited[f.URI]
		switch {
		case g.answer.Decision == "reject":
		case edited && taken[name]:
		case edited:
			taken[name] = true
			// Typing after the answer can keep a part of the text from landing, and a word
			// that it moves then is there twice.
			old, new := wordsOf(f.OldText), wordsOf(text)
			w.grant(name, grant{kind: f.Kind, removed: minus(old, new), added: set(new), part: g.proposal + f.ToolUseID, order: new})
		case len(f.Hunks) > 0:
			w.allowHunks(g, name, f)
		case g.accepts(f):
			said := grant{kind: f.Kind, removed: set(wordsOf(f.OldText)), part: g.proposal + f.ToolUseID}
			if f.Kind == "rename" {
				said.to = w.name(f.NewURI)
			}
			w.grant(name, said)
		}
	}
}

// accepts is the verdict on a file as a whole.
func (g given) accepts(f shownFile) bool {
	if verdict, listed := g.answer.Files[f.URI]; listed {
		return verdict == "accept"
	}
	return g.answer.Decision == "accept" && (g.single || !conflict(f.Conflict))
}

// conflict reads a field of JSON, decoded or not.
func conflict(field any) bool {
	text, err := json.Marshal(field)
	return err == nil && string(text) == "true"
}

// takes is the verdict on a hunk, and the text that is to be there.
func (g given) takes(f shownFile, h fake.Hunk) (text string, yes bool) {
	if g.answer.Decision == "reject" {
		return "", false
	}
	switch v := g.answer.Hunks[h.ID].(type) {
	case string:
		return h.NewText, v == "accept"
	case fake.HunkAnswer:
		return *v.NewText, true
	}
	return h.NewText, g.accepts(f) && (g.single || !conflict(h.Conflict))
}

func (w *world) allowHunks(g given, name string, f shownFile) {
	said := grant{kind: f.Kind, removed: map[string]bool{}, added: map[string]bool{}, part: g.proposal + f.ToolUseID}
	var text strings.Builder
	lines, at := strings.SplitAfter(f.OldText, "\n"), 0
	for _, h := range f.Hunks {
		new, yes := g.takes(f, h)
		if !yes {
			continue
		}
		maps.Copy(said.removed, minus(wordsOf(h.OldText), wordsOf(new)))
		maps.Copy(said.added, minus(wordsOf(new), wordsOf(h.OldText)))
		text.WriteString(strings.Join(lines[at:h.OldStart], "") + new)
		at = h.OldStart + h.OldLines
	}
	if len(said.removed)+len(said.added) == 0 && text.Len() == 0 {
		return
	}
	said.order = wordsOf(text.String() + strings.Join(lines[at:], ""))
	w.grant(name, said)
}

var aboutFile = regexp.MustCompile(`(?:(Edit|Create|Delete|Rename) )?((?:sub/)?[abcd]\.txt)(?: to ((?:sub/)?[abcd]\.txt))?(?:: |, change|\n| \(|$)`)

// message is the person who is asked in plain words. They said yes to the lines that they
// saw, on this page and those before.
func (w *world) message(_ context.Context, r fake.MessageRequest) (string, error) {
	w.Reviews++
	for range w.Pick(3) {
		w.act(false)
	}
	w.check()
	title, body, _ := strings.Cut(r.Message, "\n")
	w.pages = append(w.pages, body)
	answer := one(w, append(slices.Clip(r.Actions), r.Actions[0])...)
	if w.Rarely(12) {
		answer = ""
	}
	w.tell("question %q: answered with %q", r.Message, answer)
	if answer == "Go on" {
		return answer, nil
	}
	if answer == "Apply" {
		w.allowShown(title)
	}
	w.pages = nil
	return answer, nil
}

// allowShown grants what the pages of a question show.
func (w *world) allowShown(title string) {
	about := aboutFile.FindStringSubmatch(title)
	if about == nil {
		w.fault("nobody knows what the question %q is about", title)
		return
	}
	var gone, come []string
	for line := range strings.Lines(strings.Join(w.pages, "\n")) {
		switch line[0] {
		case '-':
			gone = append(gone, wordsOf(line[1:])...)
		case '+':
			come = append(come, wordsOf(line[1:])...)
		}
	}
	// A word that one hunk takes away and another puts elsewhere is in both, since one of
	// them may be asked again and refused.
	said := grant{kind: strings.ToLower(about[1]), removed: set(gone), added: set(come), to: about[3]}
	w.answers = append(w.answers, given{name: about[2], said: &said})
}
