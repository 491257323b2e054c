package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assent/agent"
	"assent/agent/workspace"
)

type editFileArgs struct {
	Path  string       `json:"path" jsonschema_description:"File to edit, relative to the workspace or absolute"`
	Edits []stringEdit `json:"edits" jsonschema:"minItems=1" jsonschema_description:"The replacements. All of them are matched against the text as it is before the call, not in turn"`
}

type stringEdit struct {
	Old        string `json:"old_string" jsonschema_description:"Text to replace, exactly as it is in the file, with enough lines around it that it is there only once"`
	New        string `json:"new_string" jsonschema_description:"Text to put in its place, taken literally"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema_description:"Replace each place where old_string is"`
}

// EditFile replaces pieces of a file.
func EditFile() agent.Tool {
	return Define(agent.Spec{
		Name: "edit_file",
		Description: "Replaces pieces of a text file. Read the file first and copy old_string from it, with its indentation and without line numbers. " +
			"Put all changes of a file into one call. The person sees the change as a diff and may accept it, change it, or refuse it.",
		Tier: agent.TierWrite,
	}, planEditFile)
}

func planEditFile(ctx context.Context, files agent.Files, args editFileArgs) (agent.Plan, error) {
	file, err := readExisting(ctx, files, args.Path, "use write_file to create it", "name a file in it")
	if err != nil {
		return agent.Plan{}, err
	}
	edited, err := applyEdits(ctx, file, args.Edits)
	if err != nil {
		return agent.Plan{}, err
	}
	return planText(file, edited)
}

// readExisting reads a file that a call wants to change. The advice is what to do
// if nothing, or a directory, is there.
func readExisting(ctx context.Context, files agent.Files, path, ifMissing, ifDir string) (agent.File, error) {
	info, err := files.Stat(ctx, path)
	switch {
	case err != nil:
		return agent.File{}, err
	case info.Outside: // only reading it may tell what is there
	case !info.Exists:
		return agent.File{}, missing(ctx, files, path, info, ifMissing)
	case info.Dir:
		return agent.File{}, fmt.Errorf("%s is a directory; %s", path, ifDir)
	}
	return readWhole(ctx, files, path)
}

// readWhole reads the text that a change is based on. Of a file outside that the
// person did not let the session read, it says the same whatever is there.
func readWhole(ctx context.Context, files agent.Files, path string) (agent.File, error) {
	file, err := files.Read(ctx, agent.Approval{}, path)
	if errors.Is(err, agent.ErrNotApproved) {
		return file, fmt.Errorf("%s can't be changed unread, and reading it was %w; read it with read_file first, which asks them", path, agent.ErrNotApproved)
	}
	return file, err
}

// planText is the plan that makes the text of a file another one.
func planText(file agent.File, text string) (agent.Plan, error) {
	if text == file.Text {
		return say(file.Name + " already has exactly this text; nothing to change"), nil
	}
	if err := checkText(text); err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{Effects: []agent.Effect{agent.Edit{
		Path:  file.Path,
		Kind:  agent.EditText,
		Base:  file.Hash,
		Old:   file.Text,
		Hunks: workspace.Diff(file.Text, text),
	}}}, nil
}

// checkText refuses what could not be written as text, before anybody is asked.
func checkText(text string) error {
	switch {
	case strings.Contains(text, "\x00"):
		return errors.New("the new text has a NUL byte, so the file would not be text any more; leave it out")
	case strings.HasPrefix(text, "\uFEFF"):
		return errors.New("the new text begins with a byte-order mark (U+FEFF), which belongs to the file and not to its text; leave it out, a file that has one keeps it")
	}
	return nil
}

// replacement is a place in a text and what is to be there.
type replacement struct {
	span
	text string
	edit int // index in the call
}

// applyEdits makes all edits or none. Each is matched against the text as it
// was, so no edit depends on another one's place or order.
func applyEdits(ctx context.Context, file agent.File, edits []stringEdit) (string, error) {
	text, seen := file.Text, fold(file.Text)
	m := matcher{file: file, seen: seen, edits: edits}
	var all []replacement
	var failed []error
	for i := range edits {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		found, err := m.match(i)
		if err != nil {
			failed = append(failed, err)
		}
		all = append(all, found...)
	}
	if len(failed) > 0 {
		return "", &agent.MissedError{Path: file.Path, Err: joinErrors(failed)}
	}
	slices.SortStableFunc(all, func(a, b replacement) int { return a.from - b.from })
	var b strings.Builder
	end := 0
	for i, r := range all {
		if i > 0 && r.from < all[i-1].to {
			before := all[i-1]
			return "", fmt.Errorf("edits[%d] and edits[%d] overlap at line %d of %s, so nothing was changed; make one edit of the two", min(before.edit, r.edit), max(before.edit, r.edit), lineAt(text, r.from), file.Name)
		}
		b.WriteString(text[end:r.from])
		b.WriteString(r.text)
		end = r.to
	}
	b.WriteString(text[end:])
	return b.String(), nil
}

