package workspace_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/workspace"
)

// What a person said of a hunk counts for all revisions that have its name, so a name is
// never that of two changes.
func TestANameIsOfOneChange(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(from string) string {
		lines := strings.SplitAfter(from, "\n")
		for range 1 + random.IntN(4) {
			i := random.IntN(len(lines))
			switch random.IntN(3) {
			case 0:
				lines[i] = ""
			case 1:
				lines[i] = string(rune('a'+random.IntN(5))) + "\n"
			default:
				lines[i] += string(rune('v'+random.IntN(3))) + "\n"
			}
		}
		return strings.Join(lines, "")
	}
	for range 4000 {
		old := text("a\nb\nc\nd\ne\nf\ng\n")
		hunks := workspace.Diff(old, text(old))
		if len(hunks) == 0 {
			continue
		}
		e := agent.Edit{Path: "/a", Kind: agent.EditText, Base: agent.HashText(old), Old: old, Hunks: hunks}
		names := map[string]agent.Hunk{}
		now := old
		for range 12 {
			got, moot := workspace.Revise(e, now)
			for _, h := range append(got.Hunks, moot...) {
				if was, known := names[h.ID]; known && (was.Old != h.Old || was.New != h.New) {
					t.Fatalf("%q with %+v:\n%+v\n%+v", old, hunks, was, h)
				}
				names[h.ID] = h
			}
			now = text(now)
			if random.IntN(3) == 0 {
				now = text(old)
			}
		}
	}
}
