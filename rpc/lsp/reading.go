package lsp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assent/agent"
	"assent/agent/host"
	"assent/agent/workspace"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The answers of a person are read here, and strictly: a name that is misspelled, or
// there twice, or in another case, makes an answer that nobody understands, and that is
// a no. encoding/json would take the rest of it for a yes.

// strictly decodes an answer. It takes no byte and no escape that is not text: what
// were put in its place would land.
func strictly(raw json.RawMessage, v any) error {
	return inWords(jsonv2.Unmarshal(raw, v, jsonv2.RejectUnknownMembers(true)))
}

// inWords is an error of jsonv2 without the types of our code.
func inWords(err error) error {
	if wrong, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
		if inner, ok := errors.AsType[*unfit](wrong.Err); ok { // of a table
			return &unfit{wrong.JSONPointer + inner.where, inner.what}
		}
		what := "does not fit"
		switch {
		case errors.Is(wrong.Err, jsonv2.ErrUnknownName):
			what = "is not known"
		case wrong.JSONKind != 0:
			what = "can't be " + kind(wrong.JSONKind.String())
		}
		return &unfit{wrong.JSONPointer, what}
	}
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		what := "holds bytes or half characters that are no text" // it is JSON, or it had not come
		if errors.Is(wrong.Err, jsontext.ErrDuplicateName) {
			what = "is there twice"
		}
		return &unfit{wrong.JSONPointer, what}
	}
	return err
}

// unfit says what in an answer does not fit.
type unfit struct {
	where jsontext.Pointer
	what  string
}

func (u *unfit) Error() string { return cmp.Or(string(u.where), "it") + " " + u.what }

// table is an object that may come as an empty array: Lua has one kind of empty table.
type table[V any] map[string]V

// UnmarshalJSON implements json.Unmarshaler.
func (t *table[V]) UnmarshalJSON(raw []byte) error {
	if string(raw) == "[]" {
		return nil
	}
	var members map[string]*V
	if err := strictly(raw, &members); err != nil || members == nil {
		return err
	}
	*t = table[V]{}
	for name, v := range members {
		if v == nil { // it would be an empty text
			return &unfit{jsontext.Pointer("").AppendToken(name), "is null"}
		}
		(*t)[name] = *v
	}
	return nil
}

// notUnderstood is the comment on an answer that is none. Nobody has decided anything
// then.
func notUnderstood(err error) string {
	return "The client's answer could not be understood (" + err.Error() + "), so it counts as no."
}

// readChoice reads which action was chosen. Some clients give back more than its
// title, but one title only, and by that name.
func readChoice(raw json.RawMessage, actions []string) (title string, err error) {
	var action map[string]json.RawMessage
	if err := strictly(raw, &action); err != nil {
		return "", err
	}
	for name := range action {
		if name != "title" && strings.EqualFold(name, "title") {
			return "", fmt.Errorf("its title is called %s", name)
		}
	}
	if err := strictly(action["title"], &title); err != nil || !slices.Contains(actions, title) {
		return "", errors.New("it is none of the actions")
	}
	return title, nil
}

// reading turns the answer to a review into decisions.
type reading struct {
	q      *host.Question
	p      agent.Proposal // the revision that the answer is for, as far as it says
	parts  []int          // of the proposal
	files  []FileEdit     // as they were sent, one each
	result ReviewResult
	out    *host.Answer
	said   map[string]string // verdicts on files, by key
}

func (r *reading) read(raw json.RawMessage) error {
	if err := strictly(raw, &r.result); err != nil {
		return err
	}
	if err := r.readRevision(); err != nil {
		return err
	}
	switch {
	case !slices.Contains([]string{accept, reject, partly}, r.result.Decision):
		return fmt.Errorf("the decision %q is none of accept, reject and partial", r.result.Decision)
	}
	r.out.Decision.Comment = r.result.Comment
	if r.result.Decision == reject {
		return nil
	}
	if err := r.readFiles(); err != nil {
		return err
	}
	if err := r.readHunks(); err != nil {
		return err
	}
	return r.readEdited()
}

// readRevision takes the revision for which the answer is.
func (r *reading) readRevision() error {
	if r.result.Revision == nil {
		return nil
	}
	shown, known := r.q.Shown(*r.result.Revision)
	if !known {
		return fmt.Errorf("it is for revision %d, and %d was asked", *r.result.Revision, r.p.Revision)
	}
	r.p, r.out.Revision = shown, shown.Revision
	return nil
}

