package journal

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"assent/agent"

	"pgregory.net/rapid"
)

var (
	errFull = errors.New("no space left on device")
	errSync = errors.New("input/output error")
)

// disk is a file that fails as it is told.
type disk struct {
	data       []byte
	room       int  // bytes that the next write takes, -1 for all
	silent     bool // a short write has no error
	noTruncate bool
	noSync     bool
	syncs      int
	whole      bool // the last write took everything, whatever it said
}

func (d *disk) Write(b []byte) (int, error) {
	d.whole = d.room < 0 || d.room >= len(b)
	if d.room < 0 || d.room >= len(b) && d.silent {
		d.data = append(d.data, b...)
		return len(b), nil
	}
	n := min(d.room, len(b))
	d.data = append(d.data, b[:n]...)
	if d.silent {
		return n, nil
	}
	return n, errFull
}

func (d *disk) Truncate(size int64) error {
	if d.noTruncate {
		return errors.New("can't truncate")
	}
	d.data = d.data[:size]
	return nil
}

func (d *disk) Sync() error {
	if d.noSync {
		return errSync
	}
	d.syncs++
	return nil
}

func (d *disk) Close() error { return nil }

// on records on a disk instead of a file.
func on(d *disk) *Recorder {
	r := newRecorder("/j/s.jsonl", Options{Now: clock()}, fileLock{}, d)
	r.good = int64(len(d.data))
	return r
}

func yes() agent.Decided {
	return agent.Decided{ProposalID: "p1", Revision: 1, Decision: agent.Decision{By: agent.ByPerson, Parts: []agent.PartDecision{{Accept: true}}}}
}

func (d *disk) records(t testing.TB) []agent.Record {
	t.Helper()
	entries, _, err := Read(strings.NewReader(string(d.data)))
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		if e.Seq != int64(i+1) {
			t.Fatalf("seq %d at %d in %s", e.Seq, i, d.data)
		}
	}
	return records(entries)
}

func TestAWriteThatFailsAtAnyByteLeavesAReadableJournal(t *testing.T) {
	failed := user("\xffthis one fails")
	length := len(encodeLine(t, 2, failed)) + 1
	for _, silent := range []bool{false, true} {
		for _, noTruncate := range []bool{false, true} {
			for room := range length {
				name := fmt.Sprintf("%d bytes, silent %v, truncate fails %v", room, silent, noTruncate)
				d := &disk{room: -1}
				r := on(d)
				mustAppend(t, r, user("a"))
				d.room, d.silent, d.noTruncate = room, silent, noTruncate
				err := r.Append(failed)
				if err == nil || !silent && !errors.Is(err, errFull) || !strings.Contains(err.Error(), "/j/s.jsonl") {
					t.Fatalf("%s: error %v", name, err)
				}
				d.room = -1
				mustAppend(t, r, user("b"), yes())
				if got := d.records(t); !reflect.DeepEqual(got, []agent.Record{user("a"), user("b"), yes()}) {
					t.Fatalf("%s: %s", name, d.data)
				}
			}
		}
	}
}

func TestALaterTruncateIsTriedAgain(t *testing.T) {
	d := &disk{room: -1}
	r := on(d)
	mustAppend(t, r, user("a"))
	d.room, d.noTruncate = 10, true
	if r.Append(user("b")) == nil {
		t.Fatal("no error")
	}
	d.room, d.noTruncate = -1, false
	mustAppend(t, r, user("c"))
	if strings.Contains(string(d.data), "#") || len(d.records(t)) != 2 {
		t.Errorf("%s", d.data)
	}
}

func TestOnlyADecisionThatAcceptsWaitsForTheDisk(t *testing.T) {
	part := func(p agent.PartDecision) agent.Record {
		return agent.Decided{Decision: agent.Decision{Parts: []agent.PartDecision{{}, p}}}
	}
	for _, c := range []struct {
		name  string
		rec   agent.Record
		syncs int
	}{
		{"a message does not", user("a"), 0},
		{"a proposal does not", agent.Proposed{}, 0},
		{"a refusal does not", agent.Decided{}, 0},
		{"a refused part does not", part(agent.PartDecision{Comment: "no"}), 0},
		{"refused hunks do not", part(agent.PartDecision{Hunks: map[string]agent.HunkDecision{"a": {}}}), 0},
		{"an accepted part does", part(agent.PartDecision{Accept: true}), 1},
		{"an accepted hunk does", part(agent.PartDecision{Hunks: map[string]agent.HunkDecision{"a": {}, "b": {Accept: true}}}), 1},
		{"a rewrite does", part(agent.PartDecision{Rewrite: []agent.Hunk{}}), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &disk{room: -1}
			mustAppend(t, on(d), c.rec)
			if d.syncs != c.syncs {
				t.Errorf("%d syncs, want %d", d.syncs, c.syncs)
			}
		})
	}
}

func TestADecisionThatDidNotReachTheDiskIsTakenBack(t *testing.T) {
	d := &disk{room: -1, noSync: true}
	r := on(d)
	mustAppend(t, r, user("a"))
	if err := r.Append(yes()); !errors.Is(err, errSync) {
		t.Fatalf("error %v", err)
	}
	d.noSync = false
	mustAppend(t, r, user("b"))
	if got := d.records(t); !reflect.DeepEqual(got, []agent.Record{user("a"), user("b")}) {
		t.Errorf("%s", d.data)
	}

	d.noSync, d.noTruncate = true, true // then it stands, and counts
	if err := r.Append(yes()); !errors.Is(err, errSync) {
		t.Fatalf("error %v", err)
	}
	d.noSync = false
	mustAppend(t, r, user("c"))
	if got := d.records(t); !reflect.DeepEqual(got, []agent.Record{user("a"), user("b"), yes(), user("c")}) {
		t.Errorf("%s", d.data)
	}
}

// Whatever fails when: what Append took is there, in order, and nothing else,
// but for a whole record that was reported as failed and could not be taken back.
func TestNoFailureLosesWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		old := journalOf(t, user("a"), user("b"))
		cut := rapid.IntRange(0, len(old)).Draw(rt, "cut")
		d := &disk{room: -1, data: []byte(old[:cut])}
		r := on(d)
		r.torn = cut > 0 && old[cut-1] != '\n'
		want := d.records(t)
		r.seq = int64(len(want))
		for range rapid.IntRange(1, 12).Draw(rt, "records") {
			d.room = rapid.IntRange(-1, 200).Draw(rt, "room")
			d.silent = rapid.Bool().Draw(rt, "silent")
			d.noTruncate = rapid.Bool().Draw(rt, "noTruncate")
			d.noSync = rapid.Bool().Draw(rt, "noSync")
			rec := rapid.SampledFrom([]agent.Record{user("c"), user("d\xff"), yes(), agent.Done{}}).Draw(rt, "record")
			err := r.Append(rec)
			if err == nil || d.whole && d.noTruncate {
				want = append(want, rec)
			}
		}
		d.room, d.noSync = -1, false
		mustAppend(t, r, user("end"))
		if got := d.records(t); !reflect.DeepEqual(got, append(want, user("end"))) {
			rt.Fatalf("got %+v\nwant %+v\nfile %q", got, want, d.data)
		}
	})
}
