package tools_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/tools"
)

func TestEachToolKeepsTheContract(t *testing.T) {
	valid := map[string]string{
		"read_file":   `{"path":"notes.txt","start_line":1}`,
		"list_files":  `{"path":"src","glob":"*.go"}`,
		"search":      `{"pattern":"a","path":".","glob":"*"}`,
		"edit_file":   `{"path":"notes.txt","edits":[{"old_string":"a","new_string":"x"}]}`,
		"write_file":  `{"path":"new/file.txt","content":"x"}`,
		"move_file":   `{"from":"notes.txt","to":"new/notes.txt"}`,
		"delete_file": `{"path":"notes.txt"}`,
		"get_weather": `{"city":"Oslo"}`,
	}
	for _, tool := range append(tools.Default(), tools.Weather()) {
		name := tool.Spec().Name
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"notes.txt": "a\nb\n", "src/main.go": "package main\n"})
			agenttest.TestTool(t, tool, json.RawMessage(valid[name]), w, w.dir)
		})
	}
}

func TestTheToolsOfASession(t *testing.T) {
	all := tools.Default()
	want := []string{"read_file", "list_files", "search", "edit_file", "write_file", "move_file", "delete_file"}
	if got := tools.Names(all); !reflect.DeepEqual(got, want) {
		t.Errorf("the names are %v", got)
	}
	arguments := map[string]string{
		"read_file":   "path* start_line end_line",
		"list_files":  "path glob",
		"search":      "pattern* literal path glob",
		"edit_file":   "path* edits*",
		"write_file":  "path* content*",
		"move_file":   "from* to*",
		"delete_file": "path*",
	}
	for _, tool := range all {
		spec := tool.Spec()
		_, err := tool.Plan(t.Context(), nil, json.RawMessage(`{"?":1}`))
		wantError(t, err, spec.Name+" expects {")
		for field := range strings.FieldsSeq(arguments[spec.Name]) {
			name, required := strings.CutSuffix(field, "*")
			mark := map[bool]string{true: ": ", false: "?: "}[required]
			wantError(t, err, name+mark)
		}
		reads := spec.Name == "read_file" || spec.Name == "list_files" || spec.Name == "search"
		if (spec.Tier == agent.TierRead) != reads || (spec.Tier == agent.TierWrite) == reads {
			t.Errorf("%s has the tier %v", spec.Name, spec.Tier)
		}
	}
}

func TestSelectPicksToolsByName(t *testing.T) {
	all := tools.Default()
	picked, err := tools.Select(all, []string{"search", "read_file", "search"})
	must(t, err)
	if got := tools.Names(picked); !reflect.DeepEqual(got, []string{"search", "read_file"}) {
		t.Errorf("picked %v", got)
	}
	_, err = tools.Select(all, []string{"search", "bash", "rm"})
	wantError(t, err, `there is no tool "bash", "rm"`, "read_file, list_files")
	if none, err := tools.Select(all, nil); err != nil || len(none) != 0 {
		t.Errorf("of no names: %v, %v", none, err)
	}
}

func TestWeatherIsTheSameForACity(t *testing.T) {
	w := newWorld(t, nil)
	first, err := ask(t, tools.Weather(), w, args{"city": "Paris"})
	must(t, err)
	second, err := ask(t, tools.Weather(), w, args{"city": " Paris "})
	must(t, err)
	wantText(t, second, first)
	if !strings.HasPrefix(first, "Paris: ") || !strings.Contains(first, "invented") {
		t.Errorf("got %q", first)
	}
	_, err = ask(t, tools.Weather(), w, args{"city": " "})
	wantError(t, err, "city is empty")
}

// A session drives the tools as it does in life: planned, asked, landed.
func TestASessionEditsWithTheseTools(t *testing.T) {
	person := agenttest.NewPerson(map[string]string{"notes.txt": "milk\nbread\n"})
	session, err := agent.New(agent.Config{
		Model: agenttest.NewScript(
			agenttest.Call(agenttest.Use("c1", "read_file", args{"path": "notes.txt"})),
			agenttest.Call(
				agenttest.Use("c2", "edit_file", args{"path": "notes.txt", "edits": []args{change("milk", "oat milk")}}),
				agenttest.Use("c3", "edit_file", args{"path": "notes.txt", "edits": []args{change("oat milk", "soy milk")}}),
				agenttest.Use("c4", "edit_file", args{"path": "notes.txt", "edits": []args{change("butter", "jam")}}),
			),
			agenttest.Say("done"),
		),
		Tools: tools.Default(), Editor: person, Store: &agenttest.Memory{},
	})
	must(t, err)
	results := map[string]agent.ToolResult{}
	for e, err := range session.Run(t.Context(), agent.UserText("edit")) {
		must(t, err)
		if a, ok := e.(agent.Answered); ok {
			results[a.Use.ID] = a.Result
		}
	}
	wantText(t, results["c1"].Output, "notes.txt: lines 1-2 of 2\nmilk\nbread\n")
	wantText(t, person.Text("notes.txt"), "soy milk\nbread\n")
	if results["c2"].IsError || results["c3"].IsError || !results["c4"].IsError || len(person.Asked()) != 1 {
		t.Errorf("results %+v, asked %d times", results, len(person.Asked()))
	}
}
