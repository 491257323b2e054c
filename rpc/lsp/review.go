package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"assent/agent"
	"assent/agent/workspace"
	"assent/rpc"
)

// editor is the client as the session sees it.
type editor struct {
	*workspace.Workspace
	s       *Server
	session string
	asking  sync.WaitGroup // reviews that are open
}

var _ agent.Editor = (*editor)(nil)

// Read implements [agent.Files]: the text that the client has open, else the disk,
// unless the client has got a change of it and not shown it.
func (e *editor) Read(ctx context.Context, ok agent.Approval, path string) (agent.File, error) {
	f, err := e.Workspace.Read(ctx, ok, path)
	if err == nil && f.Source == agent.SourceDisk {
		if err := e.s.docs.unsureAt(f.Path, f.Hash); err != nil {
			return agent.File{}, fmt.Errorf("read %s: %w", path, err)
		}
	}
	return f, err
}

// Review implements [agent.Editor]. Edits are asked in one review, or with plain
// questions where the client has none; other effects one by one.
func (e *editor) Review(ctx context.Context, p agent.Proposal) (agent.Decision, error) {
	e.asking.Add(1)
	defer e.asking.Done()
	d := agent.Decision{By: agent.ByPerson, Parts: make([]agent.PartDecision, len(p.Parts))}
	var edits []int
	for i, part := range p.Parts {
		if _, ok := part.Effect.(agent.Edit); ok {
			edits = append(edits, i)
			continue
		}
		answer, err := e.approve(ctx, p, part)
		if err != nil {
			return e.unanswered(err)
		}
		d.Parts[i] = answer
	}
	var err error
	switch {
	case len(edits) == 0:
	case e.s.client.review:
		err = e.review(ctx, p, edits, &d)
	default:
		err = e.ask(ctx, p, edits, &d)
	}
	if err != nil {
		return e.unanswered(err)
	}
	return d, nil
}

// errNobody says that the client has no way to ask.
var errNobody = errors.New("the client can't ask")

const howToAllow = `The client has no way to ask a person. To allow edits, it has to offer experimental.assent.review in initialize, or send the prompt with mode "accept_edits".`

// unanswered is the decision where an error came instead of an answer.
func (e *editor) unanswered(err error) (agent.Decision, error) {
	if errors.Is(err, errNobody) {
		return agent.Decision{By: agent.ByHeadless, Comment: howToAllow}, nil
	}
	return agent.Decision{}, e.lost(err)
}

// lost marks an error that means that nobody can answer any more. A client that
// closes answers its open requests with such errors, right before its end; that is no
// answer either.
func (e *editor) lost(err error) error {
	if errors.Is(err, rpc.ErrClosed) || errors.Is(err, rpc.ErrBroken) {
		return fmt.Errorf("%w: %w", agent.ErrInterrupted, err)
	}
	if failed, ok := errors.AsType[*rpc.Error](err); ok && slices.Contains([]int{rpc.CodeInternal, rpc.CodeCancelled, codeServerCancelled}, failed.Code) && e.s.conn.EndsSoon() {
		return fmt.Errorf("%w: %w", agent.ErrInterrupted, err)
	}
	return err
}

// codeServerCancelled is what some clients answer instead when they close.
const codeServerCancelled = -32802

// review asks with assent/review. What must be answered alone and was not is asked
// again, alone; what is said then is about that part.
func (e *editor) review(ctx context.Context, p agent.Proposal, parts []int, d *agent.Decision) error {
	left, err := e.reviewOnce(ctx, p, parts, d)
	for _, i := range left {
		if err != nil {
			return err
		}
		alone := agent.Decision{Parts: make([]agent.PartDecision, len(p.Parts))}
		_, err = e.reviewOnce(ctx, p, []int{i}, &alone)
		d.Parts[i] = alone.Parts[i]
		d.Parts[i].Comment = alone.Comment
	}
	return err
}

// reviewOnce asks about some parts and notes the answers. left are those that need a
// yes of their own and got only that to all.
func (e *editor) reviewOnce(ctx context.Context, p agent.Proposal, parts []int, d *agent.Decision) (left []int, err error) {
	wire := Events{Place: e.s.place}
	params := ReviewParams{SessionID: e.session, ProposalID: p.ID, Revision: p.Revision, Title: p.Title}
	for _, i := range parts {
		params.Files = append(params.Files, wire.file(p.Parts[i], p.Parts[i].Effect.(agent.Edit)))
	}
	var result ReviewResult
	end := e.s.waitFor(e.session, "review: "+p.Title)
	err = e.s.conn.Call(ctx, methodReview, params, &result)
	end()
	if err != nil {
		if failed, ok := malformedAnswer(err); ok {
			d.By, d.Comment = agent.ByHeadless, failed
			return nil, nil
		}
		return nil, err
	}
	r := reading{e: e, p: p, parts: parts, files: params.Files, result: result, out: d}
	if err := r.read(); err != nil {
		for _, i := range parts {
			d.Parts[i] = agent.PartDecision{}
		}
		d.By, d.Comment = agent.ByHeadless, notUnderstood(err.Error())
		return nil, nil
	}
	return r.left, nil
}

