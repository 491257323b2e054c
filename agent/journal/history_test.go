package journal

import (
	"reflect"
	"testing"

	"assent/agent"
)

func results(rs ...agent.ToolResult) agent.Message {
	m := agent.Message{Role: agent.RoleTool}
	for _, r := range rs {
		m.Blocks = append(m.Blocks, r)
	}
	return m
}

func TestHistory(t *testing.T) {
	c1, c2 := call("c1", "ls", "{}"), call("c2", "ls", "{}")
	r1, r2 := answer(c1, "one"), answer(c2, "two")
	thinking := reply1(agent.Thinking{Text: "look first"}, c1)
	both := reply1(c1, c2)
	done := reply1(agent.Thinking{Text: "short"}, agent.Text{Text: "done"})
	go_, more := user("go"), user("more")
	for _, c := range []struct {
		name string
		recs []agent.Record
		want []agent.Message
	}{
		{"nothing is no history", nil, nil},
		{"thinking is kept", []agent.Record{go_, thinking, r1, done},
			[]agent.Message{go_.Message, thinking.Message, results(r1.Result), done.Message}},
		{"results stand in call order", []agent.Record{go_, both, r2, r1, done},
			[]agent.Message{go_.Message, both.Message, results(r1.Result, r2.Result), done.Message}},
		{"a missing result stays missing", []agent.Record{go_, both, r1},
			[]agent.Message{go_.Message, both.Message, results(r1.Result)}},
		{"no result is no message", []agent.Record{go_, both}, []agent.Message{go_.Message, both.Message}},
		{"what the user says meanwhile comes after the results", []agent.Record{go_, both, r1, more, r2},
			[]agent.Message{go_.Message, both.Message, results(r1.Result, r2.Result), more.Message}},
		{"second results and strange ones are left out", []agent.Record{r1, go_, thinking, r2, r1, answer(c1, "again"), done, r1},
			[]agent.Message{go_.Message, thinking.Message, results(r1.Result), done.Message}},
		{"one ID twice in a reply has two results", []agent.Record{reply1(c1, c1), r1, answer(c1, "again")},
			[]agent.Message{reply1(c1, c1).Message, results(r1.Result, answer(c1, "again").Result)}},
		{"an ID may come again in a later reply", []agent.Record{thinking, r1, thinking, answer(c1, "new")},
			[]agent.Message{thinking.Message, results(r1.Result), thinking.Message, results(answer(c1, "new").Result)}},
		{"a compaction is made again", []agent.Record{go_, both, r1, r2, done, more, thinking, r1, agent.Compacted{Summary: "sum", Said: []string{"go"}, Kept: 1}, done},
			[]agent.Message{
				{Role: agent.RoleUser, Blocks: []agent.Block{agent.Text{Text: "go"}, summaryOf("sum"), agent.Text{Text: "more"}}},
				thinking.Message, results(r1.Result), done.Message,
			}},
		{"other records don't matter", wholeSession(), []agent.Message{
			wholeSession()[1].(agent.Appended).Message, wholeSession()[3].(agent.Appended).Message, results(wholeSession()[4].(agent.Answered).Result),
			wholeSession()[6].(agent.Appended).Message, results(wholeSession()[10].(agent.Answered).Result), wholeSession()[13].(agent.Appended).Message,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := History(entriesOf(t, journalOf(t, c.recs...))); !reflect.DeepEqual(got, c.want) {
				t.Errorf("\n got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// summaryOf is the note with a summary, as agent words it.
func summaryOf(text string) agent.Block {
	head := agent.Compacted{Summary: text}.Apply([]agent.Message{reply1(agent.Text{Text: "x"}).Message})[0]
	return head.Blocks[0]
}

func TestHistoryPassesOverWhatCannotBeRead(t *testing.T) {
	entries := entriesOf(t, journalOf(t, user("a"), user("b")))
	entries[0].Record = nil
	if got := History(entries); len(got) != 1 || got[0].Text() != "b" {
		t.Errorf("history %+v", got)
	}
}
