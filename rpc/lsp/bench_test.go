package lsp_test

import (
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
