package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assent/agent"
	"assent/rpc"

	"go.lsp.dev/protocol"
)

// The answers to a plain question.
const (
	apply       = "Apply"
	allow       = "Allow"
	reviewHunks = "Review hunks"
	goOn        = "Go on"
	showRest    = "Show the rest"
	rejectIt    = "Reject"
)

// approve asks about an effect that is no edit.
func (e *editor) approve(ctx context.Context, p agent.Proposal, part agent.Part) (agent.PartDecision, error) {
	if !e.s.client.approve {
		answer, refusal, err := e.question(ctx, "assent asks. "+agent.Printable(part.Title())+"?", allow, rejectIt)
		return agent.PartDecision{Accept: answer == allow, Comment: refusal}, err
	}
	wire := Events{Place: e.s.place}
	params := ApproveParams{e.session, p.ID, part.Use.ID, part.Title(), wire.effect(part)}
	var raw json.RawMessage
	end := e.s.waitFor(e.session, "approval: "+part.Title())
	err := e.s.conn.Call(ctx, methodApprove, params, &raw)
	end()
	if err != nil {
		return agent.PartDecision{}, err
	}
	var result ApproveResult
	if err := strictly(raw, &result); err != nil {
		return agent.PartDecision{Comment: notUnderstood(err)}, nil
	}
	return agent.PartDecision{Accept: result.Decision == allowed, Comment: result.Comment}, nil
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
	whole := agent.Edit{Hunks: edit.Hunks}
	if edit.Kind == agent.EditDelete && edit.Old != "" {
		whole.Hunks = []agent.Hunk{{Old: edit.Old}}
	}
	last := []string{apply, rejectIt}
	if len(edit.Hunks) > 1 {
		last = []string{apply, reviewHunks, rejectIt}
	}
	diff := ""
	if len(pagesOf(whole.Hunks)) > 1 {
		var hide func()
		diff, hide = e.show(ctx, part, edit.Hunks)
		defer hide()
	}
	answer, refusal, err := e.shown(ctx, "assent wants to change a file. "+agent.Printable(part.Title())+warning(part), diff, whole.Hunks, last...)
	d := agent.PartDecision{Accept: answer == apply, Comment: refusal}
	if answer == reviewHunks && e.confirms(edit) {
		return agent.PartDecision{Accept: true, Confirm: true}, err
	}
	if err != nil || answer != reviewHunks {
		return d, err
	}
	d.Hunks = map[string]agent.HunkDecision{}
	for n, h := range edit.Hunks {
		title := fmt.Sprintf("%s, change %d of %d, line %d", agent.Printable(part.Info.Name), n+1, len(edit.Hunks), lineBreaks(edit.Old[:h.At])+1)
		answer, refusal, err := e.shown(ctx, title+warning(part), diff, []agent.Hunk{h}, apply, rejectIt)
		if err != nil {
			return d, err
		}
		d.Hunks[h.ID] = agent.HunkDecision{Accept: answer == apply, Comment: refusal}
	}
	return d, nil
}

// shown shows hunks whole, in as many questions as that takes, and asks in the last
// one: a yes is for what was seen. If the editor shows them already, in the file diff,
// one question will do; the others come if the person wants them, since some editors
// do not let one look around while they ask.
func (e *editor) shown(ctx context.Context, title, diff string, hunks []agent.Hunk, last ...string) (answer, refusal string, err error) {
	pages, first := pagesOf(hunks), 0
	switch {
	case diff != "" && len(pages) > 1:
		answer, refusal, err = e.question(ctx, fmt.Sprintf("%s\nThe editor shows all of it in %s. It begins:\n%s\n…", title, diff, pages[0]), append(slices.Clip(last), showRest)...)
		if err != nil || answer != showRest {
			return answer, refusal, err
		}
		first = 1
	case len(pages) > maxPages:
		return "", fmt.Sprintf("The change has %d pages, too many to show in questions. Make it in smaller steps, or use a client with experimental.assent.review.", len(pages)), nil
	}
	for n := first; n < len(pages); n++ {
		actions, count := last, ""
		if n+1 < len(pages) {
			actions = []string{goOn, rejectIt}
		}
		if len(pages) > 1 {
			count = fmt.Sprintf(" (page %d of %d)", n+1, len(pages))
		}
		answer, refusal, err = e.question(ctx, title+count+"\n"+pages[n], actions...)
		if err != nil || n+1 < len(pages) && answer != goOn {
			return "", refusal, err
		}
	}
	return answer, refusal, nil
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
	var raw json.RawMessage
	end := e.s.waitFor(e.session, "question: "+shortLine(text, 80))
	err = e.s.call(ctx, protocol.MethodWindowShowMessageRequest, params, &raw)
	end()
	if refused, ok := errors.AsType[*rpc.Error](err); ok && refused.Code == rpc.CodeMethodNotFound {
		return "", "", errNobody
	}
	if err != nil {
		return "", "", err
	}
	if len(raw) == 0 || string(raw) == "null" {
		return "", "The question was closed without an answer.", nil
	}
	if answer, err = readChoice(raw, actions); err != nil {
		return "", notUnderstood(err), nil
	}
	return answer, "", nil
}

// warning says why a change needs a second look.
func warning(part agent.Part) string {
	var why []string
	edit, _ := part.Effect.(agent.Edit)
	if part.Conflict || slices.ContainsFunc(edit.Hunks, func(h agent.Hunk) bool { return h.Conflict }) {
		why = append(why, "its text was changed meanwhile; what is asked now is for the lines as they are")
	}
	if part.Info.Secret || part.To.Secret {
		why = append(why, "it may hold secrets")
	}
	if part.Info.Protected || part.To.Protected {
		why = append(why, "it can change what runs on this machine")
	}
	if part.Info.Outside || part.To.Outside {
		why = append(why, "it is outside the workspace, at "+agent.Printable(part.Info.Path))
	}
	if why == nil {
		return ""
	}
	return " (" + strings.Join(why, "; ") + ")"
}

const (
	maxPages  = 10
	pageLines = 40
	lineWidth = 160 // what is longer counts as several
)

// pagesOf are the lines of hunks, as many together as fit in a question. There is one
// page at least.
func pagesOf(hunks []agent.Hunk) []string {
	var pages []string
	var page strings.Builder
	room := pageLines
	add := func(line string) {
		cost := 1 + len(line)/lineWidth
		if cost > room && page.Len() > 0 {
			pages = append(pages, page.String())
			page.Reset()
			room = pageLines
		}
		if page.Len() > 0 {
			page.WriteByte('\n')
		}
		page.WriteString(line)
		room -= cost
	}
	for _, h := range hunks {
		for _, side := range []struct{ sign, text string }{{"-", h.Old}, {"+", h.New}} {
			for line := range strings.Lines(side.text) {
				add(side.sign + agent.Printable(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")))
			}
		}
	}
	return append(pages, page.String())
}
