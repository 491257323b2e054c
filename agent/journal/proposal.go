package journal

import (
	"encoding/json"
	"fmt"

	"assent/agent"
)

// Kinds of effects that are no edits.
const (
	kindExec        = "exec"
	kindRemote      = "remote"
	kindOutsideRead = "outside_read"
	kindSecretRead  = "secret_read"
)

func (l *line) proposal(p agent.Proposal) error {
	l.text("proposalId", p.ID)
	l.num("revision", int64(p.Revision))
	l.text("title", p.Title)
	if len(p.Parts) == 0 {
		return nil
	}
	l.begin("parts", '[')
	for _, part := range p.Parts {
		l.element()
		l.text("toolUseId", part.Use.ID)
		l.text("name", part.Use.Name)
		if err := l.effect(part.Effect); err != nil {
			return err
		}
		l.info("info", part.Info)
		l.info("toInfo", part.To)
		l.flag("conflict", part.Conflict)
		if len(part.Moot) > 0 {
			l.hunks("moot", part.Moot)
		}
		l.end('}')
	}
	l.end(']')
	return nil
}

func (l *line) effect(effect agent.Effect) error {
	if effect == nil {
		return nil
	}
	if e, ok := effect.(agent.Edit); ok {
		return l.edit("effect", e)
	}
	l.begin("effect", '{')
	switch e := effect.(type) {
	case agent.Exec:
		l.word("kind", kindExec)
		l.text("dir", e.Dir)
		l.text("command", e.Command)
	case agent.Remote:
		l.word("kind", kindRemote)
		l.text("server", e.Server)
		l.text("tool", e.Tool)
		l.input(e.Input)
	case agent.OutsideRead:
		l.word("kind", kindOutsideRead)
		l.text("path", e.Path)
	case agent.SecretRead:
		l.word("kind", kindSecretRead)
		l.text("path", e.Path)
	default:
		return fmt.Errorf("an effect of type %T can't be recorded", e)
	}
	l.end('}')
	return nil
}

func isEditKind(kind agent.EditKind) bool {
	switch kind {
	case agent.EditText, agent.EditCreate, agent.EditDelete, agent.EditRename:
		return true
	}
	return false
}

func (l *line) edit(name string, e agent.Edit) error {
	if !isEditKind(e.Kind) {
		return fmt.Errorf("an edit of kind %q can't be recorded", e.Kind)
	}
	l.begin(name, '{')
	l.word("kind", string(e.Kind))
	l.text("path", e.Path)
	l.text("to", e.To)
	l.hash("base", e.Base)
	if e.Kind == agent.EditDelete {
		l.text("oldText", e.Old)
	}
	if len(e.Hunks) > 0 {
		l.hunks("hunks", e.Hunks)
	}
	l.flag("confirm", e.Confirm)
	l.end('}')
	return nil
}

func (l *line) hunks(name string, hunks []agent.Hunk) {
	l.begin(name, '[')
	for _, h := range hunks {
		l.element()
		l.text("id", h.ID)
		l.num("at", int64(h.At))
		l.text("old", h.Old)
		l.text("new", h.New)
		l.word("by", string(h.By))
		l.flag("conflict", h.Conflict)
		l.end('}')
	}
	l.end(']')
}

func (l *line) info(name string, i agent.Info) {
	if i == (agent.Info{}) {
		return
	}
	l.begin(name, '{')
	l.text("path", i.Path)
	l.text("name", i.Name)
	l.flag("exists", i.Exists)
	l.flag("dir", i.Dir)
	l.num("size", i.Size)
	l.flag("outside", i.Outside)
	l.flag("secret", i.Secret)
	l.flag("protected", i.Protected)
	l.end('}')
}

type proposedWire struct {
	ProposalID text       `json:"proposalId"`
	Revision   int        `json:"revision"`
	Title      text       `json:"title"`
	Parts      []partWire `json:"parts"`
}

type partWire struct {
	ToolUseID text        `json:"toolUseId"`
	Name      text        `json:"name"`
	Effect    *effectWire `json:"effect"`
	Info      infoWire    `json:"info"`
	ToInfo    infoWire    `json:"toInfo"`
	Conflict  bool        `json:"conflict"`
	Moot      []hunkWire  `json:"moot"`
}

