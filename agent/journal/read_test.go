package journal

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"assent/agent"
)

func TestReadKeepsWhatIsWholeAndWarnsOnce(t *testing.T) {
	a, b := encodeLine(t, 1, user("a")), encodeLine(t, 2, user("b"))
	for _, c := range []struct {
		name    string
		text    string
		seqs    []int64
		skipped []int
	}{
		{"an empty file is an empty journal", "", nil, nil},
		{"half a record at the end is skipped", a + "\n" + b[:20], []int64{1}, []int{2}},
		{"a cut inside a character is skipped", a + "\n" + `{"v":1,"text":"` + "\xe6\xbc", []int64{1}, []int{2}},
		{"a last record without line end is kept", a + "\n" + b, []int64{1, 2}, nil},
		{"blank lines after half a record count with it", a + "\n" + b[:20] + "\n\n", []int64{1}, []int{2, 3}},
		{"half a record in the middle costs only itself", a + "\n" + b[:20] + "\n" + b + "\n", []int64{1, 2}, []int{2}},
		{"zeros that a file system left are skipped", a + "\n" + strings.Repeat("\x00", 100) + "\n" + b + "\n", []int64{1, 2}, []int{2}},
		{"a record marked as failed is skipped", a + "\n" + b + "#\n" + b + "\n", []int64{1, 2}, []int{2}},
		{"lines that end in CR LF are read", a + "\r\n" + b + "\r\n", []int64{1, 2}, nil},
		{"values that are no record are skipped", "1\n[]\nnull\n{}\n\"x\"\n" + `{"type":"user","text":"a"}` + "\n" + `{"v":1,"seq":1}` + "\n" + a, []int64{1}, []int{1, 2, 3, 4, 5, 6, 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			entries, warnings, err := Read(strings.NewReader(c.text))
			if err != nil {
				t.Fatal(err)
			}
			var seqs []int64
			for _, e := range entries {
				seqs = append(seqs, e.Seq)
				if e.Record == nil {
					t.Errorf("line %d has no record", e.Line)
				}
			}
			if !slices.Equal(seqs, c.seqs) {
				t.Errorf("read %v, want %v", seqs, c.seqs)
			}
			var skipped []int
			if len(warnings) > 0 {
				skipped = warnings[0].Lines
			}
			if len(warnings) > 1 || !slices.Equal(skipped, c.skipped) {
				t.Errorf("warnings %+v, want one about lines %v", warnings, c.skipped)
			}
		})
	}
}

func TestReadKeepsWhatItDoesNotKnow(t *testing.T) {
	for _, c := range []struct{ name, line, reason string }{
		{"a type of another version", head + `"foreseen","before":9}`, `records of type "foreseen" are unknown`},
		{"a newer version", `{"v":2,"seq":1,"time":"2026-12-01T12:00:00.000Z","type":"user","text":7}`, "it is in version 2 of the format"},
		{"a newer version with other envelopes", `{"v":2,"seq":"1","time":17,"type":"user"}`, "it is in version 2 of the format"},
		{"a known type with other values", head + `"user","text":7}`, "cannot unmarshal number"},
		{"a text object without base64", head + `"user","text":{}}`, "no base64"},
		{"an unknown kind of effect", head + `"proposed","parts":[{"effect":{"kind":"fly"}}]}`, `unknown kind of effect "fly"`},
		{"an unknown kind of edit", head + `"landed","edit":{"kind":"exec"},"status":"landed"}`, `unknown kind of effect "exec"`},
		{"an unknown status", head + `"landed","edit":{"kind":"edit"},"status":"maybe"}`, `"maybe"`},
		{"a bad hash", head + `"landed","edit":{"kind":"edit"},"status":"landed","after":"zz"}`, `"zz" is not a hash`},
		{"an unknown block", head + `"user","blocks":[{"type":"video"}]}`, `"video"`},
		{"a bad key of a hunk", head + `"decided","parts":[{"hunks64":{"!":{}}}]}`, "hunks64"},
		{"a time that is none", `{"v":1,"seq":1,"time":"noon","type":"user"}`, "noon"},
	} {
		t.Run(c.name, func(t *testing.T) {
			entries, warnings, err := Read(strings.NewReader(c.line + "\n"))
			if err != nil || len(entries) != 1 || len(warnings) != 1 {
				t.Fatalf("entries %v, warnings %v, error %v", entries, warnings, err)
			}
			if e := entries[0]; e.Record != nil || e.Type == "" || string(e.Raw) != c.line {
				t.Errorf("entry %+v", e)
			}
			if text := warnings[0].String(); !strings.Contains(text, c.reason) || !strings.HasPrefix(text, "line 1 ") {
				t.Errorf("warning %q", text)
			}
		})
	}
}

