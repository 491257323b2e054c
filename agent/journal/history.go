package journal

import "assent/agent"

// History is the conversation as the live session had it: the messages of user
// and model in order, and right after each reply one message with the results of
// its calls, in their order. A call without a result has none here either: the
// session settles it. Results without a call and second results are left out. What
// was put in short is so here too.
func History(entries []Entry) []agent.Message {
	var history []agent.Message
	var open *reply
	flush := func() {
		if open != nil {
			history = open.insert(history)
		}
		open = nil
	}
	for _, e := range entries {
		switch r := e.Record.(type) {
		case agent.Appended:
			if r.Message.Role == agent.RoleAssistant {
				flush()
				open = newReply(r.Message, len(history)+1)
			}
			history = append(history, r.Message)
		case agent.Answered:
			if open != nil {
				open.answer(r.Result)
			}
		case agent.Compacted:
			flush()
			history = r.Apply(history)
		}
	}
	flush()
	return history
}

// reply is the calls of one reply and what is known of their results.
type reply struct {
	at      int // where in the history the results belong
	uses    []agent.ToolUse
	results []*agent.ToolResult // by use
}

func newReply(m agent.Message, at int) *reply {
	uses := m.ToolUses()
	return &reply{at: at, uses: uses, results: make([]*agent.ToolResult, len(uses))}
}

// answer puts a result to the first call of its ID that has none, and reports
// whether there is one.
func (p *reply) answer(result agent.ToolResult) bool {
	for i, u := range p.uses {
		if u.ID == result.ID && p.results[i] == nil {
			p.results[i] = &result
			return true
		}
	}
	return false
}

// unanswered lists the calls without a result.
func (p *reply) unanswered() []agent.ToolUse {
	var uses []agent.ToolUse
	for i, u := range p.uses {
		if p.results[i] == nil {
			uses = append(uses, u)
		}
	}
	return uses
}

// insert puts the results behind the reply; what the user said meanwhile comes
// after them.
func (p *reply) insert(history []agent.Message) []agent.Message {
	m := agent.Message{Role: agent.RoleTool}
	for _, r := range p.results {
		if r != nil {
			m.Blocks = append(m.Blocks, *r)
		}
	}
	if len(m.Blocks) == 0 {
		return history
	}
	history = append(history, agent.Message{})
	copy(history[p.at+1:], history[p.at:])
	history[p.at] = m
	return history
}
