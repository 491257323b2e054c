package agent

import (
	"fmt"
	"slices"
	"strings"
)

// Compacted puts the history in short: a message with what the person said and a
// summary takes the place of all but the newest messages. The record holds what is
// needed to do the same to a history that is read from a journal.
type Compacted struct {
	Summary string   // of what goes; "" if only results were cut
	Said    []string // what the person said in it, oldest first, but for the newest, which is kept whole
	Kept    int      // replies that stay, from the end, with all that follows them
	Clip    int      // bytes that are left of each result in what stays; 0: all of it
	Before  int      // tokens of a request, about
	After   int
}

// Apply is a history after the compaction.
func (c Compacted) Apply(history []Message) []Message {
	at := cutAt(history, c.Kept)
	var out []Message
	if at > 0 {
		out = append(out, c.head(history[:at]))
	}
	for _, m := range history[at:] {
		out = append(out, clippedResults(m, c.Clip))
	}
	return out
}

// cutAt is where the newest replies begin: never between a call and its result, and
// with no word of the person right behind the cut. Replies without content do not
// count, since the history that a request holds has none.
func cutAt(history []Message, replies int) int {
	at := len(history)
	for i := len(history) - 1; i >= 0 && replies > 0; i-- {
		if history[i].Role == RoleAssistant && !blank(history[i]) {
			at = i
			replies--
		}
	}
	if !slices.ContainsFunc(history[:at], func(m Message) bool { return m.Role == RoleAssistant && !blank(m) }) {
		return 0 // nothing was done before: all stays
	}
	return at
}

// head is the message that stands for others: what the person said, the summary, and
// then the newest that the person said, whole.
func (c Compacted) head(gone []Message) Message {
	m := Message{Role: RoleUser}
	for _, text := range c.Said {
		m.Blocks = append(m.Blocks, Text{text})
	}
	m.Blocks = append(m.Blocks, Note{summaryNote(c.Summary)})
	for _, old := range slices.Backward(gone) {
		if _, newest := spoken(old); len(newest) > 0 {
			m.Blocks = append(m.Blocks, newest...)
			break
		}
	}
	return m
}

func summaryNote(summary string) string {
	return "[The conversation so far no longer fitted the model, so only this is left of it. What stands before this note is what the person said earlier; what follows is their newest message. In short, what was done:]\n" + summary
}

// spoken takes a message of the user apart: what the person said earlier, if it
// stands for other messages, and its own words.
func spoken(m Message) (earlier []string, own []Block) {
	if m.Role != RoleUser {
		return nil, nil
	}
	for _, b := range m.Blocks {
		if _, ok := b.(Note); !ok {
			own = append(own, b)
			continue
		}
		for _, before := range own {
			if t, ok := before.(Text); ok {
				earlier = append(earlier, t.Text)
			}
		}
		own = nil
	}
	return earlier, own
}

// said is all that the person said in some messages, oldest first, and apart from it
// the newest.
func said(messages []Message) (earlier []string, newest []Block) {
	for _, m := range messages {
		before, own := spoken(m)
		if text := strings.TrimSpace(Message{Blocks: newest}.Text()); text != "" && len(own) > 0 {
			earlier = append(earlier, text)
		}
		earlier = append(earlier, before...)
		if len(own) > 0 {
			newest = own
		}
	}
	return earlier, newest
}

func clippedResults(m Message, limit int) Message {
	if limit == 0 || m.Role != RoleTool {
		return m
	}
	m.Blocks = slices.Clone(m.Blocks)
	for i, b := range m.Blocks {
		if result, ok := b.(ToolResult); ok {
			result.Output = clip(result.Output, limit)
			m.Blocks[i] = result
		}
	}
	return m
}

// room is what a request has to fit in, in bytes.
type room struct {
	window  int // tokens of the model's context
	fixed   int // instructions and tools
	history int // what the messages may take: not all, the reply needs room too
}