func TestAWarningNamesItsLines(t *testing.T) {
	_, warnings, _ := Read(strings.NewReader("x\nx\n" + head + "\"new\"}\nx\n" + head + "\"new\"}"))
	want := []string{
		"lines 1, 2 and 4 of the journal are no whole records and were skipped; probably crashes cut them off, and all other records are intact",
		"lines 3 and 5 of the journal can't be read by this version of assent and were passed over: of the first, records of type \"new\" are unknown",
	}
	for i, w := range warnings {
		if w.Text != want[i] {
			t.Errorf("got  %s\nwant %s", w.Text, want[i])
		}
	}
	_, warnings, _ = Read(strings.NewReader(strings.Repeat("\n", 30)))
	if got := warnings[0].Text; !strings.HasPrefix(got, "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 20 more of") {
		t.Error(got)
	}
}

func TestALongLineIsReadAndATooLongOneIsAnError(t *testing.T) {
	long := user(strings.Repeat("0123456789abcde\n", 1<<16))
	text := journalOf(t, user("a"), long, user("b"))
	if got := records(entriesOf(t, text)); !reflect.DeepEqual(got, []agent.Record{user("a"), long, user("b")}) {
		t.Error("a line of a megabyte does not come back")
	}
	entries, _, err := read(strings.NewReader(text), 1<<20)
	if err == nil || !strings.Contains(err.Error(), "line 2") || len(entries) != 1 {
		t.Errorf("%d entries, error %v", len(entries), err)
	}
}

func TestAReadErrorIsPassedOnWithWhatCameBefore(t *testing.T) {
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader(journalOf(t, user("a"), user("b"))), iotest.ErrReader(broken))
	entries, _, err := Read(r)
	if len(entries) != 2 || !errors.Is(err, broken) {
		t.Errorf("%d entries, error %v", len(entries), err)
	}
}

func TestEntriesCanBeLeftEarly(t *testing.T) {
	n := 0
	for range Entries(strings.NewReader(journalOf(t, wholeSession()...))) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d entries", n)
	}
}

func TestAProposalGetsTheArgumentsOfItsCallsBack(t *testing.T) {
	want := wholeSession()
	text := journalOf(t, want...)
	if got := records(entriesOf(t, text)); !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	for l := range strings.Lines(text) {
		if strings.Contains(l, `"type":"proposed"`) && strings.Contains(l, "old_string") {
			t.Errorf("the arguments are repeated in %s", l)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range formatCases() {
		f.Add([]byte(c.line + "\n"))
		f.Add([]byte(c.line[:len(c.line)/2] + "\n" + c.line))
	}
	f.Add([]byte(journalOf(f, wholeSession()...)))
	f.Add([]byte(head + "\"compacted\"}\n\n{\"v\":2,\"type\":\"user\"}\n\xff\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, _, err := Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		History(entries)
		Verify(entries)
		Summarize(entries)
		for _, e := range entries {
			if e.Record == nil {
				continue
			}
			once := encodeLine(t, e.Seq, e.Record)
			again, err := parse(1, []byte(once), decodeBody)
			if err != nil {
				t.Fatalf("%v in %s", err, once)
			}
			if twice := encodeLine(t, e.Seq, again.Record); twice != once {
				t.Fatalf("\n once %s\ntwice %s", once, twice)
			}
		}
	})
}
