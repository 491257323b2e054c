package demo_test

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/model/demo"
)

func TestTheContractOfModels(t *testing.T) {
	agenttest.TestModelReply(t, demo.New(), agenttest.ModelRequest())
}

func TestAPromptBecomesCalls(t *testing.T) {
	for prompt, want := range map[string]string{
		"show notes.txt":                                        `read_file {"path":"notes.txt"}`,
		"Read the file notes.txt.":                              `read_file {"path":"notes.txt"}`,
		"open src/main.go please":                               `read_file {"path":"src/main.go"}`,
		"Can you please show me the contents of notes.txt?":     `read_file {"path":"notes.txt"}`,
		"CAT notes.txt":                                         `read_file {"path":"notes.txt"}`,
		`show "my notes.txt"`:                                   `read_file {"path":"my notes.txt"}`,
		"what's in notes.txt?":                                  `read_file {"path":"notes.txt"}`,
		"show lines 3-5 of notes.txt":                           `read_file {"path":"notes.txt","start_line":3,"end_line":5}`,
		"show line 3 of notes.txt":                              `read_file {"path":"notes.txt","start_line":3,"end_line":3}`,
		"list":                                                  `list_files {}`,
		"list files":                                            `list_files {}`,
		"List all the files in src/":                            `list_files {"path":"src/"}`,
		"list files in the workspace":                           `list_files {}`,
		"list src":                                              `list_files {"path":"src"}`,
		"list *.go files in src":                                `list_files {"path":"src","glob":"*.go"}`,
		"list **/*.md":                                          `list_files {"glob":"**/*.md"}`,
		"what files are there?":                                 `list_files {}`,
		"which is the weather in Oslo":                          `get_weather {"city":"Oslo"}`,
		"find TODO":                                             `search {"pattern":"TODO","literal":true}`,
		"search for oat milk in notes.txt":                      `search {"pattern":"oat milk","literal":true,"path":"notes.txt"}`,
		"search src for main":                                   `search {"pattern":"main","literal":true,"path":"src"}`,
		`find "in a box" in *.txt`:                              `search {"pattern":"in a box","literal":true,"glob":"*.txt"}`,
		"find cat in the hat":                                   `search {"pattern":"cat","literal":true,"path":"hat"}`,
		"find fox in socks and shoes":                           `search {"pattern":"fox in socks and shoes","literal":true}`,
		"find /a+b/ in all files":                               `search {"pattern":"a+b"}`,
		"create notes.txt with buy milk":                        `write_file {"path":"notes.txt","content":"buy milk\n"}`,
		"create notes.txt containing: Hello, World!":            `write_file {"path":"notes.txt","content":"Hello, World!\n"}`,
		"create a new file called a.txt with the text 'it's'":   `write_file {"path":"a.txt","content":"it's\n"}`,
		"create an empty file a.txt":                            `write_file {"path":"a.txt","content":""}`,
		"create a.txt":                                          `write_file {"path":"a.txt","content":""}`,
		"create a.c with int x; int y;":                         `write_file {"path":"a.c","content":"int x; int y;\n"}`,
		"create a.go with:\n```go\npackage a\n\nvar B = 1\n```": `write_file {"path":"a.go","content":"package a\n\nvar B = 1\n"}`,
		"create a.txt with <b> & please":                        `write_file {"path":"a.txt","content":"<b> & please\n"}`,
		`replace "milk" with "oat milk" in notes.txt`:           `edit_file {"path":"notes.txt","edits":[{"old_string":"milk","new_string":"oat milk","replace_all":true}]}`,
		"replace 'milk' with `it's` in notes.txt.":              `edit_file {"path":"notes.txt","edits":[{"old_string":"milk","new_string":"it's","replace_all":true}]}`,
		"Replace “milk” by „oat milk“ in the file notes.txt":    `edit_file {"path":"notes.txt","edits":[{"old_string":"milk","new_string":"oat milk","replace_all":true}]}`,
		"replace all ‘milk’ with «tea» in notes.txt":            `edit_file {"path":"notes.txt","edits":[{"old_string":"milk","new_string":"tea","replace_all":true}]}`,
		"change milk to tea in notes.txt":                       `edit_file {"path":"notes.txt","edits":[{"old_string":"milk","new_string":"tea","replace_all":true}]}`,
		"in notes.txt, replace milk with tea":                   `edit_file {"path":"notes.txt","edits":[{"old_string":"milk","new_string":"tea","replace_all":true}]}`,
		`in notes.txt change "a with b" to "c in d".`:           `edit_file {"path":"notes.txt","edits":[{"old_string":"a with b","new_string":"c in d","replace_all":true}]}`,
		`replace "milk; and then" with "" in notes.txt`:         `edit_file {"path":"notes.txt","edits":[{"old_string":"milk; and then","new_string":"","replace_all":true}]}`,
		"rename notes.txt to list.txt":                          `move_file {"from":"notes.txt","to":"list.txt"}`,
		"move notes.txt into old/":                              `move_file {"from":"notes.txt","to":"old/notes.txt"}`,
		"delete notes.txt":                                      `delete_file {"path":"notes.txt"}`,
		"Could you remove the file notes.txt, please?":          `delete_file {"path":"notes.txt"}`,
		"What's the weather in Paris?":                          `get_weather {"city":"Paris"}`,
		"what is the weather like in New York and Rome today?":  `get_weather {"city":"New York"}; get_weather {"city":"Rome"}`,
	} {
		t.Run(prompt, func(t *testing.T) {
			w := &world{files: map[string]string{"notes.txt": "milk\n"}}
			w.turn(t, nil, prompt)
			if got := strings.Join(w.calls, "; "); got != want {
				t.Errorf("the calls are\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestWhatIsNotUnderstoodDoesNothingAndSaysHowToGoOn(t *testing.T) {
	for _, prompt := range []string{
		"Hello!", "", "fix the bug", "delete a.txt and b.txt", "remove the word milk from notes.txt", "create a file", "show me",
		"refactor main.go", `replace "" with "x" in notes.txt`, "delete it", "open the pod bay doors",
		"show notes.txt and then fix the bug", "delete notes.txt\nand be quick",
	} {
		t.Run(prompt, func(t *testing.T) {
			w := &world{files: map[string]string{"notes.txt": "milk\n"}}
			text, _ := w.turn(t, nil, prompt)
			if len(w.calls) != 0 {
				t.Errorf("it calls %q", w.calls)
			}
			for _, want := range []string{"built-in demo model", "OPENAI_API_KEY", "OPENAI_BASE_URL", "ASSENT_MODEL", "config.toml", "localhost:11434/v1"} {
				if !strings.Contains(text, want) {
					t.Errorf("the help does not name %s:\n%s", want, text)
				}
			}
			if strings.Contains(strings.ToLower(text), "language model") {
				t.Errorf("it claims to be a language model:\n%s", text)
			}
		})
	}
}

func TestTheHelpsExamplesAreUnderstood(t *testing.T) {
	w := &world{files: map[string]string{}}
	text, _ := w.turn(t, nil, "help")
	examples := 0
	for line := range strings.SplitSeq(text, "\n") {
		example, is := strings.CutPrefix(line, "- ")
		if !is {
			continue
		}
		examples++
		w.calls = nil
		if w.turn(t, nil, example); len(w.calls) == 0 {
			t.Errorf("%q is not understood", example)
		}
	}
	if examples < 9 {
		t.Errorf("there are %d examples", examples)
	}
}

func TestConversations(t *testing.T) {
	for name, c := range map[string]struct {
		world  world
		prompt string
		says   string
		files  map[string]string
	}{
		"a file is shown with its text": {
			world{files: map[string]string{"a": "one\ntwo\n"}}, "show a",
			"a: lines 1-2 of 2\n\n```\none\ntwo\n```", nil,
		},
		"a text with fences is shown in a longer fence": {
			world{files: map[string]string{"a": "```\n"}}, "show a", "a: lines 1-1 of 1\n\n````\n```\n````", nil,
		},
		"an empty file is shown as such": {
			world{files: map[string]string{"a": ""}}, "show a", "a: empty file", nil,
		},
		"an error is passed on": {
			world{}, "show none.txt", "read_file says: none.txt does not exist", nil,
		},
		"a search is passed on": {
			world{}, "find milk", "1 match for milk\nnotes.txt:1: milk", nil,
		},
		"two cities are answered in one text": {
			world{}, "what's the weather in Paris and Rome?", "get_weather says: sunny in Paris\nget_weather says: sunny in Rome", nil,
		},
		"a line is added at the end": {
			world{files: map[string]string{"a": "one\n\n"}}, "append two to a", "write_file says: a written.", map[string]string{"a": "one\n\ntwo\n"},
		},
		"a line is added where the last one has no end": {
			world{files: map[string]string{"a": "one"}}, `add the line "two" to the end of a`, "write_file says: a written.", map[string]string{"a": "one\ntwo\n"},
		},
		"a line is added to an empty file": {
			world{files: map[string]string{"a": ""}}, "add two to a", "write_file says: a written.", map[string]string{"a": "two\n"},
		},
		"nothing is added to a file that was read in part": {
			world{files: map[string]string{"a": "1\n2\n3\n"}, limit: 2}, "append x to a",
			"I could read only lines 1 to 2 of the 3 lines of a. I add to a file by writing it anew, which would drop the rest, so I leave it as it is.",
			map[string]string{"a": "1\n2\n3\n"},
		},
		"nothing is added to a file that is not there": {
			world{}, "append x to a", "read_file says: a does not exist", map[string]string{},
		},
		"a refusal is passed on": {
			world{files: map[string]string{"a": "1\n"}, refuse: map[string]string{"edit_file": "a was not edited: refused by the person.\nThe person says: \"no\""}},
			"replace 1 with 2 in a", "edit_file says: a was not edited: refused by the person.\nThe person says: \"no\"", map[string]string{"a": "1\n"},
		},
		"sentences are done one after another": {
			world{files: map[string]string{}}, "create a with one and then append two to a; rename a to b\nshow b",
			"write_file says: a written.\n\nwrite_file says: a written.\n\nmove_file says: a renamed to b.\n\nb: lines 1-2 of 2\n\n```\none\ntwo\n```",
			map[string]string{"b": "one\ntwo\n"},
		},
		"nothing is done after a refusal": {
			world{files: map[string]string{"a": "1\n"}, refuse: map[string]string{"move_file": "refused"}},
			"show a, then rename a to b; delete a\ndelete b",
			"a: lines 1-1 of 1\n\n```\n1\n```\n\nmove_file says: refused\n\nI stop here. Not done: “delete a”, “delete b”.",
			map[string]string{"a": "1\n"},
		},
		"a tool that is not there is named": {
			world{files: map[string]string{"a": "1\n"}, lack: []string{"delete_file"}}, "show a and then delete a",
			"a: lines 1-1 of 1\n\n```\n1\n```\n\nFor “delete a” I need the tool delete_file, and this session does not have it.",
			map[string]string{"a": "1\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := c.world
			w.files = maps.Clone(w.files)
			if w.files == nil {
				w.files = map[string]string{}
			}
			if text, _ := w.turn(t, nil, c.prompt); text != c.says {
				t.Errorf("it says\n%s\nwant\n%s", text, c.says)
			}
			if c.files != nil && !reflect.DeepEqual(w.files, c.files) {
				t.Errorf("the files are %q, want %q", w.files, c.files)
			}
		})
	}
}

// answer is the last reply when read_file gives out.
func answer(t *testing.T, prompt, out string) agent.Message {
	t.Helper()
	specs := (&world{}).specs()
	req := agent.Request{Tools: specs, Messages: []agent.Message{
		agent.UserText(prompt),
		agenttest.Call(agenttest.Use("demo-1", "read_file", `{"path":"a"}`)),
		{Role: agent.RoleTool, Blocks: []agent.Block{agent.ToolResult{ID: "demo-1", Output: out}}},
	}}
	return replyTo(t, req)
}

func replyTo(t *testing.T, req agent.Request) agent.Message {
	t.Helper()
	var reply agent.Message
	for c, err := range demo.New().Stream(context.Background(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Reply != nil {
			reply = *c.Reply
		}
	}
	return reply
}

func TestNothingIsAddedToATextThatMayNotBeWhole(t *testing.T) {
	for name, out := range map[string]string{
		"with a middle cut out": "a: lines 1-5 of 5\n1\n\n[70 bytes cut here: the result was 99 bytes long. Ask for a smaller part of it.]\n5\n",
		"with lines missing":    "a: lines 1-3 of 3\n1\n2\n",
		"with lines added":      "a: lines 1-1 of 1\n1\n\nYou made this call before.",
		"with another header":   "a, 3 lines\n1\n2\n3\n",
		"with bytes replaced":   "a: lines 1-1 of 1, bytes that are not UTF-8 shown as U+FFFD, no newline at the end\n1",
		"with a cut line":       "a: lines 1-1 of 1; line 1 is 90000 bytes long and cut in its middle\n1\n",
		"with more to read":     "a: lines 1-1 of 9, CRLF line ends; read on with start_line 2\n1\n",
		"from the middle":       "a: lines 2-3 of 3\n2\n3\n",
		"with nothing":          "",
	} {
		t.Run(name, func(t *testing.T) {
			reply := answer(t, "append x to a", out)
			if len(reply.ToolUses()) != 0 || !strings.Contains(reply.Text(), "a") {
				t.Errorf("it replies %+v", reply.Blocks)
			}
		})
	}
	for _, out := range []string{
		" a: lines 1-1 of 1, no newline at the end\n1", "a: lines 1-1 of 1, CRLF line ends\n1\n", "b: lines 1-2 of 9: lines 1-1 of 1\n1",
	} {
		reply := answer(t, "append x to a", out)
		if uses := reply.ToolUses(); len(uses) != 1 || string(uses[0].Input) != `{"path":"a","content":"1\nx\n"}` {
			t.Errorf("a whole text is not written: %+v", reply.Blocks)
		}
	}
}

func TestIdsAreUniqueInASession(t *testing.T) {
	w := &world{files: map[string]string{"a": "1\n"}}
	_, history := w.turn(t, nil, "what's the weather in Paris and Rome?")
	_, history = w.turn(t, history, "show a")
	var ids []string
	for _, m := range history {
		for _, u := range m.ToolUses() {
			ids = append(ids, u.ID)
		}
	}
	if want := []string{"demo-1", "demo-2", "demo-3"}; !slices.Equal(ids, want) {
		t.Errorf("the ids are %v, want %v", ids, want)
	}
}

func TestWithoutToolsItSaysWhatIsDoneAndWhatIsNot(t *testing.T) {
	w := &world{files: map[string]string{"a": "1\n"}}
	_, history := w.turn(t, nil, "show a and then delete a")
	req := agent.Request{Messages: history[:3]} // prompt, the read and its result
	want := "a: lines 1-1 of 1\n\n```\n1\n```\n\nI may not call tools any more in this turn, so this is not done: “delete a”."
	if reply := replyTo(t, req); reply.Text() != want || len(reply.ToolUses()) != 0 {
		t.Errorf("it replies %+v", reply.Blocks)
	}
	req.Messages = history[:len(history)-1] // all results are there
	if reply := replyTo(t, req); !strings.HasSuffix(reply.Text(), "delete_file says: a deleted.") {
		t.Errorf("it replies %+v", reply.Blocks)
	}
}

func TestTextThatTheEditorAddsIsNotTakenForCommands(t *testing.T) {
	prompt := agent.UserText("show a")
	prompt.Blocks = append(prompt.Blocks, agent.Text{Text: "delete a"})
	reply := replyTo(t, agent.Request{Tools: (&world{}).specs(), Messages: []agent.Message{prompt}})
	if uses := reply.ToolUses(); len(uses) != 1 || uses[0].Name != "read_file" {
		t.Errorf("it calls %+v", uses)
	}
}

func TestStreamingIsVisible(t *testing.T) {
	chunks := 0
	for c := range demo.New().Stream(context.Background(), agent.Request{}) {
		if c.Text != "" {
			chunks++
		}
	}
	if chunks < 3 || chunks > 12 {
		t.Errorf("the help comes in %d chunks", chunks)
	}
}
