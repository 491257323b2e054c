package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// keep appends a reply. Calls that the model wrote as text are answered by an error
// once; when it does so again, its text is shown as it is and the run ends.
func (r *run) keep(reply Message, elapsed time.Duration) (Message, error) {
	uses := reply.ToolUses()
	asText := len(uses) > 0 && !slices.ContainsFunc(uses, func(u ToolUse) bool { return u.Invalid != WrittenAsText })
	if !asText || !r.wroteCalls {
		r.wroteCalls = asText || r.wroteCalls && len(uses) == 0
		return reply, r.append(reply, elapsed)
	}
	for i, b := range reply.Blocks {
		if u, ok := b.(ToolUse); ok {
			reply.Blocks[i] = Text{u.RawInput}
			if err := r.emit(Delta{Text: u.RawInput}); err != nil {
				return Message{}, err
			}
		}
	}
	reply.Stop = StopError
	if err := r.append(reply, elapsed); err != nil {
		return Message{}, err
	}
	return Message{}, &ModelError{
		Kind:    ErrorCallAsText,
		Message: "The model writes its calls into its text instead of making them: choose a model that can call tools, or turn tool calling on in its server",
	}
}

// accept brings a reply into the shape that the history needs: unique ids,
// arguments that are an object or marked as invalid, no call where none may be.
func (r *run) accept(m Message, mayCall bool) (Message, error) {
	out := Message{Role: RoleAssistant, Stop: orDefault(m.Stop, StopComplete), Finish: m.Finish, Usage: m.Usage}
	fresh := map[string]bool{}
	said := false
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case Text:
			said = said || strings.TrimSpace(b.Text) != ""
			out.Blocks = append(out.Blocks, b)
		case Thinking:
			out.Blocks = append(out.Blocks, b)
		case ToolUse:
			if !mayCall {
				continue
			}
			said = true
			b.ID = unique(b.ID, r.s.ids, fresh)
			fresh[b.ID] = true
			out.Blocks = append(out.Blocks, validUse(b, m.Stop))
		}
	}
	if !said && out.Stop != StopRefused {
		return out, emptyReply(out.Stop)
	}
	return out, nil
}

func emptyReply(stop StopReason) *ModelError {
	if stop == StopTruncated {
		return &ModelError{Kind: ErrorEmpty, Message: "The model used its whole output limit before it said anything; raise max_tokens, or ask for less"}
	}
	return &ModelError{Kind: ErrorEmpty, Message: "The model ended its reply without a text or a call; ask again, or in other words"}
}

// unique is an ID that none of some others is.
func unique(id string, taken ...map[string]bool) string {
	base := orDefault(id, "call")
	unique := base
	for n := 2; slices.ContainsFunc(taken, func(ids map[string]bool) bool { return ids[unique] }); n++ {
		unique = fmt.Sprintf("%s-%d", base, n)
	}
	return unique
}

const notObject = "the arguments are not one JSON object"

// validUse marks a call that must not run: one whose arguments are no object,
// and every call of a reply that was cut.
func validUse(u ToolUse, stop StopReason) ToolUse {
	u.Input = bytes.TrimSpace(u.Input)
	switch {
	case u.Invalid != "":
	case stop == StopTruncated || stop == StopRefused:
		u.Invalid = "the reply was cut off before its end, so the call may be incomplete; make it again, smaller if it was large"
	case len(u.Input) == 0:
		u.Input = json.RawMessage("{}")
	case !isObject(u.Input):
		u.Invalid = notObject
	}
	if u.Invalid != "" && u.RawInput == "" {
		u.RawInput, u.Input = string(u.Input), nil
	}
	return u
}
