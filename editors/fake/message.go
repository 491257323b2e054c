package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Codes of JSON-RPC and LSP that the editor sends or that tests look for.
const (
	CodeMethodNotFound   = -32601
	CodeInvalidParams    = -32602
	CodeInternalError    = -32603
	CodeRequestCancelled = -32800
)

// Error is an error response, in either direction: what [Editor.Call] returns
// when the server answers with one, and what a handler in [Options] may return
// to answer with one.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// kind is what a message is.
type kind int

const (
	request kind = iota
	notification
	response
)

// message is one JSON-RPC message. id is its JSON text, "" when it has none.
type message struct {
	kind   kind
	id     string
	method string
	params json.RawMessage
	result json.RawMessage
	err    *Error
}

// parse reads one message strictly: what is not exactly a request, a
// notification or a response is an error.
func parse(body []byte) (message, error) {
	var fields map[string]json.RawMessage
	if !utf8.Valid(body) {
		return message{}, fmt.Errorf("a body that is no UTF-8: %q…", head(body))
	}
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return message{}, fmt.Errorf("a body that is no JSON object (%v): %q…", err, head(body))
	}
	if string(fields["jsonrpc"]) != `"2.0"` {
		return message{}, fmt.Errorf("a message without jsonrpc 2.0: %q…", head(body))
	}
	m := message{id: string(fields["id"]), params: fields["params"], result: fields["result"]}
	if _, ok := fields["method"]; ok {
		return m.asRequest(fields)
	}
	return m.asResponse(fields)
}

func (m message) asRequest(fields map[string]json.RawMessage) (message, error) {
	if err := json.Unmarshal(fields["method"], &m.method); err != nil || m.method == "" {
		return m, fmt.Errorf("a method that is no string: %s", fields["method"])
	}
	if m.id == "" {
		m.kind = notification
		return m, nil
	}
	if c := m.id[0]; c != '"' && c != '-' && (c < '0' || c > '9') {
		return m, fmt.Errorf("%s has the id %s, which is neither a string nor a number", m.method, m.id)
	}
	return m, nil
}

func (m message) asResponse(fields map[string]json.RawMessage) (message, error) {
	m.kind = response
	failure, failed := fields["error"]
	if _, ok := fields["result"]; ok == failed {
		return m, fmt.Errorf("response %s has not exactly one of result and error", m.id)
	}
	if !failed {
		return m, nil
	}
	if err := json.Unmarshal(failure, &m.err); err != nil || m.err == nil {
		return m, fmt.Errorf("response %s has a broken error: %s", m.id, failure)
	}
	return m, nil
}

// outgoing is the JSON shape of what the editor sends.
type outgoing struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// decode reads params into v; numbers, strings and objects that do not fit are
// the sender's mistake and come back as CodeInvalidParams.
func decode(params json.RawMessage, v any) error {
	if err := json.Unmarshal(params, v); err != nil {
		return &Error{Code: CodeInvalidParams, Message: err.Error()}
	}
	return nil
}

// compact is the spelling under which an id is remembered.
func compact(id json.RawMessage) string { return string(bytes.TrimSpace(id)) }
