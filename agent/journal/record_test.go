package journal

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"assent/agent"

	"pgregory.net/rapid"
)

func TestFormat(t *testing.T) {
	for _, c := range formatCases() {
		t.Run(c.name, func(t *testing.T) {
			if got := encodeLine(t, 1, c.rec); got != c.line {
				t.Errorf("encoded\n%s\nwant\n%s", got, c.line)
			}
			e, err := parse(1, []byte(c.line), decodeBody)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(e.Record, c.rec) {
				t.Errorf("decoded\n%#v\nwant\n%#v", e.Record, c.rec)
			}
			if e.Seq != 1 || !e.Time.Equal(noon) || e.Redacted || string(e.Raw) != c.line {
				t.Errorf("entry %+v", e)
			}
		})
	}
}

// What is left out says that the server sent nothing, so a byte that came in no
// time must not be.
func TestAFirstByteThatCameIsNeverLeftOut(t *testing.T) {
	line := encodeLine(t, 1, agent.Responded{Attempt: 1, FirstByte: time.Microsecond, Elapsed: 2 * time.Millisecond})
	if want := `"attempt":1,"firstByteMs":1,"ms":2}`; !strings.HasSuffix(line, want) {
		t.Errorf("%s, want %s", line, want)
	}
	line = encodeLine(t, 1, agent.Responded{Attempt: 1, FirstByte: 5200 * time.Microsecond, Elapsed: 5700 * time.Microsecond})
	if want := `"attempt":1,"firstByteMs":6,"ms":6}`; !strings.HasSuffix(line, want) {
		t.Errorf("recorded as %s, want %s at the end", line, want)
	}
}

func TestAnEditLosesItsOldTextUnlessItDeletes(t *testing.T) {
	e := edit
	e.Old = "one\ntwo\n"
	line := encodeLine(t, 1, agent.Landed{Edit: e})
	if strings.Contains(line, "two") {
		t.Errorf("the old text of the file is in %s", line)
	}
}

func TestWhatCannotBeRecordedIsAnError(t *testing.T) {
	type other struct{ agent.Record }
	for name, rec := range map[string]agent.Record{
		"a message of tool results":  agent.Appended{Message: agent.Message{Role: agent.RoleTool}},
		"a message without a role":   agent.Appended{},
		"a message with a nil block": agent.Appended{Message: agent.Message{Role: agent.RoleUser, Blocks: []agent.Block{nil}}},
		"an edit without a kind":     agent.Landed{},
		"a record of another type":   other{},
		"nothing":                    nil,
	} {
		t.Run(name, func(t *testing.T) {
			var l line
			if err := l.record(1, noon, rec); err == nil {
				t.Errorf("recorded as %s", l.b)
			}
		})
	}
}

func TestArgumentsNestedDeeplyAreStillReadable(t *testing.T) {
	for _, depth := range []int{100, 4999, 5001, 9999, 20000} {
		input := strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth)
		want := reply1(call("c", "f", input))
		e, err := parse(1, []byte(encodeLine(t, 1, want)), decodeBody)
		if err != nil || !reflect.DeepEqual(e.Record, want) {
			t.Errorf("%d levels do not come back: %v", depth, err)
		}
	}
}

func TestEveryRecordComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := genRecord().Draw(t, "record")
		var l line
		if err := l.record(7, noon, rec); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexAny(string(l.b), "\n\r"); i >= 0 {
			t.Fatalf("line break at byte %d of %q", i, l.b)
		}
		if !json.Valid(l.b) {
			t.Fatalf("not JSON: %q", l.b)
		}
		e, err := parse(1, l.b, decodeBody)
		if err != nil {
			t.Fatalf("%v in %q", err, l.b)
		}
		if !reflect.DeepEqual(e.Record, rec) {
			t.Fatalf("\n got %#v\nwant %#v\nline %s", e.Record, rec, l.b)
		}
	})
}

// genText is any bytes, often ones that matter to JSON, UTF-8 or terminals.
func genText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "ünïcödé", "line\nline\r\n", "\x00\x1b[31m", "\xff", "a\xe6\xbc", "\"\\/", "\u2028\u2029", "\ufffd", "😀", "{\"base64\":\"YQ==\"}"}),
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }),
	)
}

func genRaw() *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		s := rapid.OneOf(
			rapid.SampledFrom([]string{"", "{}", `{"a": 1}`, "{\n}", " {} ", "null", `"x"`, "[1]", "{\"a\":\"\xff\"}", "\u2028", "{\"a\":\"\u2028\"}", "x", "{", "1e400", "\x00"}),
			genText(),
		).Draw(t, "raw")
		if s == "" {
			return nil
		}
		return json.RawMessage(s)
	})
}

