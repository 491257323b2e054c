package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds on what is looked at: a server may quote the whole request in its error,
// and what the person wrote there must not class it.
const (
	maxWords  = 4 << 10
	maxNested = 6 // errors in errors, as proxies of proxies make them
	maxListed = 3 // of many faults, the ones that are told
)

// complaint is what a server says of an error, in whichever shape.
type complaint struct {
	message string
	code    string        // types and codes, in lower case, with spaces between
	param   string        // path of the request field that it is about; "": it does not say
	refused []string      // paths of fields that must not be in a request
	status  int           // a numeric code that is an HTTP status
	wait    time.Duration // until it may be asked again
	page    bool          // it is a web page
	context int           // tokens that fit, as a field of its own
	prompt  int           // ... that the request had
}

var pageTitle = lazy(`(?is)<title[^>]*>([^<]*)`)

// parseComplaint never fails. It understands objects, strings and lists under error,
// errors, detail and the like, JSON in strings, and pages; the rest is plain text.
func parseComplaint(body []byte) complaint {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	var c complaint
	var value any
	switch {
	case json.Unmarshal(body, &value) == nil:
		c.take(value, maxNested)
	case bytes.HasPrefix(body, []byte("<")):
		c.page = true
		if title := pageTitle().FindSubmatch(body); title != nil {
			c.message = strings.TrimSpace(html.UnescapeString(string(title[1])))
		}
	case bytes.HasPrefix(body, []byte("data:")), bytes.HasPrefix(body, []byte("event:")):
		_, data, _ := bytes.Cut(body, []byte("data:"))
		data, _, _ = bytes.Cut(data, []byte("\n"))
		return parseComplaint(data)
	default:
		c.say(string(body), maxNested)
	}
	c.code = strings.ToLower(strings.Join(strings.Fields(clipWords(c.code)), " "))
	if c.param == "" {
		c.param = paramNamed(c.message)
	}
	return c
}

// take reads a JSON value that is a complaint, or a part of one.
func (c *complaint) take(value any, depth int) {
	if depth == 0 {
		return
	}
	switch v := value.(type) {
	case string:
		c.say(v, depth)
	case []any:
		c.list(v, depth)
	case map[string]any:
		c.object(v, depth)
	}
}

// say keeps the first sentence that is found, or what the JSON in it says.
func (c *complaint) say(sentence string, depth int) {
	sentence = strings.TrimSpace(sentence)
	at := strings.IndexAny(sentence, "{[")
	var value any
	if at >= 0 && json.NewDecoder(strings.NewReader(sentence[at:])).Decode(&value) == nil && isComplaint(value) {
		inner := complaint{}
		inner.take(value, depth-1)
		if inner.message != "" {
			before := strings.TrimSuffix(strings.TrimRight(sentence[:at], "'\"`"), " b")
			sentence = strings.TrimSpace(before + " " + inner.message)
			inner.message = ""
		}
		c.merge(inner)
	}
	if c.message == "" {
		c.message = sentence
	}
}

// isComplaint tells an error in a sentence from other JSON, such as a quoted schema.
func isComplaint(value any) bool {
	switch v := value.(type) {
	case []any:
		return len(v) > 0 && isComplaint(v[0])
	case map[string]any:
		for _, key := range []string{"error", "errors", "message", "detail", "msg"} {
			if _, ok := v[key]; ok {
				return true
			}
		}
	}
	return false
}

func (c *complaint) merge(inner complaint) {
	if c.message == "" {
		c.message = inner.message
	}
	if c.param == "" {
		c.param = inner.param
	}
	if c.status == 0 {
		c.status = inner.status
	}
	c.wait = max(c.wait, inner.wait)
	c.context, c.prompt = max(c.context, inner.context), max(c.prompt, inner.prompt)
	c.refused = append(c.refused, inner.refused...)
	if inner.code != "" {
		c.code += " " + inner.code
	}
}

