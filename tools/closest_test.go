package tools

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// source is n lines like those of a program, the same each time.
func source(n int) []string {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("if err nil return func value index count for range string make append switch case default import package type struct")
	lines := make([]string, n)
	for i := range lines {
		line := strings.Repeat("\t", random.IntN(4))
		for range random.IntN(8) {
			line += words[random.IntN(len(words))] + " "
		}
		if random.IntN(4) == 0 {
			line += fmt.Sprintf("value%d()", random.IntN(n))
		}
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}

func TestClosestFindsAPlaceThatWasChangedALittle(t *testing.T) {
	have := source(50_000)
	for name, change := range map[string]func(lines []string) []string{
		"not at all":           func(lines []string) []string { return lines },
		"spaces for tabs":      func(lines []string) []string { return mapLines(lines, "\t", "    ") },
		"another case":         func(lines []string) []string { return strings.Split(strings.ToUpper(strings.Join(lines, "\n")), "\n") },
		"some lines rewritten": func(lines []string) []string { lines[10], lines[50], lines[51] = "x", "y", "z"; return lines },
		"a word renamed":       func(lines []string) []string { return mapLines(lines, "return", "yield") },
		"a line added near last": func(lines []string) []string {
			return append(lines[:90:90], append([]string{"added"}, lines[90:]...)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := change(append([]string(nil), have[31_415:31_515]...))
			from, to, alike := closest(have, want)
			if from != 31_415 || to != from+len(want) || !alike {
				t.Errorf("got lines %d to %d, alike %v", from, to, alike)
			}
		})
	}
}

func mapLines(lines []string, old, new string) []string {
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], old, new)
	}
	return lines
}

func TestClosestFindsNothingWhereNothingIsAlike(t *testing.T) {
	have := source(1000)
	for _, want := range [][]string{{"Lorem ipsum dolor sit amet"}, {"}"}, {""}, {"", ""}} {
		if from, to, alike := closest(have, want); alike {
			t.Errorf("%q is said to be like lines %d to %d", want, from, to)
		}
	}
	if _, _, alike := closest(nil, []string{"some text"}); alike {
		t.Error("something is alike in an empty file")
	}
}

func TestFoldKeepsThePlacesOfTheText(t *testing.T) {
	for _, text := range []string{"", "a", "\r\n", "a\r\nb\nc\r\n\r\nd\r", "\r\r\n", "a\n\r\nb"} {
		f := fold(text)
		if want := strings.ReplaceAll(text, "\r\n", "\n"); f.text != want {
			t.Errorf("%q folds to %q", text, f.text)
		}
		for from := 0; from <= len(f.text); from++ {
			for to := from; to <= len(f.text); to++ {
				part := text[f.original(from):f.original(to)]
				if got := strings.ReplaceAll(part, "\r\n", "\n"); got != f.text[from:to] {
					t.Errorf("%q from %d to %d is %q, not %q", text, from, to, got, f.text[from:to])
				}
			}
		}
	}
}

func BenchmarkClosest(b *testing.B) {
	have := source(50_000)
	want := mapLines(append([]string(nil), have[31_415:31_515]...), "return", "yield")
	b.ReportAllocs()
	for b.Loop() {
		closest(have, want)
	}
}

func BenchmarkNotFound(b *testing.B) {
	text := strings.Join(source(50_000), "\n")
	want := strings.Join(mapLines(source(50_000)[31_415:31_515], "\t", "    "), "\n")
	m := matcher{seen: fold(text)}
	m.file.Text = text
	b.ReportAllocs()
	for b.Loop() {
		if err := m.notFound(0, stringEdit{Old: want, New: "x"}); err == nil {
			b.Fatal("no error")
		}
	}
}

func BenchmarkSchemas(b *testing.B) {
	for b.Loop() {
		for _, tool := range Default() {
			tool.Spec()
		}
	}
}
