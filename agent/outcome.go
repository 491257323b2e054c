package agent

import (
	"fmt"
	"slices"
	"strings"
)

// The texts in this file are what the model is told, so they say what landed and
// nothing else (invariant 5), the most important first.

// denied reports whether something of the part was refused. A text that the
// person put in the place of the model's is no refusal.
func (a answer) denied() bool {
	if a.part.moot() {
		return false
	}
	if _, isEdit := a.part.Effect.(Edit); !isEdit || a.whole() {
		return len(a.verdict.ok.effects) == 0
	}
	return len(a.verdict.refused) > 0
}

// whole reports whether the part can only be accepted or refused as a whole.
func (a answer) whole() bool {
	e, _ := a.part.Effect.(Edit)
	return len(e.Hunks) == 0
}

func refusalText(c *call) string {
	var said []string
	for _, a := range c.answers {
		if !a.verdict.ok.Covers(a.part.Effect) {
			said = append(said, fmt.Sprintf("%s: not done, %s.", a.part.Title(), a.refusedBy()), a.words())
		}
	}
	return joinLines(said)
}

func (a answer) refusedBy() string {
	switch a.by {
	case ByRule, ByMode:
		return "refused by a " + string(a.by) + " of the person"
	case ByHeadless:
		return "refused because nobody was there to ask"
	}
	return "refused by the person"
}

// words are what the person said besides yes and no.
func (a answer) words() string {
	var said []string
	for _, c := range []string{a.comment, a.verdict.comment} {
		if c != "" {
			said = append(said, fmt.Sprintf("%s: %q", map[bool]string{true: "The person says", false: "Reason"}[a.by == ByPerson], c))
		}
	}
	return strings.Join(said, "\n")
}

// outcome tells what became of one edit.
func outcome(a answer, l Landing) string {
	edit := a.part.Effect.(Edit)
	now := a.now(l)
	said := []string{headline(a, l)}
	for _, h := range a.verdict.refused {
		line := fmt.Sprintf("Not landed, %s: %s", a.refusedBy(), a.describe(edit, h))
		if h.Conflict {
			line += " (Meanwhile the person changed these lines; the first text is theirs.)"
		}
		if c := a.verdict.hunkComments[h.ID]; c != "" {
			line += fmt.Sprintf(" The person says of it: %q", c)
		}
		said = append(said, line)
	}
	for _, h := range a.verdict.edit.Hunks {
		switch {
		case slices.Contains(l.Conflicts, h.ID):
			said = append(said, "Not landed, because the text there is no longer what this change was made for (it changed, or it rests on a refused change); read the file again: "+a.describe(edit, h))
		case slices.Contains(l.LeftOut, h.ID) && l.Status != LandFailed:
			said = append(said, "Not landed, because the person left it out in the editor's preview: "+a.describe(edit, h))
		case h.By == ByPerson && slices.Contains(l.Landed, h.ID):
			said = append(said, a.ownText(edit, h, now != ""))
		}
	}
	for _, h := range a.part.Moot {
		said = append(said, "Already there, since the person wrote the same meanwhile: "+a.describe(edit, h))
	}
	if a.moved && (edit.Kind == EditText || len(a.verdict.ok.effects) == 0) {
		said = append(said, "Its text was changed by the person, or by something else, while they were asked; read it again before you rely on it.")
	}
	said = append(said, a.words())
	if l.Foreign != "" {
		said = append(said, "Besides, "+l.Foreign)
	}
	if l.Note != "" && l.Status != LandFailed {
		said = append(said, l.Note)
	}
	said = append(said, l.Problems.words(edit.Path), now)
	return joinLines(said)
}

// now is what the model can't know of the text that is there, as it asked for another:
// a person or a formatter changed it, before or after they were asked, or a hunk is not
// in it.
func (a answer) now(l Landing) string {
	e, _ := a.asked.Effect.(Edit)
	if a.part.Info.Secret || e.Kind != EditText && e.Kind != EditCreate || l.After != HashText(l.Text) {
		return ""
	}
	return around(e.New(), l.Text)
}

func headline(a answer, l Landing) string {
	edit, name := a.part.Effect.(Edit), a.part.Info.Name
	done := map[EditKind]string{EditText: "edited", EditCreate: "created", EditDelete: "deleted", EditRename: "renamed to " + a.part.To.Name}[edit.Kind]
	hunks := len(a.verdict.edit.Hunks) + len(a.verdict.refused)
	switch {
	case a.part.moot() && len(a.verdict.ok.effects) == 0:
		return fmt.Sprintf("%s was not %s, and need not be: its text has the change already.", name, done)
	case len(a.verdict.ok.effects) == 0:
		return fmt.Sprintf("%s was not %s: %s.", name, done, a.refusedBy())
	case l.Status == LandFailed && len(l.Conflicts) > 0:
		return fmt.Sprintf("%s was not %s: 0 of %d hunks landed.", name, done, hunks)
	case l.Status == LandFailed && len(l.LeftOut) > 0:
		return fmt.Sprintf("%s was not %s: %s.", name, done, l.Note)
	case l.Status == LandFailed:
		return fmt.Sprintf("%s was not %s, though the person agreed: %s.", name, done, strings.TrimSuffix(l.Note, "."))
	case l.Status == LandUnconfirmed:
		return fmt.Sprintf("%s: the change was begun, but its result is unknown; read the file before relying on it.", name)
	case edit.Kind == EditText:
		return fmt.Sprintf("%s %s: %d of %d hunks landed.", name, done, len(l.Landed), hunks)
	}
	return fmt.Sprintf("%s %s.", name, done)
}

// describe quotes a hunk, short. The model may edit a secret file without having
// seen all of it, so nothing of one is quoted.
func (a answer) describe(e Edit, h Hunk) string {
	if a.part.Info.Secret {
		return fmt.Sprintf("line %d", lineAt(e.Old, h.At))
	}
	return fmt.Sprintf("line %d, %s → %s", lineAt(e.Old, h.At), quote(h.Old), quote(h.New))
}

// ownText says that a hunk is the person's, and quotes it unless that is done elsewhere.
func (a answer) ownText(e Edit, h Hunk, quoted bool) string {
	text := fmt.Sprintf("The person put their own text at line %d instead.", lineAt(e.Old, h.At))
	switch {
	case a.part.Info.Secret:
		return text + " It is not shown, since the file may hold secrets."
	case quoted:
		return text
	}
	return text + " It now reads:\n" + h.New
}

func quote(text string) string {
	if text == "" {
		return "nothing"
	}
	return fmt.Sprintf("%q", excerpt(text))
}

func lineAt(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }

func joinLines(lines []string) string {
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}
