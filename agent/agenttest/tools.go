package agenttest

import (
	"context"
	"encoding/json"

	"assent/agent"
)

// Tool is an agent.Tool made of its parts.
type Tool struct {
	Name   string
	Tier   agent.Tier
	Planer func(ctx context.Context, files agent.Files, input json.RawMessage) (agent.Plan, error)
}

// Spec describes the tool as one that takes any object.
func (t Tool) Spec() agent.Spec {
	return agent.Spec{Name: t.Name, Description: "A tool of a test.", Tier: t.Tier, Schema: json.RawMessage(`{"type":"object"}`)}
}

// Plan calls Planer.
func (t Tool) Plan(ctx context.Context, files agent.Files, input json.RawMessage) (agent.Plan, error) {
	return t.Planer(ctx, files, input)
}
