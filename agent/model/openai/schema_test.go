package openai

import (
	"encoding/json"
	"testing"
)

func TestSchemasInTheDialectOfAServer(t *testing.T) {
	tree := `{"$schema":"x","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"v":{"const":1,"default":1}},"additionalProperties":false}},` +
		`"type":"object","properties":{"n":{"$ref":"#/$defs/n"},"any":{"type":"string","anyOf":[{"pattern":"a"},{"type":"null"}]}},"required":["n"]}`
	for name, c := range map[string]struct {
		in      string
		dialect schemaDialect
		want    string
	}{
		"none":                         {``, schemaFull, `{"type":"object","properties":{}}`},
		"what is none":                 {`[]`, schemaFull, `[]`},
		"one that is good":             {`{"type":"object","properties":{"b":{},"a":{}}}`, schemaFull, `{"type":"object","properties":{"b":{},"a":{}}}`},
		"without properties":           {`{"type":"object"}`, schemaFull, `{"properties":{},"type":"object"}`},
		"with null for them":           {`{"type":"object","properties":null}`, schemaPlain, `{"properties":{},"type":"object"}`},
		"without a type":               {`{"properties":{"a":{"type":"string"}}}`, schemaFull, `{"properties":{"a":{"type":"string"}},"type":"object"}`},
		"a field named as a word":      {`{"type":"object","properties":{"default":{"type":"string","default":"x"},"title":{"title":"t"}}}`, schemaPlain, `{"properties":{"default":{"type":"string"},"title":{}},"type":"object"}`},
		"Kimi's place for a type":      {`{"type":"object","properties":{"a":{"type":"string","anyOf":[{"minLength":1},{"type":"null"}]}}}`, schemaKimi, `{"properties":{"a":{"anyOf":[{"minLength":1,"type":"string"},{"type":"null"}]}},"type":"object"}`},
		"numbers, as they are written": {`{"type":"object","properties":{"a":{"maximum":12345678901234567890}}}`, schemaPlain, `{"properties":{"a":{"maximum":12345678901234567890}},"type":"object"}`},
	} {
		if got := string(schemaFor(json.RawMessage(c.in), c.dialect)); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
	plain := schemaFor(json.RawMessage(tree), schemaPlain)
	for range 20 {
		if again := schemaFor(json.RawMessage(tree), schemaPlain); string(again) != string(plain) {
			t.Fatalf("once %s\nthen %s", plain, again)
		}
	}
	var node map[string]any
	if err := json.Unmarshal(plain, &node); err != nil {
		t.Fatal(err)
	}
	depth := 0
	for at, ok := node, true; ok; depth++ { // a type inside itself is written out to some depth
		properties, _ := at["properties"].(map[string]any)
		if at, ok = properties["n"].(map[string]any); !ok {
			at, ok = properties["next"].(map[string]any)
		}
		if at["$ref"] != nil || at["additionalProperties"] != nil {
			t.Errorf("at depth %d: %v", depth, at)
		}
	}
	if depth < 3 || depth > 20 {
		t.Errorf("it is %d deep: %s", depth, plain)
	}
}
