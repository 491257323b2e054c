package replay

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"assent/agent"
)

// lineWire is a line of the file: a record of type "assistant" of a journal, or
// one without a type, which may have the fields below "Type" too.
type lineWire struct {
	Text     text      `json:"text"`
	Thinking text      `json:"thinking"`
	ToolUses []useWire `json:"toolUses"`
	Stop     string    `json:"stop"`
	Usage    struct {
		Input  int `json:"inputTokens"`
		Output int `json:"outputTokens"`
	} `json:"usage"`
	Type   *string     `json:"type"`
	Finish string      `json:"finish"`
	Blocks []blockWire `json:"blocks"` // of a journal: what does not fit the fields above

	Error  *errorWire `json:"error"`
	Cut    bool       `json:"cut"`
	Hang   bool       `json:"hang"`
	Expect string     `json:"expect"`
	Chunks int        `json:"chunks"`
}

// blockWire is a block of a journal. What only a server can read of it is left out.
type blockWire struct {
	Type string `json:"type"`
	Text text   `json:"text"`
	useWire
}

type useWire struct {
	ID        string          `json:"id"`
	Name      text            `json:"name"`
	Input     json.RawMessage `json:"input"`
	InputText *text           `json:"inputText"` // of a journal: an input that does not fit on a line
	InputRaw  text            `json:"inputRaw"`
	Invalid   text            `json:"invalid"`
}

type errorWire struct {
	Kind       agent.ModelErrorKind `json:"kind"`
	Status     int                  `json:"status"`
	RetryAfter int                  `json:"retryAfterMs"`
	Message    string               `json:"message"`
}

// text is a string, or {"base64":"…"}, as a journal writes what is not UTF-8.
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	if data[0] != '{' {
		return json.Unmarshal(data, (*string)(t))
	}
	var w struct {
		Base64 string `json:"base64"`
	}
	if err := strict(data, &w); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(w.Base64)
	*t = text(raw)
	return err
}

// parse reads a line. The second result is false for a line that is not a reply.
func parse(line []byte) (reply, bool, error) {
	var w struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal(line, &w); err != nil {
		return reply{}, false, fmt.Errorf("not a JSON object: %w", err)
	}
	if bytes.Equal(line, []byte("null")) {
		return reply{}, false, errors.New("not a JSON object: it is null")
	}
	if w.Type != nil && *w.Type != "assistant" {
		return reply{}, false, nil
	}
	var full lineWire
	decode := json.Unmarshal // a journal may have fields of a later version
	if w.Type == nil {
		decode = strict
	}
	if err := decode(line, &full); err != nil {
		return reply{}, false, err
	}
	r, err := full.reply()
	return r, err == nil, err
}

// inWords is an error of package json without the types of our code.
func inWords(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fmt.Errorf("not a JSON object: it is of the kind %s", wrong.Value)
		}
		return fmt.Errorf("%s can't be of the kind %s", wrong.Field, wrong.Value)
	}
	return err
}

func strict(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}

func (w lineWire) reply() (reply, error) {
	r := reply{
		thinking: string(w.Thinking),
		text:     string(w.Text),
		finish:   w.Finish,
		stop:     agent.StopReason(w.Stop),
		usage:    agent.Usage(w.Usage),
		expect:   w.Expect,
		pieces:   w.Chunks,
		cut:      w.Cut,
		hang:     w.Hang,
	}
	switch r.stop {
	case "":
		r.stop = agent.StopComplete
	case agent.StopComplete, agent.StopTruncated, agent.StopRefused:
	default:
		return reply{}, fmt.Errorf("unknown stop %q: complete, truncated or refused", w.Stop)
	}
	for _, b := range w.Blocks {
		switch b.Type {
		case "text":
			r.text += string(b.Text)
		case "thinking":
			r.thinking += string(b.Text)
		case "tool_use":
			w.ToolUses = append(w.ToolUses, b.useWire)
		default:
			return reply{}, fmt.Errorf("a block of type %q", b.Type)
		}
	}
	if w.Chunks < 0 {
		return reply{}, fmt.Errorf("%d chunks", w.Chunks)
	}
	for i, u := range w.ToolUses {
		use, err := u.use()
		if err != nil {
			return reply{}, fmt.Errorf("tool use %d: %w", i+1, err)
		}
		r.uses = append(r.uses, use)
	}
	var err error
	r.failed, err = w.Error.modelError()
	if err != nil {
		return reply{}, err
	}
	if ends := count(r.failed != nil, r.cut, r.hang); ends > 1 || ends > 0 && len(r.uses) > 0 {
		return reply{}, errors.New("a line has toolUses or one of error, cut and hang")
	}
	return r, nil
}

func count(conditions ...bool) (n int) {
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

func (w useWire) use() (agent.ToolUse, error) {
	u := agent.ToolUse{ID: w.ID, Name: string(w.Name), Input: w.Input, Invalid: string(w.Invalid), RawInput: string(w.InputRaw)}
	if w.InputText != nil {
		u.Input = json.RawMessage(*w.InputText)
	}
	switch {
	case u.ID == "":
		return u, errors.New("it has no id")
	case u.Invalid != "" && u.Input != nil:
		return u, errors.New("it is invalid, so its arguments belong into inputRaw")
	case u.Invalid != "":
		return u, nil
	case u.RawInput != "":
		return u, errors.New("it has an inputRaw, so invalid has to say why")
	case u.Name == "":
		return u, errors.New("it has no name")
	case u.Input == nil:
		u.Input = json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(u.Input, &object); err != nil || object == nil {
		return u, errors.New("its input is not an object")
	}
	return u, nil
}

func (w *errorWire) modelError() (*agent.ModelError, error) {
	if w == nil {
		return nil, nil
	}
	known := []agent.ModelErrorKind{
		agent.ErrorProvider, agent.ErrorTransport, agent.ErrorTruncated, agent.ErrorIdle, agent.ErrorEmpty, agent.ErrorNotSSE,
		agent.ErrorRateLimit, agent.ErrorQuota, agent.ErrorContextOverflow, agent.ErrorUnsupported,
		agent.ErrorNoTools, agent.ErrorCallAsText, agent.ErrorAuth, agent.ErrorConfig,
	}
	if !slices.Contains(known, w.Kind) {
		return nil, fmt.Errorf("unknown kind of error %q", w.Kind)
	}
	if w.Message == "" {
		w.Message = "the replay file says " + string(w.Kind)
	}
	if w.RetryAfter < 0 || w.Status < 0 {
		return nil, errors.New("an error with a negative number")
	}
	return &agent.ModelError{
		Kind:       w.Kind,
		Status:     w.Status,
		RetryAfter: time.Duration(w.RetryAfter) * time.Millisecond,
		Message:    w.Message,
	}, nil
}
