package agenttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"assent/agent"
)

// maxToolError is how long an error about bad input may be, whatever the input.
const maxToolError = 4 << 10

// TestTool holds a tool against the contract of [agent.Tool]. valid is the input
// of a call that can be planned on files. dirs are the directories on disk that
// planning could change; it must leave them as they are.
func TestTool(t *testing.T, tool agent.Tool, valid json.RawMessage, files agent.Files, dirs ...string) {
	t.Helper()
	before := snapshot(t, dirs)
	t.Run("its spec is complete and constant", func(t *testing.T) { checkSpec(t, tool) })
	t.Run("bad input is an error", func(t *testing.T) { checkBadInput(t, tool, valid, files) })
	t.Run("a plan keeps the rules of its tier", func(t *testing.T) {
		plan, err := tool.Plan(t.Context(), files, valid)
		if err != nil {
			t.Fatalf("the valid input %s gives the error: %v", valid, err)
		}
		checkPlan(t, plan, tool.Spec().Tier)
		checkRun(t, plan)
	})
	t.Run("planning again gives the same effects", func(t *testing.T) {
		first, err1 := tool.Plan(t.Context(), files, valid)
		second, err2 := tool.Plan(t.Context(), files, valid)
		if err1 != nil || err2 != nil || !reflect.DeepEqual(first.Effects, second.Effects) {
			t.Errorf("the plans differ: %v (%v) and %v (%v)", first.Effects, err1, second.Effects, err2)
		}
	})
	t.Run("planning is safe on any goroutine", func(t *testing.T) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := tool.Plan(t.Context(), files, valid); err != nil {
					t.Errorf("a plan beside others fails: %v", err)
				}
			})
		}
		all.Wait()
	})
	t.Run("a cancelled plan is an error of the context or a plan", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		plan, err := tool.Plan(ctx, files, valid)
		switch {
		case err == nil:
			checkPlan(t, plan, tool.Spec().Tier)
		case !errors.Is(err, context.Canceled):
			t.Errorf("the error is not the context's: %v", err)
		}
	})
	t.Run("planning has no effects", func(t *testing.T) {
		if after := snapshot(t, dirs); !maps.Equal(before, after) {
			t.Errorf("files changed:\nbefore %v\nafter  %v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
		}
	})
}

