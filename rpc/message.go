package rpc

import (
	"bytes"
	"encoding/json"
)

// message is what came in one frame.
type message struct {
	id     string // as JSON text, "" for a notification, and for an answer to nothing
	method string // "" for a response
	params json.RawMessage
	result json.RawMessage // of a response: this, or
	failed json.RawMessage // this
}

// parse reads the envelope of a message and leaves the rest as it is. The error
// is the answer to what is no message, and id what it is to be answered with.
func parse(body []byte) (m message, id json.RawMessage, bad *Error) {
	none := json.RawMessage("null")
	if len(body) > 0 && body[0] == '[' {
		return m, none, Errorf(CodeInvalidRequest, "batches are not supported; send one message at a time")
	}
	// Not a struct: encoding/json would take "ID" for "id".
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		if json.Valid(body) {
			return m, none, Errorf(CodeInvalidRequest, "a message has to be a JSON object")
		}
		return m, none, Errorf(CodeParse, "the message is not JSON: %v", err)
	}
	m.params = present(fields["params"])
	m.result, m.failed = fields["result"], present(fields["error"])
	id, given := fields["id"]
	id = canonical(id)
	m.id = string(id)
	method, asks := fields["method"]
	if !asks && (m.result != nil || m.failed != nil) {
		return m, nil, nil // whatever its id: to answer an answer could go on forever
	}
	if id == nil {
		id = none
		if given {
			return m, none, Errorf(CodeInvalidRequest, "the id of a message has to be a string or a number; leave it out of a notification")
		}
	}
	if !asks && id[0] == '"' { // an answer that lost its result, which Lua's nil and JavaScript's undefined do
		m.result = none
		return m, nil, nil
	}
	if !asks {
		return m, id, Errorf(CodeInvalidRequest, "the message has no method; it is neither a request nor an answer to one")
	}
	return m, id, m.readRequest(method, fields)
}

func (m *message) readRequest(method json.RawMessage, fields map[string]json.RawMessage) *Error {
	if json.Unmarshal(method, &m.method) != nil || m.method == "" {
		return Errorf(CodeInvalidRequest, "the method of a message has to be a string")
	}
	var version string
	if json.Unmarshal(fields["jsonrpc"], &version) != nil || version != "2.0" {
		return Errorf(CodeInvalidRequest, `%s: the message has to say "jsonrpc":"2.0"`, m.method)
	}
	if m.result != nil || m.failed != nil {
		return Errorf(CodeInvalidRequest, "%s: the message is a request and an answer at once", m.method)
	}
	if len(m.params) > 0 && m.params[0] != '{' && m.params[0] != '[' {
		return Errorf(CodeInvalidRequest, "%s: params have to be an object or an array", m.method)
	}
	return nil
}

// present is nil for null.
func present(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// canonical is an ID as it is compared: "a" may be spelled "\u0061". It is nil for
// what can't be an ID.
func canonical(id json.RawMessage) json.RawMessage {
	switch {
	case len(id) == 0:
		return nil
	case id[0] == '"':
		var text string
		if json.Unmarshal(id, &text) != nil {
			return nil
		}
		same, _ := json.Marshal(text) // a string can be encoded
		return same
	case id[0] == '-' || '0' <= id[0] && id[0] <= '9':
		return bytes.Clone(id)
	}
	return nil
}