// readFiles takes the decision on all and those on single files.
func (r *reading) readFiles() error {
	for _, i := range r.parts {
		part := &r.out.Decision.Parts[i]
		part.Accept = r.result.Decision == accept
		if part.Accept && (r.p.Parts[i].Alone || r.p.Parts[i].Conflict) && len(r.parts) > 1 {
			part.Accept = false
			r.out.Unsaid = append(r.out.Unsaid, i)
		}
	}
	r.said = map[string]string{}
	for uri, verdict := range r.result.Files {
		here, key := r.of(uri), locate(uri).key
		before, twice := r.said[key]
		switch {
		case len(here) == 0:
			return fmt.Errorf("the file %s is not in the review", uri)
		case verdict != accept && verdict != reject:
			return fmt.Errorf("the verdict %q on %s is neither accept nor reject", verdict, uri)
		case twice && before != verdict:
			return fmt.Errorf("there are two verdicts on %s", uri)
		}
		r.said[key] = verdict
		for _, i := range here {
			r.settled(i)
			r.out.Decision.Parts[i].Accept = verdict == accept
		}
	}
	return nil
}

// of are the parts that change a file: more than one if several calls do.
func (r *reading) of(uri string) []int {
	key := locate(uri).key
	var here []int
	for n, f := range r.files {
		if locate(f.URI).key == key {
			here = append(here, r.parts[n])
		}
	}
	return here
}

// settled notes that a part was answered for itself.
func (r *reading) settled(i int) {
	r.out.Unsaid = slices.DeleteFunc(r.out.Unsaid, func(l int) bool { return l == i })
}

func (r *reading) readHunks() error {
	for id, raw := range r.result.Hunks {
		i, edit, hunk, ok := r.hunk(id)
		if !ok {
			return fmt.Errorf("the hunk %s is not in the review", id)
		}
		d, err := readHunk(raw, edit, hunk)
		if err != nil {
			return fmt.Errorf("the verdict on hunk %s: %w", id, err)
		}
		part := &r.out.Decision.Parts[i]
		if part.Hunks == nil {
			part.Hunks = map[string]agent.HunkDecision{}
		}
		part.Hunks[id] = d
		if len(part.Hunks) == len(edit.Hunks) {
			r.settled(i)
		}
	}
	return nil
}

func readHunk(raw json.RawMessage, edit agent.Edit, hunk agent.Hunk) (agent.HunkDecision, error) {
	var v HunkVerdict
	if json.Unmarshal(raw, &v.Verdict) != nil {
		if err := strictly(raw, &v); err != nil {
			return agent.HunkDecision{}, err
		}
	}
	if v.Verdict != accept && v.Verdict != reject {
		return agent.HunkDecision{}, fmt.Errorf("%q is neither accept nor reject", v.Verdict)
	}
	d := agent.HunkDecision{Accept: v.Verdict == accept, Comment: v.Comment}
	if v.NewText != nil {
		text := workspace.MatchLineEnds(*v.NewText, hunk.Old, edit.Old)
		d.Text = &text
	}
	return d, nil
}

// hunk finds a hunk in the revision that the answer is for, or in all that were shown
// since it was asked.
func (r *reading) hunk(id string) (int, agent.Edit, agent.Hunk, bool) {
	shown := []agent.Proposal{r.p}
	if r.result.Revision == nil {
		shown = r.q.Since()
	}
	for _, p := range shown {
		for _, i := range r.parts {
			edit := p.Parts[i].Effect.(agent.Edit)
			for _, h := range edit.Hunks {
				if h.ID == id {
					return i, edit, h, true
				}
			}
		}
	}
	return 0, agent.Edit{}, agent.Hunk{}, false
}

// readEdited takes whole texts of the person. Where several calls change one file,
// the text is put in the place of the first, and the others are refused: nothing that
// the person took out lands on the way.
func (r *reading) readEdited() error {
	edited := map[string]bool{}
	for uri, text := range r.result.Edited {
		here, key := r.of(uri), locate(uri).key
		switch {
		case len(here) == 0:
			return fmt.Errorf("the edited file %s is not in the review", uri)
		case edited[key]:
			return fmt.Errorf("there are two edited texts of %s", uri)
		case r.said[key] == reject:
			return fmt.Errorf("%s is refused, and has an edited text", uri)
		}
		edited[key] = true
		for _, i := range here {
			kind := r.p.Parts[i].Effect.(agent.Edit).Kind
			switch {
			case kind == agent.EditDelete || kind == agent.EditRename:
				return fmt.Errorf("%s is to be gone, so it has no edited text", uri)
			case len(r.out.Decision.Parts[i].Hunks) > 0:
				return fmt.Errorf("%s has an edited text, and verdicts on its hunks", uri)
			}
			r.settled(i)
			r.out.Decision.Parts[i] = agent.PartDecision{}
		}
		first := r.p.Parts[here[0]].Effect.(agent.Edit)
		rewrite := workspace.Diff(first.Old, workspace.MatchLineEnds(text, first.Old, first.Old))
		if rewrite != nil { // else the old text: nothing is wanted
			r.out.Decision.Parts[here[0]] = agent.PartDecision{Accept: true, Rewrite: rewrite}
		}
	}
	return nil
}
