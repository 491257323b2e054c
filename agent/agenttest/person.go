package agenttest

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"assent/agent"
	"assent/agent/workspace"
)

// Root is the workspace folder of a [Person].
const Root = "/w"

// Person is an agent.Editor with files in memory and a person who remembers
// what they were asked, what they said, and what landed.
type Person struct {
	// Answer is what the person says; nil accepts everything.
	Answer func(ctx context.Context, p agent.Proposal) (agent.Decision, error)
	// Revise, if set, is what becomes of a proposal before it is answered.
	Revise func(p agent.Proposal) agent.Proposal
	// BeforeApply, if set, is called before an edit lands; its error is the answer.
	BeforeApply func(e agent.Edit) error

	mu      sync.Mutex
	files   map[string]string // by absolute path
	asked   []agent.Proposal
	said    []agent.Decision
	applied []agent.Edit
}

// NewPerson makes a person with files, named relative to [Root].
func NewPerson(files map[string]string) *Person {
	p := &Person{files: map[string]string{}}
	for name, text := range files {
		p.files[path.Join(Root, name)] = text
	}
	return p
}

// AcceptAll accepts every part of a proposal.
func AcceptAll(p agent.Proposal) agent.Decision {
	d := agent.Decision{By: agent.ByPerson}
	for range p.Parts {
		d.Parts = append(d.Parts, agent.PartDecision{Accept: true})
	}
	return d
}

// Files are the files as they are now, by absolute path.
func (p *Person) Files() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.files)
}

// Text is one file, named relative to [Root].
func (p *Person) Text(name string) string { return p.Files()[path.Join(Root, name)] }

// Put sets the text of a file, named relative to [Root].
func (p *Person) Put(name, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[path.Join(Root, name)] = text
}

// Asked are the proposals so far.
func (p *Person) Asked() []agent.Proposal {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// Said are the decisions so far, one for each proposal that was answered.
func (p *Person) Said() []agent.Decision {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.said)
}

// Applied are the edits that came to Apply with an approval.
func (p *Person) Applied() []agent.Edit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.applied)
}

// Stat looks a path up.
func (p *Person) Stat(_ context.Context, name string) (agent.Info, error) {
	if name == "" {
		return agent.Info{}, fmt.Errorf("an empty path")
	}
	full := path.Clean(name)
	if !path.IsAbs(name) {
		full = path.Join(Root, name)
	}
	if full == Root {
		return agent.Info{Path: Root, Name: ".", Exists: true, Dir: true}, nil
	}
	rel, inside := strings.CutPrefix(full, Root+"/")
	p.mu.Lock()
	text, exists := p.files[full]
	p.mu.Unlock()
	return agent.Info{
		Path: full, Name: rel, Exists: exists, Size: int64(len(text)), Outside: !inside,
		Secret: workspace.Secret(rel), Protected: workspace.Protected(rel),
	}, nil
}

// Read reads a file.
func (p *Person) Read(ctx context.Context, ok agent.Approval, name string) (agent.File, error) {
	info, err := p.Stat(ctx, name)
	if err != nil {
		return agent.File{}, err
	}
	if info.Outside && !ok.Covers(agent.OutsideRead{Path: info.Path}) || info.Secret && !ok.Covers(agent.SecretRead{Path: info.Path}) {
		return agent.File{}, fmt.Errorf("read %s: %w", name, agent.ErrNotApproved)
	}
	if !info.Exists {
		return agent.File{}, fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
	}
	text := p.Files()[info.Path]
	return agent.File{Info: info, Text: text, Hash: agent.HashText(text), Source: agent.SourceBuffer}, nil
}

// List lists the files below dir.
func (p *Person) List(ctx context.Context, dir string) iter.Seq2[agent.Info, error] {
	return func(yield func(agent.Info, error) bool) {
		top, err := p.Stat(ctx, dir)
		if err != nil {
			yield(agent.Info{}, err)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(p.Files())) {
			if !strings.HasPrefix(name, top.Path+"/") {
				continue
			}
			if info, err := p.Stat(ctx, name); !yield(info, err) {
				return
			}
		}
	}
}

// Review asks Answer.
func (p *Person) Review(ctx context.Context, q agent.Proposal, revise func(agent.Proposal) error) (agent.Decision, error) {
	if p.Revise != nil {
		if next := p.Revise(q); next.Revision != q.Revision {
			if err := revise(next); err != nil {
				return agent.Decision{}, err
			}
			q = next
		}
	}
	p.mu.Lock()
	p.asked = append(p.asked, q)
	p.mu.Unlock()
	d, err := AcceptAll(q), error(nil)
	if p.Answer != nil {
		d, err = p.Answer(ctx, q)
	}
	if err == nil {
		p.mu.Lock()
		p.said = append(p.said, d)
		p.mu.Unlock()
	}
	return d, err
}

// Apply lands an edit in memory.
func (p *Person) Apply(_ context.Context, ok agent.Approval, e agent.Edit) (agent.Landing, error) {
	if !ok.Covers(e) {
		return agent.Landing{}, fmt.Errorf("apply to %s: %w", e.Path, agent.ErrNotApproved)
	}
	if p.BeforeApply != nil {
		if err := p.BeforeApply(e); err != nil {
			return agent.Landing{}, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.applied = append(p.applied, e)
	return p.land(e), nil
}

func (p *Person) land(e agent.Edit) agent.Landing {
	text, exists := p.files[e.Path]
	l := agent.Landing{Status: agent.LandComplete, Where: agent.SourceBuffer}
	if exists {
		l.Before = agent.HashText(text)
	}
	failed := func(note string) agent.Landing {
		return agent.Landing{Before: l.Before, After: l.Before, Where: l.Where, Note: note}
	}
	switch e.Kind {
	case agent.EditCreate:
		if exists {
			return failed("a file is there meanwhile")
		}
		p.files[e.Path] = e.New()
	case agent.EditDelete:
		if !exists || agent.HashText(text) != e.Base {
			return failed("the file changed meanwhile")
		}
		delete(p.files, e.Path)
		return l
	case agent.EditRename:
		if _, taken := p.files[e.To]; taken || !exists {
			return failed("the file is gone or the new name taken")
		}
		delete(p.files, e.Path)
		p.files[e.To] = text
		return l
	case agent.EditText:
		if !exists {
			return failed("the file is gone")
		}
		moved, conflicts := workspace.Rebase(e, text)
		for _, h := range conflicts {
			l.Conflicts = append(l.Conflicts, h.ID)
		}
		if len(conflicts) > 0 {
			l.Status = agent.LandPartial
		}
		if len(moved) == 0 {
			l.Status, l.After, l.Text = agent.LandFailed, l.Before, text
			return l
		}
		e.Old, e.Hunks = text, moved
		p.files[e.Path] = e.New()
	}
	for _, h := range e.Hunks {
		l.Landed = append(l.Landed, h.ID)
	}
	l.Text = p.files[e.Path]
	l.After = agent.HashText(l.Text)
	return l
}
