package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// call is one tool use on its way to its result.
type call struct {
	use     ToolUse
	spec    Spec // zero for a tool that does not exist
	plan    Plan
	parts   []Part
	answers []answer // to each part, once the consent is known
	times   int      // the how-manieth identical call
	spent   time.Duration
	ran     bool // Plan.Run was called
	leftOut bool // the person left some of it out as it landed
	hinted  bool // its result says how often it came
	reads   *reads

	result *Result // set: nothing more is done for this call
}

func (c *call) fail(format string, args ...any) {
	c.result = &Result{Output: fmt.Sprintf(format, args...), IsError: true}
}

const cancelledText = "Cancelled by the person before it was done: nothing of it happened."

// answer gives every call of a reply exactly one result, in order: plan what a
// batch would do, ask, do it, record what came of it. An error ends the run;
// calls without a result are then settled by the next one.
func (r *run) answer(uses []ToolUse) error {
	r.shares, r.seen.reply = r.s.shares(len(uses)), nil
	for _, batch := range r.batches(uses) {
		r.prepare(batch)
		if err := r.consent(batch); err != nil {
			return err
		}
		if err := r.execute(batch); err != nil {
			return err
		}
	}
	return nil
}

// batches groups consecutive reads and consecutive edits. Commands and remote
// calls stand alone, so that each is asked when what came before it is done.
func (r *run) batches(uses []ToolUse) [][]*call {
	var out [][]*call
	for _, u := range uses {
		c := &call{use: u, spec: r.s.tiers[u.Name]}
		last := len(out) - 1
		if last >= 0 && out[last][0].spec.Tier == c.spec.Tier && c.spec.Tier <= TierWrite {
			out[last] = append(out[last], c)
			continue
		}
		out = append(out, []*call{c})
	}
	return out
}

// prepare plans each call of a batch, in order, on one scratch.
func (r *run) prepare(batch []*call) {
	files := newScratch(r.s.cfg.Editor, r.s.reads)
	for _, c := range batch {
		c.times = r.seen.see(c.use, c.spec.Tier)
		switch {
		case r.ctx.Err() != nil:
			c.fail(cancelledText)
		case c.spec.Tier == 0:
			c.fail("There is no tool %q. The tools are: %s.", c.use.Name, strings.Join(r.s.toolNames(), ", "))
		case c.use.Invalid != "":
			c.fail("%s was not called: %s. The arguments were: %s%s", c.use.Name, c.use.Invalid, excerpt(c.use.RawInput), schemaNote(c.spec.Schema))
		case c.times >= repeatHint && c.spec.Tier != TierRead:
			c.hinted = true
			c.fail("%s was not done again. %s", c.use.Name, repeatNote(c.times))
		default:
			began := time.Now()
			r.planCall(c, files)
			c.spent = time.Since(began)
		}
	}
}

func (r *run) planCall(c *call, files *scratch) {
	c.reads = &reads{}
	var view Files = noted{r.s.cfg.Editor, c.reads}
	if c.spec.Tier == TierWrite {
		view = files
	}
	type planned struct {
		plan  Plan
		parts []Part
	}
	p, err := guard(r.ctx, r.s.timeout(c.spec), func(ctx context.Context) (planned, error) {
		plan, err := r.s.tools[c.use.Name].Plan(ctx, view, c.use.Input)
		if err == nil {
			err = checkPlan(plan, c.spec.Tier)
		}
		if err != nil {
			return planned{}, err
		}
		parts, err := r.parts(ctx, c.use, plan, files)
		return planned{plan, parts}, err
	})
	switch {
	case r.ctx.Err() != nil:
		c.fail(cancelledText)
		return
	case err != nil:
		hint := ""
		if missed, ok := errors.AsType[*MissedError](err); ok {
			hint = r.seen.missed(missed.Path)
		}
		c.fail("%s failed: %v%s", c.use.Name, err, hint)
		return
	}
	c.plan, c.parts = p.plan, p.parts
	for _, p := range c.parts {
		if edit, ok := p.Effect.(Edit); ok {
			files.plan(edit, p.Info)
			r.seen.met(edit.Path)
		}
	}
}

