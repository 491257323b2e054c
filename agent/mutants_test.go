package agent_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutant is a way to break a file of this package.
type mutant struct{ name, file, old, new string }

// TestRandomWorldCatchesMutants breaks the session in the ways that the random
// world exists for, and wants it to notice.
func TestRandomWorldCatchesMutants(t *testing.T) {
	catch(t, ".", "^TestRandomWorld$", checksOr("3000"), 1, []mutant{
		{"an effect goes on though its decision could not be recorded", "review.go",
			"if err := r.emit(Decided{ProposalID: p.ID, Revision: p.Revision, Decision: d}); err != nil {\n\t\treturn err\n\t}",
			"_ = r.emit(Decided{ProposalID: p.ID, Revision: p.Revision, Decision: d})"},
		{"the question comes before its record", "review.go",
			"if err := r.emit(Proposed{first}); err != nil {\n\t\treturn err\n\t}\n\tp, d, err := decider(first)",
			"p, d, err := decider(first)\n\tif err := r.emit(Proposed{first}); err != nil {\n\t\treturn err\n\t}"},
		{"the last revision is not recorded", "review.go", "if p.Revision != first.Revision {", "if p.Revision < 0 {"},
		{"a revision may be another proposal", "proposal.go", "|| !kept && !h.Conflict {", "|| !kept && h.Old == h.New {"},
		{"a yes to all covers a conflict", "consent.go", "!listed && d.Accept && !h.Conflict:", "!listed && d.Accept:"},
		{"the answer counts for the first revision", "review.go", "part := p.Parts[i]", "part := q.part"},
		{"the last result of a batch is dropped", "execute.go",
			"for i, c := range batch {\n\t\t<-ended[i]", "for i, c := range batch[:max(1, len(batch)-1)] {\n\t\t<-ended[i]"},
		{"results come out of order", "execute.go",
			"for i, c := range batch {\n\t\t<-ended[i]", "for i, c := range slices.Backward(batch) {\n\t\t<-ended[i]"},
		{"an approval covers everything", "consent.go",
			"return e != nil && slices.ContainsFunc(a.effects, e.same)", "return e != nil"},
		{"a part without an answer takes another's", "consent.go",
			"case i >= len(answers):", "case i >= len(answers):\n\t\t\tout[i] = out[0]"},
		{"a refused part takes the answer to another", "review.go",
			"weigh(part, d.Parts[i])", "weigh(part, d.Parts[i*0])"},
		{"a refusal lets the next edit through", "review.go",
			"r.take(q, answer{", "if i > 0 && !d.Parts[i-1].Accept {\n\t\t\td.Parts[i] = PartDecision{Accept: true}\n\t\t}\n\t\tr.take(q, answer{"},
		{"the journal stops when the consumer leaves", "loop.go",
			"if rec, ok := e.(Record); ok {", "if rec, ok := e.(Record); ok && !r.left {"},
		{"a late yes counts", "review.go",
			"\tif r.ctx.Err() != nil {\n\t\tcancelAll(questions)\n\t\treturn nil\n\t}\n\tif err != nil {\n\t\td =", "\tif err != nil {\n\t\td ="},
		{"a lost connection decides", "review.go",
			"if errors.Is(err, ErrInterrupted) {\n\t\treturn err\n\t}\n\tif r.ctx", "if errors.Is(err, nil) && false {\n\t\treturn err\n\t}\n\tif r.ctx"},
		{"an answer to hunks that were never shown counts", "consent.go",
			"func(h Hunk) bool { return h.ID == id }) {\n\t\t\treturn false", "func(h Hunk) bool { return h.ID == id }) {\n\t\t\tcontinue"},
		{"a policy may allow a protected path", "policy.go",
			"err != nil || v.Do == Allow && p.Alone", "err != nil"},
		{"a tool may name a file by another path", "batch.go",
			"if err == nil && info.Path != path {", "if false {"},
		{"a call of a cut reply is run", "reply.go",
			"case stop == StopTruncated || stop == StopRefused:", "case stop == StopRefused:"},
	})
}

