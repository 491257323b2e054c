package rpc_test

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"

	"assent/rpc"
)

// BenchmarkNotifyOut sends 20,000 small notifications.
func BenchmarkNotifyOut(b *testing.B) {
	const n = 20_000
	type event struct {
		SessionID string         `json:"sessionId"`
		Seq       int            `json:"seq"`
		Event     map[string]any `json:"event"`
	}
	in, toIn := io.Pipe()
	out := &counted{}
	c := serve(b, rpc.New(in, out, rpc.Options{}), standard(), toIn)
	c.send(`{"jsonrpc":"2.0","method":"begin"}`)
	b.ReportAllocs()
	for b.Loop() {
		for i := range n {
			if err := c.Notify("assent/event", event{"01J", i, map[string]any{"type": "text", "delta": "a word "}}); err != nil {
				b.Fatal(err)
			}
		}
		if err := c.Room(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/notification")
	if err := c.end(); err != nil {
		b.Errorf("Serve = %v", err)
	}
	b.ReportMetric(float64(out.writes)/float64(b.N), "writes/op")
}

// counted counts the writes.
type counted struct{ writes int }

func (c *counted) Write(p []byte) (int, error) { c.writes++; return len(p), nil }

// BenchmarkRequestIn reads requests with 1 MiB of parameters, one after the other.
func BenchmarkRequestIn(b *testing.B) {
	for _, framing := range []string{"headers", "lines"} {
		b.Run(framing, func(b *testing.B) {
			in, toIn := io.Pipe()
			fromOut, out := io.Pipe()
			defer fromOut.Close()
			request := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":"` + strings.Repeat(`line\n`, 1<<20/6) + `"}}`
			reply := `{"jsonrpc":"2.0","id":1,"result":"pong"}`
			if framing == "headers" {
				request, reply = frame(request), frame(reply)
			} else {
				request, reply = request+"\n", reply+"\n"
			}
			serve(b, rpc.New(in, out, rpc.Options{}), standard(), toIn)
			replies, got := bufio.NewReader(fromOut), make([]byte, len(reply))
			b.SetBytes(int64(len(request)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := io.WriteString(toIn, request); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(replies, got); err != nil || string(got) != reply {
					b.Fatal(fmt.Errorf("%q was written: %w", got, err))
				}
			}
		})
	}
}
