package agenttest

import (
	"context"
	"encoding/json"
	"testing"

	"assent/agent"
)

// Approve gets an approval of effects, of one edit or of any other effects of one
// tier, in the only way there is: a session asks and a person says yes.
func Approve(t testing.TB, effects ...agent.Effect) agent.Approval {
	t.Helper()
	yes := &yesSayer{Person: NewPerson(nil)}
	tier := agent.TierRead
	switch effects[0].(type) {
	case agent.Edit:
		tier = agent.TierWrite
	case agent.Exec:
		tier = agent.TierRun
	case agent.Remote:
		tier = agent.TierRemote
	}
	tool := Tool{Name: "approve", Tier: tier, Planer: func(context.Context, agent.Files, json.RawMessage) (agent.Plan, error) {
		plan := agent.Plan{Effects: effects}
		if tier != agent.TierWrite {
			plan.Run = func(_ context.Context, ok agent.Approval) (agent.Result, error) {
				yes.ok = ok
				return agent.Result{Output: "done"}, nil
			}
		}
		return plan, nil
	}}
	session, err := agent.New(agent.Config{
		Model:  NewScript(Call(Use("c1", "approve", "{}")), Say("done")),
		Tools:  []agent.Tool{tool},
		Editor: yes,
		Store:  &Memory{},
	})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range session.Run(t.Context(), agent.UserText("approve")) {
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := e.(agent.Answered); ok && a.Result.IsError {
			t.Fatalf("the effect was not approved: %s", a.Result.Output)
		}
	}
	for _, e := range effects {
		if !yes.ok.Covers(e) {
			t.Fatalf("the approval does not cover %#v", e)
		}
	}
	return yes.ok
}

// yesSayer accepts everything, knows no file, and keeps the approval.
type yesSayer struct {
	*Person
	ok agent.Approval
}

func (y *yesSayer) Stat(_ context.Context, path string) (agent.Info, error) {
	return agent.Info{Path: path, Name: path, Exists: true}, nil
}

func (y *yesSayer) Apply(_ context.Context, ok agent.Approval, e agent.Edit) (agent.Landing, error) {
	y.ok = ok
	landing := agent.Landing{Status: agent.LandComplete, Where: agent.SourceDisk}
	for _, h := range e.Hunks {
		landing.Landed = append(landing.Landed, h.ID)
	}
	return landing, nil
}
