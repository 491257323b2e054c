package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"assent/agent"
)

// Requests are encoded here and not with openai-go's parameter types: a request has
// to begin with the bytes of the one before, for the server's prompt cache, and
// tool schemas must go out as they are. A message is encoded once: the bytes of a
// session's messages are kept until its next request.

// wire is one of the protocols.
type wire interface {
	path() string
	head(*encoder, agent.Request) any             // all but the messages
	system(*encoder, string) []any                // messages that hold the system prompt
	messages(*encoder, agent.Message) []any       // a message is none, one, or several there
	list() string                                 // name of the field with the messages
	reader(server, func(name string) bool) reader // of the reply
}

// encoder makes the requests of one conversation.
type encoder struct {
	model     string
	maxTokens int
	effort    string
	form      form
	ids       *ids

	done []encoded // messages that were sent before

	head   *agent.Message // the first one with the system prompt in it
	system string         // that is in it
	begins *agent.Block   // the first block of what else is in it
}

// encoded is a message in its place, with the comma before it.
type encoded struct {
	role   agent.Role
	blocks int
	first  *agent.Block // it is the same message if this is
	bytes  []byte
}

// body is the whole request.
func (e *encoder) body(w wire, req agent.Request) ([]byte, error) {
	head, err := marshal(w.head(e, req))
	if err != nil {
		return nil, &agent.ModelError{
			Kind:    agent.ErrorConfig,
			Message: fmt.Sprintf("The request can't be encoded, a tool's schema may be broken: %v", err),
			Err:     err,
		}
	}
	items, size := e.items(w, req)
	out := bytes.NewBuffer(make([]byte, 0, len(head)+size+64))
	out.Write(head[:len(head)-1]) // without the brace
	fmt.Fprintf(out, `,%q:[`, w.list())
	for i, item := range items {
		if i == 0 {
			item = bytes.TrimPrefix(item, []byte(","))
		}
		out.Write(item)
	}
	out.WriteString("]}")
	return out.Bytes(), nil
}

// items are the messages of a request, each with a comma before it.
func (e *encoder) items(w wire, req agent.Request) (items [][]byte, size int) {
	messages := req.Messages
	if req.System != "" {
		if e.form.system == asUser {
			messages = e.withSystem(req.System, messages)
		} else {
			items = append(items, join(w.system(e, req.System)))
		}
	}
	if e.form.merged {
		messages = merged(messages)
	}
	for i, m := range messages {
		if i < len(e.done) && !e.done[i].is(m) { // the history was cut or rewritten
			e.done = e.done[:i]
		}
		if i == len(e.done) {
			e.done = append(e.done, encoded{m.Role, len(m.Blocks), first(m), join(w.messages(e, m))})
		}
		if len(e.done[i].bytes) > 0 {
			items = append(items, e.done[i].bytes)
		}
	}
	e.done = e.done[:len(messages)]
	for _, item := range items {
		size += len(item)
	}
	return items, size
}

func (e *encoder) size() (n int) {
	for _, d := range e.done {
		n += len(d.bytes)
	}
	return n
}

func first(m agent.Message) *agent.Block {
	if len(m.Blocks) == 0 {
		return nil
	}
	return &m.Blocks[0]
}

func (d encoded) is(m agent.Message) bool {
	return d.role == m.Role && d.blocks == len(m.Blocks) && d.first == first(m)
}

// join encodes items, each with a comma before it. They are our own structs and
// always encode.
func join(items []any) []byte {
	var out []byte
	for _, item := range items {
		data, _ := marshal(item)
		out = append(append(out, ','), data...)
	}
	return out
}

func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // code is full of < and &
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// withSystem puts the system prompt in front of the first message, for servers
// that know no such role. The message that comes of it is kept, to be known again.
func (e *encoder) withSystem(system string, messages []agent.Message) []agent.Message {
	var begins agent.Message
	if len(messages) > 0 && messages[0].Role == agent.RoleUser {
		begins, messages = messages[0], messages[1:]
	}
	if e.head == nil || e.system != system || e.begins != first(begins) {
		head := agent.UserText(system)
		if len(begins.Blocks) > 0 {
			head.Blocks = append(head.Blocks, begins.Blocks...)
		}
		e.head, e.system, e.begins = &head, system, first(begins)
	}
	return append([]agent.Message{*e.head}, messages...)
}

// merged makes one message of several of the user, or of the model, in a row.
func merged(messages []agent.Message) []agent.Message {
	var out []agent.Message
	for _, m := range messages {
		if m.Role == agent.RoleAssistant && m.Text() == "" && len(m.ToolUses()) == 0 {
			continue // nothing of it goes out, so it stands between nobody
		}
		if n := len(out); n > 0 && out[n-1].Role == m.Role && m.Role != agent.RoleTool && len(out[n-1].ToolUses()) == 0 {
			blocks := append([]agent.Block{}, out[n-1].Blocks...)
			if m.Role == agent.RoleAssistant { // whose texts follow each other without a gap
				blocks = append(blocks, agent.Text{Text: "\n\n"})
			}
			out[n-1].Blocks = append(blocks, m.Blocks...)
			continue
		}
		out = append(out, m)
	}
	return out
}

const (
	maxEncoders = 64       // sessions whose messages are kept encoded
	maxKept     = 32 << 20 // bytes of one session, which may be pictures
)

// encoders are those of the sessions. One that is in use is not here.
type encoders struct {
	mu   sync.Mutex
	free map[string]*encoder
	used []string // the newest last
}

func (x *encoders) take(session string, f form, o Options) *encoder {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.free[session]; e != nil && e.form == f {
		delete(x.free, session)
		return e
	}
	return &encoder{model: o.Model, maxTokens: o.MaxTokens, effort: o.Effort, form: f, ids: newIDs(f.ids)}
}

func (x *encoders) give(session string, e *encoder) {
	if session == "" || e.size() > maxKept {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.free == nil {
		x.free = map[string]*encoder{}
	}
	x.free[session] = e
	for i, name := range x.used {
		if name == session {
			x.used = append(x.used[:i], x.used[i+1:]...)
			break
		}
	}
	if x.used = append(x.used, session); len(x.used) > maxEncoders {
		delete(x.free, x.used[0])
		x.used = x.used[1:]
	}
}