// TestRandomDamageCatchesMutants breaks what mends a history.
func TestRandomDamageCatchesMutants(t *testing.T) {
	catch(t, ".", "^TestRandomDamage$", "2000", 3, []mutant{
		{"an ID may come twice", "history.go", "u.ID == \"\" || ids[u.ID] ||", "u.ID == \"\" ||"},
		{"a call without an ID goes out", "history.go", "u.ID == \"\" || ids[u.ID] ||", "ids[u.ID] ||"},
		{"broken arguments go out", "history.go", "ids[u.ID] || u.Invalid == \"\" && !isObject(u.Input)", "ids[u.ID]"},
		{"results of nothing go out", "history.go", "case (len(open) > 0) != (m.Role == RoleTool) || len(results) != len(open):", "case len(open) > 0 && len(results) != len(open):"},
		{"results out of order go out", "history.go", "results[j].ID != u.ID || results[j].Output == \"\"", "results[j].Output == \"\""},
		{"an empty result goes out", "history.go", "results[j].ID != u.ID || results[j].Output == \"\"", "results[j].ID != u.ID"},
		{"an empty message goes out", "history.go", "case m.Role != RoleTool && blank(m):\n\t\t\treturn fmt", "case false:\n\t\t\treturn fmt"},
		{"the model begins", "history.go", "case i == 0 && first && m.Role != RoleUser:", "case false:"},
		{"all is taken for sound after a mend", "history.go", "\t\ts.rewrite(mended)\n", "\t\ts.sent = map[string]bool{}\n"},
		{"a lost result is not made up for", "history.go", "results.Blocks = append(results.Blocks, result)", "if result.Output != lostResult {\n\t\t\tresults.Blocks = append(results.Blocks, result)\n\t\t}"},
		{"a call is renamed without its result", "history.go", "result.ID, result.Output = u.ID, orDefault", "result.Output = orDefault"},
		{"an empty result is mended with nothing", "history.go", "orDefault(result.Output, noOutput)", "result.Output"},
		{"an empty message is not left out", "history.go", "case blank(m):\n\t\t\tcontinue", "case false:\n\t\t\tcontinue"},
		{"one result is given twice", "history.go", "found = slices.Delete(slices.Clone(found), j, j+1)", "results.Blocks = append(results.Blocks, result)"},
		{"what is sound is mended too", "history.go", "if sound(s.history[s.sound:], s.sent, s.sound == 0) != nil {", "if s.history = slices.Clone(s.history); len(s.history) > 2 {\n\t\ts.history = s.history[:len(s.history)-1]"},
	})
}

// TestRandomPastCatchesMutants breaks what compacts a history, and what ends a run.
func TestRandomPastCatchesMutants(t *testing.T) {
	catch(t, "./host", "^TestRandomPast$", "100", 3, []mutant{
		{"a cut between call and result", "compact.go", "\t\t\tat = i\n", "\t\t\tat = min(i+1, len(history))\n"},
		{"what was interrupted has no result", "history.go", "for _, use := range openUses(r.s.history) {", "for _, use := range openUses(nil) {"},
		{"the newest words are put in short", "compact.go", "m.Blocks = append(m.Blocks, newest...)", "_ = newest"},
		{"the journal does not know of a compaction", "compact.go", "if err := r.emit(c); err != nil {", "if false {"},
		{"the journal has another compaction", "compact.go", "c.Before, c.After = ", "c.Kept++\n\t\tc.Before, c.After = "},
		{"an overflow ends the session", "ask.go", "if r.tooLong(err, so) && !so.shown && r.ctx.Err() == nil {", "if false {"},
	})
}

