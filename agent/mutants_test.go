package agent_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRandomWorldCatchesMutants breaks the session in the ways that the random
// world exists for, and wants it to notice. The sources are not touched: the
// compiler is given changed copies. The seed is fixed, so that what is caught today
// is not missed by chance tomorrow.
func TestRandomWorldCatchesMutants(t *testing.T) {
	mutants := []struct{ name, file, old, new string }{
		{"an effect goes on though its decision could not be recorded", "review.go",
			"if err := r.emit(Decided{ProposalID: p.ID, Revision: p.Revision, Decision: d}); err != nil {\n\t\treturn err\n\t}",
			"_ = r.emit(Decided{ProposalID: p.ID, Revision: p.Revision, Decision: d})"},
		{"the question comes before its record", "review.go",
			"if err := r.emit(Proposed{p}); err != nil {\n\t\treturn err\n\t}\n\td, err := decider(p)",
			"d, err := decider(p)\n\tif err := r.emit(Proposed{p}); err != nil {\n\t\treturn err\n\t}"},
		{"the last result of a batch is dropped", "execute.go",
			"for i, c := range batch {\n\t\t<-ended[i]", "for i, c := range batch[:max(1, len(batch)-1)] {\n\t\t<-ended[i]"},
		{"results come out of order", "execute.go",
			"for i, c := range batch {\n\t\t<-ended[i]", "for i, c := range slices.Backward(batch) {\n\t\t<-ended[i]"},
		{"an approval covers everything", "consent.go",
			"return e != nil && slices.ContainsFunc(a.effects, e.same)", "return e != nil"},
		{"a part without an answer takes another's", "consent.go",
			"case i >= len(answers):", "case i >= len(answers):\n\t\t\tout[i] = out[0]"},
		{"a refused part takes the answer to another", "review.go",
			"weigh(q.part, d.Parts[i])", "weigh(q.part, d.Parts[i*0])"},
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
	}
	dir := t.TempDir()
	checks := os.Getenv("ASSENT_MUTANT_CHECKS")
	if checks == "" {
		checks = "3000"
	}
	for i, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			source, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(source), m.old); n != 1 {
				t.Fatalf("the code to break is in %s %d times: bring this mutant up to date", m.file, n)
			}
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
			cmd := exec.Command("go", "test", "-overlay", file, "-run", "^TestRandomWorld$", "-rapid.checks="+checks, "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ms", ".")
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("mutant %d survived %s worlds", i, checks)
			}
			if !strings.Contains(string(out), "promise broken") {
				t.Fatalf("mutant %d fails, but not by breaking a promise:\n%s", i, out)
			}
		})
	}
}
