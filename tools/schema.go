package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	validation "github.com/google/jsonschema-go/jsonschema"
	reflection "github.com/invopop/jsonschema"
)

// schema is what a tool expects, in the forms in which it is needed. The text
// that the model gets is the one that its calls are validated against.
type schema struct {
	tool     string
	text     json.RawMessage
	fields   string                      // all of them in short, for errors
	resolved func() *validation.Resolved // of text, made by the first call
}

// newSchema panics if no schema can be made of the type: no input causes that,
// and the conformance test of the tool shows it.
func newSchema(tool string, args reflect.Type) schema {
	r := reflection.Reflector{DoNotReference: true, ExpandedStruct: true, Anonymous: true}
	made := r.ReflectFromType(args)
	made.Version = "" // servers that compile the schema to a grammar refuse $schema
	text, err := json.Marshal(made)
	if err != nil {
		panic(fmt.Sprintf("tools: no schema can be made of the arguments of %s: %v", tool, err))
	}
	return schema{tool: tool, text: text, fields: shape(made), resolved: sync.OnceValue(func() *validation.Resolved {
		return resolve(tool, text)
	})}
}

func resolve(tool string, text json.RawMessage) *validation.Resolved {
	var parsed validation.Schema
	if err := json.Unmarshal(text, &parsed); err != nil {
		panic(fmt.Sprintf("tools: the schema of %s can't be read back: %v", tool, err))
	}
	resolved, err := parsed.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("tools: the schema of %s can't be used: %v", tool, err))
	}
	return resolved
}

// shape writes a schema in one line, "{path: string, start_line?: integer}",
// which models read well.
func shape(s *reflection.Schema) string {
	switch {
	case s == nil || s.Type == "" && len(s.OneOf) == 0:
		return "any"
	case len(s.OneOf) > 0:
		var forms []string
		for _, one := range s.OneOf {
			forms = append(forms, shape(one))
		}
		return strings.Join(forms, " or ")
	case s.Type == "array":
		return "[" + shape(s.Items) + "]"
	case s.Type != "object" || s.Properties == nil:
		return s.Type
	}
	var fields []string
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		mark := "?"
		for _, required := range s.Required {
			if required == p.Key {
				mark = ""
			}
		}
		fields = append(fields, p.Key+mark+": "+shape(p.Value))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// decode checks input against the schema and puts it into args, a pointer. Its
// errors are for the model: they name each field that is wrong, say how, and
// list what is expected.
func (s schema) decode(input json.RawMessage, args any) error {
	object, err := parseObject(input)
	if err != nil {
		return s.reject(err)
	}
	valid := s.resolved()
	root := valid.Schema()
	dropNulls(object, root)
	if err := valid.Validate(object); err != nil {
		if problems := explain(object, root); len(problems) > 0 {
			return s.reject(errors.New(strings.Join(problems, "; ")))
		}
		return s.reject(errors.New(cut(strings.TrimPrefix(err.Error(), "validating root: "), 300)))
	}
	// From the parsed object and not from the input: in it 5.0 has become 5,
	// which the schema takes for an integer and encoding/json does not.
	clean, err := json.Marshal(object)
	if err != nil {
		return s.reject(err)
	}
	dec := json.NewDecoder(bytes.NewReader(clean))
	if err := dec.Decode(args); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = fmt.Errorf("%s does not fit: a %s was given where a value of the Go type %v has to fit", wrong.Field, cut(wrong.Value, 60), wrong.Type)
		}
		return s.reject(err)
	}
	return nil
}

func (s schema) reject(err error) error {
	return fmt.Errorf("the arguments are wrong: %w; %s expects %s, where ? marks what may be left out", err, s.tool, s.fields)
}
