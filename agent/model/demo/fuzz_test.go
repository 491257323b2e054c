package demo

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzParse: no prompt makes the parser panic, what it makes of one can be sent
// as calls, and no mark of a quotation gets out.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`replace "a" with 'b' in c.txt`, "create a with:\n```\nx\n```\n", "show a; list\nfind b in c and then delete d", "weather in A, B and C",
		"in a, change “x” to «y»", "\x000\x00", "``` ```", "list the the İ", `""''`, "show lines 99999999999999999999-2 of a",
	} {
		f.Add(seed)
	}
	g := newGrammar()
	f.Fuzz(func(t *testing.T, prompt string) {
		tasks, unknown := g.parse(prompt)
		if unknown != "" && tasks != nil {
			t.Error("tasks beside something unknown")
		}
		for _, task := range tasks {
			for _, c := range task.first {
				if input := encode(c.input); !json.Valid(input) || strings.Contains(string(input), `\u0000`) {
					t.Errorf("the input of %s is %s", c.tool, input)
				}
			}
		}
	})
}
