// Package replay answers with replies out of a file: for tests, for benchmarks,
// and to run a recorded session again.
//
// The file has one JSON object a line, one reply each:
//
//	{"text":"I read it.","toolUses":[{"id":"c1","name":"read_file","input":{"path":"a.txt"}}]}
//	{"thinking":"so be it","text":"Done.","stop":"complete","usage":{"inputTokens":9,"outputTokens":2},"chunks":3}
//	{"toolUses":[{"id":"c2","name":"edit_file","inputRaw":"{broken","invalid":"it ends early"}]}
//	{"error":{"kind":"rate_limit","status":429,"retryAfterMs":10,"message":"slow down"}}
//	{"text":"half of","cut":true}
//	{"text":"silence","hang":true}
//	{"expect":"3 of 3 hunks landed","text":"Done."}
//
// A text before an error, a cut or a hang is given first. "chunks" splits the
// text. "expect" is a text that the last message of the request has to contain.
// Lines of a journal are told by their "type": those of type "assistant" are
// replies, all others are passed over, so a journal replays as it is.
package replay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"assent/agent"
)

// Model is an [agent.Model] that gives the replies of a file in order.
type Model struct {
	name    string
	replies []reply
	next    atomic.Int64 // index of the reply that the next stream gives
}

// Open reads the whole file.
func Open(path string) (*Model, error) {
	if path == "" {
		return nil, errors.New("no file of replies is named; name one with --model")
	}
	f, err := os.Open(path)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	if err != nil {
		return nil, fmt.Errorf("the file of replies %s could not be read: %w; name another with --model", path, err)
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads replies to the end of r. The name stands for the file in errors.
func Read(r io.Reader, name string) (*Model, error) {
	m := &Model{name: name}
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			rep, isReply, bad := parse(line)
			if bad != nil {
				return nil, fmt.Errorf("%s:%d: %w; mend the line, or name another file with --model", name, n, inWords(bad))
			}
			if isReply {
				rep.line = n
				m.replies = append(m.replies, rep)
			}
		}
		if err == io.EOF {
			return m, nil
		}
	}
}

// Stream implements [agent.Model]. Each stream takes the next reply when it
// begins, unless its context has ended before.
func (m *Model) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(agent.Chunk{}, err)
			return
		}
		n := int(m.next.Add(1) - 1)
		if n < len(m.replies) {
			m.replies[n].stream(ctx, m.name, req, yield)
			return
		}
		if len(req.Tools) > 0 {
			yield(agent.Chunk{}, modelError("%s has no more replies: it has %d, and this is request %d", m.name, len(m.replies), n+1))
			return
		}
		// A request without tools asks for a last word, which files rarely have.
		last := reply{text: "(end of replay)", stop: agent.StopComplete}
		last.stream(ctx, m.name, req, yield)
	}
}

// reply is one line of the file.
type reply struct {
	line     int
	thinking string
	text     string
	uses     []agent.ToolUse
	stop     agent.StopReason
	finish   string
	usage    agent.Usage

	expect string
	pieces int // of the text; 0: one
	failed *agent.ModelError
	cut    bool
	hang   bool
}

func (r reply) stream(ctx context.Context, file string, req agent.Request, yield func(agent.Chunk, error) bool) {
	if err := r.check(file, req); err != nil {
		yield(agent.Chunk{}, err)
		return
	}
	if r.thinking != "" && !yield(agent.Chunk{Thinking: r.thinking}, nil) {
		return
	}
	for piece := range split(r.text, r.pieces) {
		if ctx.Err() != nil {
			break
		}
		if !yield(agent.Chunk{Text: piece}, nil) {
			return
		}
	}
	if r.hang {
		<-ctx.Done()
	}
	switch {
	case ctx.Err() != nil:
		yield(agent.Chunk{}, ctx.Err())
	case r.failed != nil:
		failed := *r.failed // the file may be replayed by several sessions
		yield(agent.Chunk{}, &failed)
	case r.cut:
	default:
		m := r.message()
		yield(agent.Chunk{Reply: &m}, nil)
	}
}

// check compares the end of the request with what the file expects there.
func (r reply) check(file string, req agent.Request) error {
	if r.expect == "" {
		return nil
	}
	seen := ""
	if n := len(req.Messages); n > 0 {
		seen = words(req.Messages[n-1])
	}
	if strings.Contains(seen, r.expect) {
		return nil
	}
	return modelError("%s:%d: expected %q in the last message, which is %q", file, r.line, r.expect, seen)
}

func modelError(format string, args ...any) *agent.ModelError {
	return &agent.ModelError{Kind: agent.ErrorConfig, Message: fmt.Sprintf(format, args...)}
}

// words are the texts of a message, of whichever kind.
func words(m agent.Message) string {
	var all []string
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case agent.Text:
			all = append(all, b.Text)
		case agent.ToolResult:
			all = append(all, b.Output)
		}
	}
	return strings.Join(all, "\n")
}

func (r reply) message() agent.Message {
	m := agent.Message{Role: agent.RoleAssistant, Stop: r.stop, Finish: r.finish, Usage: r.usage}
	if r.thinking != "" {
		m.Blocks = append(m.Blocks, agent.Thinking{Text: r.thinking})
	}
	if r.text != "" {
		m.Blocks = append(m.Blocks, agent.Text{Text: r.text})
	}
	for _, u := range r.uses {
		u.Input = bytes.Clone(u.Input)
		m.Blocks = append(m.Blocks, u)
	}
	return m
}

// split cuts a text into n pieces of about the same length, between characters;
// into fewer if it is too short.
func split(text string, n int) iter.Seq[string] {
	n = max(1, min(n, len(text)))
	return func(yield func(string) bool) {
		from := 0
		for i := 1; i <= n; i++ {
			to := len(text) * i / n
			for to < len(text) && !utf8.RuneStart(text[to]) {
				to++
			}
			if to > from && !yield(text[from:to]) {
				return
			}
			from = max(from, to)
		}
	}
}
