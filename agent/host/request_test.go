package host_test

import (
	"reflect"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/host"
)

// What a request and the record say of session and model is what the session has
// at that time, also after a change.
func TestRequestsNameTheirSessionAndModel(t *testing.T) {
	dir, options := world(t, agenttest.Say("one"), agenttest.Say("two"), agenttest.Say("three"))
	script := options.Model
	options.NewModel = func(string) (agent.Model, error) { return script, nil }
	h := host.New(options)
	defer closed(t, h)
	set := setup(dir, host.ModeAsk)
	s, err := h.Start(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	asked := func() (name agent.ModelName) {
		for e, err := range s.Run(t.Context(), agent.UserText("hi")) {
			if err != nil {
				t.Fatal(err)
			}
			if r, ok := e.(agent.Requested); ok {
				name = agent.ModelName{Provider: r.Provider, Model: r.Model}
			}
		}
		return name
	}
	if got := asked(); got != (agent.ModelName{Provider: "script", Model: "m"}) {
		t.Errorf("the model is named %+v", got)
	}
	if err := s.Set("other", "", 0); err != nil {
		t.Fatal(err)
	}
	if got := asked(); got != (agent.ModelName{Provider: "script", Model: "other"}) {
		t.Errorf("the other model is named %+v", got)
	}
	set.Model = "third"
	if s, err = h.Start(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if got := asked(); got != (agent.ModelName{Provider: "script", Model: "third"}) {
		t.Errorf("the model of a session that began with another is named %+v", got)
	}
	if got := script.(*agenttest.Script).Requests()[2].Session; got != s.ID {
		t.Errorf("the request is of session %q, want %q", got, s.ID)
	}
}

// A server knows its own reasoning, and its cache, by every byte of what it is sent.
func TestASessionThatIsTakenUpSendsWhatTheLiveOneSent(t *testing.T) {
	thoughtful := agent.Message{Role: agent.RoleAssistant, Stop: agent.StopComplete, Finish: "tool_use", Usage: agent.Usage{Input: 9, Output: 2}, Blocks: []agent.Block{
		agent.Thinking{Text: "first", Source: "reasoning_content", Opaque: "sig-1=="},
		agent.Thinking{Opaque: "encrypted"},
		agent.Text{Text: "I look."},
		agent.Thinking{Text: "more"},
		agent.ToolUse{ID: "c1", Name: "lookup", Input: []byte(`{ "a" : 1 }`), Opaque: "sig-2=="},
	}}
	dir, options := world(t, thoughtful, agenttest.Say("done"), agenttest.Say("again"), agenttest.Say("and again"))
	h := host.New(options)
	s, err := h.Start(t.Context(), setup(dir, host.ModeAsk))
	if err != nil {
		t.Fatal(err)
	}
	var images host.Images
	pngData, _, _ := pictures(t)
	if err := images.Add([]byte(pngData)); err != nil {
		t.Fatal(err)
	}
	prompt := func(m agent.Message) {
		for _, err := range s.Run(t.Context(), m) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	prompt(images.Prompt("what is it?"))
	prompt(agent.UserText("once more"))
	closed(t, h)

	h = host.New(options)
	defer closed(t, h)
	if s, err = h.Resume(t.Context(), s.ID, setup(dir, host.ModeAsk)); err != nil {
		t.Fatal(err)
	}
	prompt(agent.UserText("and now?"))
	requests := options.Model.(*agenttest.Script).Requests()
	live, resumed := requests[2], requests[3]
	if got := resumed.Messages[:len(live.Messages)]; !reflect.DeepEqual(got, live.Messages) {
		t.Errorf("it sends\n%+v\nthe live session sent\n%+v", got, live.Messages)
	}
	if got := live.Messages[0].Blocks[1]; !reflect.DeepEqual(got, images[0]) {
		t.Errorf("the image is %+v", got)
	}
	if resumed.Session != live.Session || live.Session != s.ID {
		t.Errorf("the sessions are %q and %q, want %q", live.Session, resumed.Session, s.ID)
	}
}
