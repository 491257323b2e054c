package journal

import (
	"path/filepath"
	"strings"
	"testing"

	"assent/agent"
)

func benchRecords() map[string]agent.Record {
	return map[string]agent.Record{
		"reply":    wholeSession()[3],
		"proposal": wholeSession()[7],
		"landing":  wholeSession()[9],
		"100KB":    answer(callRead, strings.Repeat("some line of a file, with a \"quote\"\n", 2900)),
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, rec := range benchRecords() {
		b.Run(name, func(b *testing.B) {
			r := on(&disk{room: -1})
			b.ReportAllocs()
			for b.Loop() {
				buf, err := r.encode(rec)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(buf)))
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for name, rec := range benchRecords() {
		b.Run(name, func(b *testing.B) {
			r := mustCreate(b, filepath.Join(b.TempDir(), "s.jsonl"), Options{Secrets: []string{"sk-0123456789abcdef"}})
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Append(rec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	var records []agent.Record
	for range 100 {
		records = append(records, wholeSession()...)
	}
	text := journalOf(b, records...)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Read(strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestEncodingHardlyAllocates holds the budget of a few microseconds a record.
func TestEncodingHardlyAllocates(t *testing.T) {
	r := on(&disk{room: -1})
	for name, most := range map[string]float64{"reply": 0, "proposal": 2, "landing": 6} {
		rec := benchRecords()[name]
		got := testing.AllocsPerRun(100, func() {
			if _, err := r.encode(rec); err != nil {
				t.Fatal(err)
			}
		})
		if got > most {
			t.Errorf("%s: %v allocations, want at most %v", name, got, most)
		}
	}
}
