package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"assent/agent"
	"assent/agent/host"
)

// jsonPrinter writes one event a line, in the shapes of DESIGN §6.
type jsonPrinter struct {
	out  *json.Encoder
	open agent.Proposal // the one that the next decision is about
}

type object map[string]any

func newJSONPrinter(out io.Writer, s *host.Session) *jsonPrinter {
	p := &jsonPrinter{out: json.NewEncoder(out)}
	p.out.SetEscapeHTML(false)
	// A failing stdout shows at the first event too.
	_ = p.out.Encode(object{"type": "session", "sessionId": s.ID, "journal": s.Journal})
	return p
}

func (p *jsonPrinter) print(e agent.Event) error {
	for _, o := range p.objects(e) {
		if err := p.out.Encode(o); err != nil {
			return err
		}
	}
	return nil
}

func (p *jsonPrinter) objects(e agent.Event) []object {
	switch e := e.(type) {
	case agent.Delta:
		var out []object
		if e.Thinking != "" {
			out = append(out, object{"type": "thinking", "delta": e.Thinking})
		}
		if e.Text != "" {
			out = append(out, object{"type": "text", "delta": e.Text})
		}
		return out
	case agent.Requested:
		return []object{{"type": "request", "messages": e.Messages, "attempt": e.Attempt}}
	case agent.Appended:
		return replyObjects(e.Message)
	case agent.Answered:
		return []object{{"type": "tool_result", "toolUseId": e.Use.ID, "output": e.Result.Output, "isError": e.Result.IsError, "ms": e.Elapsed.Milliseconds()}}
	case agent.Proposed:
		p.open = e.Proposal
		return []object{proposedObject(e.Proposal)}
	case agent.Decided:
		return []object{decidedObject(p.open, e)}
	case agent.Landed:
		l := e.Landing
		file := object{"uri": fileURI(e.Edit.Path), "status": l.Status.String(), "where": l.Where, "hash": l.After.String(), "hunks": l.Landed, "conflicts": l.Conflicts, "foreign": l.Foreign, "note": l.Note}
		return []object{{"type": "landed", "proposalId": e.ProposalID, "toolUseId": e.ToolUseID, "files": []object{file}}}
	case agent.Retrying:
		return []object{{"type": "retrying", "reason": fmt.Sprint(e.Err), "attempt": e.Attempt, "waitMs": e.Wait.Milliseconds()}}
	case agent.Done:
		done := object{"type": "done", "stopReason": e.Reason, "turns": e.Turns, "denied": e.Denied, "usage": usageObject(e.Usage)}
		if text := ending(e); text != "" {
			done["message"] = text
		}
		return []object{done}
	}
	return nil
}

func usageObject(u agent.Usage) object {
	return object{"inputTokens": u.Input, "outputTokens": u.Output}
}

func replyObjects(m agent.Message) []object {
	if m.Role != agent.RoleAssistant {
		return nil
	}
	var out []object
	for _, u := range m.ToolUses() {
		use := object{"id": u.ID, "name": u.Name}
		if u.Invalid == "" {
			use["input"] = u.Input
		} else {
			use["inputRaw"], use["invalid"] = u.RawInput, u.Invalid
		}
		out = append(out, object{"type": "tool_use", "toolUse": use, "title": u.Name})
	}
	return append(out, object{"type": "usage", "usage": usageObject(m.Usage)})
}

func proposedObject(p agent.Proposal) object {
	files := []object{}
	effects := []object{}
	for _, part := range p.Parts {
		switch e := part.Effect.(type) {
		case agent.Edit:
			files = append(files, fileObject(part, e))
		case agent.Exec:
			effects = append(effects, object{"kind": "exec", "toolUseId": part.Use.ID, "dir": e.Dir, "command": e.Command})
		case agent.Remote:
			effects = append(effects, object{"kind": "remote", "toolUseId": part.Use.ID, "server": e.Server, "tool": e.Tool, "input": e.Input})
		case agent.OutsideRead:
			effects = append(effects, object{"kind": "read", "toolUseId": part.Use.ID, "uri": fileURI(e.Path), "outside": true})
		case agent.SecretRead:
			effects = append(effects, object{"kind": "read", "toolUseId": part.Use.ID, "uri": fileURI(e.Path), "secret": true})
		}
	}
	out := object{"type": "proposed", "proposalId": p.ID, "revision": p.Revision, "title": p.Title, "files": files}
	if len(effects) > 0 {
		out["effects"] = effects
	}
	return out
}

func fileObject(part agent.Part, e agent.Edit) object {
	hunks := []object{}
	moved := 0 // lines that earlier hunks added
	for _, h := range e.Hunks {
		before, oldLines, newLines := strings.Count(e.Old[:h.At], "\n"), lines(h.Old), lines(h.New)
		hunks = append(hunks, object{
			"id": h.ID, "oldStart": before, "oldLines": oldLines, "newStart": before + moved, "newLines": newLines,
			"oldText": h.Old, "newText": h.New,
		})
		moved += newLines - oldLines
	}
	file := object{"toolUseId": part.Use.ID, "uri": fileURI(e.Path), "version": nil, "kind": e.Kind, "newText": e.New(), "hunks": hunks}
	if e.Kind != agent.EditCreate {
		file["oldText"] = e.Old
	}
	if e.Kind == agent.EditRename {
		file["newUri"] = fileURI(e.To)
	}
	return file
}

func lines(text string) int {
	added, _ := agent.Edit{Hunks: []agent.Hunk{{New: text}}}.Lines()
	return added
}

func decidedObject(p agent.Proposal, e agent.Decided) object {
	files, hunks, effects := object{}, object{}, object{}
	word := map[bool]string{true: "accept", false: "reject"}
	for i, part := range p.Parts {
		d := e.Decision.Parts[i] // the session gives each part an answer
		edit, ok := part.Effect.(agent.Edit)
		if !ok {
			effects[part.Use.ID] = word[d.Accept]
			continue
		}
		accepted := 0
		for _, h := range edit.Hunks {
			hd, listed := d.Hunks[h.ID]
			yes := listed && hd.Accept || !listed && d.Accept
			hunks[h.ID] = word[yes]
			if yes {
				accepted++
			}
		}
		uri := fileURI(edit.Path)
		switch {
		case len(edit.Hunks) == 0 || d.Rewrite != nil:
			files[uri] = word[d.Accept]
		case accepted > 0 && accepted < len(edit.Hunks):
			files[uri] = "partial"
		default:
			files[uri] = word[accepted > 0]
		}
		if d.Rewrite != nil {
			files[uri] = "edited"
		}
	}
	return object{"type": "decided", "proposalId": e.ProposalID, "revision": e.Revision, "by": e.Decision.By, "files": files, "hunks": hunks, "effects": effects, "comment": e.Decision.Comment}
}

// fileURI is the file: URI of an absolute path.
func fileURI(path string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/x
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}
