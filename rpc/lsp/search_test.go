package lsp_test

import (
	"strings"
	"testing"

	"assent/editors/fake"
)

// What is on disk and no more in the editor is not found, and what is typed is.
func TestSearchSeesWhatIsNotSaved(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.txt": "old needle\n", "b.txt": "a needle on disk\n", ".gitignore": "c.txt\n", "c.txt": "a needle that is ignored\n"}, []string{
		call("search", object{"pattern": "needle", "literal": true}), say("ok"),
	}, fake.Options{})
	b.must(b.OpenFile(b.path("a.txt")))
	b.must(b.Replace(b.uri("a.txt"), "old needle\n", "hay\na new needle\n"))
	b.prompt(fake.Prompt{Text: "go"})
	got := b.told()[0]
	if !strings.Contains(got, "a.txt:2: a new needle\n") || !strings.Contains(got, "b.txt:1: a needle on disk\n") || strings.Contains(got, "old needle") || strings.Contains(got, "ignored") {
		t.Errorf("found %q", got)
	}
}
