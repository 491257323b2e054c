package lsp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"assent/agent"
	"assent/rpc"

	"go.lsp.dev/protocol"
)

// The answers to a plain question.
const (
	apply      = "Apply"
	allow      = "Allow"
	hunkByHunk = "Hunk by hunk"
	rejectIt   = "Reject"
)

// approve asks about an effect that is no edit.
func (e *editor) approve(ctx context.Context, p agent.Proposal, part agent.Part) (agent.PartDecision, error) {
	if !e.s.client.approve {
		answer, refusal, err := e.question(ctx, "assent asks. "+part.Title()+"?", allow, rejectIt)
		return agent.PartDecision{Accept: answer == allow, Comment: refusal}, err
	}
	wire := Events{Place: e.s.place}
	params := ApproveParams{e.session, p.ID, part.Use.ID, part.Title(), wire.effect(part)}
	var result ApproveResult
	end := e.s.waitFor(e.session, "approval: "+part.Title())
	err := e.s.conn.Call(ctx, methodApprove, params, &result)
	end()
	if failed, ok := malformedAnswer(err); ok {
		return agent.PartDecision{Comment: failed}, nil
	}
	return agent.PartDecision{Accept: err == nil && result.Decision == allowed, Comment: result.Comment}, err
}

// ask asks about edits with window/showMessageRequest, each for itself.
func (e *editor) ask(ctx context.Context, p agent.Proposal, parts []int, d *agent.Decision) error {
	for _, i := range parts {
		answer, err := e.askEdit(ctx, p.Parts[i])
		if err != nil {
			return err
		}
		d.Parts[i] = answer
	}
	return nil
}

func (e *editor) askEdit(ctx context.Context, part agent.Part) (agent.PartDecision, error) {
	edit := part.Effect.(agent.Edit)
	actions := []string{apply, rejectIt}
	if len(edit.Hunks) > 1 {
		actions = []string{apply, hunkByHunk, rejectIt}
	}
	answer, refusal, err := e.question(ctx, "assent wants to change a file. "+part.Title()+warning(part)+"\n"+excerpt(edit.Hunks...), actions...)
	d := agent.PartDecision{Accept: answer == apply, Comment: refusal}
	if err != nil || answer != hunkByHunk {
		return d, err
	}
	d.Hunks = map[string]agent.HunkDecision{}
	for n, h := range edit.Hunks {
		text := fmt.Sprintf("%s, change %d of %d, line %d\n%s", part.Info.Name, n+1, len(edit.Hunks), lineBreaks(edit.Old[:h.At])+1, excerpt(h))
		answer, refusal, err := e.question(ctx, text, apply, rejectIt)
		if err != nil {
			return d, err
		}
		d.Hunks[h.ID] = agent.HunkDecision{Accept: answer == apply, Comment: refusal}
	}
	return d, nil
}

// question puts a question with some answers before the person. refusal says why
// there is none, for the model.
func (e *editor) question(ctx context.Context, text string, actions ...string) (answer, refusal string, err error) {
	if !e.s.client.asks {
		return "", "", errNobody
	}
	params := &protocol.ShowMessageRequestParams{Type: protocol.MessageTypeInfo, Message: text}
	for _, a := range actions {
		params.Actions = append(params.Actions, protocol.MessageActionItem{Title: a})
	}
	var chosen *struct {
		Title string `json:"title"`
	}
	end := e.s.waitFor(e.session, "question: "+shortLine(text, 80))
	err = e.s.call(ctx, protocol.MethodWindowShowMessageRequest, params, &chosen)
	end()
	if failed, ok := malformedAnswer(err); ok {
		return "", failed, nil
	}
	if failed, ok := errors.AsType[*rpc.Error](err); ok && failed.Code == rpc.CodeMethodNotFound {
		return "", "", errNobody
	}
	if err == nil && chosen == nil {
		return "", "The question was closed without an answer.", nil
	}
	if chosen != nil {
		answer = chosen.Title
	}
	return answer, "", err
}

// warning says why a change needs a second look.
func warning(part agent.Part) string {
	switch {
	case part.Info.Secret, part.To.Secret:
		return " (it may hold secrets)"
	case part.Info.Protected, part.To.Protected:
		return " (it can change what runs on this machine)"
	case part.Info.Outside, part.To.Outside:
		return " (it is outside the workspace, at " + part.Info.Path + ")"
	}
	return ""
}

// excerpt shows hunks in few lines, since a question has little room.
func excerpt(hunks ...agent.Hunk) string {
	const most = 40
	var lines []string
	for _, h := range hunks {
		for _, side := range []struct{ sign, text string }{{"-", h.Old}, {"+", h.New}} {
			for line := range strings.Lines(side.text) {
				lines = append(lines, side.sign+strings.TrimRight(line, "\r\n"))
			}
		}
	}
	if left := len(lines) - most; left > 0 {
		lines = append(lines[:most], fmt.Sprintf("… and %d lines more", left))
	}
	return strings.Join(lines, "\n")
}
