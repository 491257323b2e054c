package lsp_test

import (
	"encoding/json"
	"testing"

	"assent/editors/fake"
)

// columns are the same place of a line in utf-8, utf-16 and utf-32.
type columns map[string]int

// An edit behind characters that are wider in one encoding than in another: where it is
// on the wire, and what the text is afterwards. Before it the person types behind such
// characters too. The columns are counted by hand.
func TestWideCharactersBeforeAnEdit(t *testing.T) {
	for name, c := range map[string]struct {
		text, from, to string
		typed          fake.Position // where the person types a !, but for its column
		at             columns
		line           int     // of the range on the wire, which is the word
		start          columns // with what was typed
		want           string
	}{
		"emoji": {
			"😀 one = 1\nend\n", "one", "two", fake.Position{Line: 0}, columns{"utf-8": 4, "utf-16": 2, "utf-32": 1},
			0, columns{"utf-8": 6, "utf-16": 4, "utf-32": 3}, "😀! two = 1\nend\n",
		},
		"emoji in the last line, which has no end": {
			"first\n😀 one 😀", "one", "two", fake.Position{Line: 1}, columns{"utf-8": 4, "utf-16": 2, "utf-32": 1},
			1, columns{"utf-8": 6, "utf-16": 4, "utf-32": 3}, "first\n😀! two 😀",
		},
		"a family, which is five characters": {
			"👩‍👩‍👧 one", "one", "two", fake.Position{}, columns{"utf-8": 18, "utf-16": 8, "utf-32": 5},
			0, columns{"utf-8": 20, "utf-16": 10, "utf-32": 7}, "👩‍👩‍👧! two",
		},
		"combining marks": {
			"first\ne\u0301e\u0301 one", "one", "two", fake.Position{Line: 1}, columns{"utf-8": 6, "utf-16": 4, "utf-32": 4},
			1, columns{"utf-8": 8, "utf-16": 6, "utf-32": 6}, "first\ne\u0301e\u0301! two",
		},
		"a combining mark of its own": {
			"a\u0301 one", "one", "two", fake.Position{}, columns{"utf-8": 1, "utf-16": 1, "utf-32": 1},
			0, columns{"utf-8": 5, "utf-16": 4, "utf-32": 4}, "a!\u0301 two",
		},
		"CRLF": {
			"first\r\n😀 one\r\n漢 end", "one", "two", fake.Position{Line: 1}, columns{"utf-8": 4, "utf-16": 2, "utf-32": 1},
			1, columns{"utf-8": 6, "utf-16": 4, "utf-32": 3}, "first\r\n😀! two\r\n漢 end",
		},
		"CRLF, and the last line": {
			"first\r\n😀 漢\r\n漢😀 one", "one", "two", fake.Position{Line: 1}, columns{"utf-8": 4, "utf-16": 2, "utf-32": 1},
			2, columns{"utf-8": 8, "utf-16": 4, "utf-32": 3}, "first\r\n😀! 漢\r\n漢😀 two",
		},
		"a lone CR": {
			"first\r😀 one\rend", "one", "two", fake.Position{Line: 1}, columns{"utf-8": 4, "utf-16": 2, "utf-32": 1},
			1, columns{"utf-8": 6, "utf-16": 4, "utf-32": 3}, "first\r😀! two\rend",
		},
	} {
		for encoding, offered := range map[string][]string{"utf-8": {"utf-8"}, "utf-16": nil, "utf-32": {"utf-32", "utf-16"}} {
			t.Run(name+" in "+encoding, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, map[string]string{"a.txt": c.text}, []string{call("edit_file", change("a.txt", c.from, c.to)), say("ok")}, fake.Options{Encodings: offered})
				b.must(b.OpenFile(b.path("a.txt")))
				place := fake.Position{Line: c.typed.Line, Character: c.at[encoding]}
				b.must(b.Type(b.uri("a.txt"), fake.Range{Start: place, End: place}, "!"))
				b.prompt(fake.Prompt{Text: "go"})
				if got := b.text("a.txt"); got != c.want {
					t.Errorf("the text is %q, not %q", got, c.want)
				}
				start, end := c.start[encoding], c.start[encoding]+len(c.from)
				if got, want := b.ranges(), (fake.Range{Start: fake.Position{Line: c.line, Character: start}, End: fake.Position{Line: c.line, Character: end}}); len(got) != 1 || got[0] != want {
					t.Errorf("the range is %v, not %v", got, want)
				}
			})
		}
	}
}

// ranges are those of the edits that the server asked for.
func (b *bench) ranges() (ranges []fake.Range) {
	for _, e := range b.Log() {
		if !e.FromServer || e.Response || e.Method != "workspace/applyEdit" {
			continue
		}
		var message struct {
			Params struct {
				Edit struct {
					DocumentChanges []struct{ Edits []fake.TextEdit }
				}
			}
		}
		b.must(json.Unmarshal(e.Raw, &message))
		for _, doc := range message.Params.Edit.DocumentChanges {
			for _, edit := range doc.Edits {
				ranges = append(ranges, edit.Range)
			}
		}
	}
	return ranges
}
