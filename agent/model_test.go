package agent_test

import (
	"context"
	"iter"

	"assent/agent"
)

// modelFunc is a model made of a function.
type modelFunc func(ctx context.Context, req agent.Request) (agent.Message, error)

func (f modelFunc) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		m, err := f(ctx, req)
		if err != nil {
			yield(agent.Chunk{}, err)
			return
		}
		if text := m.Text(); text != "" && !yield(agent.Chunk{Text: text}, nil) {
			return
		}
		yield(agent.Chunk{Reply: &m}, nil)
	}
}