// malformedAnswer tells an answer that could not be decoded from none. Nobody has
// decided anything then.
func malformedAnswer(err error) (comment string, malformed bool) {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return notUnderstood("it is a " + wrong.Value), true
		}
		return notUnderstood(wrong.Field + " is a " + wrong.Value), true
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return notUnderstood(err.Error()), true
	}
	return "", false
}

func notUnderstood(why string) string {
	return "The client's answer could not be understood (" + why + "), so it counts as no."
}

// reading turns the answer to a review into decisions.
type reading struct {
	e      *editor
	p      agent.Proposal
	parts  []int      // of the proposal
	files  []FileEdit // as they were sent, one each
	result ReviewResult
	out    *agent.Decision
	left   []int
	said   map[string]string // verdicts on files, by key
}

func (r *reading) read() error {
	switch {
	case r.result.Revision != 0 && r.result.Revision != r.p.Revision:
		return fmt.Errorf("it is for revision %d, and %d was asked", r.result.Revision, r.p.Revision)
	case !slices.Contains([]string{accept, reject, partly}, r.result.Decision):
		return fmt.Errorf("the decision %q is none of accept, reject and partial", r.result.Decision)
	}
	r.out.Comment = r.result.Comment
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

// readFiles takes the decision on all and those on single files.
func (r *reading) readFiles() error {
	for _, i := range r.parts {
		part := &r.out.Parts[i]
		part.Accept = r.result.Decision == accept
		if part.Accept && r.p.Parts[i].Alone && len(r.p.Parts) > 1 && len(r.parts) > 1 {
			part.Accept = false
			r.left = append(r.left, i)
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
			r.out.Parts[i].Accept = verdict == accept
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
	r.left = slices.DeleteFunc(r.left, func(l int) bool { return l == i })
}

func (r *reading) readHunks() error {
	for id, raw := range r.result.Hunks {
		var v HunkVerdict
		if json.Unmarshal(raw, &v.Verdict) != nil {
			if err := json.Unmarshal(raw, &v); err != nil {
				return fmt.Errorf("the verdict on hunk %s is not well formed", id)
			}
		}
		if v.Verdict != accept && v.Verdict != reject {
			return fmt.Errorf("the verdict %q on hunk %s is neither accept nor reject", v.Verdict, id)
		}
		i, edit, hunk, ok := r.hunk(id)
		if !ok {
			return fmt.Errorf("the hunk %s is not in the review", id)
		}
		r.settled(i)
		d := agent.HunkDecision{Accept: v.Verdict == accept, Comment: v.Comment}
		if v.NewText != nil {
			text := workspace.MatchLineEnds(*v.NewText, hunk.Old, edit.Old)
			d.Text = &text
		}
		part := &r.out.Parts[i]
		if part.Hunks == nil {
			part.Hunks = map[string]agent.HunkDecision{}
		}
		part.Hunks[id] = d
	}
	return nil
}

func (r *reading) hunk(id string) (int, agent.Edit, agent.Hunk, bool) {
	for _, i := range r.parts {
		edit := r.p.Parts[i].Effect.(agent.Edit)
		for _, h := range edit.Hunks {
			if h.ID == id {
				return i, edit, h, true
			}
		}
	}
	return 0, agent.Edit{}, agent.Hunk{}, false
}

// readEdited takes whole texts of the person. Where several calls change one file
// the text is what the last of them leads to, and the others are accepted.
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
		for n, i := range here {
			edit := r.p.Parts[i].Effect.(agent.Edit)
			r.settled(i)
			part := agent.PartDecision{Accept: true}
			if n == len(here)-1 {
				if edit.Kind == agent.EditDelete || edit.Kind == agent.EditRename {
					return fmt.Errorf("%s is to be gone, so it has no edited text", uri)
				}
				part.Rewrite = workspace.Diff(edit.Old, workspace.MatchLineEnds(text, edit.Old, edit.Old))
				if part.Rewrite == nil {
					part = agent.PartDecision{} // the old text: nothing is wanted
				}
			}
			r.out.Parts[i] = part
		}
	}
	return nil
}
