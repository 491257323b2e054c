package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
)

// numbered is a text of so many lines, each with its number.
func numbered(lines int) string {
	var b strings.Builder
	for n := range lines {
		fmt.Fprintf(&b, "line %d\n", n+1)
	}
	return b.String()
}

// TestTheModelSeesTheTextThatItDidNotAskFor: of an edit that landed it knows the text
// already, of all else it gets the lines as they are now, and of a secret nothing.
func TestTheModelSeesTheTextThatItDidNotAskFor(t *testing.T) {
	const intro = "Where the text is not as you asked for, it now reads:\n"
	for _, c := range []struct {
		name, path, now string // now: of the file, when the edit lands
		shown           string
	}{
		{"nothing else", "a.txt", "one\ntwo\nthree\n", ""},
		{"only line ends", "a.txt", "one\r\ntwo\nthree\n", ""},
		{"a line above", "a.txt", "zero\none\ntwo\nthree\n", intro + "[lines 1-3 of 4]\nzero\none\nTWO"},
		{"a line taken out", "a.txt", "two\nthree\n", intro + "[lines 1-2 of 2]\nTWO\nthree"},
		{"the line itself", "a.txt", "one\nzwei\nthree\n", intro + "[lines 1-3 of 3]\none\nzwei\nthree"},
		{"all is gone", "a.txt", "", "The file is empty now."},
		{"a secret", ".env", "zero\none\ntwo\nthree\n", ""},
		{"much", "a.txt", numbered(100) + "one\ntwo\nthree\n", "[lines 1-40 of 103]\nline 1\n"},
		{"much, and the rest is told", "a.txt", numbered(100) + "one\ntwo\nthree\n", "line 40\n[62 more lines are not shown; read the file]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := func(_ context.Context, _ agent.Files, _ json.RawMessage) (agent.Plan, error) {
				const old = "one\ntwo\nthree\n"
				return agent.Plan{Effects: []agent.Effect{agent.Edit{
					Path: agenttest.Root + "/" + c.path, Kind: agent.EditText, Base: agent.HashText(old), Old: old,
					Hunks: []agent.Hunk{agent.NewHunk(4, "two\n", "TWO\n")},
				}}}, nil
			}
			b := newBench(t, func(cfg *agent.Config) {
				cfg.Tools = []agent.Tool{agenttest.Tool{Name: "change", Tier: agent.TierWrite, Planer: plan}}
				cfg.Editor = agenttest.NewPerson(map[string]string{c.path: c.now})
			}, agenttest.Call(agenttest.Use("c1", "change", map[string]any{})), agenttest.Say("ok"))
			b.run(t, t.Context(), "go")
			got := b.results()[0]
			if c.shown == "" && (strings.Contains(got, intro) || strings.Contains(got, "zero")) || !strings.Contains(got, c.shown) {
				t.Errorf("the model was told\n%s\nwant in it\n%s", got, c.shown)
			}
		})
	}
}

// TestEditsThatMissAreLimited: a hint at the third in a row, the end of the turn at the
// fifth; one that fits, or the text of another file, counts anew.
func TestEditsThatMissAreLimited(t *testing.T) {
	plan := func(_ context.Context, _ agent.Files, raw json.RawMessage) (agent.Plan, error) {
		var in struct{ Path, Text string }
		if err := json.Unmarshal(raw, &in); err != nil {
			return agent.Plan{}, err
		}
		if in.Text == "fits" {
			const old = "one\ntwo\nthree\n"
			return agent.Plan{Effects: []agent.Effect{agent.Edit{
				Path: in.Path, Kind: agent.EditText, Base: agent.HashText(old), Old: old, Hunks: []agent.Hunk{agent.NewHunk(4, "two\n", "TWO\n")},
			}}}, nil
		}
		return agent.Plan{}, &agent.MissedError{Path: in.Path, Err: errors.New("it is not there")}
	}
	for _, c := range []struct {
		name  string
		texts string // of each edit, by a letter; F fits, B is of another file, two letters are one reply
		stop  agent.StopReason
		hints int
	}{
		{"two", "a b", agent.StopComplete, 0},
		{"four", "a b c d", agent.StopComplete, 2},
		{"five", "a b c d e f g", agent.StopRepeated, 3},
		{"with one that fits between", "a b c d F e f", agent.StopComplete, 2},
		{"of two files in turn", "a B c B", agent.StopComplete, 0},
		{"five in one reply", "abcde", agent.StopComplete, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var replies []agent.Message
			n := 0
			for reply := range strings.FieldsSeq(c.texts) {
				var uses []agent.ToolUse
				for _, letter := range reply {
					n++
					in := map[string]any{"path": agenttest.Root + "/a.txt", "text": fmt.Sprint(n)}
					switch letter {
					case 'F':
						in["text"] = "fits"
					case 'B':
						in["path"] = agenttest.Root + "/b.txt"
					}
					uses = append(uses, agenttest.Use(fmt.Sprint("c", n), "change", in))
				}
				replies = append(replies, agenttest.Call(uses...))
			}
			b := newBench(t, func(cfg *agent.Config) {
				cfg.Tools = []agent.Tool{agenttest.Tool{Name: "change", Tier: agent.TierWrite, Planer: plan}}
			}, append(replies, agenttest.Say("ok"), agenttest.Say("ok"))...)
			d := b.run(t, t.Context(), "go")
			if got := strings.Count(strings.Join(b.results(), "\n"), "failed edit number"); d.Reason != c.stop || got != c.hints {
				t.Errorf("ended with %s after %d hints, want %s after %d:\n%s", d.Reason, got, c.stop, c.hints, strings.Join(b.results(), "\n"))
			}
		})
	}
}
