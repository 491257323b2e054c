package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"assent/agent"
)

// Define makes a tool of a function that plans its calls. Args is a struct with
// json tags; a field without omitempty is required, and the tag
// jsonschema_description says to the model what the field is for. The schema in
// spec is made from Args, and a call reaches plan only if it passes that schema.
// Args must not contain itself.
//
// Define panics if Args is not a struct, which is a mistake in the program.
func Define[Args any](spec agent.Spec, plan func(ctx context.Context, files agent.Files, args Args) (agent.Plan, error)) agent.Tool {
	args := reflect.TypeFor[Args]()
	if args.Kind() != reflect.Struct {
		panic(fmt.Sprintf("tools: the arguments of %s must be a struct, not %v", spec.Name, args))
	}
	return &tool[Args]{
		spec: spec,
		plan: plan,
		// Lazily, since reflecting over the types of all tools would be a good
		// part of the time from spawn to the first answer.
		schema: sync.OnceValue(func() schema { return newSchema(spec.Name, args) }),
	}
}

// Func makes a tool that touches neither files nor anything else that needs
// consent, from a function that returns what to say to the model.
func Func[Args any](spec agent.Spec, run func(ctx context.Context, args Args) (string, error)) agent.Tool {
	spec.Tier = agent.TierRead
	return Define(spec, func(_ context.Context, _ agent.Files, args Args) (agent.Plan, error) {
		return agent.Plan{Run: func(ctx context.Context, _ agent.Approval) (agent.Result, error) {
			out, err := run(ctx, args)
			return agent.Result{Output: out}, err
		}}, nil
	})
}

type tool[Args any] struct {
	spec   agent.Spec
	plan   func(context.Context, agent.Files, Args) (agent.Plan, error)
	schema func() schema
}

func (t *tool[Args]) Spec() agent.Spec {
	spec := t.spec
	spec.Schema = t.schema().text
	return spec
}

func (t *tool[Args]) name() string { return t.spec.Name }

func (t *tool[Args]) Plan(ctx context.Context, files agent.Files, input json.RawMessage) (agent.Plan, error) {
	if err := ctx.Err(); err != nil {
		return agent.Plan{}, err
	}
	var args Args
	if err := t.schema().decode(input, &args); err != nil {
		return agent.Plan{}, err
	}
	return t.plan(ctx, files, args)
}

// say is a plan without effects whose result is already known.
func say(output string) agent.Plan {
	return agent.Plan{Run: func(context.Context, agent.Approval) (agent.Result, error) {
		return agent.Result{Output: output}, nil
	}}
}
