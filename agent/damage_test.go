package agent_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"

	"pgregory.net/rapid"
)

// TestRandomDamage gives a session a history that was sound once, with messages and
// blocks lost, doubled, moved, emptied or broken, and compactions of it. Each request
// is one that strict servers take, nothing runs, and what is sound in the history is
// left as it was.
func TestRandomDamage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		history := soundHistory(random)
		if err := agenttest.CheckMessages(append(slices.Clone(history), agent.UserText("next"))); err != nil {
			rt.Fatalf("the history was not sound to begin with: %v", err)
		}
		damages := random.IntN(5)
		for range damages {
			history = damaged(random, history)
		}
		if random.IntN(3) == 0 {
			history = agent.Compacted{Summary: "s", Kept: random.IntN(4), Clip: random.IntN(2) * 300}.Apply(history)
		}
		b := newBench(t, func(c *agent.Config) { c.History = history }, agenttest.Call(agenttest.Use("c1", "read", input{File: "a.txt"})), agenttest.Say("done"), agenttest.Say("well"))
		for _, prompt := range []string{"and now", "and then"} {
			for _, err := range b.session.Run(t.Context(), agent.UserText(prompt)) {
				if err != nil {
					rt.Fatalf("promise broken: %q ended with %v, after %+v", prompt, err, history)
				}
			}
		}
		for i, req := range b.model.Requests() {
			if err := agenttest.CheckMessages(req.Messages); err != nil {
				rt.Fatalf("promise broken: request %d: %v\nof the history %+v", i, err, history)
			}
		}
		first := b.model.Requests()[0].Messages
		if damages == 0 && fmt.Sprint(first[:len(first)-1]) != fmt.Sprint(history) {
			rt.Fatalf("promise broken: a sound history was changed from\n%+v\nto\n%+v", history, first)
		}
	})
}

func soundHistory(random *rand.Rand) []agent.Message {
	history := []agent.Message{agent.UserText("the first")}
	for n := range random.IntN(8) {
		switch random.IntN(3) {
		case 0:
			history = append(history, agenttest.Say(fmt.Sprint("text ", n)), agent.UserText(fmt.Sprint("prompt ", n)))
		default:
			reply, results := agenttest.Call(), agent.Message{Role: agent.RoleTool}
			for i := range 1 + random.IntN(3) {
				id := fmt.Sprintf("c%d-%d", n, i)
				reply.Blocks = append(reply.Blocks, agenttest.Use(id, "read", input{File: "a.txt", Line: n}))
				results.Blocks = append(results.Blocks, agent.ToolResult{ID: id, Output: "result of " + id})
			}
			history = append(history, reply, results)
		}
	}
	return history
}

// damaged is a history with one thing wrong.
func damaged(random *rand.Rand, history []agent.Message) []agent.Message {
	out := slices.Clone(history)
	if len(out) == 0 {
		return out
	}
	i, j := random.IntN(len(out)), random.IntN(len(out))
	m := &out[i]
	m.Blocks = slices.Clone(m.Blocks)
	switch random.IntN(7) {
	case 0:
		return slices.Delete(out, i, i+1)
	case 1:
		return slices.Insert(out, j, out[i])
	case 2:
		out[i], out[j] = out[j], out[i]
		return out
	case 3:
		m.Blocks = nil
		return out
	case 4:
		return renamed(out, i, []string{"", "c1", "c0-0"}[random.IntN(3)])
	}
	if len(m.Blocks) == 0 {
		return out
	}
	k := random.IntN(len(m.Blocks))
	switch random.IntN(4) {
	case 0:
		m.Blocks = slices.Delete(m.Blocks, k, k+1)
	case 1:
		m.Blocks = slices.Insert(m.Blocks, k, m.Blocks[random.IntN(len(m.Blocks))])
	case 2:
		slices.Reverse(m.Blocks)
	default:
		m.Blocks[k] = broken(random, m.Blocks[k])
	}
	return out
}

// renamed gives a call and its result another ID.
func renamed(out []agent.Message, i int, id string) []agent.Message {
	uses := out[i].ToolUses()
	if len(uses) == 0 || i+1 == len(out) {
		return out
	}
	old := uses[0].ID
	for j := i; j < i+2; j++ {
		out[j].Blocks = slices.Clone(out[j].Blocks)
		for k, b := range out[j].Blocks {
			switch b := b.(type) {
			case agent.ToolUse:
				if b.ID == old {
					b.ID = id
				}
				out[j].Blocks[k] = b
			case agent.ToolResult:
				if b.ID == old {
					b.ID = id
				}
				out[j].Blocks[k] = b
			}
		}
	}
	return out
}

func broken(random *rand.Rand, b agent.Block) agent.Block {
	switch b := b.(type) {
	case agent.Text:
		return agent.Text{Text: []string{"", " \n"}[random.IntN(2)]}
	case agent.ToolResult:
		if random.IntN(2) == 0 {
			b.ID = []string{"", "c1", "c0-0"}[random.IntN(3)]
		} else {
			b.Output = ""
		}
		return b
	case agent.ToolUse:
		if random.IntN(2) == 0 {
			b.ID = []string{"", "c1", "c0-0"}[random.IntN(3)]
		} else {
			b.Input = [][]byte{nil, []byte(`{"a":`), []byte(`[1]`), []byte("null")}[random.IntN(4)]
		}
		return b
	}
	return b
}
