package openai

import (
	"slices"
	"strings"
	"testing"

	"assent/agent"

	"pgregory.net/rapid"
)

// filtered is what comes of a text in pieces.
func filtered(pieces []string) (text, thinking string, calls []written) {
	f := filter{offered: func(name string) bool { return name == "read_file" }}
	take := func(c agent.Chunk) {
		if c.Recast {
			thinking, text = thinking+text, ""
		}
		text += c.Text
		thinking += c.Thinking
	}
	for _, p := range pieces {
		take(f.add(p))
	}
	take(f.end())
	return text, thinking, f.written
}

// TestNothingOfATextGetsLost: whatever stands in a text, each letter of it is shown as
// text, as reasoning or as a call, but for tags and space, wherever the text was cut.
func TestNothingOfATextGetsLost(t *testing.T) {
	words := []string{"a", "b ", " ", "\n", "\n\n", "`", "```", "```\n", "<", "[", "◁", "é", "漢", "{", `{"name"`, `{"name":"read_file","arguments":{}}`, "}", "read_file(", ">"}
	for _, tag := range thinkingTags {
		words = append(words, tag.open, tag.close)
	}
	for _, mark := range callMarks {
		words = append(words, mark.open, mark.close, mark.open+`{"name":"read_file"}`+mark.close)
	}
	bare := func(text string) string { // without what may be left out
		for _, tag := range thinkingTags {
			text = strings.ReplaceAll(strings.ReplaceAll(text, tag.open, ""), tag.close, "")
		}
		return strings.Join(strings.Fields(text), "")
	}
	rapid.Check(t, func(t *rapid.T) {
		whole := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(t, "words"), "")
		text, thinking, calls := filtered([]string{whole})
		var pieces []string
		for rest := []rune(whole); len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 5)).Draw(t, "piece")
			pieces, rest = append(pieces, string(rest[:n])), rest[n:]
		}
		cutText, cutThinking, cutCalls := filtered(pieces)
		if cutText != text || cutThinking != thinking || !slices.Equal(cutCalls, calls) {
			t.Fatalf("%q\nwhole: %q, %q, %q\n  cut: %q, %q, %q", whole, text, thinking, calls, cutText, cutThinking, cutCalls)
		}
		all := text + thinking
		for _, c := range calls {
			all += c.raw
		}
		count := func(text string) (letters [128]int) {
			for _, r := range bare(text) {
				letters[min(r, 127)]++
			}
			return letters
		}
		if count(all) != count(whole) {
			t.Fatalf("of %q came\n%q, %q, %q", whole, text, thinking, calls)
		}
	})
}

// TestALongTextIsNotHeldBack: what is not decided yet is never long, whichever letters
// a text is made of, so a long one takes time in proportion.
func TestALongTextIsNotHeldBack(t *testing.T) {
	for _, letter := range []string{"<", "`", "[", "x", "\n", "{", "<t", "</", "`x"} {
		f := filter{offered: func(string) bool { return true }}
		f.add("begin ")
		longest := 0
		for range 100_000 {
			f.add(letter)
			longest = max(longest, len(f.buf))
		}
		if longest > 64 {
			t.Errorf("of %q %d bytes are held at once", letter, longest)
		}
	}
}
