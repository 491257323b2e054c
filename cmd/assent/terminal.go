package main

import (
	"context"
	"fmt"
	"slices"

	"assent/agent"
	"assent/agent/host"
	"assent/agent/workspace"
)

// terminal is an agent.Editor whose files are the workspace on disk and whose
// person sits at a terminal.
type terminal struct {
	*workspace.Workspace
	*console
}

// Review implements [agent.Editor]. Files that change meanwhile are asked about again
// where that matters.
func (t *terminal) Review(ctx context.Context, p agent.Proposal, revise func(agent.Proposal) error) (agent.Decision, error) {
	return host.Review{Ask: t.ask, Now: t.Now}.Run(ctx, p, revise)
}

func (t *terminal) ask(ctx context.Context, q *host.Question) (host.Answer, error) {
	p := agent.Proposal{Revision: q.Proposal.Revision}
	for _, i := range q.Parts {
		p.Parts = append(p.Parts, q.Proposal.Parts[i])
	}
	said, err := t.decide(ctx, p)
	a := host.Answer{Revision: p.Revision, Decision: agent.Decision{By: said.By, Comment: said.Comment, Parts: make([]agent.PartDecision, len(q.Proposal.Parts))}}
	for n, d := range said.Parts {
		a.Decision.Parts[q.Parts[n]] = d
	}
	return a, err
}

// decide shows several changes together, and asks about them one by one if the
// person wants it, or if one of them needs an answer of its own.
func (t *terminal) decide(ctx context.Context, p agent.Proposal) (agent.Decision, error) {
	d := agent.Decision{By: agent.ByPerson, Parts: make([]agent.PartDecision, len(p.Parts))}
	alone := slices.ContainsFunc(p.Parts, func(part agent.Part) bool { return part.Alone || part.Conflict })
	if len(p.Parts) > 1 && !alone {
		oneByOne, err := t.reviewAll(ctx, p, &d)
		if err != nil || !oneByOne {
			return d, err
		}
	}
	for i, part := range p.Parts {
		count := ""
		if len(p.Parts) > 1 {
			count = fmt.Sprintf("%d of %d: ", i+1, len(p.Parts))
		}
		answer, err := t.reviewPart(ctx, part, count)
		if err != nil {
			return agent.Decision{}, err
		}
		d.Parts[i] = answer
	}
	return d, nil
}

// reviewAll answers all parts at once, after all of them were shown.
func (t *terminal) reviewAll(ctx context.Context, p agent.Proposal, d *agent.Decision) (oneByOne bool, err error) {
	for _, part := range p.Parts {
		t.show(part, "")
	}
	key, err := t.choose(ctx, fmt.Sprintf("Do all %d?", len(p.Parts)), []option{
		{"y", "yes, all of them"}, {"n", "no, none of them"}, {"r", "none, and say why"}, {"o", "decide one by one"},
	})
	if err != nil {
		return false, err
	}
	switch key {
	case "o":
		return true, nil
	case "r":
		d.Comment, err = t.reason(ctx)
	case "y":
		for i := range d.Parts {
			d.Parts[i].Accept = true
		}
	}
	return false, err
}

// show prints what a part would do.
func (t *terminal) show(part agent.Part, count string) {
	fmt.Fprintf(t.out, "\n%s\n", t.style.paint(bold, count+inline(part.Title())))
	for _, note := range notes(part) {
		fmt.Fprintln(t.out, t.style.paint(red, note))
	}
	edit, _ := part.Effect.(agent.Edit)
	if part.Conflict || slices.ContainsFunc(edit.Hunks, func(h agent.Hunk) bool { return h.Conflict }) {
		fmt.Fprintln(t.out, t.style.paint(red, inline(part.Info.Name)+" was changed meanwhile; this is what the change would be now."))
	}
	if edit.Kind != "" {
		fmt.Fprint(t.out, t.style.colourDiff(workspace.Unified(inline(part.Info.Name), edit, edit.Hunks)))
	}
}

func notes(part agent.Part) []string {
	var out []string
	for _, info := range []agent.Info{part.Info, part.To} {
		if info.Protected {
			out = append(out, inline(info.Name)+" can change what runs on this machine, so it is always asked about.")
		}
		if info.Outside {
			out = append(out, inline(info.Path)+" is outside the workspace.")
		}
		if info.Secret {
			out = append(out, inline(info.Name)+" may hold keys or passwords.")
		}
	}
	return out
}

