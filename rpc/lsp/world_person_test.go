package lsp_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"assent/editors/fake"
)

// word is a new one. Its kind is h for the person's, a for the model's, o for what was
// there; none is part of another.
func (w *world) word(kind string) string {
	w.words++
	return fmt.Sprintf("%s%d;%s", kind, w.words, one(w, "", "", "", "😀", "é", "e\u0301", "漢"))
}

// newText is one that was there before: with line ends of its own, lines that repeat,
// blanks at line ends, indentation, and perhaps no last line end.
func (w *world) newText() string {
	eol := one(w, "\n", "\n", "\r\n")
	var b strings.Builder
	for range 4 + w.Pick(12) {
		b.WriteString(w.line("o") + eol)
	}
	if w.Rarely(6) {
		return strings.TrimSuffix(b.String(), eol)
	}
	return b.String()
}

func (w *world) line(kind string) string {
	if w.Rarely(6) {
		return one(w, "", noise)
	}
	line := one(w, "", "", "\t") + w.word(kind)
	for range w.Pick(3) {
		line += " " + w.word(kind)
	}
	if kind == "o" && w.Rarely(8) {
		line += " "
	}
	return line
}

// typing is what someone does to a text: they put another one in place of a part of it.
type typing struct {
	from, to int
	text     string
}

func (c typing) of(text string) string { return text[:c.from] + c.text + text[c.to:] }

// change draws one that keeps words whole.
func (w *world) change(text, kind string) typing {
	eol := "\n"
	if strings.Contains(text, "\r\n") {
		eol = "\r\n"
	}
	lines := strings.SplitAfter(text, "\n")
	words := wordsOf(text)
	if len(words) == 0 {
		return typing{len(text), len(text), eol + w.line(kind) + eol}
	}
	word := words[w.Pick(len(words))]
	if near := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !w.asked[word] }); len(near) > 0 && kind == "h" && !w.Rarely(3) {
		word = near[w.Pick(len(near))]
	}
	at := strings.Index(text, word)
	line := min(strings.Count(text[:at], "\n")+w.Pick(2), len(lines)-1)
	start := len(strings.Join(lines[:line], ""))
	switch w.Pick(8) {
	case 0:
		return typing{at + len(word), at + len(word), " " + w.word(kind)}
	case 1:
		return typing{at, at, w.word(kind) + " "}
	case 2:
		return typing{at, at + len(word), w.word(kind)}
	case 3:
		return typing{at, at + len(word), ""}
	case 4:
		last := min(line+1+w.Pick(2), len(lines))
		return typing{start, len(strings.Join(lines[:last], "")), ""}
	case 5:
		return typing{at, at, eol}
	}
	var added strings.Builder
	for range 1 + w.Pick(2) {
		added.WriteString(w.line(kind) + eol)
	}
	return typing{start, start, added.String()}
}

// act is one thing that the person does. In a race they only type in what is open: of what
// is not, the edit has no version.
func (w *world) act(race bool) {
	w.steps--
	w.Steps++
	w.check()
	if len(w.faults) > 0 {
		return
	}
	name := one(w, names...)
	if len(w.about) > 0 && !w.Rarely(3) {
		name = one(w, w.about...)
	}
	is := w.files[name]
	switch kind := w.Pick(14); {
	case is.open && (kind < 7 || race):
		w.edit(name)
	case race:
		return
	case !is.open && is.there && kind < 4:
		w.tell("open %s", name)
		w.must(w.OpenFile(w.path(name)))
	case !is.open && kind < 8:
		w.editDisk(name)
	case is.open && kind == 7:
		w.save(name)
	case is.open && kind == 8:
		w.tell("close %s", name)
		if is.unsaved {
			w.touchAll(name)
		}
		w.must(w.CloseFile(w.uri(name)))
	case is.open && kind == 9:
		w.format(name)
	case is.open && kind == 10 && len(w.undo[name]) > 0:
		last := len(w.undo[name]) - 1
		w.tell("undo in %s", name)
		w.touchAll(name)
		w.retype(name, w.undo[name][last])
		w.undo[name] = w.undo[name][:last]
	default:
		w.tell("wait")
		w.pass(200 * time.Millisecond)
		return
	}
	w.acted(name, w.look()[name])
	w.last[name] = len(w.Log())
}

