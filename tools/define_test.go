package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"assent/agent"
	"assent/tools"
)

type sampleArgs struct {
	Name  string   `json:"name" jsonschema_description:"A name, with a comma"`
	Count int      `json:"count,omitempty" jsonschema_description:"How many"`
	Small int8     `json:"small,omitempty" jsonschema_description:"A small number"`
	Share float64  `json:"share,omitempty" jsonschema_description:"A share"`
	Deep  bool     `json:"deep,omitempty" jsonschema_description:"Whether deep"`
	Kind  string   `json:"kind,omitempty" jsonschema:"enum=left,enum=right" jsonschema_description:"Which side"`
	Items []sample `json:"items,omitempty" jsonschema_description:"Some items"`
}

type sample struct {
	Text string `json:"text" jsonschema_description:"A text"`
	All  bool   `json:"all,omitempty" jsonschema_description:"Whether all"`
}

// echo is a tool that shows what it got.
func echo(got *sampleArgs) agent.Tool {
	return tools.Define(agent.Spec{Name: "echo", Description: "Shows its arguments.", Tier: agent.TierRead},
		func(_ context.Context, _ agent.Files, a sampleArgs) (agent.Plan, error) {
			if got != nil {
				*got = a
			}
			return agent.Plan{Run: func(context.Context, agent.Approval) (agent.Result, error) {
				return agent.Result{Output: a.Name}, nil
			}}, nil
		})
}