// reviewPart asks about one part. What the person makes of an edit in their
// editor is shown, and asked about, as what was proposed is.
func (t *terminal) reviewPart(ctx context.Context, part agent.Part, count string) (agent.PartDecision, error) {
	t.show(part, count)
	edit, _ := part.Effect.(agent.Edit)
	rewritten := false
	for {
		key, err := t.choose(ctx, "Do this?", partOptions(edit, rewritten))
		if err != nil {
			return agent.PartDecision{}, err
		}
		switch key {
		case "y":
			if rewritten {
				return agent.PartDecision{Accept: true, Rewrite: edit.Hunks}, nil
			}
			return agent.PartDecision{Accept: true}, nil
		case "n":
			return agent.PartDecision{}, nil
		case "r":
			why, err := t.reason(ctx)
			return agent.PartDecision{Comment: why}, err
		case "h":
			return t.reviewHunks(ctx, part.Info.Name, edit)
		case "e":
			text, ok := t.edit(ctx, part.Info.Name, edit.New())
			if !ok {
				continue
			}
			if hunks := workspace.Diff(edit.Old, text); len(hunks) > 0 {
				edit.Hunks, rewritten = hunks, true
				fmt.Fprint(t.out, t.style.colourDiff(workspace.Unified(inline(part.Info.Name), edit, edit.Hunks)))
			} else {
				fmt.Fprintln(t.out, "That is the text as it was; nothing was decided.")
			}
		}
	}
}

func partOptions(e agent.Edit, rewritten bool) []option {
	yes := "yes, do it"
	if rewritten {
		yes = "yes, with your text"
	}
	options := []option{{"y", yes}, {"n", "no"}, {"r", "no, and say why"}}
	if len(e.Hunks) > 1 && !rewritten {
		options = append(options, option{"h", "decide hunk by hunk"})
	}
	if len(e.Hunks) > 0 {
		options = append(options, option{"e", "change the result in your editor first"})
	}
	return options
}

func (t *terminal) reviewHunks(ctx context.Context, name string, e agent.Edit) (agent.PartDecision, error) {
	d := agent.PartDecision{Hunks: map[string]agent.HunkDecision{}}
	for i := range e.Hunks {
		fmt.Fprintf(t.out, "\n%s\n", t.style.paint(bold, fmt.Sprintf("Hunk %d of %d", i+1, len(e.Hunks))))
		answer, rest, err := t.reviewHunk(ctx, name, e, i)
		if err != nil {
			return agent.PartDecision{}, err
		}
		d.Hunks[e.Hunks[i].ID] = answer
		if rest {
			for _, later := range e.Hunks[i+1:] {
				d.Hunks[later.ID] = agent.HunkDecision{Accept: answer.Accept}
			}
			break
		}
	}
	return d, nil
}

// reviewHunk asks about one hunk; rest says that the answer is for those after
// it too, which the person has seen in the diff of the whole file.
func (t *terminal) reviewHunk(ctx context.Context, name string, e agent.Edit, i int) (d agent.HunkDecision, rest bool, err error) {
	options := []option{
		{"y", "yes, land this hunk"}, {"n", "no"}, {"r", "no, and say why"}, {"e", "change it in your editor first"},
		{"a", "yes to this and all after it"}, {"d", "no to this and all after it"},
	}
	h := e.Hunks[i]
	show := func() {
		fmt.Fprint(t.out, t.style.colourDiff(withoutHeader(workspace.Unified(inline(name), e, []agent.Hunk{h}))))
	}
	show()
	for {
		key, err := t.choose(ctx, "This hunk?", options)
		if err != nil {
			return agent.HunkDecision{}, false, err
		}
		switch key {
		case "y", "a":
			d := agent.HunkDecision{Accept: true}
			if h.New != e.Hunks[i].New {
				d.Text = &h.New
			}
			return d, key == "a", nil
		case "n", "d":
			return agent.HunkDecision{}, key == "d", nil
		case "r":
			why, err := t.reason(ctx)
			return agent.HunkDecision{Comment: why}, false, err
		case "e":
			if text, ok := t.edit(ctx, name, h.New); ok {
				h.New = text
				show()
			}
		}
	}
}

// headless is an agent.Editor with nobody to ask.
type headless struct{ *workspace.Workspace }

// Review refuses, and says how a person can allow.
func (headless) Review(context.Context, agent.Proposal, func(agent.Proposal) error) (agent.Decision, error) {
	return agent.Decision{By: agent.ByHeadless, Comment: "nobody can be asked here; run assent in a terminal, or with --allow edit (which never covers protected, secret or outside files)"}, nil
}
