package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"assent/agent"
	"assent/agent/host"
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

// Review implements [agent.Editor]. While the question is open, the proposal follows the
// texts that the client tells.
func (e *editor) Review(ctx context.Context, p agent.Proposal, revise func(agent.Proposal) error) (agent.Decision, error) {
	e.asking.Add(1)
	defer e.asking.Done()
	d, err := host.Review{Ask: e.put, Now: e.Now, Changed: e.s.docs.watch}.Run(ctx, p, revise)
	if errors.Is(err, errNobody) {
		return agent.Decision{By: agent.ByHeadless, Comment: howToAllow}, nil
	}
	return d, err
}

// put puts a question before the person. Edits are asked in one review, or with plain
// questions where the client has none; other effects one by one.
func (e *editor) put(ctx context.Context, q *host.Question) (host.Answer, error) {
	a := host.Answer{Decision: agent.Decision{By: agent.ByPerson, Parts: make([]agent.PartDecision, len(q.Proposal.Parts))}}
	var edits []int
	for _, i := range q.Parts {
		part := q.Proposal.Parts[i]
		if _, ok := part.Effect.(agent.Edit); ok {
			edits = append(edits, i)
			continue
		}
		answer, err := e.approve(ctx, q.Proposal, part)
		if err != nil {
			return a, e.lost(err)
		}
		a.Decision.Parts[i] = answer
	}
	switch {
	case len(edits) == 0:
		return a, nil
	case e.s.client.review:
		err := e.review(ctx, q, edits, &a)
		return a, e.lost(err)
	}
	a.Revision = q.Proposal.Revision
	err := e.ask(ctx, q.Proposal, edits, &a.Decision)
	return a, e.lost(err)
}

// errNobody says that the client has no way to ask.
var errNobody = errors.New("the client can't ask")

const howToAllow = `The client has no way to ask a person. To allow edits, it has to offer experimental.assent.review in initialize, or send the prompt with mode "accept_edits".`

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

// review asks with assent/review about some parts, and reads the answer.
func (e *editor) review(ctx context.Context, q *host.Question, parts []int, a *host.Answer) error {
	wire := Events{Place: e.s.place}
	p := q.Proposal
	params := ReviewParams{SessionID: e.session, ProposalID: p.ID, Revision: p.Revision, Title: p.Title}
	for _, i := range parts {
		params.Files = append(params.Files, wire.file(p.Parts[i], p.Parts[i].Effect.(agent.Edit)))
	}
	var raw json.RawMessage
	end := e.s.waitFor(e.session, "review: "+p.Title)
	err := e.s.conn.Call(ctx, methodReview, params, &raw)
	end()
	if err != nil {
		return err
	}
	r := reading{q: q, p: p, parts: parts, files: params.Files, out: a}
	if err := r.read(raw); err != nil {
		for _, i := range parts {
			a.Decision.Parts[i] = agent.PartDecision{}
		}
		a.Unsaid, a.Revision = nil, 0
		a.Decision.By, a.Decision.Comment = agent.ByHeadless, notUnderstood(err)
	}
	return nil
}