// maxFailures is how many edits that failed are told of; the closest place is
// looked for in each.
const maxFailures = 3

func joinErrors(failed []error) error {
	if more := len(failed) - maxFailures; more > 0 {
		failed = append(failed[:maxFailures], fmt.Errorf("%s failed too", count(more, "more edit", "more edits")))
	}
	var texts []string
	for _, err := range failed {
		texts = append(texts, err.Error())
	}
	return errors.New(strings.Join(texts, "\n\n"))
}

// maxCounted bounds how far the places of an ambiguous edit are counted.
const maxCounted = 1000

// matcher finds the places of the edits of one call.
type matcher struct {
	file     agent.File
	seen     folded
	edits    []stringEdit
	failures int
}

func (m *matcher) match(i int) ([]replacement, error) {
	e, text := m.edits[i].clean(), m.file.Text
	switch {
	case e.Old == e.New:
		return nil, fmt.Errorf("old_string and new_string of edits[%d] are the same; give the text as it should become in new_string", i)
	case e.Old == "" && text == "":
		return []replacement{{text: e.New, edit: i}}, nil
	case e.Old == "":
		return nil, fmt.Errorf("old_string of edits[%d] is empty, but %s is not; to insert, give a line beside the place in both strings, and to replace all of the file use write_file", i, m.file.Name)
	}
	limit := maxCounted
	if e.ReplaceAll {
		limit = len(text)
	}
	places := find(text, m.seen, e.Old, !e.ReplaceAll, limit)
	switch {
	case len(places) == 0:
		m.failures++
		if m.failures > maxFailures {
			return nil, fmt.Errorf("old_string of edits[%d] is not in the file", i)
		}
		return nil, m.notFound(i, e)
	case len(places) > 1 && !e.ReplaceAll:
		return nil, m.ambiguous(i, places)
	}
	return m.replacements(i, e.New, places), nil
}

// clean takes off what the text that the model was shown can't have had: a
// byte-order mark, and the CR of a line that was copied without its LF.
func (e stringEdit) clean() stringEdit {
	if strings.HasPrefix(e.Old, "\uFEFF") {
		e.Old, e.New = strings.TrimPrefix(e.Old, "\uFEFF"), strings.TrimPrefix(e.New, "\uFEFF")
	}
	if len(e.Old) > 1 && strings.HasSuffix(e.Old, "\r") {
		e.Old, e.New = strings.TrimSuffix(e.Old, "\r"), strings.TrimSuffix(e.New, "\r")
	}
	return e
}

// replacements gives the new text at each place the line ends of what is there.
func (m *matcher) replacements(i int, text string, places []span) []replacement {
	adapted := map[string]string{} // most places are alike
	var all []replacement
	for _, p := range places {
		old := m.file.Text[p.from:p.to]
		if _, known := adapted[old]; !known {
			adapted[old] = text
			if strings.Contains(text, "\n") {
				adapted[old] = workspace.MatchLineEnds(text, old, m.file.Text)
			}
		}
		all = append(all, replacement{p, adapted[old], i})
	}
	return all
}

func (m *matcher) ambiguous(i int, places []span) error {
	var lines []string
	for _, p := range places[:min(len(places), 10)] {
		lines = append(lines, fmt.Sprint(lineAt(m.file.Text, p.from)))
	}
	times, more := fmt.Sprint(len(places)), ""
	if len(places) == maxCounted {
		times = fmt.Sprintf("%d or more", maxCounted)
	}
	if len(places) > len(lines) {
		more = " and further on"
	}
	return fmt.Errorf("old_string of edits[%d] is in %s %s times, at lines %s%s, so nothing was changed; add lines around it until it is there once, or set replace_all to change each", i, m.file.Name, times, strings.Join(lines, ", "), more)
}
