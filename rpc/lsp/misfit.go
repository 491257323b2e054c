package lsp

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
)

// misfit says in the words of the protocol why JSON does not fit, and what would:
// package json speaks of the types of our code.
func misfit(err error) string {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	field := wrong.Field
	if field == "" {
		field = "they"
	}
	return field + " can't be " + kind(wrong.Value) + "; use " + jsonOf(wrong.Type)
}

// kind is a kind of JSON, or a number that is none of ours, such as "number 1.5".
func kind(word string) string {
	if _, number, ok := strings.Cut(word, " "); ok {
		return number
	}
	switch word {
	case "object", "{", "}":
		return "an object"
	case "array", "[", "]":
		return "an array"
	case "null", "true", "false":
		return word
	}
	return "a " + word
}

// jsonOf is the kind of JSON that a field takes.
func jsonOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a whole number"
}