// edit types in an open buffer.
func (w *world) edit(name string) {
	text, _, _ := w.Text(w.uri(name))
	c := w.change(text, "h")
	w.tell("in %s, %q becomes %q, of %q", name, text[c.from:c.to], c.text, text)
	w.touch(name, text, c)
	w.undo[name] = append(w.undo[name], text)
	w.replace(name, text, c)
}

// editDisk changes a file that is not open, or makes one.
func (w *world) editDisk(name string) {
	data, err := os.ReadFile(w.path(name))
	text := string(data)
	c := typing{text: w.line("h") + "\n"}
	switch {
	case err == nil:
		c = w.change(text, "h")
	case !w.Rarely(4):
		return
	}
	w.tell("on disk, in %s, %q becomes %q, of %q", name, text[c.from:c.to], c.text, text)
	w.touch(name, text, c)
	w.must(os.WriteFile(w.path(name), []byte(c.of(text)), 0o600))
}

func (w *world) replace(name, text string, c typing) {
	at := func(offset int) fake.Position { return w.Encoding().Position(text, offset) }
	w.must(w.Type(w.uri(name), fake.Range{Start: at(c.from), End: at(c.to)}, c.text))
	w.flush(name)
}

func (w *world) retype(name, text string) {
	now, _, _ := w.Text(w.uri(name))
	w.replace(name, now, typing{0, len(now), text})
}

// flush tells the server what the person did, in an editor that else tells nothing: it is
// not to know of what was made at its own wish.
func (w *world) flush(name string) {
	if w.options.Changes == fake.Never {
		w.must(w.Flush(w.uri(name)))
	}
}

// versioned reports whether the editor refuses an edit of an older text.
func (w *world) versioned() bool {
	return !w.options.NoDocumentChanges && w.options.Apply != fake.AnyVersion
}

func (w *world) save(name string) {
	w.tell("save %s", name)
	w.must(w.Save(w.uri(name)))
	w.flush(name)
}

// format indents lines anew, and takes blanks from their ends.
func (w *world) format(name string) {
	text, _, _ := w.Text(w.uri(name))
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\r\n")
		b.WriteString(one(w, "", "", "\t") + strings.Trim(body, " \t") + line[len(body):])
	}
	w.tell("format %s to %q", name, b.String())
	w.touchAll(name)
	w.undo[name] = append(w.undo[name], text)
	w.retype(name, b.String())
}

// touch notes the words in the lines of a change, and in those beside them.
func (w *world) touch(name, text string, c typing) {
	from := strings.LastIndexByte(text[:max(strings.LastIndexByte(text[:c.from], '\n'), 0)], '\n') + 1
	to := c.to
	for range 2 {
		if next := strings.IndexByte(text[to:], '\n'); next >= 0 {
			to += next + 1
		} else {
			to = len(text)
		}
	}
	w.touchWords(name, wordsOf(text[from:to]))
}

func (w *world) touchWords(name string, words []string) {
	if w.touched[name] == nil {
		w.touched[name] = map[string]bool{}
	}
	for _, word := range words {
		w.touched[name][word] = true
	}
}

func (w *world) touchAll(name string) {
	w.touchWords(name, slices.Concat(w.files[name].buffer, w.files[name].disk))
}

// beforeApply is called when the server has sent an edit and the editor has not made it.
// That of a delete has no version, for which LSP has no place, nor has that of a file that
// the server does not know to be open.
func (w *world) beforeApply(uri string) {
	if !w.versioned() || w.options.Changes == fake.Never || w.steps <= 0 || len(w.faults) > 0 || !w.Rarely(3) {
		return
	}
	if w.check(); w.removes(w.name(uri)) {
		return
	}
	w.tell("an edit comes in")
	w.act(true)
}
