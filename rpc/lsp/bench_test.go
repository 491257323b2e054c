package lsp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"assent/editors/fake"
)

// One turn of an editor: prompt, review, edit in the buffer, last answer.
func BenchmarkTurn(b *testing.B) {
	var replies []string
	for n := range b.N {
		replies = append(replies, call("edit_file", change("a.txt", fmt.Sprintf("<%d>", n), fmt.Sprintf("<%d>", n+1))), say("ok"))
	}
	bench := newBench(b, map[string]string{"a.txt": "<0>\n" + strings.Repeat("line\n", 1000)}, replies, fake.Options{})
	bench.must(bench.OpenFile(bench.path("a.txt")))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		bench.prompt(fake.Prompt{Text: "go"})
	}
	b.StopTimer()
	if want := fmt.Sprintf("<%d>\n", b.N); !strings.HasPrefix(bench.text("a.txt"), want) {
		b.Errorf("the editor has %.20q, want %q", bench.text("a.txt"), want)
	}
}

// 300 edits all over a file of 50,000 lines are proposed, and the person types a line at
// the top while they look. They want none: to apply 300 would measure the fake editor.
func BenchmarkManyEdits(b *testing.B) {
	const lines, edits = 50_000, 300
	var text strings.Builder
	for n := range lines {
		fmt.Fprintf(&text, "line %d of the file, which has some words in it\n", n)
	}
	var replies []string
	for turn := range b.N {
		var all []object
		for n := range edits {
			old := fmt.Sprintf("line %d of", n*(lines/edits)+7)
			all = append(all, object{"old_string": old, "new_string": fmt.Sprintf("%s %d", old, turn)})
		}
		replies = append(replies, call("edit_file", object{"path": "a.txt", "edits": all}), say("ok"))
	}
	var bench *bench
	hunks := 0
	bench = newBench(b, map[string]string{"a.txt": text.String()}, replies, fake.Options{Review: func(_ context.Context, r fake.Review) (fake.Answer, error) {
		hunks += len(r.Files[0].Hunks)
		err := bench.Type(bench.uri("a.txt"), fake.Range{}, "typed\n")
		return fake.Answer{Decision: "reject"}, err
	}})
	bench.must(bench.OpenFile(bench.path("a.txt")))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		bench.prompt(fake.Prompt{Text: "go"})
	}
	b.StopTimer()
	if hunks != b.N*edits {
		b.Errorf("%d hunks were asked in %d turns", hunks, b.N)
	}
}

// A reply of 1 MB in 20,000 pieces, as it reaches the editor.
func BenchmarkTwentyThousandChunks(b *testing.B) {
	const chunks, size = 20_000, 50
	reply := fmt.Sprintf(`{"text":%q,"chunks":%d}`, strings.Repeat("x", chunks*size), chunks)
	var replies []string
	for range b.N {
		replies = append(replies, reply)
	}
	bench := newBench(b, nil, replies, fake.Options{})
	b.SetBytes(chunks * size)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if result := bench.prompt(fake.Prompt{Text: "go"}); len(result.Message) != chunks*size {
			b.Fatalf("%d bytes came", len(result.Message))
		}
	}
	b.StopTimer()
	deltas := 0
	for _, e := range bench.Events() {
		if e.Type == "text" {
			deltas++
		}
	}
	b.ReportMetric(float64(deltas)/float64(b.N), "notifications/op")
}