// list takes several faults, or several forms of one.
func (c *complaint) list(values []any, depth int) {
	var said []string
	for _, value := range values {
		inner := complaint{}
		inner.take(value, depth-1)
		if inner.message != "" && len(said) < maxListed && !slices.Contains(said, inner.message) {
			said = append(said, inner.message)
		}
		inner.message = ""
		c.merge(inner)
	}
	if c.message == "" {
		c.message = strings.Join(said, "; ")
	}
}

// sentences are the fields that hold one, the likeliest first.
var sentences = []string{
	"message", "msg", "error_description", "error_message", "errormessage", "status_msg", "faultstring",
	"detail", "details", "description", "title",
}

// object takes the innermost error first, since the outer ones are of proxies that
// say less. A mere string beside a sentence is a name for the error, as in OAuth.
func (c *complaint) object(fields map[string]any, depth int) {
	low := make(map[string]any, len(fields))
	for key, value := range fields {
		low[strings.ToLower(key)] = value
	}
	c.path(low)
	c.codes(low)
	c.counts(low)
	if raw, ok := low["metadata"].(map[string]any); ok { // OpenRouter hands on what its provider said
		c.take(raw["raw"], depth-1)
		c.delay(raw)
	}
	named := slices.ContainsFunc(sentences, func(key string) bool { s, _ := low[key].(string); return s != "" })
	for _, key := range []string{"error", "errors", "response", "base_resp", "fault", "violations", "fieldviolations"} {
		if name, ok := low[key].(string); ok && named {
			c.code += " " + name
			continue
		}
		inner := complaint{}
		inner.take(low[key], depth-1)
		c.merge(inner)
	}
	for _, key := range sentences {
		if sentence, ok := low[key].(string); ok {
			if c.message == "" {
				c.say(sentence, depth)
			}
			continue
		}
		inner := complaint{}
		inner.take(low[key], depth-1)
		c.merge(inner)
	}
	if low["loc"] != nil && c.param != "" && c.message != "" {
		c.message = c.param + ": " + c.message
	}
}

// path reads where in the request the fault is. A field that is one too many is
// kept apart: there may be several.
func (c *complaint) path(low map[string]any) {
	for _, key := range []string{"param", "field"} {
		if path, ok := low[key].(string); ok && c.param == "" {
			c.param = path
		}
	}
	loc, _ := low["loc"].([]any)
	var steps []string
	for _, step := range loc {
		if s := fmt.Sprint(step); s != "body" {
			steps = append(steps, s)
		}
	}
	if len(steps) == 0 {
		return
	}
	c.param = strings.Join(steps, ".")
	if kind, _ := low["type"].(string); kind == "extra_forbidden" || kind == "value_error.extra" {
		c.refused = append(c.refused, c.param)
	}
}

// codes reads the words and the numbers by which programs know an error.
func (c *complaint) codes(low map[string]any) {
	for _, key := range []string{"type", "code", "status", "reason", "error_type", "error_code", "errorcode", "__type", "status_code", "statuscode", "http_code", "quotaid"} {
		word, ok := low[key].(string)
		if n, isNumber := low[key].(float64); isNumber {
			word, ok = strconv.FormatFloat(n, 'f', -1, 64), true
		}
		if !ok || word == "" || strings.Contains(word, "://") {
			continue
		}
		if n, err := strconv.Atoi(word); err == nil && n >= 400 && n < 600 && c.status == 0 {
			c.status = n
		}
		c.code += " " + word
	}
	c.delay(low)
}

// counts reads the sizes that llama.cpp gives as fields.
func (c *complaint) counts(low map[string]any) {
	if n, ok := low["n_ctx"].(float64); ok && n > 0 && n < 1e9 {
		c.context = int(n)
		if n, ok := low["n_prompt_tokens"].(float64); ok && n > 0 && n < 1e9 {
			c.prompt = int(n)
		}
	}
}

// delay reads the fields in which servers say how long to wait.
func (c *complaint) delay(low map[string]any) {
	for _, key := range []string{"retrydelay", "retry_after", "retry_after_seconds", "retryafter"} {
		switch v := low[key].(type) {
		case string:
			c.wait = max(c.wait, span(v))
		case float64:
			c.wait = max(c.wait, wait(v, time.Second))
		}
	}
}
