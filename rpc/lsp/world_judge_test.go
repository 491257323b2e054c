package lsp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"assent/agent"
	"assent/editors/fake"
)

// debt is a hunk that was accepted and has to land, as long as the person does not come
// near it.
type debt struct {
	name                 string
	removed, added, near map[string]bool
}

// able reports whether the editor does what it is asked and says so.
func (w *world) able() bool {
	o := w.options
	return (o.Apply == fake.Honest || o.Apply == fake.FormatsOnSave || o.Apply == fake.AnyVersion) && o.Changes != fake.Never
}

// owe notes what has to land by an answer, and that what lies beside a hunk that is refused,
// or has another text by the person, may not.
func (w *world) owe(g given) {
	for _, f := range g.files {
		name := w.name(f.URI)
		lines := strings.SplitAfter(f.OldText, "\n")
		for _, h := range f.Hunks {
			near := lines[max(h.OldStart-1, 0):min(h.OldStart+h.OldLines+1, len(lines))]
			text, yes := g.takes(f, h)
			_, edited := g.answer.Edited[f.URI]
			if edited {
				w.touchAll(name)
			}
			if !yes || edited || text != h.NewText {
				w.touchWords(name, wordsOf(strings.Join(near, "")+h.NewText))
				delete(w.owed, h.ID)
				continue
			}
			if w.able() && f.Kind == "edit" && !conflict(h.Conflict) && w.clear(near) {
				w.owed[h.ID] = debt{name, gone(f, h, h.NewText), minus(wordsOf(h.NewText), wordsOf(h.OldText)), set(wordsOf(strings.Join(near, "")))}
			}
		}
	}
}

// gone are the words that are not in a file any more when a hunk is another text.
func gone(f shownFile, h fake.Hunk, text string) map[string]bool {
	words, all := minus(wordsOf(h.OldText), wordsOf(text)), count(wordsOf(f.OldText))
	maps.DeleteFunc(words, func(word string, _ bool) bool { return all[word] > 1 })
	return words
}

// clear reports whether lines can be told from all others, and no formatter changes them.
func (w *world) clear(lines []string) bool {
	for _, line := range lines {
		body := strings.TrimRight(line, "\r\n")
		if line != "" && len(wordsOf(line)) == 0 || w.formats && (strings.TrimRight(body, " \t") != body || body == line && line != "") {
			return false
		}
	}
	return true
}

// pay looks which of the hunks that had to land did.
func (w *world) pay() {
	for id, d := range w.owed {
		is := w.files[d.name]
		if w.near(d.name, d.near) || w.removes(d.name) || w.options.NoApplyEdit && is.unsaved {
			continue
		}
		w.Owed++
		w.lessOthers(d.name, d.added, d.removed)
		if holds(is.buffer, d.added, d.removed) || holds(is.disk, d.added, d.removed) {
			w.Landed++
		} else {
			w.tell("the hunk %s did not land: %v %v", id, d, is)
		}
	}
}

// removes reports whether the person said yes to a file being gone.
func (w *world) removes(name string) bool {
	return slices.ContainsFunc(w.grants[name], func(g grant) bool { return g.kind == "delete" || g.kind == "rename" })
}

// lessOthers leaves out of what a hunk adds and removes what another one, of a later call,
// removes or adds again.
func (w *world) lessOthers(name string, added, removed map[string]bool) {
	for _, g := range w.grants[name] {
		maps.DeleteFunc(added, func(word string, _ bool) bool { return g.removed[word] })
		maps.DeleteFunc(removed, func(word string, _ bool) bool { return g.added[word] })
	}
}

// holds reports whether a text has all of some words, and none of others.
func holds(text []string, all, none map[string]bool) bool {
	there := set(text)
	for word := range all {
		if !there[word] {
			return false
		}
	}
	for word := range none {
		if there[word] {
			return false
		}
	}
	return true
}

// heardOf is what the client heard of a reply of the model.
type heardOf struct {
	landed  []landed
	results map[string]string // by call
}

