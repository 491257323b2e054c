package lsp

import (
	"encoding/json"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// Names of Go types are no help to who wrote the JSON.
func TestWhatDoesNotFitIsSaidWithoutNamesOfGo(t *testing.T) {
	for raw, want := range map[string]string{
		`{"text":5}`:                           "text can't be a number; use a string",
		`{"text":"x","images":{}}`:             "images can't be an object; use an array",
		`{"images":[{"data":true}]}`:           "data can't be a bool; use a string",
		`{"maxTurns":"many"}`:                  "maxTurns can't be a string; use a whole number",
		`{"maxTurns":1.5}`:                     "maxTurns can't be 1.5; use a whole number",
		`[]`:                                   "they can't be an array; use an object",
		`{"context":[{"range":[]}]}`:           "range can't be an array; use an object",
		`{"context":[{"range":{"start":""}}]}`: "start can't be a string; use an object",
	} {
		var p PromptParams
		err := decode(json.RawMessage(raw), &p)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v, want %s", raw, err, want)
		}
	}
	for raw, want := range map[string]string{
		`{"maxTurns":"many"}`:  "(maxTurns can't be a string; use a whole number)",
		`{"tools":{"a":true}}`: "(tools can't be an object; use an array)",
		`{"modle":"x"}`:        `(unknown field "modle")`,
		`"x"`:                  "(they can't be a string; use an object)",
	} {
		s := &Server{}
		s.readSettings(json.RawMessage(raw))
		if said := strings.Join(s.warnings, ""); !strings.Contains(said, want) || strings.Contains(said, "Go ") {
			t.Errorf("%s: %s, want %s", raw, said, want)
		}
	}
	var p protocol.InitializeParams
	if err := inWords(protocol.Unmarshal([]byte(`{"processId":"x","capabilities":{}}`), &p)); err == nil || strings.Contains(err.Error(), "Go ") {
		t.Error(err)
	}
}