// TestRandomRebaseCatchesMutants breaks what moves hunks to the text that is there now.
func TestRandomRebaseCatchesMutants(t *testing.T) {
	const file, both, either = "workspace/rebase.go", "c.wide.from < o.to && o.from < c.wide.to", "c.wide.from <= o.to && o.from <= c.wide.to"
	catch(t, "./workspace", "^TestRandomRebase$", "3000", 4, []mutant{
		{"hunks move the other way", file, "shift += c.shift", "shift -= c.shift"},
		{"what changed below moves a hunk", file, "if c.wide.to <= span.from {", "if true {"},
		{"what changed right above moves no hunk", file, "if c.wide.to <= span.from {", "if c.wide.to < span.from {"},
		{"a hunk moves in spite of a change", file, "!clash && strings", "(!clash || true) && strings"},
		{"lines added right above are not near", file, either, "c.wide.from <= o.to && o.from < c.wide.to"},
		{"lines added right below are not near", file, either, "c.wide.from < o.to && o.from <= c.wide.to"},
		{"a change right above is too near", file, both, "c.wide.from < o.to && o.from <= c.wide.to"},
		{"a change right below is too near", file, both, "c.wide.from <= o.to && o.from < c.wide.to"},
		{"lines that the person added are a change like others", file, "c.inserts || o.from == o.to", "o.from == o.to"},
		{"lines that the agent adds are a change like others", file, "c.inserts || o.from == o.to", "c.inserts"},
		{"lines that repeat above do not count", file, "here.from-up", "here.from-up*0"},
		{"lines that repeat below do not count", file, "here.to+down", "here.to+down*0"},
		{"lines that repeat are looked for at their old place", file, "h.At + shift, h.At + shift + len(h.New)", "h.At, min(h.At + len(h.New), len(current))"},
		{"removed lines do not repeat", file, "up, down = slack(old, here)", "_ = here"},
		{"the changes before do not count", file, "\t\tshift += len(h.New) - len(h.Old)", "\t\tshift = len(h.New) - len(h.Old)"},
	})
}

// TestRandomEditsCatchesMutants breaks what has an open review follow the texts. A world
// of editors takes long, so most of them are for ASSENT_MUTANTS=all.
func TestRandomEditsCatchesMutants(t *testing.T) {
	catch(t, "../rpc/lsp", "^TestRandomEdits$", "60", 10, []mutant{
		{"an edit lands at its old place", "../rpc/lsp/land.go", "return hunks\n}\n\nfunc (l *lander) check", "_ = hunks\n\treturn l.edit.Hunks\n}\n\nfunc (l *lander) check"},
		{"a hunk moves the other way", "workspace/revise.go", "h.At += c.shift", "h.At -= c.shift"},
		{"a yes to a deletion is for any text", "host/opinion.go", "(!o.agreed || o.to != edit.Base)", "!o.agreed"},
		{"a text of the person's lands where it can", "host/opinion.go", "own.Hunks...), !meets", "own.Hunks...), !meets || true"},
		{"a hunk of a conflict is named after what it was", "workspace/revise.go", "h.At, h.Conflict = from, true", "h.ID, h.At, h.Conflict = c.hunks[0].ID, from, true"},
		{"a change that meets a hunk is not seen", "workspace/revise.go", "case len(r.changes) > 0 && r.changes[0].touches(c.place):", "case len(r.changes) > 1 && r.changes[0].touches(c.place):"},
	})
}

func checksOr(checks string) string {
	if wanted := os.Getenv("ASSENT_MUTANT_CHECKS"); wanted != "" {
		return wanted
	}
	return checks
}

// catch wants a test of a package to fail by a broken promise for each mutant. The
// sources are not touched: the compiler is given changed copies. The seed is fixed, so
// that what is caught today is not missed by chance tomorrow. One in every so many is
// tried, for the sake of time, and all of them with ASSENT_MUTANTS=all.
func catch(t *testing.T, pkg, test, checks string, every int, mutants []mutant) {
	dir := t.TempDir()
	for i, m := range mutants {
		source, err := os.ReadFile(m.file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(source), m.old); n != 1 { // also of one that is not tried
			t.Errorf("%s: the code to break is in %s %d times: bring this mutant up to date", m.name, m.file, n)
			continue
		}
		if i%every > 0 && os.Getenv("ASSENT_MUTANTS") != "all" {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			abs, err := filepath.Abs(m.file)
			if err != nil {
				t.Fatal(err)
			}
			changed := filepath.Join(dir, "mutant.go")
			if err := os.WriteFile(changed, []byte(strings.Replace(string(source), m.old, m.new, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{abs: changed}})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "overlay.json")
			if err := os.WriteFile(file, overlay, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("go", "test", "-vet=off", "-ldflags=-s -w", "-overlay", file, pkg, "-run", test, "-rapid.checks="+checks, "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ms")
			out, err := cmd.CombinedOutput()
			if strings.Contains(string(out), "no tests to run") {
				t.Fatalf("%s has no %s", pkg, test)
			}
			if err == nil {
				t.Fatalf("mutant %d survived %s worlds", i, checks)
			}
			if !strings.Contains(string(out), "promise broken") {
				t.Fatalf("mutant %d fails, but not by breaking a promise:\n%s", i, out)
			}
		})
	}
}
