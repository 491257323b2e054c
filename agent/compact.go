package agent

import (
	"bytes"
	"encoding/json"
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

	// Bytes that are left of each result, and of each long text in the arguments of a
	// call, in what stays; 0: all of it. The newest are those of the last reply with
	// calls, whose results the model may not know yet.
	Clip, ClipNewest int

	Before, After int // tokens of a request, about
}

// Apply is a history after the compaction.
func (c Compacted) Apply(history []Message) []Message {
	at := cutAt(history, c.Kept)
	var out []Message
	if at > 0 {
		out = append(out, c.head(history[:at]))
	}
	newest := len(history)
	for i, m := range slices.Backward(history) {
		if len(m.ToolUses()) > 0 {
			newest = i
			break
		}
	}
	for i, m := range history[at:] {
		limit := c.Clip
		if at+i >= newest {
			limit = c.ClipNewest
		}
		out = append(out, clipped(m, limit))
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
		if len(own) > 0 {
			if text := inWords(newest); strings.TrimSpace(text) != "" {
				earlier = append(earlier, text)
			}
			newest = own
		}
		earlier = append(earlier, before...)
	}
	return earlier, newest
}

// inWords is what was said, as a text; of a picture it is said that there was one.
func inWords(blocks []Block) string {
	var words []string
	for _, b := range blocks {
		switch b := b.(type) {
		case Text:
			words = append(words, b.Text)
		case Image:
			words = append(words, "(a picture, which is no longer here)")
		}
	}
	return strings.Join(words, "\n\n")
}

// clipped is a message with what is long in it cut: results, and texts in arguments.
func clipped(m Message, limit int) Message {
	if limit == 0 || m.Role == RoleUser {
		return m
	}
	m.Blocks = slices.Clone(m.Blocks)
	for i, b := range m.Blocks {
		switch b := b.(type) {
		case ToolResult:
			b.Output = clipResult(b.Output, limit)
			m.Blocks[i] = b
		case ToolUse:
			b.Input, b.RawInput = clipInput(b.Input, limit), clip(b.RawInput, limit)
			m.Blocks[i] = b
		}
	}
	return m
}

// clipInput cuts the long texts of arguments, which stay one JSON object.
func clipInput(input json.RawMessage, limit int) json.RawMessage {
	var value any
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	if len(input) <= limit || dec.Decode(&value) != nil {
		return input
	}
	out, err := json.Marshal(clipValue(value, limit))
	if err != nil {
		return input
	}
	return out
}

func clipValue(value any, limit int) any {
	switch v := value.(type) {
	case string:
		return clip(v, limit)
	case []any:
		for i := range v {
			v[i] = clipValue(v[i], limit)
		}
	case map[string]any:
		for key := range v {
			v[key] = clipValue(v[key], limit)
		}
	}
	return value
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
	var least *Compacted // the last that helps, though not enough by our estimate
	for _, c := range plans(messages, room) {
		at := cutAt(messages, c.Kept)
		earlier, _ := said(messages[:at])
		if at > 0 {
			c.Said = recall(earlier, room.history)
		}
		n := textBytes(c.Apply(messages))
		if n+leastSummary*3/2 <= room.history && n+leastSummary*3/2 < size {
			return r.shorten(c, messages, room)
		}
		if n+leastSummary*3/2 < size*3/4 {
			least = &c
		}
	}
	if least == nil {
		return r.s.overfull(messages, room)
	}
	return r.shorten(*least, messages, room)
}

// shorten does what was planned: it asks for the summary, records, and goes on with
// what is left.
func (r *run) shorten(c Compacted, messages []Message, room room) (err error) {
	before := textBytes(messages)
	if at := cutAt(messages, c.Kept); at > 0 {
		limit := min(room.history/12, maxSummary, (min(room.history, before)-textBytes(c.Apply(messages)))/2)
		if c.Summary, err = r.summarize(messages[:at], max(limit, leastSummary)); err != nil {
			return err
		}
	}
	after := c.Apply(messages)
	c.Before, c.After = r.s.tokens(before+room.fixed), r.s.tokens(textBytes(after)+room.fixed)
	if err := r.emit(c); err != nil {
		return err
	}
	r.s.rewrite(after)
	r.compacted, r.compactedAt = true, r.turns
	return nil
}

// Bytes of a summary, with which half as many may come for the names of files.
const (
	maxSummary   = 16 << 10
	leastSummary = 120
)

// plans are compactions that could help, the mildest first. The newest results, that
// the model does not know yet, stay whole as long as they can.
func plans(messages []Message, room room) []Compacted {
	var out []Compacted
	replies := 0
	for _, m := range messages {
		if m.Role == RoleAssistant && !blank(m) {
			replies++
		}
	}
	onlyCut := func(newest bool) { // one result, or a few, may be all that is too much
		for _, limit := range []int{8 << 10, 4 << 10, 2 << 10, 1 << 10} {
			c := Compacted{Kept: replies, Clip: limit}
			if newest {
				c.ClipNewest = limit
			}
			if textBytes(c.Apply(messages)) <= room.history/3 {
				out = append(out, c)
				return
			}
		}
	}
	onlyCut(false)
	kept := 0
	for kept < replies && textBytes(messages[cutAt(messages, kept+1):]) <= room.history/6 {
		kept++
	}
	if kept > 0 {
		out = append(out, Compacted{Kept: kept})
	}
	onlyCut(true)
	for _, limit := range []int{8 << 10, 4 << 10, 1 << 10, 200} {
		if limit <= room.history/3 || limit == 200 {
			out = append(out, Compacted{Kept: 1, Clip: limit, ClipNewest: limit})
		}
	}
	return append(out, Compacted{Kept: 0})
}

// recall keeps of what the person said the first, and then the newest, as far as it
// fits in a share of the room.
func recall(earlier []string, room int) []string {
	if len(earlier) == 0 {
		return nil
	}
	first, rest := clip(earlier[0], max(room/4, 200)), earlier[1:]
	left := room / 8
	var kept []string
	for _, text := range slices.Backward(rest) {
		if len(text) > left && left < 200 {
			break
		}
		text = clip(text, left)
		left -= len(text)
		kept = append(kept, text)
	}
	slices.Reverse(kept)
	return append([]string{first}, kept...)
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
