package lsp

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The text of the protocol says of each struct of wire.go and event.go which fields
// it has, of which type, and which may be left out; and it has a section for each
// method. Neither may have what the other lacks.
func TestTheProtocolTextAndTheCodeAgree(t *testing.T) {
	text, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	told := tables(string(text))
	known := wireStructs(t)
	for name, fields := range known {
		if !slices.Equal(told[name], fields) {
			t.Errorf("%s\n\tin the code: %q\n\tin the text: %q", name, fields, told[name])
		}
	}
	for name := range told {
		if _, ok := known[name]; !ok {
			t.Errorf("the text has a table for %s, and there is no such struct", name)
		}
	}
	if len(known) < 30 {
		t.Errorf("only %d structs were found", len(known))
	}
}

func TestEveryMethodIsInTheProtocolText(t *testing.T) {
	text, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	headings := regexp.MustCompile(`(?m)^### (assent/\S+)$`).FindAllStringSubmatch(string(text), -1)
	var told []string
	for _, h := range headings {
		told = append(told, h[1])
	}
	var known []string
	for method := range requests() {
		known = append(known, method)
	}
	known = append(known, methodCancel, methodEvent, methodReview, methodApprove, methodDiagnostics)
	slices.Sort(told)
	slices.Sort(known)
	if !slices.Equal(told, known) {
		t.Errorf("in the text %q\nin the code %q", told, known)
	}
}

// Every event type of the text is one that the code makes, and the other way round.
func TestEveryEventIsInTheProtocolText(t *testing.T) {
	text, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, events, _ := strings.Cut(string(text), "\n## Events\n")
	told := map[string]bool{}
	for _, line := range regexp.MustCompile("(?m)^`[a-z_]+`[^:\n]*:").FindAllString(events, -1) {
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(line, -1) {
			told[name[1]] = true
		}
	}
	known := map[string]bool{"session": true}
	for _, e := range everyEvent() {
		for _, wire := range new(Events).Of(e) {
			raw, err := json.Marshal(wire)
			if err != nil {
				t.Fatal(err)
			}
			var typed struct{ Type string }
			if err := json.Unmarshal(raw, &typed); err != nil {
				t.Fatal(err)
			}
			known[typed.Type] = true
		}
	}
	if !reflect.DeepEqual(told, known) {
		t.Errorf("in the text %v\nin the code %v", told, known)
	}
}

// tables reads "#### Name" and the first two columns of the table below it.
func tables(text string) map[string][]string {
	out := map[string][]string{}
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "#### "); ok {
			name = heading
			out[name] = []string{}
			continue
		}
		if strings.HasPrefix(line, "#") {
			name = ""
		}
		cells := strings.Split(line, "|")
		if name == "" || len(cells) < 4 {
			continue
		}
		field, kind := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		if field == "field" || strings.HasPrefix(field, "-") {
			continue
		}
		out[name] = append(out[name], field+" "+kind)
	}
	return out
}

// wireStructs reads the structs out of the source, as their tables should be.
func wireStructs(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, file := range []string{"wire.go", "event.go"} {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			fields, ok := spec.Type.(*ast.StructType)
			if !ok || spec.Name.Name == "Events" {
				return true
			}
			out[spec.Name.Name] = []string{}
			for _, f := range fields.Fields.List {
				out[spec.Name.Name] = append(out[spec.Name.Name], fieldRow(t, f))
			}
			return false
		})
	}
	return out
}

func fieldRow(t *testing.T, f *ast.Field) string {
	t.Helper()
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		t.Fatal(err)
	}
	name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	kind := typeName(f.Type)
	switch name { // JSON of any kind, of which the text says more
	case "workDoneToken":
		kind = "string or number"
	case "version":
		if _, isPointer := f.Type.(*ast.StarExpr); isPointer {
			kind = "int or null"
		}
	case "conflicts":
		kind = "string[] or null"
	case "hunks":
		if kind == "string[]" {
			kind = "string[] or null"
		}
	}
	if options == "omitempty" {
		kind += "?"
	}
	return name + " " + kind
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return strings.TrimSuffix(e.Name, "64")
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.ArrayType:
		return typeName(e.Elt) + "[]"
	case *ast.MapType:
		return "map"
	case *ast.IndexExpr: // table[V]
		return "map"
	case *ast.SelectorExpr:
		if e.Sel.Name == "RawMessage" {
			return "any"
		}
		return e.Sel.Name
	}
	return "?"
}
