package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Hash is the SHA-256 of a text; the zero Hash means that there is no file.
type Hash [sha256.Size]byte

// HashText hashes a text as it is in [File.Text].
func HashText(text string) Hash { return sha256.Sum256([]byte(text)) }

// String is the hash in hexadecimal, "" for the zero Hash.
func (h Hash) String() string {
	if h == (Hash{}) {
		return ""
	}
	return hex.EncodeToString(h[:])
}

// FoldEnds is a text with LF for each CRLF. Editors have line ends of their own, so only
// what differs then too is another text.
func FoldEnds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// EditKind says what an [Edit] does to its file.
type EditKind string

const (
	EditText   EditKind = "edit"
	EditCreate EditKind = "create"
	EditDelete EditKind = "delete"
	EditRename EditKind = "rename"
)

// Edit is a change of one file. The text that it leads to is derived, see
// [Edit.New]; what a person decides on are its hunks.
type Edit struct {
	Path  string // absolute, resolved
	Kind  EditKind
	To    string // of a rename: the new path, absolute, resolved
	Base  Hash   // of Old; zero for a create and a rename
	Old   string // of an edit and a delete: the whole text when it was planned
	Hunks []Hunk // of an edit and a create, by place, not overlapping

	// Confirm says of an approved edit that the person wants to confirm each hunk as it
	// lands, in a preview of their editor: it lands there, as far as they do, or nowhere.
	Confirm bool
}

// Hunk replaces some lines.
type Hunk struct {
	ID  string // stable: made of place and content when first planned, kept when moved
	At  int    // byte offset in Edit.Old
	Old string // what is there
	New string // what will be there
	By  By     // who wrote New

	// Conflict says that New was proposed for other lines: Old is what someone made of
	// them while the question was open. It takes a yes of its own.
	Conflict bool
}

// By says who wrote a text or took a decision.
type By string

const (
	ByAgent    By = ""         // the model
	ByPerson   By = "person"   // a human, at this moment
	ByRule     By = "rule"     // a rule that a person wrote
	ByMode     By = "mode"     // the mode that a person chose for the session
	ByHeadless By = "headless" // nobody: there was no one to ask
)

// NewHunk makes a hunk with its ID.
func NewHunk(at int, old, new string) Hunk {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s%s", at, len(old), old, new))
	return Hunk{ID: hex.EncodeToString(sum[:6]), At: at, Old: old, New: new}
}

// New is the text that the edit leads to.
func (e Edit) New() string {
	if e.Kind == EditDelete {
		return ""
	}
	return splice(e.Old, e.Hunks)
}

func splice(old string, hunks []Hunk) string {
	var b strings.Builder
	at := 0
	for _, h := range hunks {
		b.WriteString(old[at:h.At])
		b.WriteString(h.New)
		at = h.At + len(h.Old)
	}
	b.WriteString(old[at:])
	return b.String()
}

// Check reports whether the edit is well formed: its base is the hash of its old
// text, and its hunks are in order, apart from each other, and quote that text.
func (e Edit) Check() error {
	switch {
	case e.Path == "":
		return fmt.Errorf("an edit without a path")
	case e.Kind == EditCreate && (e.Old != "" || e.Base != (Hash{})):
		return fmt.Errorf("%s: a create of a file that has a text", e.Path)
	case e.Kind == EditCreate && len(e.Hunks) > 1:
		return fmt.Errorf("%s: a create in more than one hunk", e.Path)
	case e.Kind == EditText && len(e.Hunks) == 0:
		return fmt.Errorf("%s: an edit without a hunk", e.Path)
	case e.Kind == EditRename && e.To == "":
		return fmt.Errorf("%s: a rename without a new path", e.Path)
	case (e.Kind == EditDelete || e.Kind == EditRename) && len(e.Hunks) != 0:
		return fmt.Errorf("%s: a %s with hunks", e.Path, e.Kind)
	}
	switch e.Kind {
	case EditRename: // of any file, also one that is not text: nobody needs to see what stays as it is
		if e.Old != "" {
			return fmt.Errorf("%s: a rename with a text", e.Path)
		}
	case EditText, EditDelete:
		if e.Base != HashText(e.Old) {
			return fmt.Errorf("%s: the base is not the hash of the old text", e.Path)
		}
	case EditCreate:
	default:
		return fmt.Errorf("%s: unknown kind of edit %q", e.Path, e.Kind)
	}
	return checkHunks(e.Old, e.Hunks)
}

func checkHunks(old string, hunks []Hunk) error {
	end := -1 // of the hunk before: two may touch only if the later one replaces something
	for _, h := range hunks {
		if h.At < 0 || h.At > len(old) || h.At < end || !strings.HasPrefix(old[h.At:], h.Old) {
			return fmt.Errorf("hunk %s does not fit the old text", h.ID)
		}
		if h.At == end && h.Old == "" {
			return fmt.Errorf("hunk %s inserts where another hunk ends", h.ID)
		}
		if h.Old == h.New {
			return fmt.Errorf("hunk %s changes nothing", h.ID)
		}
		end = h.At + len(h.Old)
	}
	return nil
}

func (e Edit) same(o Effect) bool {
	x, ok := o.(Edit)
	if !ok || x.Path != e.Path || x.Kind != e.Kind || x.To != e.To || x.Base != e.Base || x.Confirm != e.Confirm || len(x.Hunks) != len(e.Hunks) {
		return false
	}
	for i, h := range e.Hunks {
		if !h.same(x.Hunks[i]) {
			return false
		}
	}
	return true
}

func (h Hunk) same(o Hunk) bool { return h.At == o.At && h.Old == o.Old && h.New == o.New }
