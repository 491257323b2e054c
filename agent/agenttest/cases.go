package agenttest

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// Cases runs the test of each case of a file, and wants each case to have one. A case
// is a line of JSON with an "id"; C is as much of it as the tests need.
func Cases[C any](t *testing.T, file string, tests map[string]func(*testing.T, C)) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for line := range bytes.Lines(data) {
		var named struct{ ID string }
		var c C
		for _, v := range []any{&named, &c} {
			if err := json.Unmarshal(line, v); err != nil {
				t.Fatal(err)
			}
		}
		test := tests[named.ID]
		if test == nil || ran[named.ID] {
			t.Errorf("there is no test of %s, or it is there twice", named.ID)
			continue
		}
		ran[named.ID] = true
		t.Run(named.ID, func(t *testing.T) { test(t, c) })
	}
	for id := range tests {
		if !ran[id] {
			t.Errorf("%s is tested and is no case", id)
		}
	}
}
