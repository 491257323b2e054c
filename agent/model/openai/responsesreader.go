package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assent/agent"
)

// responsesEvent is one event of a stream of the Responses API, as far as it is
// read. Its type says what it is.
type responsesEvent struct {
	Type     string          `json:"type"`
	Index    *number         `json:"output_index"`
	ItemID   string          `json:"item_id"`
	Delta    text            `json:"delta"`
	Args     text            `json:"arguments"` // whole, at their end
	Item     *outputItem     `json:"item"`
	Response *response       `json:"response"`
	Error    json.RawMessage `json:"error"`
}

type response struct {
	Object     string          `json:"object"`
	Model      string          `json:"model"`
	Status     string          `json:"status"`
	Output     []outputItem    `json:"output"`
	Error      json.RawMessage `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *struct {
		Input  number `json:"input_tokens"`
		Output number `json:"output_tokens"`
	} `json:"usage"`
}

// outputItem is a message, a call or reasoning.
type outputItem struct {
	Type      string     `json:"type"`
	ID        string     `json:"id"`
	Status    string     `json:"status"`
	CallID    text       `json:"call_id"`
	Name      text       `json:"name"`
	Arguments text       `json:"arguments"`
	Content   []itemPart `json:"content"`
	Summary   []itemPart `json:"summary"`
	Encrypted string     `json:"encrypted_content"`
}

type itemPart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// item is an output item that is coming.
type item struct {
	outputItem
	index    int // -1: it has none
	args     strings.Builder
	text     strings.Builder // shown of it
	thinking strings.Builder // shown of it
	done     bool
}

// responsesReader reads a stream of the Responses API.
type responsesReader struct {
	draft
	server server
	items  []*item
	known  bool // an event was of this protocol
	ended  bool // the server said that the response is over
	recast bool // text turned out to be reasoning
}

func (r *responsesReader) finished() bool { return r.ended }

func (r *responsesReader) take(ev event) (agent.Chunk, error) {
	if isDone(ev) {
		return agent.Chunk{}, nil
	}
	var e responsesEvent
	if err := json.Unmarshal(ev.data, &e); err != nil {
		if ev.torn {
			return agent.Chunk{}, r.server.cutError(nil)
		}
		return agent.Chunk{}, r.server.strangeEvent(ev.data, err)
	}
	if e.Type == "" {
		e.Type = ev.kind
	}
	r.known = r.known || strings.HasPrefix(e.Type, "response.")
	switch e.Type {
	case "response.completed", "response.incomplete", "response.done":
		if e.Response != nil && (e.Response.Status == "failed" || e.Response.Status == "cancelled") {
			return agent.Chunk{}, r.complain(r.server, ev.data)
		}
		return r.over(e.Response, strings.TrimPrefix(e.Type, "response.")), nil
	case "error", "response.failed", "response.cancelled":
		return agent.Chunk{}, r.complain(r.server, ev.data)
	case "": // a reply that was not streamed, or an error without a type
		var whole response
		if json.Unmarshal(ev.data, &whole) == nil && whole.Object == "response" && whole.Status != "failed" {
			r.known = true
			return r.over(&whole, ""), nil
		}
		if len(e.Error) > 0 && string(e.Error) != "null" {
			return agent.Chunk{}, r.complain(r.server, ev.data)
		}
		return agent.Chunk{}, nil
	}
	shown := r.piece(e)
	if len(r.items) > maxCalls {
		return shown, r.server.endless(fmt.Sprintf("%d items", maxCalls))
	}
	return shown, nil
}

// piece takes an event that is about one item.
func (r *responsesReader) piece(e responsesEvent) agent.Chunk {
	switch e.Type {
	case "response.output_item.added", "response.output_item.done":
		if e.Item != nil {
			return r.given(r.at(e, e.Item), *e.Item, e.Type == "response.output_item.done")
		}
	case "response.output_text.delta", "response.refusal.delta":
		r.refused = r.refused || e.Type == "response.refusal.delta"
		return r.say(r.at(e, nil), string(e.Delta))
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return r.reason(r.at(e, nil), string(e.Delta))
	case "response.reasoning_summary_part.added":
		if it := r.at(e, nil); it.thinking.Len() > 0 {
			return r.reason(it, "\n\n")
		}
	case "response.function_call_arguments.delta":
		r.at(e, nil).args.WriteString(string(e.Delta))
	case "response.function_call_arguments.done":
		if it := r.at(e, nil); it.args.Len() == 0 {
			it.args.WriteString(string(e.Args))
		}
	}
	return agent.Chunk{}
}

// at is the item that an event is about: by its id, by its index, or the newest. An
// item that is given and not known yet is a new one.
func (r *responsesReader) at(e responsesEvent, given *outputItem) *item {
	r.count++
	id := e.ItemID
	if given != nil {
		id = given.ID
	}
	for _, it := range slices.Backward(r.items) {
		if id != "" && it.ID == id || given != nil && given.CallID != "" && it.CallID == given.CallID {
			return it
		}
	}
	for _, it := range slices.Backward(r.items) {
		if e.Index != nil && it.index == int(*e.Index) && (id == "" || it.ID == "") {
			return it
		}
	}
	if n := len(r.items); n > 0 && given == nil && e.Index == nil {
		return r.items[n-1]
	}
	it := &item{index: -1}
	if e.Index != nil {
		it.index = int(*e.Index)
	}
	r.items = append(r.items, it)
	return it
}

func (r *responsesReader) say(it *item, text string) agent.Chunk {
	shown := r.write(text)
	it.text.WriteString(shown.Text)
	r.recast = r.recast || shown.Recast
	return shown
}

func (r *responsesReader) reason(it *item, text string) agent.Chunk {
	it.thinking.WriteString(text)
	return r.think(responsesSource(r.server.model), text)
}

// given takes an item when it begins, or whole when it ends. What a server gives only
// at the end is shown then.
func (r *responsesReader) given(it *item, given outputItem, done bool) (shown agent.Chunk) {
	if it.done {
		return shown
	}
	it.outputItem, it.done = given, done
	if !done {
		return shown
	}
	if it.Type == "reasoning" && it.thinking.Len() == 0 {
		var parts []string
		for _, p := range slices.Concat(it.Summary, it.Content) {
			parts = append(parts, p.Text)
		}
		return r.reason(it, strings.Join(parts, "\n\n"))
	}
	if it.Type == "message" && it.text.Len() == 0 {
		for _, p := range it.Content {
			r.refused = r.refused || p.Refusal != ""
			shown = joined(shown, r.say(it, p.Text+p.Refusal))
		}
	}
	return shown
}

// over takes the end of the response, which repeats its items, perhaps with other
// indexes, or is the first to have them.
func (r *responsesReader) over(whole *response, how string) (shown agent.Chunk) {
	r.ended = true
	r.finish = cmp.Or(how, "completed")
	if whole == nil {
		return shown
	}
	r.finish = cmp.Or(whole.Status, r.finish)
	if whole.Incomplete != nil {
		r.finish = cmp.Or(whole.Incomplete.Reason, r.finish)
	}
	if whole.Usage != nil {
		r.usage = agent.Usage{Input: int(whole.Usage.Input), Output: int(whole.Usage.Output)}
	}
	came := len(r.items)
	for i := range whole.Output {
		if it := r.repeated(whole.Output[i], r.items[:came]); it != nil {
			shown = joined(shown, r.given(it, whole.Output[i], true))
		}
	}
	return shown
}

// repeated is the item that one of the end is, or a new one; nil if it came whole,
// under an id that is not known again.
func (r *responsesReader) repeated(given outputItem, came []*item) *item {
	alike := false
	for _, it := range came {
		if given.ID != "" && it.ID == given.ID || given.CallID != "" && it.CallID == given.CallID {
			return it
		}
		alike = alike || it.Type == given.Type || it.Type == "" && (it.text.Len() > 0) == (given.Type == "message")
	}
	if alike && given.Type != "function_call" {
		return nil
	}
	return r.at(responsesEvent{}, &given)
}

func (r *responsesReader) end(bool) (agent.Chunk, agent.Message, error) {
	for _, it := range r.items {
		if it.calls() {
			r.draft.calls.list = append(r.draft.calls.list, it.call())
		}
	}
	shown := r.rest()
	if !r.known {
		return shown, agent.Message{}, errNotReply
	}
	if !r.ended {
		return shown, agent.Message{}, r.server.cutError(nil)
	}
	if r.bad() {
		return shown, agent.Message{}, r.server.endedBadly(r.finish)
	}
	m := r.message()
	m.Blocks = r.inOrder(m, shown)
	return shown, m, nil
}

// calls reports whether the item is a call, also one whose beginning got lost.
func (it *item) calls() bool {
	return it.Type == "function_call" || it.Type == "" && it.args.Len() > 0
}

// call takes the arguments of the whole item, or the pieces if it has none.
func (it *item) call() *call {
	args := string(it.Arguments)
	if args == "" || !it.done {
		args = it.args.String()
	}
	c := &call{id: cmp.Or(string(it.CallID), it.ID), name: string(it.Name)}
	c.args.WriteString(args)
	c.shape.feed(args)
	c.broken = it.Status == "incomplete" && it.done || !it.done && !c.shape.whole
	return c
}

// inOrder gives each item its place in the message, and its reasoning the sealed form,
// since the server takes reasoning back only before what followed it. last is what of
// the text came at the very end.
func (r *responsesReader) inOrder(m agent.Message, last agent.Chunk) []agent.Block {
	if r.recast || last.Recast || last.Thinking != "" || !slices.ContainsFunc(r.items, func(it *item) bool { return it.Type == "reasoning" }) {
		return m.Blocks // nothing of it is sealed, or it is no more known what belongs where
	}
	var blocks []agent.Block
	spoken := -1 // the block that the end of the text belongs to
	text, calls := m.Text(), m.ToolUses()
	for _, it := range r.items {
		switch {
		case it.Type == "reasoning":
			blocks = append(blocks, r.reasoning(it))
		case it.text.Len() > 0 && text != "":
			said := text[:min(it.text.Len(), len(text))]
			spoken = len(blocks)
			blocks, text = append(blocks, agent.Text{Text: said}), text[len(said):]
		case it.calls() && len(calls) > 0:
			blocks, calls = append(blocks, calls[0]), calls[1:]
		}
	}
	if spoken >= 0 {
		blocks[spoken] = agent.Text{Text: blocks[spoken].(agent.Text).Text + text}
	} else if text != "" {
		blocks = append(blocks, agent.Text{Text: text})
	}
	for _, u := range calls { // that were written as text
		blocks = append(blocks, u)
	}
	return blocks
}

// reasoning is a block of an item, which goes back as it came.
func (r *responsesReader) reasoning(it *item) agent.Block {
	t := agent.Thinking{Text: it.thinking.String(), Source: responsesSource(r.server.model)}
	if it.Encrypted != "" {
		type part struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		back := struct {
			Type      string `json:"type"`
			ID        string `json:"id"`
			Summary   []part `json:"summary"`
			Encrypted string `json:"encrypted_content"`
		}{"reasoning", it.ID, []part{}, it.Encrypted}
		for _, p := range it.Summary {
			back.Summary = append(back.Summary, part{p.Type, p.Text})
		}
		data, _ := marshal(back) // strings always do
		t.Opaque = string(data)
	}
	return t
}