// fullAt is the share of the window, in percent, at which the history is compacted.
// The rest is for the reply.
const fullAt = 85

func (s *Session) room(tools []Spec) room {
	fixed := len(s.cfg.System) + specBytes(tools)
	return room{s.window, fixed, s.bytesOf(s.window*fullAt/100) - fixed}
}

// compact puts the history in short. It fails with a [ModelError] that says what
// fills the window if that can't help.
func (r *run) compact(tools []Spec) error {
	messages, size, err := r.s.sendable()
	if err != nil {
		return err
	}
	room := r.s.room(tools)
	for _, c := range plans(messages, room) {
		if at := cutAt(messages, c.Kept); at > 0 {
			earlier, _ := said(messages[:at])
			c.Said = recall(earlier, room.history/12)
			limit := min(room.history/12, maxSummary, (min(room.history, size)-textBytes(c.Apply(messages)))/2)
			if limit < leastSummary {
				continue
			}
			if c.Summary, err = r.summarize(messages[:at], limit); err != nil {
				return err
			}
		}
		after := c.Apply(messages)
		n := textBytes(after)
		if n > room.history || n >= size {
			continue
		}
		c.Before, c.After = r.s.tokens(size+room.fixed), r.s.tokens(n+room.fixed)
		if err := r.emit(c); err != nil {
			return err
		}
		r.s.history, r.s.sound, r.s.bytes, r.s.sent = after, 0, 0, map[string]bool{}
		return nil
	}
	return r.s.overfull(messages, room)
}

// Bytes of a summary, with which half as many may come for the names of files.
const (
	maxSummary   = 16 << 10
	leastSummary = 120
)

// plans are compactions that could help, the mildest first. The newest results, that
// the model does not know yet, stay as long as they can.
func plans(messages []Message, room room) []Compacted {
	var out []Compacted
	replies := 0
	for _, m := range messages {
		if m.Role == RoleAssistant && !blank(m) {
			replies++
		}
	}
	for _, limit := range []int{8 << 10, 4 << 10, 2 << 10, 1 << 10} { // one result, or a few, may be all that is too much
		c := Compacted{Kept: replies, Clip: limit}
		if textBytes(c.Apply(messages)) <= room.history/2 {
			out = append(out, c)
			break
		}
	}
	kept := 0
	for kept < replies && textBytes(messages[cutAt(messages, kept+1):]) <= room.history/6 {
		kept++
	}
	if kept > 0 {
		out = append(out, Compacted{Kept: kept})
	}
	if len(messages) > 0 && replies > 0 {
		for _, limit := range []int{4 << 10, 1 << 10, 200} {
			if limit <= room.history/6 || limit == 200 {
				out = append(out, Compacted{Kept: 1, Clip: limit})
			}
		}
	}
	return append(out, Compacted{Kept: 0})
}

// recall keeps of what the person said the first, and then the newest, as far as it
// fits.
func recall(earlier []string, limit int) []string {
	if len(earlier) == 0 {
		return nil
	}
	first, rest := clip(earlier[0], max(limit/2, 200)), earlier[1:]
	limit -= len(first)
	from := len(rest)
	for from > 0 && len(rest[from-1]) <= limit {
		from--
		limit -= len(rest[from])
	}
	return append([]string{first}, rest[from:]...)
}

// overfull says what fills the window.
func (s *Session) overfull(messages []Message, room room) *ModelError {
	_, newest := said(messages)
	words := textBytes([]Message{{Blocks: newest}})
	return &ModelError{
		Kind: ErrorContextOverflow,
		Message: fmt.Sprintf("The conversation can't be made to fit the model's context of about %d tokens: the instructions and tools take %d, your newest message %d, all else could be put in short; say it in fewer words, leave out what is attached, or use a model, or a setting of its server, with more context",
			room.window, s.tokens(room.fixed), s.tokens(words)),
	}
}