type landed struct {
	at         int // in the log
	ToolUseID  string
	ProposalID string
	Files      []struct {
		URI, NewURI, Status, Where, Hash string
		Hunks                            []string
	}
}

// hear takes the events that came.
func (w *world) hear() {
	log := w.Log()
	for n := w.heard; n < len(log); n++ {
		if e := log[n]; e.FromServer && !e.Response && e.Method == "assent/event" {
			w.hearEvent(n, e.Raw)
		}
	}
	w.heard = len(log)
}

func (w *world) hearEvent(at int, raw []byte) {
	var message struct {
		Params struct{ Event json.RawMessage }
	}
	var event struct {
		Type, ProposalID, ToolUseID, Output string
		Revision                            int
	}
	w.must(json.Unmarshal(raw, &message))
	w.must(json.Unmarshal(message.Params.Event, &event))
	switch event.Type {
	case "proposed":
		var p struct{ Files []shownFile }
		w.must(json.Unmarshal(message.Params.Event, &p))
		w.hearProposal(event.ProposalID, event.Revision, p.Files)
	case "landed":
		l := landed{at: at}
		w.must(json.Unmarshal(message.Params.Event, &l))
		w.outcome.landed = append(w.outcome.landed, l)
		w.tell("landed: %s", message.Params.Event)
	case "tool_result":
		if w.outcome.results == nil {
			w.outcome.results = map[string]string{}
		}
		w.outcome.results[event.ToolUseID] = event.Output
		w.tell("%s: %q", event.ToolUseID, event.Output)
	}
}

// hearProposal holds a proposal to itself: its hunks are those lines of the text, and a
// hunk that keeps its ID keeps its texts.
func (w *world) hearProposal(id string, revision int, files []shownFile) {
	if w.shown[id] == nil {
		w.shown[id] = map[int][]shownFile{}
	}
	if len(w.shown[id]) != revision-1 {
		w.fault("%s has %d revisions, and then comes %d", id, len(w.shown[id]), revision)
	}
	for _, f := range files {
		lines, at, text := strings.SplitAfter(f.OldText, "\n"), 0, ""
		for _, h := range f.Hunks {
			end := h.OldStart + h.OldLines
			if h.OldStart < at || end > len(lines) || strings.Join(lines[h.OldStart:end], "") != h.OldText {
				w.fault("the hunk %+v of %s is not in %q", h, id, f.OldText)
				return
			}
			text += strings.Join(lines[at:h.OldStart], "") + h.NewText
			at = end
			w.sameAsBefore(id, h)
		}
		if text += strings.Join(lines[at:], ""); text != f.NewText && f.Kind != "delete" {
			w.fault("the hunks of %s lead to %q, not to %q", id, text, f.NewText)
		}
	}
	w.tell("proposed: %s, revision %d: %s", id, revision, hunksOf(files))
	w.shown[id][revision] = files
	if revision > 1 {
		w.Revisions++
	}
	for _, f := range files {
		for _, h := range f.Hunks {
			if conflict(h.Conflict) {
				w.Conflicts++
			}
		}
	}
}

func hunksOf(files []shownFile) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s %s", f.Kind, f.Title)
		for _, h := range f.Hunks {
			fmt.Fprintf(&b, " [%s at %d: %q → %q %t]", h.ID, h.OldStart, h.OldText, h.NewText, conflict(h.Conflict))
		}
		b.WriteString("; ")
	}
	return b.String()
}

func (w *world) sameAsBefore(proposal string, h fake.Hunk) {
	for _, files := range w.shown[proposal] {
		for _, f := range files {
			for _, o := range f.Hunks {
				if o.ID == h.ID && (o.OldText != h.OldText || o.NewText != h.NewText) {
					w.fault("the hunk %s was %+v and is %+v", h.ID, o, h)
				}
			}
		}
	}
}