// snapshot is the content and mode of all that is in directories.
func snapshot(t *testing.T, dirs []string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			content := ""
			switch {
			case info.Mode().IsRegular():
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				content = string(data)
			case info.Mode()&fs.ModeSymlink != 0:
				if content, err = os.Readlink(path); err != nil {
					return err
				}
			}
			all[path] = fmt.Sprint(info.Mode(), " ", content)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func checkSpec(t *testing.T, tool agent.Tool) {
	spec := tool.Spec()
	if !regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`).MatchString(spec.Name) {
		t.Errorf("name %q: model servers take letters, digits, _ and -, at most 64", spec.Name)
	}
	if spec.Description == "" {
		t.Error("there is no description")
	}
	if spec.Tier < agent.TierRead || spec.Tier > agent.TierRemote {
		t.Errorf("tier %v", spec.Tier)
	}
	if spec.Timeout < 0 {
		t.Errorf("timeout %v", spec.Timeout)
	}
	if again := tool.Spec(); !reflect.DeepEqual(spec, again) {
		t.Errorf("the spec is not constant: %+v, then %+v", spec, again)
	}
	var schema map[string]any
	if err := json.Unmarshal(spec.Schema, &schema); err != nil {
		t.Fatalf("the schema is not a JSON object: %v", err)
	}
	if schema["type"] != "object" {
		t.Errorf("the schema is of type %v, want object", schema["type"])
	}
	checkDescribed(t, "the schema", schema)
}

// checkDescribed wants a description of each property, also of nested ones.
func checkDescribed(t *testing.T, at string, schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		property, ok := p.(map[string]any)
		if !ok {
			t.Errorf("%s: property %s is no object", at, name)
			continue
		}
		if text, _ := property["description"].(string); text == "" {
			t.Errorf("%s: property %s has no description", at, name)
		}
		checkDescribed(t, at+"."+name, property)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		checkDescribed(t, at+"[]", items)
	}
	required, _ := schema["required"].([]any)
	for _, r := range required {
		if name, _ := r.(string); properties[name] == nil {
			t.Errorf("%s: %v is required and not described", at, r)
		}
	}
}

// checkBadInput gives the tool what models send when they go wrong.
func checkBadInput(t *testing.T, tool agent.Tool, valid json.RawMessage, files agent.Files) {
	garbage := strings.Repeat("x", 1<<20)
	bad := map[string]string{
		"null":              "null",
		"a list":            "[]",
		"a string":          `"notes.txt"`,
		"a number":          "5",
		"true":              "true",
		"not JSON":          "path: notes.txt",
		"a truncated call":  string(bytes.TrimSpace(valid)[:len(bytes.TrimSpace(valid))-1]),
		"two objects":       string(valid) + string(valid),
		"garbage":           garbage,
		"a string of 1 MB":  `"` + garbage + `"`,
		"deep nesting":      strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000),
		"very deep nesting": strings.Repeat("[", 1<<20),
		"a NUL byte":        "\x00",
	}
	addWrongFields(t, bad, tool, valid)
	for name, input := range bad {
		plan, err := tool.Plan(t.Context(), files, json.RawMessage(input))
		switch {
		case err == nil:
			t.Errorf("%s: no error, but the plan %+v", name, plan)
		case err.Error() == "" || len(err.Error()) > maxToolError:
			t.Errorf("%s: the error is %d bytes long", name, len(err.Error()))
		case len(plan.Effects) != 0 || plan.Run != nil:
			t.Errorf("%s: a plan beside the error", name)
		}
	}
}

// addWrongFields takes the valid input and makes one field of it wrong, or takes
// one away that is required.
func addWrongFields(t *testing.T, bad map[string]string, tool agent.Tool, valid json.RawMessage) {
	var schema struct {
		Properties map[string]struct{ Type string }
		Required   []string
	}
	if err := json.Unmarshal(tool.Spec().Schema, &schema); err != nil {
		t.Fatal(err)
	}
	with := func(name string, change func(fields map[string]any)) {
		var fields map[string]any
		if err := json.Unmarshal(valid, &fields); err != nil {
			t.Fatalf("the valid input is no object: %v", err)
		}
		change(fields)
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		bad[name] = string(text)
	}
	for name, property := range schema.Properties {
		if property.Type == "" {
			continue
		}
		with(name+" of a wrong type", func(fields map[string]any) {
			fields[name] = map[string]any{"wrong": true}
			if property.Type == "object" {
				fields[name] = "wrong"
			}
		})
	}
	for _, name := range schema.Required {
		with(name+" missing", func(fields map[string]any) { delete(fields, name) })
		with(name+" null", func(fields map[string]any) { fields[name] = nil })
	}
}

// checkPlan holds the rules of [agent.Plan].
func checkPlan(t *testing.T, plan agent.Plan, tier agent.Tier) {
	t.Helper()
	if len(plan.Effects) == 0 && plan.Run == nil {
		t.Error("the plan is empty")
	}
	for _, effect := range plan.Effects {
		allowed := false
		switch e := effect.(type) {
		case agent.Edit:
			allowed = tier == agent.TierWrite && plan.Run == nil
			if err := e.Check(); err != nil {
				t.Errorf("the edit is not well formed: %v", err)
			}
		case agent.OutsideRead, agent.SecretRead:
			allowed = tier == agent.TierRead || tier == agent.TierRun
		case agent.Exec:
			allowed = tier == agent.TierRun
		case agent.Remote:
			allowed = tier == agent.TierRemote
		}
		if !allowed {
			t.Errorf("a tool of tier %v plans a %T", tier, effect)
		}
	}
	if len(plan.Effects) == 0 && (tier == agent.TierRun || tier == agent.TierRemote) {
		t.Errorf("a tool of tier %v plans no effect", tier)
	}
	if plan.Run == nil && tier != agent.TierWrite {
		t.Errorf("a tool of tier %v has nothing to run", tier)
	}
}

// checkRun runs a plan that needs no consent.
func checkRun(t *testing.T, plan agent.Plan) {
	if len(plan.Effects) > 0 || plan.Run == nil {
		return
	}
	result, err := plan.Run(t.Context(), agent.Approval{})
	if err != nil || result.IsError {
		t.Errorf("the run fails: %v %s", err, result.Output)
	}
	if head, _, _ := strings.Cut(result.Output, "\n"); strings.TrimSpace(head) == "" {
		t.Error("the first line of the result says nothing")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := plan.Run(ctx, agent.Approval{}); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the error of a cancelled run is not the context's: %v", err)
	}
}