func TestDefineTakesWhatModelsSend(t *testing.T) {
	for _, c := range []struct {
		name, input string
		want        sampleArgs
	}{
		{"all fields", `{"name":"a","count":2,"share":0.5,"deep":true,"kind":"left","items":[{"text":"t","all":true}]}`,
			sampleArgs{Name: "a", Count: 2, Share: 0.5, Deep: true, Kind: "left", Items: []sample{{"t", true}}}},
		{"a whole number written as a fraction", `{"name":"a","count":5.0}`, sampleArgs{Name: "a", Count: 5}},
		{"a whole number with an exponent", `{"name":"a","count":1.2e1}`, sampleArgs{Name: "a", Count: 12}},
		{"a whole number for a fraction", `{"name":"a","share":1}`, sampleArgs{Name: "a", Share: 1}},
		{"the largest whole number", `{"name":"a","count":9223372036854775807}`, sampleArgs{Name: "a", Count: 9223372036854775807}},
		{"null for an optional field", `{"name":"a","count":null,"items":[{"text":"t","all":null}]}`, sampleArgs{Name: "a", Items: []sample{{Text: "t"}}}},
		{"white space around", "\n {\"name\" : \"a\"}\t\n", sampleArgs{Name: "a"}},
		{"escapes", `{"name":"\u00e9\ud83d\ude00\\u\"\n"}`, sampleArgs{Name: "é😀\\u\"\n"}},
		{"a backslash before what looks like an escape", `{"name":"\\ud800"}`, sampleArgs{Name: `\ud800`}},
		{"a large text", `{"name":"` + strings.Repeat("x", 1<<20) + `"}`, sampleArgs{Name: strings.Repeat("x", 1<<20)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got sampleArgs
			_, err := echo(&got).Plan(t.Context(), nil, json.RawMessage(c.input))
			must(t, err)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestDefineExplainsWhatIsWrong(t *testing.T) {
	const fields = "{name: string, count?: integer, small?: integer, share?: number, deep?: boolean, kind?: string, items?: [{text: string, all?: boolean}]}"
	for _, c := range []struct {
		name, input string
		want        []string
	}{
		{"empty input is an empty object", ``, []string{"name is missing, expected a string"}},
		{"null", `null`, []string{"one JSON object", "null"}},
		{"a list", `[{"name":"a"}]`, []string{"one JSON object"}},
		{"truncated", `{"name":"a`, []string{"not valid JSON", "byte 10 of 10"}},
		{"trailing data", `{"name":"a"} {"name":"b"}`, []string{"not valid JSON", "after top-level value"}},
		{"a key twice", `{"name":"a","name":"b"}`, []string{"name is given twice"}},
		{"a nested key twice", `{"name":"a","items":[{"text":"a","text":"b"}]}`, []string{"items[0].text is given twice"}},
		{"an unknown field", `{"name":"a","cuont":1}`, []string{"cuont is not a field", "did you mean count?"}},
		{"a field in another case", `{"Name":"a"}`, []string{"name is missing", "Name is not a field, did you mean name?"}},
		{"a number for a string", `{"name":5}`, []string{"name is 5, expected a string"}},
		{"a quoted number", `{"name":"a","count":"5"}`, []string{`count is "5", expected a whole number (without quotes)`}},
		{"a fraction for a whole number", `{"name":"a","count":5.5}`, []string{"count is 5.5, expected a whole number"}},
		{"null for a required field", `{"name":null}`, []string{"name is null, expected a string"}},
		{"a list as a string", `{"name":"a","items":"[{}]"}`, []string{"items is", "expected a list", "not as a string"}},
		{"wrong items", `{"name":"a","items":[{"text":"t"},{"all":1,"of":2}]}`, []string{"items[1].text is missing", "items[1].all is 1, expected a boolean", "items[1].of is not a field"}},
		{"a value that is not allowed", `{"name":"a","kind":"up"}`, []string{`kind is "up", expected one of ["left","right"]`}},
		{"a number beyond the type", `{"name":"a","small":1000}`, []string{"small", "1000"}},
		{"a number beyond all types", `{"name":"a","count":1e999999999}`, []string{"count is too large a number"}},
		{"a whole number beyond 64 bits", `{"name":"a","count":123456789012345678901234567890}`, []string{"count"}},
		{"half of a surrogate pair", `{"name":"\ud83d"}`, []string{"surrogate"}},
		{"the wrong half of one", `{"name":"\ude00\ud83d"}`, []string{"surrogate"}},
		{"two first halves", `{"name":"\ud83d\ud83d\ude00"}`, []string{"surrogate"}},
		{"bytes that are not UTF-8", "{\"name\":\"\xff\"}", []string{"UTF-8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := echo(nil).Plan(t.Context(), nil, json.RawMessage(c.input))
			wantError(t, err, append(c.want, fields)...)
		})
	}
}

func TestDefineCutsLargeInputInErrors(t *testing.T) {
	large := strings.Repeat("é", 1<<19)
	for name, input := range map[string]string{
		"a value":        `{"name":"a","count":"` + large + `"}`,
		"a field name":   `{"name":"a","` + large + `":1}`,
		"a twice name":   `{"` + large + `":1,"` + large + `":1}`,
		"many fields":    `{"name":"a"` + strings.Repeat(`,"x`+large[:40]+`":1`, 1) + `}`,
		"garbage":        large,
		"many bad items": `{"name":"a","items":[1` + strings.Repeat(",1", 100_000) + `]}`,
	} {
		_, err := echo(nil).Plan(t.Context(), nil, json.RawMessage(input))
		wantError(t, err)
		if n := len(err.Error()); n > 2000 || !utf8.ValidString(err.Error()) {
			t.Errorf("%s: the error has %d bytes, valid %v", name, n, utf8.ValidString(err.Error()))
		}
	}
}

func TestDefineSendsTheSchemaItValidatesAgainst(t *testing.T) {
	var schema map[string]any
	must(t, json.Unmarshal(echo(nil).Spec().Schema, &schema))
	if _, versioned := schema["$schema"]; versioned || schema["additionalProperties"] != false {
		t.Errorf("schema: %v", schema)
	}
	name := schema["properties"].(map[string]any)["name"].(map[string]any)
	if name["description"] != "A name, with a comma" {
		t.Errorf("name: %v", name)
	}
}

func TestDefineTakesToolsWithoutArguments(t *testing.T) {
	type none struct{}
	tool := tools.Func(agent.Spec{Name: "now", Description: "Says now."}, func(context.Context, none) (string, error) { return "now", nil })
	for _, input := range []string{"", "{}", " "} {
		plan, err := tool.Plan(t.Context(), nil, json.RawMessage(input))
		must(t, err)
		if len(plan.Effects) > 0 {
			t.Errorf("effects: %v", plan.Effects)
		}
	}
	_, err := tool.Plan(t.Context(), nil, json.RawMessage(`{"a":1}`))
	wantError(t, err, "a is not a field", "now expects {}")
}

func TestDefineRefusesArgumentsThatAreNoStruct(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "must be a struct") {
			t.Errorf("recovered %v", p)
		}
	}()
	tools.Func(agent.Spec{Name: "wrong"}, func(context.Context, string) (string, error) { return "", nil })
}

func FuzzDefine(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{}`, `[]`, `{"name":"a"}`, `{"name":"a","count":5.0}`, `{"name":"a","count":1e3,"items":[{"text":""}]}`,
		`{"name":"\ud83d\ude00"}`, `{"name":"\ud83d"}`, `{"name":"a","name":"b"}`, `{"name":"a","share":-0.0}`, `{"name":"a"}x`,
		`{"name":"\\`, `{"name":"\u12`, `{"name":1e400}`, `{"name":"a","count":null}`,
	} {
		f.Add([]byte(seed))
	}
	var got sampleArgs
	tool := echo(&got)
	f.Fuzz(func(t *testing.T, input []byte) {
		got = sampleArgs{}
		_, err := tool.Plan(context.Background(), nil, input)
		if err != nil {
			if n := len(err.Error()); n > 4000 {
				t.Errorf("the error has %d bytes", n)
			}
			return
		}
		// What was taken is what encoding/json would have read, but for the
		// numbers that it does not take.
		var want sampleArgs
		if err := json.Unmarshal(input, &want); err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		var fields map[string]any
		if err := json.Unmarshal(input, &fields); err != nil || fields["name"] != got.Name {
			t.Errorf("taken without a name: %q (%v)", input, err)
		}
	})
}