func (w proposedWire) record() (agent.Record, error) {
	p := agent.Proposal{ID: string(w.ProposalID), Revision: w.Revision, Title: string(w.Title)}
	for _, part := range w.Parts {
		effect, err := part.Effect.effect()
		if err != nil {
			return nil, err
		}
		p.Parts = append(p.Parts, agent.Part{
			Use:    agent.ToolUse{ID: string(part.ToolUseID), Name: string(part.Name)},
			Effect: effect,
			Info:   part.Info.info(),
			To:     part.ToInfo.info(),

			Conflict: part.Conflict,
			Moot:     plainHunks(part.Moot),
		})
	}
	return agent.Proposed{Proposal: p}, nil
}

// effectWire is an effect of any kind.
type effectWire struct {
	Kind      text            `json:"kind"`
	Path      text            `json:"path"`
	To        text            `json:"to"`
	Base      text            `json:"base"`
	OldText   text            `json:"oldText"`
	Hunks     []hunkWire      `json:"hunks"`
	Confirm   bool            `json:"confirm"`
	Dir       text            `json:"dir"`
	Command   text            `json:"command"`
	Server    text            `json:"server"`
	Tool      text            `json:"tool"`
	Input     json.RawMessage `json:"input"`
	InputText *text           `json:"inputText"`
}

func (w *effectWire) effect() (agent.Effect, error) {
	if w == nil {
		return nil, nil
	}
	switch w.Kind {
	case kindExec:
		return agent.Exec{Dir: string(w.Dir), Command: string(w.Command)}, nil
	case kindRemote:
		return agent.Remote{
			Server: string(w.Server), Tool: string(w.Tool), Input: rawInput(w.Input, w.InputText),
		}, nil
	case kindOutsideRead:
		return agent.OutsideRead{Path: string(w.Path)}, nil
	case kindSecretRead:
		return agent.SecretRead{Path: string(w.Path)}, nil
	}
	edit, err := w.edit()
	if err != nil { // a typed nil would be an effect
		return nil, err
	}
	return edit, nil
}

func (w effectWire) edit() (agent.Edit, error) {
	kind := agent.EditKind(w.Kind)
	if !isEditKind(kind) {
		return agent.Edit{}, fmt.Errorf("unknown kind of effect %q", w.Kind)
	}
	base, err := parseHash(w.Base)
	if err != nil {
		return agent.Edit{}, err
	}
	e := agent.Edit{
		Path: string(w.Path), Kind: kind, To: string(w.To), Base: base, Hunks: plainHunks(w.Hunks), Confirm: w.Confirm,
	}
	if kind == agent.EditDelete {
		e.Old = string(w.OldText)
	}
	return e, nil
}

type hunkWire struct {
	ID  text `json:"id"`
	At  int  `json:"at"`
	Old text `json:"old"`
	New text `json:"new"`
	By  text `json:"by"`

	Conflict bool `json:"conflict"`
}

func plainHunks(ws []hunkWire) []agent.Hunk {
	var hunks []agent.Hunk
	for _, w := range ws {
		hunks = append(hunks, agent.Hunk{
			ID: string(w.ID), At: w.At, Old: string(w.Old), New: string(w.New), By: agent.By(w.By), Conflict: w.Conflict,
		})
	}
	return hunks
}

type infoWire struct {
	Path      text  `json:"path"`
	Name      text  `json:"name"`
	Exists    bool  `json:"exists"`
	Dir       bool  `json:"dir"`
	Size      int64 `json:"size"`
	Outside   bool  `json:"outside"`
	Secret    bool  `json:"secret"`
	Protected bool  `json:"protected"`
}

func (w infoWire) info() agent.Info {
	return agent.Info{
		Path: string(w.Path), Name: string(w.Name), Exists: w.Exists, Dir: w.Dir, Size: w.Size,
		Outside: w.Outside, Secret: w.Secret, Protected: w.Protected,
	}
}
