package agenttest_test

import (
	"context"
	"iter"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
)

// chunked is a model that gives these chunks each time, then the reply.
type chunked struct {
	chunks []agent.Chunk
	reply  agent.Message
}

func (m chunked) Stream(ctx context.Context, _ agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		reply := m.reply
		for _, c := range append(m.chunks[:len(m.chunks):len(m.chunks)], agent.Chunk{Reply: &reply}) {
			if err := ctx.Err(); err != nil {
				yield(agent.Chunk{}, err)
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// What a model shows as text and then finds to be reasoning is thinking in its
// reply, whichever blocks that has.
func TestAModelMayRecastItsText(t *testing.T) {
	reply := agenttest.Say("it is 42")
	reply.Blocks = append([]agent.Block{agent.Thinking{Text: "asked "}, agent.Thinking{Text: "what?"}}, reply.Blocks...)
	m := chunked{[]agent.Chunk{
		{}, {Thinking: "asked "}, {Text: "wh"}, {Text: "at?"}, {Text: "it ", Recast: true}, {}, {Text: "is 42"},
	}, reply}
	agenttest.TestModelReply(t, m, agenttest.ModelRequest())
	agenttest.TestModelBegins(t, m, agenttest.ModelRequest())
}
