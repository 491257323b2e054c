package fake

import (
	"context"
	"fmt"
	"testing"
)

// annotatedEdit changes the first two characters and the last three of "one  \ntwo",
// each with an annotation.
func annotatedEdit(uri, needed string) string {
	return fmt.Sprintf(`{"edit":{"documentChanges":[{"textDocument":{"uri":%q,"version":1},"edits":[
		{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":2}},"newText":"XY","annotationId":"a"},
		{"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":3}},"newText":"2","annotationId":"b"}]}],
		"changeAnnotations":{"a":{"label":"A","needsConfirmation":true},"b":{"label":"B","description":"D","needsConfirmation":%s}}}}`, uri, needed)
}

func TestChangesThatNeedConfirmationAreAppliedAsFarAsTheyAreTicked(t *testing.T) {
	for name, c := range map[string]struct {
		needed  string
		ticked  []bool
		applied bool
		want    string
	}{
		"both":               {"true", []bool{true, true}, true, "XYe  \n2"},
		"one":                {"true", []bool{false, true}, true, "one  \n2"},
		"none":               {"true", []bool{false, false}, false, "one  \ntwo"},
		"closed":             {"true", nil, false, "one  \ntwo"},
		"one is not asked":   {"false", []bool{true}, true, "XYe  \n2"},
		"only that is taken": {"false", nil, true, "one  \n2"},
	} {
		t.Run(name, func(t *testing.T) {
			var labels string
			e, p, _, uri := opened(t, Options{Confirm: func(_ context.Context, all []Confirmation) []bool {
				for _, one := range all {
					labels += one.Label + one.Description
				}
				return c.ticked
			}})
			id := p.ask("workspace/applyEdit", annotatedEdit(uri, c.needed))
			if c.applied {
				p.expect("textDocument/didChange")
			}
			wantReply(t, p.response(id), c.applied, "")
			if text, _, _ := e.Text(uri); text != c.want {
				t.Errorf("the text is %q", text)
			}
			if want := map[string]string{"true": "ABD", "false": "A"}[c.needed]; labels != want {
				t.Errorf("asked about %s", labels)
			}
		})
	}
}

func TestAnnotationsThatWereNotOfferedAreRefused(t *testing.T) {
	e, p, _, uri := opened(t, Options{})
	wantReply(t, p.response(p.ask("workspace/applyEdit", annotatedEdit(uri, "true"))), false, "not offered")
	wantText(t, e, uri, "one  \ntwo", 1)
}
