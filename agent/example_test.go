package agent_test

import (
	"context"
	"encoding/json"
	"fmt"

	"assent/agent"
	"assent/agent/agenttest"
)

// The weather agent: one tool, a model, the loop. The model here is a script; a
// real one comes from assent/agent/model/openai.
func ExampleSession_Run() {
	weather := agenttest.Tool{Name: "get_weather", Tier: agent.TierRead,
		Planer: func(_ context.Context, _ agent.Files, input json.RawMessage) (agent.Plan, error) {
			var args struct{ City string }
			if err := json.Unmarshal(input, &args); err != nil {
				return agent.Plan{}, err
			}
			return agent.Plan{Run: func(context.Context, agent.Approval) (agent.Result, error) {
				return agent.Result{Output: "18 °C and light rain in " + args.City}, nil
			}}, nil
		}}
	model := agenttest.NewScript(
		agenttest.Call(agenttest.Use("c1", "get_weather", map[string]string{"city": "Paris"})),
		agenttest.Say("Take an umbrella."),
	)
	session, err := agent.New(agent.Config{Model: model, Tools: []agent.Tool{weather}})
	if err != nil {
		panic(err)
	}
	for event, err := range session.Run(context.Background(), agent.UserText("How is the weather in Paris?")) {
		if err != nil {
			panic(err)
		}
		switch e := event.(type) {
		case agent.Delta:
			fmt.Println("model:", e.Text)
		case agent.Answered:
			fmt.Println("tool: ", e.Result.Output)
		case agent.Done:
			fmt.Println("done: ", e.Reason)
		}
	}
	// Output:
	// tool:  18 °C and light rain in Paris
	// model: Take an umbrella.
	// done:  complete
}
