package openai

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"assent/agent"
)

// responsesEvent is one event of a stream of the Responses API, as far as it is
// read. Its type says what it is.
type responsesEvent struct {
	Type     string          `json:"type"`
	Index    number          `json:"output_index"`
	Delta    text            `json:"delta"`
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
	args     strings.Builder
	text     strings.Builder // shown of it
	thinking strings.Builder // shown of it
	done     bool
}

// responsesReader reads a stream of the Responses API.
type responsesReader struct {
	draft
	server server
	items  map[int]*item // by output index, which is their order
	known  bool          // an event was of this protocol
	ended  bool          // the server said that the response is over
}

func (r *responsesReader) finished() bool { return r.ended }

func (r *responsesReader) take(ev event) (agent.Chunk, error) {
	if strings.TrimSpace(string(ev.data[:min(len(ev.data), 16)])) == "[DONE]" {
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
	case "response.output_item.added", "response.output_item.done":
		return r.item(int(e.Index), e.Item, e.Type == "response.output_item.done"), nil
	case "response.output_text.delta", "response.refusal.delta":
		r.refused = r.refused || e.Type == "response.refusal.delta"
		r.at(int(e.Index)).text.WriteString(string(e.Delta))
		return r.write(string(e.Delta)), nil
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return r.reason(int(e.Index), string(e.Delta)), nil
	case "response.reasoning_summary_part.added":
		if r.at(int(e.Index)).thinking.Len() > 0 {
			return r.reason(int(e.Index), "\n\n"), nil
		}
	case "response.function_call_arguments.delta":
		r.at(int(e.Index)).args.WriteString(string(e.Delta))
	case "response.completed", "response.incomplete", "response.done":
		return r.over(e.Response), nil
	case "error", "response.failed", "response.cancelled":
		return agent.Chunk{}, r.server.streamError(ev.data)
	case "": // a reply that was not streamed, or an error without a type
		var whole response
		if json.Unmarshal(ev.data, &whole) == nil && whole.Object == "response" && whole.Status != "failed" {
			r.known = true
			return r.over(&whole), nil
		}
		if len(e.Error) > 0 && string(e.Error) != "null" {
			return agent.Chunk{}, r.server.streamError(ev.data)
		}
	}
	return agent.Chunk{}, nil
}

func (r *responsesReader) at(index int) *item {
	if r.items[index] == nil {
		r.items[index] = &item{}
	}
	return r.items[index]
}

func (r *responsesReader) reason(index int, text string) agent.Chunk {
	r.at(index).thinking.WriteString(text)
	return r.think(responsesSource(r.server.model), text)
}

// item takes an item when it begins, or whole when it ends. What a server gives only
// at the end is shown then.
func (r *responsesReader) item(index int, given *outputItem, done bool) (shown agent.Chunk) {
	if given == nil {
		return shown
	}
	it := r.at(index)
	if it.done {
		return shown
	}
	it.outputItem, it.done = *given, done
	if !done {
		return shown
	}
	if it.Type == "reasoning" && it.thinking.Len() == 0 {
		var parts []string
		for _, p := range slices.Concat(it.Summary, it.Content) {
			parts = append(parts, p.Text)
		}
		shown = r.reason(index, strings.Join(parts, "\n\n"))
	}
	if it.Type == "message" && it.text.Len() == 0 {
		for _, p := range it.Content {
			r.refused = r.refused || p.Refusal != ""
			it.text.WriteString(p.Text + p.Refusal)
			shown = joined(shown, r.write(p.Text+p.Refusal))
		}
	}
	return shown
}

// over takes the end of the response, which repeats all items.
func (r *responsesReader) over(whole *response) (shown agent.Chunk) {
	r.ended = true
	r.finish = "completed"
	if whole == nil {
		return shown
	}
	if whole.Status != "" {
		r.finish = whole.Status
	}
	if whole.Incomplete != nil {
		r.finish = whole.Incomplete.Reason
	}
	if whole.Usage != nil {
		r.usage = agent.Usage{Input: int(whole.Usage.Input), Output: int(whole.Usage.Output)}
	}
	for i := range whole.Output {
		shown = joined(shown, r.item(i, &whole.Output[i], true))
	}
	return shown
}

func (r *responsesReader) end(bool) (agent.Chunk, agent.Message, error) {
	for _, index := range slices.Sorted(maps.Keys(r.items)) {
		if it := r.items[index]; it.calls() {
			r.calls.list = append(r.calls.list, it.call())
		}
	}
	shown := r.rest()
	if !r.known {
		return shown, agent.Message{}, errNotReply
	}
	if !r.ended {
		return shown, agent.Message{}, r.server.cutError(nil)
	}
	m := r.message()
	m.Blocks = r.inOrder(m)
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
	return c
}

// inOrder gives each item's reasoning its place and its sealed form, since the
// server takes reasoning back only before what followed it.
func (r *responsesReader) inOrder(m agent.Message) []agent.Block {
	var blocks []agent.Block
	var texts, calls []agent.Block
	inline := "" // reasoning that stood in the text
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case agent.Thinking:
			inline = b.Text
		case agent.Text:
			texts = append(texts, b)
		default:
			calls = append(calls, b)
		}
	}
	reasoned := false
	for _, index := range slices.Sorted(maps.Keys(r.items)) {
		it := r.items[index]
		switch {
		case it.Type == "reasoning":
			reasoned = true
			blocks = append(blocks, r.reasoning(it))
		case it.Type == "message" && len(texts) > 0:
			blocks, texts = append(blocks, texts...), nil
		case len(calls) > 0 && it.calls():
			blocks, calls = append(blocks, calls[0]), calls[1:]
		}
	}
	if !reasoned && inline != "" {
		blocks = slices.Insert(blocks, 0, agent.Block(agent.Thinking{Text: inline}))
	}
	return append(append(blocks, texts...), calls...)
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
