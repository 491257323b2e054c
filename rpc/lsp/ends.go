package lsp

import (
	"strings"

	"assent/agent"
	"assent/agent/workspace"
)

// Editors have line ends of their own: some load a file with others than it has, give a
// new file those of the system, or make those of a mixed one alike. That is no change
// of the text.

const crlf, lf = "\r\n", "\n"

// ends tells which of the two line ends a text has.
func ends(text string) (windows, unix bool) {
	pairs := strings.Count(text, crlf)
	return pairs > 0, strings.Count(text, lf) > pairs
}

// compare is [workspace.Compare] for a text whose line ends the editor may have
// changed; other says that it did.
func compare(base string, hunks []agent.Hunk, actual string) (found workspace.Outcome, other bool) {
	want := wanted(base, hunks)
	w1, u1 := ends(want)
	w2, u2 := ends(actual)
	if want == actual || actual == base || w1 == w2 && u1 == u2 || !w1 && !u1 || !w2 && !u2 {
		return workspace.Compare(base, hunks, actual), false
	}
	plain := make([]agent.Hunk, len(hunks))
	for i, h := range hunks {
		plain[i] = h
		plain[i].At = len(agent.FoldEnds(base[:h.At]))
		plain[i].Old, plain[i].New = agent.FoldEnds(h.Old), agent.FoldEnds(h.New)
		if plain[i].Old == plain[i].New { // it is about line ends
			return workspace.Compare(base, hunks, actual), false
		}
	}
	return workspace.Compare(agent.FoldEnds(base), plain, agent.FoldEnds(actual)), true
}
