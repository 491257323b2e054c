package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// schemaDialect is what of JSON Schema a server understands. A schema is only made
// to say less, so arguments that fit it here may still not fit there.
type schemaDialect int

const (
	schemaFull  schemaDialect = iota // as the tool has it
	schemaPlain                      // what grammars are made of, and Gemini takes
	schemaKimi                       // a type beside anyOf is refused; it belongs into each
)

const emptySchema = `{"type":"object","properties":{}}`

const maxRefs = 6 // references inside references, after which anything goes

// schemaFor is a tool's schema in a dialect. Every server wants an object with
// properties, whatever the tool says. What is no schema goes out as it is.
func schemaFor(raw json.RawMessage, d schemaDialect) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage(emptySchema)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var root map[string]any
	if dec.Decode(&root) != nil || root == nil {
		return raw
	}
	_, typed := root["type"]
	_, hasProperties := root["properties"].(map[string]any)
	if typed && hasProperties && d == schemaFull {
		return raw
	}
	root["type"] = "object"
	if !hasProperties {
		root["properties"] = map[string]any{}
	}
	if d != schemaFull {
		root = simplified(root, root, d, 0).(map[string]any)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(root) != nil { // sorts the keys: the same bytes each time
		return raw
	}
	return bytes.TrimSpace(out.Bytes())
}

// beyondPlain are the words that some server refuses, or that no grammar is made of.
var beyondPlain = []string{
	"$schema", "$id", "$comment", "$defs", "definitions", "additionalProperties", "unevaluatedProperties", "patternProperties",
	"propertyNames", "examples", "default", "pattern", "format", "contentEncoding", "contentMediaType", "if", "then", "else",
	"not", "dependentRequired", "dependentSchemas", "readOnly", "writeOnly", "deprecated", "title", "minContains", "maxContains",
	"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems",
}

// simplified rewrites a schema, or whatever stands in its place.
func simplified(node any, root map[string]any, d schemaDialect, refs int) any {
	s, ok := node.(map[string]any)
	if !ok {
		return node // true, false
	}
	if ref, ok := s["$ref"].(string); ok {
		target, found := lookup(root, ref)
		if !found || refs >= maxRefs {
			return map[string]any{}
		}
		return simplified(target, root, d, refs+1)
	}
	out := map[string]any{}
	for key, value := range s {
		switch {
		case slices.Contains(beyondPlain, key) && (d == schemaPlain || strings.HasPrefix(key, "$") || key == "definitions"):
		case key == "properties":
			properties, _ := value.(map[string]any)
			plain := map[string]any{}
			for name, p := range properties {
				plain[name] = simplified(p, root, d, refs)
			}
			out[key] = plain
		case key == "items":
			out[key] = simplified(value, root, d, refs)
		case key == "anyOf" || key == "oneOf" || key == "allOf":
			list, _ := value.([]any)
			plain := []any{}
			for _, p := range list {
				plain = append(plain, simplified(p, root, d, refs))
			}
			out[key] = plain
		case key == "const" && d == schemaPlain:
			out["enum"] = []any{value}
		default:
			out[key] = value
		}
	}
	if d == schemaKimi {
		moveType(out)
	}
	return out
}

// moveType gives the type beside anyOf to each of its parts.
func moveType(s map[string]any) {
	parts, ok := s["anyOf"].([]any)
	typ, typed := s["type"]
	if !ok || !typed {
		return
	}
	for _, p := range parts {
		if part, ok := p.(map[string]any); ok && part["type"] == nil {
			part["type"] = typ
		}
	}
	delete(s, "type")
}

// lookup finds what a reference inside the schema refers to.
func lookup(root map[string]any, ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	var at any = root
	for step := range strings.SplitSeq(path, "/") {
		node, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if at, ok = node[step]; !ok {
			return nil, false
		}
	}
	return at, true
}