func (r *run) parts(ctx context.Context, use ToolUse, plan Plan, files *scratch) ([]Part, error) {
	var parts []Part
	for _, effect := range plan.Effects {
		p, err := r.part(ctx, use, effect)
		if err != nil {
			return nil, err
		}
		p.Info, p.To = files.warned(p.Info), files.warned(p.To)
		p.Alone = mustAsk(p)
		parts = append(parts, p)
	}
	return parts, nil
}

// part takes an effect as planned by a tool and adds what the editor knows of
// its path. A path that is not the resolved one would show one file to the
// person and change another. Who wrote a hunk is not for the tool to say.
func (r *run) part(ctx context.Context, use ToolUse, effect Effect) (Part, error) {
	p := Part{Use: use, Effect: effect}
	var path string
	switch e := effect.(type) {
	case Edit:
		if err := e.Check(); err != nil {
			return Part{}, err
		}
		e.Hunks, e.Confirm = slices.Clone(e.Hunks), false
		for i, h := range e.Hunks {
			e.Hunks[i] = NewHunk(h.At, h.Old, h.New)
		}
		p.Effect, path = e, e.Path
		if e.Kind == EditRename {
			var err error
			if p.To, err = r.resolved(ctx, e.To); err != nil {
				return Part{}, err
			}
		}
	case OutsideRead:
		path = e.Path
	case SecretRead:
		path = e.Path
	default:
		return p, nil
	}
	var err error
	p.Info, err = r.resolved(ctx, path)
	return p, err
}

func (r *run) resolved(ctx context.Context, path string) (Info, error) {
	info, err := r.s.cfg.Editor.Stat(ctx, path)
	if err == nil && info.Path != path {
		err = fmt.Errorf("%s leads to %s; it has to be named by that path", path, info.Path)
	}
	return info, err
}

// checkPlan holds the rules of [Plan].
func checkPlan(p Plan, tier Tier) error {
	own := 0 // effects that only this tier has
	for _, e := range p.Effects {
		var fits bool
		switch e.(type) {
		case Edit:
			fits = tier == TierWrite && p.Run == nil
			own++
		case OutsideRead, SecretRead:
			fits = tier == TierRead || tier == TierRun
		case Exec:
			fits = tier == TierRun
			own++
		case Remote:
			fits = tier == TierRemote
			own++
		}
		if !fits {
			return fmt.Errorf("a %s tool planned an effect (%T) that is not its own, which is a bug in it", tier, e)
		}
	}
	switch {
	case len(p.Effects) == 0 && p.Run == nil:
		return errors.New("it planned nothing, which is a bug in it")
	case own == 0 && (tier == TierRun || tier == TierRemote):
		return fmt.Errorf("a %s tool did not name what it would %s, which is a bug in it", tier, map[Tier]string{TierRun: "run", TierRemote: "call"}[tier])
	case tier != TierWrite && p.Run == nil:
		return errors.New("it planned effects without a way to do them, which is a bug in it")
	}
	return nil
}

func (s *Session) timeout(spec Spec) time.Duration {
	return orDefault(spec.Timeout, s.cfg.ToolTimeout)
}

func (s *Session) toolNames() []string {
	names := make([]string, 0, len(s.specs))
	for _, spec := range s.specs {
		names = append(names, spec.Name)
	}
	sort.Strings(names)
	return names
}

// schemaNote reminds a model of what a call is made of, if that is not too long.
func schemaNote(schema json.RawMessage) string {
	if len(schema) == 0 || len(schema) > 2000 {
		return ""
	}
	return "\nIts arguments are one JSON object of this schema: " + string(schema)
}

func excerpt(text string) string {
	const limit = 400
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}