// judge holds what the model was told to what there is.
func (w *world) judge() {
	w.pay()
	for n, l := range w.outcome.landed {
		for _, f := range l.Files {
			name := w.name(f.URI)
			if w.last[name] > l.at || w.removes(name) && len(f.Hunks) > 0 {
				continue // the person came after, or the next call
			}
			later := slices.ContainsFunc(w.outcome.landed[n+1:], func(o landed) bool { return len(o.Files) > 0 && o.Files[0].URI == f.URI })
			if !later && f.Hash != "" && f.Status != "unconfirmed" && w.options.Changes != fake.Never {
				where, at := f.Where, f.URI
				switch {
				case f.Status == "failed":
					where = "" // either
				case f.NewURI != "":
					where, at = "", f.NewURI
				}
				w.judgeHash(w.name(at), where, f.Hash)
			}
			w.judgeHunks(name, l, f.Status, f.Where, f.Hunks)
		}
		if result, ok := w.outcome.results[l.ToolUseID]; ok && len(l.Files) == 1 {
			w.judgeResult(result, len(l.Files[0].Hunks))
		}
	}
	w.outcome = heardOf{}
}

// judgeHash wants a file to have the hash in the editor or on disk, or in either.
func (w *world) judgeHash(name, where, hash string) {
	buffer, _, open := w.Text(w.uri(name))
	disk, err := os.ReadFile(w.path(name))
	inBuffer := where != "disk" && open && agent.HashText(buffer).String() == hash
	onDisk := where != "buffer" && err == nil && agent.HashText(string(disk)).String() == hash
	if (open || err == nil) && !inBuffer && !onDisk {
		w.fault("%s is said to have the hash %s (%s), and has %q in the editor, %q on disk", name, hash, where, buffer, disk)
	}
}

// judgeHunks wants all hunks that are said to have landed there, and none of those that
// failed.
func (w *world) judgeHunks(name string, l landed, status, where string, ids []string) {
	is := w.files[name]
	text := is.buffer
	if where == "disk" {
		text = is.disk
	}
	for n, g := range w.answers {
		for _, f := range g.files {
			for _, h := range f.Hunks {
				new, yes := g.takes(f, h)
				if !yes || f.ToolUseID != l.ToolUseID || len(g.answer.Edited) > 0 || saidAnew(w.answers[n+1:], f, h) {
					continue
				}
				added, removed := minus(wordsOf(new), wordsOf(h.OldText)), gone(f, h, new)
				w.lessOthers(name, added, removed)
				switch there := holds(text, added, removed); {
				case slices.Contains(ids, h.ID) && !there:
					w.fault("%s: the hunk %s is said to have landed in the %s, which has %q", name, h.ID, where, text)
				case status == "failed" && w.anyNew(is, added):
					w.fault("%s: the hunk %s is said to have failed, and it landed: %q", name, h.ID, text)
				}
			}
		}
	}
}

// saidAnew reports whether the person was asked about a hunk again, and so spoke of it
// anew, or wrote all of the text.
func saidAnew(later []given, f shownFile, h fake.Hunk) bool {
	return slices.ContainsFunc(later, func(g given) bool {
		return slices.ContainsFunc(g.files, func(o shownFile) bool {
			return o.ToolUseID == f.ToolUseID && (len(g.answer.Edited) > 0 || slices.ContainsFunc(o.Hunks, func(k fake.Hunk) bool { return k.ID == h.ID }))
		})
	})
}

// near reports whether the person was near some words. Where they write lines anew that are
// only to be removed, it is open what became of them.
func (w *world) near(name string, words map[string]bool) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(words)), func(word string) bool { return w.touched[name][word] })
}

// anyNew reports whether a file has one of some words that was nowhere when the model spoke.
func (w *world) anyNew(is content, words map[string]bool) bool {
	return slices.ContainsFunc(slices.Concat(is.buffer, is.disk), func(word string) bool { return words[word] && !w.spoken[word] })
}

var headline = regexp.MustCompile(`^\S+ (?:was not )?edited: (\d+) of \d+ hunks landed`)

func (w *world) judgeResult(result string, hunks int) {
	if m := headline.FindStringSubmatch(result); m != nil && m[1] != fmt.Sprint(hunks) {
		w.fault("%d hunks landed, and the model was told %q", hunks, result)
	}
}
