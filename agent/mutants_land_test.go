package agent_test

import "testing"

// TestRandomEditsCatchesMutantsOfLandings breaks what lands edits in an editor.
func TestRandomEditsCatchesMutantsOfLandings(t *testing.T) {
	catch(t, "../rpc/lsp", "^TestRandomEdits$", "300", 7, []mutant{
		{"an edit is for any version of the text", "../rpc/lsp/edits.go", "where, version = s.doc.uri, &s.doc.version", "where, version = s.doc.uri, nil"},
		{"an edit is made for the text that was shown, whatever is there", "../rpc/lsp/land.go", "if agent.HashText(s.text()) == l.edit.Base {", "if true {"},
		{"hunks move the other way", "workspace/rebase.go", "shift += c.shift", "shift -= c.shift"},
		{"a hunk moves in spite of a change", "workspace/rebase.go", "!clash && strings", "(!clash || true) && strings"},
		{"a file is deleted, whatever is in it", "../rpc/lsp/land.go", "return hash == l.edit.Base || agent.FoldEnds(text) == agent.FoldEnds(l.edit.Old) && text != \"\"", "return true"},
		{"all hunks are said to have landed", "../rpc/lsp/judge.go", "l.out.Landed, l.out.Foreign = found.Landed,", "l.out.Landed, l.out.Foreign = ids(hunks),"},
		{"the hash is that of the text before", "../rpc/lsp/judge.go", "l.out.Text = agent.HashText(after.doc.text)", "l.out.Text = agent.HashText(before.text())"},
	})
}