func genUse() *rapid.Generator[agent.ToolUse] {
	return rapid.Custom(func(t *rapid.T) agent.ToolUse {
		return agent.ToolUse{
			ID: genText().Draw(t, "id"), Name: genText().Draw(t, "name"), Input: genRaw().Draw(t, "input"),
			Invalid: genText().Draw(t, "invalid"), RawInput: genText().Draw(t, "rawInput"), Opaque: genText().Draw(t, "opaque"),
		}
	})
}

func genBlock() *rapid.Generator[agent.Block] {
	return rapid.Custom(func(t *rapid.T) agent.Block {
		switch rapid.IntRange(0, 4).Draw(t, "block") {
		case 0:
			return agent.Text{Text: genText().Draw(t, "text")}
		case 1:
			return agent.Thinking{Text: genText().Draw(t, "thinking"), Source: genText().Draw(t, "source"), Opaque: genText().Draw(t, "opaque")}
		case 2:
			return genUse().Draw(t, "use")
		case 3:
			return agent.Image{MediaType: genText().Draw(t, "mediaType"), Data: listOf(t, rapid.Byte(), 40, "data")}
		}
		return agent.ToolResult{ID: genText().Draw(t, "id"), Output: genText().Draw(t, "output"), IsError: rapid.Bool().Draw(t, "isError")}
	})
}

// listOf is a list of at most n, nil if it is empty.
func listOf[T any](t *rapid.T, g *rapid.Generator[T], n int, label string) []T {
	list := rapid.SliceOfN(g, 0, n).Draw(t, label)
	if len(list) == 0 {
		return nil
	}
	return list
}

func genMS(t *rapid.T) time.Duration {
	return time.Duration(rapid.IntRange(0, 1e9).Draw(t, "ms")) * time.Millisecond
}

func genUsage(t *rapid.T) agent.Usage {
	return agent.Usage{Input: rapid.IntRange(0, 1e6).Draw(t, "in"), Output: rapid.IntRange(0, 1e6).Draw(t, "out")}
}

func genHunk() *rapid.Generator[agent.Hunk] {
	return rapid.Custom(func(t *rapid.T) agent.Hunk {
		return agent.Hunk{
			ID: genText().Draw(t, "id"), At: rapid.Int().Draw(t, "at"), Old: genText().Draw(t, "old"), New: genText().Draw(t, "new"),
			By: rapid.SampledFrom([]agent.By{agent.ByAgent, agent.ByPerson}).Draw(t, "by"),
		}
	})
}

func genHash(t *rapid.T) agent.Hash {
	return rapid.SampledFrom([]agent.Hash{{}, base, target}).Draw(t, "hash")
}

func genEdit() *rapid.Generator[agent.Edit] {
	return rapid.Custom(func(t *rapid.T) agent.Edit {
		e := agent.Edit{
			Path: genText().Draw(t, "path"), To: genText().Draw(t, "to"), Base: genHash(t), Hunks: listOf(t, genHunk(), 3, "hunks"),
			Kind: rapid.SampledFrom([]agent.EditKind{agent.EditText, agent.EditCreate, agent.EditDelete, agent.EditRename}).Draw(t, "kind"),
		}
		if e.Kind == agent.EditDelete {
			e.Old = genText().Draw(t, "old")
		}
		return e
	})
}

func genInfo(t *rapid.T) agent.Info {
	return agent.Info{
		Path: genText().Draw(t, "path"), Name: genText().Draw(t, "name"), Size: rapid.Int64().Draw(t, "size"),
		Exists: rapid.Bool().Draw(t, "exists"), Dir: rapid.Bool().Draw(t, "dir"), Outside: rapid.Bool().Draw(t, "outside"),
		Secret: rapid.Bool().Draw(t, "secret"), Protected: rapid.Bool().Draw(t, "protected"),
	}
}

func genPart() *rapid.Generator[agent.Part] {
	return rapid.Custom(func(t *rapid.T) agent.Part {
		p := agent.Part{Use: agent.ToolUse{ID: genText().Draw(t, "id"), Name: genText().Draw(t, "name")}, Info: genInfo(t), To: genInfo(t)}
		switch rapid.IntRange(0, 5).Draw(t, "effect") {
		case 0:
			p.Effect = genEdit().Draw(t, "edit")
		case 1:
			p.Effect = agent.Exec{Dir: genText().Draw(t, "dir"), Command: genText().Draw(t, "command")}
		case 2:
			p.Effect = agent.Remote{Server: genText().Draw(t, "server"), Tool: genText().Draw(t, "tool"), Input: genRaw().Draw(t, "input")}
		case 3:
			p.Effect = agent.OutsideRead{Path: genText().Draw(t, "path")}
		case 4:
			p.Effect = agent.SecretRead{Path: genText().Draw(t, "path")}
		}
		return p
	})
}

