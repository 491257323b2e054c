package lsp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"assent/agent"
	"assent/agent/host"

	"go.lsp.dev/protocol"
)

func FuzzChange(f *testing.F) {
	f.Add("a𐐀b\r\nc\rd\n", uint32(0), uint32(2), uint32(1), uint32(1), "x", uint8(1), []byte(`[{"range":{"start":{"line":0,"character":0},"end":{"line":1,"character":0}},"text":"\ud83d"},{"text":"whole"}]`))
	f.Add("", uint32(0), uint32(0), uint32(1), uint32(0), "\r", uint8(0), []byte(`[{"text":null},{"range":null,"text":"x"}]`))
	f.Add("é\n", uint32(1<<32-1), uint32(1<<32-1), uint32(1<<32-1), uint32(1<<32-1), "", uint8(2), []byte(`[{}]`))
	f.Fuzz(func(t *testing.T, text string, l1, c1, l2, c2 uint32, with string, enc uint8, raw []byte) {
		// What comes out of JSON is always valid.
		text, with = strings.ToValidUTF8(text, "\ufffd"), strings.ToValidUTF8(with, "\ufffd")
		e := allEncodings[int(enc)%len(allEncodings)]
		doc := document{text: text}
		doc.apply([]contentChange{{Range: &protocol.Range{Start: at(l1, c1), End: at(l2, c2)}, Text: &with}}, e)
		switch {
		case doc.broken != "":
			if doc.text != text {
				t.Errorf("a change that can't be followed made %q of %q", doc.text, text)
			}
		case !strings.Contains(doc.text, with) || !utf8.ValidString(doc.text):
			t.Errorf("%q in %q made %q", with, text, doc.text)
		}
		var changes []contentChange
		if json.Unmarshal(raw, &changes) != nil {
			return
		}
		doc.apply(changes, e)
		if !utf8.ValidString(doc.text) {
			t.Errorf("the text is %q", doc.text)
		}
		if n := len(changes); n > 0 && changes[n-1].Range == nil && changes[n-1].Text != nil {
			if want := *changes[n-1].Text; doc.text != want || doc.broken != "" {
				t.Errorf("after the whole text %q it is %q, %s", want, doc.text, doc.broken)
			}
		}
	})
}

// manyParts is a proposal with one part of each sort. Hunks have short IDs.
func manyParts() agent.Proposal {
	part := func(path string, kind agent.EditKind, old string, alone bool, hunks ...agent.Hunk) agent.Part {
		edit := agent.Edit{Path: path, Kind: kind, Old: old, Hunks: hunks}
		if kind == agent.EditText || kind == agent.EditDelete {
			edit.Base = agent.HashText(old)
		}
		return agent.Part{Use: agent.ToolUse{ID: path}, Effect: edit, Alone: alone}
	}
	hunk := func(id string, at int, old, new string) agent.Hunk {
		return agent.Hunk{ID: id, At: at, Old: old, New: new}
	}
	return agent.Proposal{ID: "p", Revision: 2, Parts: []agent.Part{
		part("/a", agent.EditText, "1\n2\n3\n", false, hunk("h1", 0, "1\n", "one\n"), hunk("h2", 4, "3\n", "three\n")),
		part("/b", agent.EditText, "1\r\n2\r\n", true, hunk("h3", 0, "1\r\n", "one\r\n")),
		part("/a", agent.EditText, "one\n2\nthree\n", false, hunk("h4", 4, "2\n", "two\n")),
		part("/c", agent.EditDelete, "x\n", false),
		part("/d", agent.EditCreate, "", false, hunk("h5", 0, "", "new\n")),
		part("/e", agent.EditCreate, "", true),
	}}
}

func FuzzReviewAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"decision":"accept"}`, `{"decision":"reject"}`, `{"decision":"partial"}`, `null`, `{}`, `[]`, `{"decision":"accept","revision":1}`, `{"decision":"accept","revision":2}`,
		`{"decision":"partial","files":{"file:///a":"accept","file:///b":"accept","file:///c":"reject"}}`,
		`{"decision":"accept","files":{"file:///a":"reject"},"hunks":{"h1":"accept","h3":"reject"}}`,
		`{"decision":"partial","hunks":{"h1":{"verdict":"accept","newText":"x\n","comment":"c"},"h4":"accept"},"comment":"c"}`,
		`{"decision":"partial","edited":{"file:///a":"x\n","file:///b":"1\n2\n","file:///d":"mine"}}`,
		`{"decision":"accept","edited":{"file:///c":"x"}}`, `{"decision":"accept","edited":{"file:///e":""}}`,
		`{"decision":"accept","files":{"FILE:///a":"accept","file:///%61":"reject"}}`, `{"decision":"partial","files":{"file:/../a":"accept"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var answer ReviewResult
		if json.Unmarshal(raw, &answer) != nil {
			return // a refusal: see TestAnAnswerThatIsNotUnderstoodIsANo
		}
		p := manyParts()
		out := host.Answer{Decision: agent.Decision{Parts: make([]agent.PartDecision, len(p.Parts))}}
		r := reading{q: &host.Question{Proposal: p}, p: p, out: &out}
		for i, part := range p.Parts {
			r.parts = append(r.parts, i)
			r.files = append(r.files, new(Events).file(part, part.Effect.(agent.Edit)))
		}
		if r.read(raw) != nil {
			return // and what was read is thrown away
		}
		for i, part := range p.Parts {
			check(t, answer, part, out.Decision.Parts[i], slices.Contains(out.Unsaid, i))
		}
	})
}

// check compares the decision on a part with the answer, read in another way.
func check(t *testing.T, answer ReviewResult, part agent.Part, d agent.PartDecision, left bool) {
	t.Helper()
	edit := part.Effect.(agent.Edit)
	said := func(verdicts map[string]string) (string, bool) {
		for uri, verdict := range verdicts {
			if locate(uri).key == locate(fileURI(edit.Path)).key {
				return verdict, true
			}
		}
		return "", false
	}
	text, edited := said(answer.Edited)
	verdict, listed := said(answer.Files)
	whole := answer.Decision == accept && !part.Alone
	if listed {
		whole = verdict == accept
	}
	open := answer.Decision == accept || answer.Decision == partly
	if answer.Revision != nil && *answer.Revision != 2 {
		open = false
	}
	if d.Rewrite != nil {
		now := agent.Edit{Kind: agent.EditText, Old: edit.Old, Hunks: d.Rewrite}.New()
		if !open || !edited || strings.ReplaceAll(now, "\r\n", "\n") != strings.ReplaceAll(text, "\r\n", "\n") {
			t.Errorf("%s is rewritten to %q", edit.Path, now)
		}
		return
	}
	if d.Accept && !(open && (whole || edited)) {
		t.Errorf("%s is accepted", edit.Path)
	}
	for id, hd := range d.Hunks {
		var v HunkVerdict
		if json.Unmarshal(answer.Hunks[id], &v.Verdict) != nil {
			_ = json.Unmarshal(answer.Hunks[id], &v)
		}
		if hd.Accept && !(open && v.Verdict == accept) || !hd.Accept && v.Verdict != reject {
			t.Errorf("hunk %s is %+v", id, hd)
		}
		if hd.Text != nil && (v.NewText == nil || strings.ReplaceAll(*hd.Text, "\r\n", "\n") != strings.ReplaceAll(*v.NewText, "\r\n", "\n")) {
			t.Errorf("hunk %s has the text %q", id, *hd.Text)
		}
	}
	for id := range answer.Hunks { // a no to a hunk is in the decision
		if slices.ContainsFunc(edit.Hunks, func(h agent.Hunk) bool { return h.ID == id }) && open && !edited {
			if _, there := d.Hunks[id]; !there {
				t.Errorf("the verdict on hunk %s got lost", id)
			}
		}
	}
	if left && (d.Accept || len(d.Hunks) > 0 || !part.Alone) {
		t.Errorf("%s is asked again, and answered", edit.Path)
	}
}
