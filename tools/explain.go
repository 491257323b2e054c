package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	validation "github.com/google/jsonschema-go/jsonschema"
)

// maxProblems keeps an error readable that is wrong in every item of a long list.
const maxProblems = 6

// dropNulls takes out the optional fields that are null. Models write null for
// "not given"; a required field that is null stays and fails.
func dropNulls(value any, s *validation.Schema) {
	switch value := value.(type) {
	case map[string]any:
		for name, property := range s.Properties {
			child, given := value[name]
			if given && child == nil && property.Type != "" && !slices.Contains(s.Required, name) {
				delete(value, name)
			} else if given {
				dropNulls(child, property)
			}
		}
	case []any:
		for _, item := range value {
			if s.Items != nil {
				dropNulls(item, s.Items)
			}
		}
	}
}

// explain says what is wrong with a value that the schema refuses, field by
// field. The validator alone decides whether it is refused; it stops at the first
// fault and quotes whole values, which is not enough to repair a call at once.
func explain(value any, s *validation.Schema) []string {
	var e explainer
	e.walk("", value, s)
	if e.more > 0 {
		e.problems = append(e.problems, fmt.Sprintf("and %d more", e.more))
	}
	return e.problems
}

type explainer struct {
	problems []string
	more     int // that are not listed
}

func (e *explainer) add(format string, args ...any) {
	if len(e.problems) == maxProblems {
		e.more++
		return
	}
	e.problems = append(e.problems, fmt.Sprintf(format, args...))
}

func (e *explainer) walk(at string, value any, s *validation.Schema) {
	if s.Type != "" && !isType(value, s.Type) {
		e.add("%s is %s, expected %s%s", at, show(value), withArticle(s.Type), typeHint(value, s.Type))
		return
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(v any) bool { return show(v) == show(value) }) {
		e.add("%s is %s, expected one of %s", at, show(value), show(s.Enum))
	}
	switch value := value.(type) {
	case map[string]any:
		e.object(at, value, s)
	case []any:
		if s.MinItems != nil && len(value) < *s.MinItems {
			e.add("%s has %d items, expected at least %d", at, len(value), *s.MinItems)
		}
		for i, item := range value {
			if s.Items != nil {
				e.walk(index(at, i), item, s.Items)
			}
		}
	}
}

func (e *explainer) object(at string, object map[string]any, s *validation.Schema) {
	for _, name := range s.Required {
		if _, given := object[name]; !given {
			e.add("%s is missing%s", join(at, name), expected(s.Properties[name]))
		}
	}
	names := slices.Sorted(maps.Keys(object))
	for _, name := range names {
		property, known := s.Properties[name]
		if known {
			e.walk(join(at, name), object[name], property)
			continue
		}
		if s.AdditionalProperties != nil { // what we make allows none, or all
			e.add("%s is not a field%s", cut(join(at, name), 100), spelling(name, s))
		}
	}
}

func expected(s *validation.Schema) string {
	if s == nil || s.Type == "" {
		return ""
	}
	return ", expected " + withArticle(s.Type)
}

func spelling(name string, s *validation.Schema) string {
	best := closestNames(name, slices.Sorted(maps.Keys(s.Properties)), 1)
	if len(best) == 0 {
		return ""
	}
	return ", did you mean " + best[0] + "?"
}

func typeHint(value any, want string) string {
	text, isText := value.(string)
	switch {
	case isText && (want == "array" || want == "object") && strings.ContainsAny(text, "[{"):
		return " (send it as it is, not as a string that holds JSON)"
	case isText && (want == "integer" || want == "number" || want == "boolean"):
		return " (without quotes)"
	}
	return ""
}

func isType(value any, want string) bool {
	switch v := value.(type) {
	case nil:
		return want == "null"
	case bool:
		return want == "boolean"
	case string:
		return want == "string"
	case int64:
		return want == "integer" || want == "number"
	case float64:
		return want == "number" || want == "integer" && v == math.Trunc(v)
	case []any:
		return want == "array"
	}
	return want == "object"
}

func withArticle(kind string) string {
	switch kind {
	case "array":
		return "a list"
	case "integer":
		return "a whole number"
	case "object":
		return "an object"
	}
	return "a " + kind
}

// show quotes a value, cut.
func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "a value of another type"
	}
	return cut(string(text), 60)
}