func genPartDecision() *rapid.Generator[agent.PartDecision] {
	return rapid.Custom(func(t *rapid.T) agent.PartDecision {
		d := agent.PartDecision{Accept: rapid.Bool().Draw(t, "accept"), Comment: genText().Draw(t, "comment")}
		hunk := rapid.Custom(func(t *rapid.T) agent.HunkDecision {
			h := agent.HunkDecision{Accept: rapid.Bool().Draw(t, "accept"), Comment: genText().Draw(t, "comment")}
			if rapid.Bool().Draw(t, "changed") {
				text := genText().Draw(t, "text")
				h.Text = &text
			}
			return h
		})
		if hunks := rapid.MapOfN(genText(), hunk, 0, 3).Draw(t, "hunks"); len(hunks) > 0 {
			d.Hunks = hunks
		}
		if rapid.Bool().Draw(t, "rewritten") {
			d.Rewrite = append([]agent.Hunk{}, rapid.SliceOfN(genHunk(), 0, 2).Draw(t, "rewrite")...)
		}
		return d
	})
}

func genErr(t *rapid.T) error {
	switch rapid.IntRange(0, 2).Draw(t, "error") {
	case 0:
		return errors.New(genText().Draw(t, "text"))
	case 1:
		return &agent.ModelError{
			Kind: agent.ModelErrorKind(genText().Draw(t, "kind")), Status: rapid.Int().Draw(t, "status"), RetryAfter: genMS(t), Message: genText().Draw(t, "text"),
		}
	}
	return nil
}

func genDone(t *rapid.T) agent.Done {
	return agent.Done{
		Reason: agent.StopReason(genText().Draw(t, "reason")), Turns: rapid.Int().Draw(t, "turns"), Denied: rapid.Int().Draw(t, "denied"), Usage: genUsage(t), Err: genErr(t),
	}
}

func genRecord() *rapid.Generator[agent.Record] {
	return rapid.Custom(func(t *rapid.T) agent.Record {
		switch rapid.IntRange(0, 8).Draw(t, "type") {
		case 0:
			return agent.Started{
				ID: genText().Draw(t, "id"), Version: genText().Draw(t, "version"), Dir: genText().Draw(t, "dir"),
				Model: genText().Draw(t, "model"), Provider: genText().Draw(t, "provider"), ToolNames: listOf(t, genText(), 4, "tools"),
			}
		case 1:
			return agent.Requested{
				Messages: rapid.Int().Draw(t, "messages"), Bytes: rapid.Int().Draw(t, "bytes"), Tokens: rapid.Int().Draw(t, "tokens"),
				Attempt: rapid.Int().Draw(t, "attempt"), Model: genText().Draw(t, "model"), Provider: genText().Draw(t, "provider"),
			}
		case 2:
			return agent.Appended{Elapsed: genMS(t), Message: agent.Message{
				Role:   rapid.SampledFrom([]agent.Role{agent.RoleUser, agent.RoleAssistant}).Draw(t, "role"),
				Blocks: listOf(t, genBlock(), 5, "blocks"), Stop: agent.StopReason(genText().Draw(t, "stop")), Finish: genText().Draw(t, "finish"), Usage: genUsage(t),
			}}
		case 3:
			return agent.Proposed{Proposal: agent.Proposal{
				ID: genText().Draw(t, "id"), Revision: rapid.Int().Draw(t, "revision"), Title: genText().Draw(t, "title"), Parts: listOf(t, genPart(), 3, "parts"),
			}}
		case 4:
			return agent.Decided{ProposalID: genText().Draw(t, "id"), Revision: rapid.Int().Draw(t, "revision"), Decision: agent.Decision{
				By: agent.By(genText().Draw(t, "by")), Comment: genText().Draw(t, "comment"), Parts: listOf(t, genPartDecision(), 3, "parts"),
			}}
		case 5:
			return agent.Landed{ProposalID: genText().Draw(t, "id"), ToolUseID: genText().Draw(t, "use"), Edit: genEdit().Draw(t, "edit"), Landing: agent.Landing{
				Status: agent.LandStatus(rapid.IntRange(0, 3).Draw(t, "status")), Where: agent.Source(genText().Draw(t, "where")),
				Before: genHash(t), After: genHash(t), Landed: listOf(t, genText(), 3, "landed"), Conflicts: listOf(t, genText(), 3, "conflicts"),
				Foreign: genText().Draw(t, "foreign"), Note: genText().Draw(t, "note"),
			}}
		case 6:
			use := genUse().Draw(t, "use")
			return agent.Answered{Use: use, Elapsed: genMS(t), Result: agent.ToolResult{ID: use.ID, Output: genText().Draw(t, "output"), IsError: rapid.Bool().Draw(t, "isError")}}
		case 7:
			return agent.Responded{
				Attempt: rapid.Int().Draw(t, "attempt"), FirstByte: genMS(t), Elapsed: genMS(t),
				Finish: genText().Draw(t, "finish"), Usage: genUsage(t), Err: genErr(t),
			}
		}
		return genDone(t)
	})
}
