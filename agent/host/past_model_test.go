package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"assent/agent"
	"assent/agent/agenttest"
)

// tool is one that can be done once.
func (p *past) tool(name string, tier agent.Tier) agent.Tool {
	return agenttest.Tool{Name: name, Tier: tier, Planer: func(_ context.Context, _ agent.Files, raw json.RawMessage) (agent.Plan, error) {
		var in struct {
			Nonce string
			Bytes int
		}
		if err := json.Unmarshal(raw, &in); err != nil {
			return agent.Plan{}, err
		}
		plan := agent.Plan{Run: func(context.Context, agent.Approval) (agent.Result, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.runs[in.Nonce]++; p.runs[in.Nonce] > 1 {
				p.faults = append(p.faults, name+" "+in.Nonce+" was done twice")
			}
			return agent.Result{Output: strings.Repeat("some output é\n", in.Bytes/15)}, nil
		}}
		if tier == agent.TierRun {
			plan.Effects = []agent.Effect{agent.Exec{Dir: "/w", Command: "echo " + in.Nonce}}
		}
		return plan, nil
	}}
}

// Stream is a model that does whatever models and their servers do.
func (p *past) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		summary := strings.HasPrefix(req.System, "You put the work")
		if err := agenttest.CheckMessages(req.Messages); err != nil {
			p.fault("a request: %v\n%+v", err, req.Messages)
		}
		if !summary {
			p.mu.Lock()
			history := req.Messages
			if strings.Contains(fmt.Sprint(history[0].Blocks), "in which your tools were used") {
				history = nil // it is put in plain text, for a last answer
			}
			p.requests = append(p.requests, history)
			held := strings.Contains(fmt.Sprint(req.Messages), p.newest)
			p.mu.Unlock()
			if !held {
				p.fault("%q is not in the request %+v", p.newest, req.Messages)
			}
		}
		p.answer(ctx, req, summary, yield)
	}
}

func (p *past) answer(ctx context.Context, req agent.Request, summary bool, yield func(agent.Chunk, error) bool) {
	fails := func(kind agent.ModelErrorKind, status int) {
		yield(agent.Chunk{}, &agent.ModelError{Kind: kind, Status: status, Message: "no"})
	}
	size := len(fmt.Sprint(req.Messages)) / 4
	if size > p.window {
		failed := &agent.ModelError{Kind: agent.ErrorContextOverflow, Status: 400, Message: "too long"}
		if p.pick(2) == 0 {
			failed.Limit = p.window
		}
		yield(agent.Chunk{}, failed)
		return
	}
	reply := agenttest.Say("All is well.")
	if p.calm {
		yield(agent.Chunk{Reply: &reply}, nil)
		return
	}
	if p.next != nil {
		if !summary {
			reply = p.next()
		}
		yield(agent.Chunk{Reply: &reply}, nil)
		return
	}
	switch p.pick(24) {
	case 0:
		fails(agent.ErrorProvider, 500)
		return
	case 1:
		fails(agent.ErrorProvider, 400)
		return
	case 2: // cut in the middle
		if yield(agent.Chunk{Text: "Hel"}, nil) {
			fails(agent.ErrorTruncated, 0)
		}
		return
	case 3:
		reply = agenttest.Say("")
	case 4:
		reply = agenttest.Say("Now I will edit the file.")
	case 5: // on and on
		for range 20 {
			if !yield(agent.Chunk{Text: strings.Repeat("so ", 300)}, nil) {
				return
			}
		}
		yield(agent.Chunk{}, ctx.Err())
		return
	case 6:
		fails(agent.ErrorContextOverflow, 400) // though it is not
		return
	case 7, 8:
	default:
		if !summary {
			reply = p.calls()
		}
	}
	if p.pick(3) == 0 {
		reply.Usage = agent.Usage{Input: size, Output: 20}
	}
	yield(agent.Chunk{Reply: &reply}, nil)
}

func (p *past) calls() agent.Message {
	var uses []agent.ToolUse
	for range 1 + p.pick(3) {
		p.nonce++
		id := []string{"", "c1", "c2", fmt.Sprint("n", p.nonce)}[p.pick(4)]
		switch p.pick(10) {
		case 0:
			uses = append(uses, agenttest.Use(id, "no_such_tool", "{}"))
		case 1:
			uses = append(uses, agenttest.Use(id, "look", `{"nonce":`))
		case 2, 3:
			uses = append(uses, agenttest.Use(id, "replace", map[string]string{"old": "o", "new": "oo"}))
		case 4, 5:
			uses = append(uses, agenttest.Use(id, "do", fmt.Sprintf(`{"nonce":"%d","bytes":%d}`, p.nonce, p.pick(3)*2000)))
		default:
			uses = append(uses, agenttest.Use(id, "look", fmt.Sprintf(`{"nonce":"%d","bytes":%d}`, p.nonce, p.pick(4)*1500)))
		}
	}
	m := agenttest.Call(uses...)
	if p.pick(8) == 0 {
		m.Stop = agent.StopTruncated
	}
	return m
}
