package openai

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestComplaintsOfEveryShape(t *testing.T) {
	for name, w := range map[string]struct {
		body string
		want complaint
	}{
		"an object":                 {`{"error":{"message":"wrong","type":"T","param":"p","code":"C"}}`, complaint{message: "wrong", code: "t c", param: "p"}},
		"a string":                  {`{"error":"wrong"}`, complaint{message: "wrong"}},
		"a list":                    {`[{"error":{"message":"wrong","code":400}}]`, complaint{message: "wrong", code: "400", status: 400}},
		"a list of strings":         {`{"error":["one","two","one","three","four"]}`, complaint{message: "one; two; three"}},
		"errors":                    {`{"success":false,"errors":[{"code":7003,"message":"no route"}]}`, complaint{message: "no route", code: "7003"}},
		"no envelope":               {`{"object":"error","message":"wrong","type":"BadRequestError","param":null,"code":400}`, complaint{message: "wrong", code: "badrequesterror 400", status: 400}},
		"pydantic in a message":     {`{"message":{"detail":[{"type":"extra_forbidden","loc":["body","a","b"],"msg":"Extra"},{"type":"missing","loc":["body","c",0],"msg":"Missing"}]}}`, complaint{message: "a.b: Extra; c.0: Missing", code: "extra_forbidden missing", param: "a.b", refused: []string{"a.b"}}},
		"a detail":                  {`{"detail":"Not Found"}`, complaint{message: "Not Found"}},
		"problem+json":              {`{"type":"about://blank","title":"Bad","detail":"worse","status":422}`, complaint{message: "worse", code: "422", status: 422}},
		"a title alone":             {`{"title":"Bad"}`, complaint{message: "Bad"}},
		"OAuth":                     {`{"error":"invalid_client","error_description":"who are you"}`, complaint{message: "who are you", code: "invalid_client"}},
		"Spring":                    {`{"timestamp":1,"status":404,"error":"Not Found","path":"/v1"}`, complaint{message: "Not Found", code: "404", status: 404}},
		"capital letters":           {`{"Message":"denied","__type":"AccessDenied"}`, complaint{message: "denied", code: "accessdenied"}},
		"a provider's JSON in it":   {`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"inner\",\"param\":\"p\"}}"}}}`, complaint{message: "inner", code: "400", param: "p", status: 400}},
		"a provider's text in it":   {`{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"it broke"}}}`, complaint{message: "it broke", code: "502", status: 502}},
		"JSON behind words":         {`{"error":{"message":"litellm.X: YException - b'{\"error\":{\"message\":\"inner\",\"code\":\"c\"}}'"}}`, complaint{message: "litellm.X: YException - inner", code: "c"}},
		"JSON that is the message":  {`{"error":{"message":"{\n \"error\": {\"code\": 429, \"message\": \"inner\"}}\n"}}`, complaint{message: "inner", code: "429", status: 429}},
		"other JSON behind words":   {`{"error":"bad schema: {\"type\":\"object\"}"}`, complaint{message: `bad schema: {"type":"object"}`}},
		"a time to wait":            {`[{"error":{"message":"m","details":[{"retryDelay":"34.5s"}]}}]`, complaint{message: "m", wait: 34500 * time.Millisecond}},
		"a number that is a status": {`{"error":{"message":"m","http_code":"429"}}`, complaint{message: "m", code: "429", status: 429}},
		"a page":                    {"\n<!doctype html><HTML><TITLE>\n502 &amp; more</TITLE>", complaint{message: "502 & more", page: true}},
		"a page without a title":    {"<html>secret</html>", complaint{page: true}},
		"plain text":                {" no\n", complaint{message: "no"}},
		"an event":                  {"event: error\ndata: {\"error\":\"wrong\"}\n\n", complaint{message: "wrong"}},
		"a string alone":            {`"wrong"`, complaint{message: "wrong"}},
		"null":                      {`null`, complaint{}},
		"a number":                  {`42`, complaint{}},
		"nothing":                   {``, complaint{}},
		"an empty error":            {`{"error":{}}`, complaint{}},
		"an error that is true":     {`{"error":true,"message":"m"}`, complaint{message: "m"}},
		"JSON that is cut":          {`{"error":{"message":"wr`, complaint{message: `{"error":{"message":"wr`}},
		"too deep":                  {strings.Repeat(`{"error":`, 50) + `"x"` + strings.Repeat("}", 50), complaint{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := parseComplaint([]byte(w.body)); !reflect.DeepEqual(got, w.want) {
				t.Errorf("it is %+v, want %+v", got, w.want)
			}
		})
	}
}

func TestFieldsThatAreRefused(t *testing.T) {
	for _, w := range []struct {
		body  string
		names string // fields, with spaces between
		not   string
		param string
	}{
		{`{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`, "max_tokens", "max_completion_tokens", "max_tokens"},
		{`{"error":{"message":"Unsupported parameter: 'max_tokens', use 'max_completion_tokens' instead."}}`, "max_tokens", "max_completion_tokens", "max_tokens"},
		{`{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error","param":null,"code":null}}`, "stream_options", "store", "stream_options"},
		{`{"error":{"message":"Unrecognized request arguments supplied: parallel_tool_calls, stream_options"}}`, "stream_options parallel_tool_calls", "store", "parallel_tool_calls"},
		{`{"error":{"message":"Unknown parameter: 'prompt_cache_key'.","param":"prompt_cache_key","code":"unknown_parameter"}}`, "prompt_cache_key", "store", "prompt_cache_key"},
		{`{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.","param":"temperature","code":"unsupported_value"}}`, "temperature", "store", "temperature"},
		{`{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this model.","param":"reasoning.effort","code":"unsupported_parameter"}}`, "reasoning reasoning_effort", "reasoning_content", "reasoning.effort"},
		{`{"error":{"message":"Your organization must be verified to generate reasoning summaries.","type":"invalid_request_error","param":"reasoning.summary","code":"unsupported_value"}}`, "reasoning.summary summary reasoning", "reasoning_effort reasoning_details", "reasoning.summary"},
		{`{"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error","param":"include","code":null}}`, "include", "store", "include"},
		{`{"error":{"message":"'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]","type":"invalid_request_error"}}`, "reasoning_content", "messages reasoning", "reasoning_content"},
		{`{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted","input":true}]},"type":"invalid_request_error"}`, "stream_options", "include store", "stream_options.include_usage"},
		{`{"detail":[{"loc":["body","store"],"msg":"extra fields not permitted","type":"value_error.extra"}]}`, "store", "stream_options", "store"},
		{`{"message":[{"type":"extra_forbidden","loc":["body","a"],"msg":"Extra inputs are not permitted"},{"type":"extra_forbidden","loc":["body","b"],"msg":"no"},{"type":"extra_forbidden","loc":["body","c"],"msg":"nay"},{"type":"extra_forbidden","loc":["body","messages",1,"assistant","reasoning_content"],"msg":"never"}]}`, "a b c reasoning_content", "messages", "a"},
		{`{"error":"json: unknown field \"prompt_cache_key\""}`, "prompt_cache_key", "store", "prompt_cache_key"},
		{"{\"error\":{\"message\":\"Failed to deserialize the JSON body into the target type: unknown field `store`, expected one of `model`, `messages`, `max_tokens` at line 1 column 5\"}}", "store", "max_tokens model messages", "store"},
		{`{"error":"Unrecognized field \"store\" (class com.example.Request), not marked as ignorable (3 known properties: \"model\", \"temperature\")"}`, "store", "model temperature", "store"},
		{`{"message":"messages.1.content.0.cache_control: Extra inputs are not permitted"}`, "cache_control", "messages content", "messages.1.content.0.cache_control"},
		{`{"message":"system.0.cache_control.ttl: Extra inputs are not permitted"}`, "cache_control", "system_prompt", "system.0.cache_control.ttl"},
		{`{"error":{"message":"Extra inputs are not permitted, field: 'prompt_cache_key', value: 'x'"}}`, "prompt_cache_key", "store", "prompt_cache_key"},
		{`[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"store\": Cannot find field.\nInvalid JSON payload received. Unknown name \"prompt_cache_key\": Cannot find field.","status":"INVALID_ARGUMENT"}}]`, "store prompt_cache_key", "name", "store"},
		{`{"error":"create() got an unexpected keyword argument 'parallel_tool_calls'"}`, "parallel_tool_calls", "store", "parallel_tool_calls"},
		{`{"error":"Additional properties are not allowed ('store' was unexpected)"}`, "store", "stream_options", "store"},
		{`{"error":"additional properties are not allowed: store"}`, "store", "stream_options", "store"},
		{`{"error":"Unrecognized key(s) in object: 'store', 'include'"}`, "store include", "object", "store"},
		{`{"code":"x","error":"Model grok-4 does not support parameter reasoningEffort."}`, "reasoning_effort", "reasoning_content", ""},
		{`{"code":"x","error":"Argument not supported on this model: reasoning_effort"}`, "reasoning_effort", "store", ""},
		{`{"error":{"message":"litellm.UnsupportedParamsError: bedrock does not support parameters: ['parallel_tool_calls', 'store'], for model=x. To drop these, set litellm.drop_params=True"}}`, "parallel_tool_calls store", "model", ""},
		{`{"error":{"message":"registry.ollama.ai/library/x does not support thinking"}}`, "reasoning_effort reasoning", "reasoning_content reasoning_details", ""},
		{"{\"message\":\"`temperature` is deprecated for this model.\"}", "temperature", "model", ""},
		{`{"error":"stream_options is not supported"}`, "stream_options", "stream", ""},
		{`{"error":"The parameter stream_options is not allowed for this model"}`, "stream_options", "model", ""},
		{`{"error":"'store' and 'include' are not supported here"}`, "store include", "here", ""},
		{`{"error":"store must be omitted"}`, "store", "omitted", ""},
		{`{"error":"reasoning_content should not be included in the messages"}`, "reasoning_content", "messages", ""},
		{`{"error":{"message":"Invalid content type. image_url is only supported by certain models.","param":"messages.[0].content.[1].type"}}`, "image_url", "messages content", "messages.[0].content.[1].type"},
		{"{\"error\":\"messages[0]: unknown variant `image_url`, expected `text`\"}", "image_url", "text", ""},
		{`{"message":"Malformed input request: #: extraneous key [store] is not permitted"}`, "store", "input", "store"},

		// Words that are no refusal.
		{`{"error":{"message":"max_tokens is too large: 9999. This model supports at most 4096 completion tokens.","param":"max_tokens","code":"invalid_value"}}`, "", "max_tokens", "max_tokens"},
		{`{"error":{"message":"This model's maximum context length is 4096 tokens. max_tokens is not supported above it."}}`, "", "max_tokens", ""},
		{`{"error":{"message":"input length and max_tokens exceed context limit, decrease max_tokens"}}`, "", "max_tokens", ""},
		{`{"error":{"message":"max_tokens is not allowed to exceed 8192"}}`, "", "max_tokens", ""},
		{`{"error":{"message":"The model does not support max_tokens greater than 8192"}}`, "", "max_tokens", ""},
		{`{"error":{"message":"temperature must be between 0 and 2","param":"temperature"}}`, "", "temperature", "temperature"},
		{`{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API."}}`, "", "reasoning_content reasoning", ""},
		{`{"error":{"message":"stream_options may help. The model x is not supported."}}`, "", "stream_options", ""},
		{`{"error":{"message":"Missing required parameter: 'stream_options'.","param":"stream_options","code":"missing_required_parameter"}}`, "", "stream_options", "stream_options"},
		{`{"error":{"message":"Your request store_id is unknown"}}`, "", "store", ""},
		{`{"error":{"message":"Unknown parameter: 'restore'."}}`, "restore", "store", "restore"},
		{`{"error":{"message":"This model does not support images. Remember to include text."}}`, "", "include text", ""},
		{`{"error":{"message":"Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."}}`, "", "max_tokens max_completion_tokens", ""},
		{`{"error":{"message":"Invalid schema for function 'x': 'include' is not permitted.","param":"tools[0].parameters","code":"invalid_function_parameters"}}`, "", "store tools", "tools[0].parameters"},
		{`{"error":{"message":"slow down, parallel_tool_calls cost more","code":"rate_limit_exceeded"}}`, "", "parallel_tool_calls", ""},
	} {
		c := parseComplaint([]byte(w.body))
		if c.param != w.param {
			t.Errorf("the parameter is %q, want %q: %s", c.param, w.param, w.body)
		}
		for _, field := range strings.Fields(w.names) {
			if !c.names(field) {
				t.Errorf("it does not name %s: %s", field, w.body)
			}
		}
		for _, field := range strings.Fields(w.not) {
			if c.names(field) {
				t.Errorf("it names %s: %s", field, w.body)
			}
		}
	}
}

func TestWhatARequestHasToChange(t *testing.T) {
	for _, w := range []struct {
		want string // the only predicate that holds
		body string
	}{
		{"reasoning back", "{\"error\":{\"message\":\"The `reasoning_content` in the thinking mode must be passed back to the API.\",\"type\":\"invalid_request_error\"}}"},
		{"reasoning back", "{\"error\":{\"message\":\"Missing `reasoning_content` field in the assistant message at message index 2.\"}}"},
		{"reasoning back", `{"error":{"message":"thinking is enabled but reasoning_content is missing in assistant tool call message at index 2","type":"invalid_request_error"}}`},
		{"reasoning back", `{"error":{"message":"Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.","param":"input"}}`},
		{"no system", `{"object":"error","message":"System role not supported System role not supported","type":"BadRequestError"}`},
		{"no system", `{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","param":"messages[0].role","code":"unsupported_value"}}`},
		{"no system", `[{"error":{"code":400,"message":"Developer instruction is not enabled for models/gemma-3-27b-it","status":"INVALID_ARGUMENT"}}]`},
		{"no system", `{"message":"This model doesn't support system messages. Try again without a system message."}`},
		{"no developer", "{\"error\":{\"message\":\"messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool` at line 1 column 58\"}}"},
		{"no developer", `{"error":{"message":"Input tag 'developer' found using 'role' does not match any of the expected tags: 'system', 'user', 'assistant', 'tool'"}}`},
		{"no developer", `{"error":{"message":"'messages.0' : discriminator property 'role' has invalid value","type":"invalid_request_error"}}`},
		{"no developer", `{"error":{"message":"'developer' is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.0.role'"}}`},
		{"alternation", `{"object":"error","message":"Conversation roles must alternate user/assistant/user/assistant/...","type":"BadRequestError"}`},
		{"alternation", `{"message":"After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."}`},
		{"alternation", `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","code":"3230"}`},
		{"no images", `{"error":{"code":"404","message":"No endpoints found that support image input","param":"","type":""}}`},
		{"no images", `{"error":"this model does not support image input"}`},
		{"no images", "{\"error\":{\"message\":\"Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text`\"}}"},
		{"no images", `{"error":"Model does not support images. Please use a model that does."}`},
		{"no images", `{"object":"error","message":"At most 0 image(s) may be provided in one prompt.","code":400}`},
		{"no images", `{"error":"this model is missing data required for image input"}`},
		{"no tools", `{"error":{"message":"x does not support tools"}}`},
		{"", `{"error":{"message":"Image size exceeds 5 MB, we do not support images larger than that"}}`},
		{"", `{"error":{"message":"reasoning_content: Extra inputs are not permitted"}}`},
		{"", `{"error":{"message":"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."}}`},
		{"", `{"error":{"message":"System message must be at the beginning."}}`},
		{"", `{"error":{"message":"the system is not available, ask the developer"}}`},
		{"", `{"error":{"message":"the tools directory was not found"}}`},
	} {
		c := parseComplaint([]byte(w.body))
		for name, holds := range map[string]bool{
			"reasoning back": c.wantsReasoningBack(), "no system": c.refusesSystem(), "no developer": c.refusesDeveloper(),
			"alternation": c.wantsAlternation(), "no images": c.refusesImages(), "no tools": c.refusesTools(),
		} {
			if holds != (name == w.want) {
				t.Errorf("%s is %v, want %q: %s", name, holds, w.want, w.body)
			}
		}
	}
}

func TestWithoutAVariableTheSettingsAreNamed(t *testing.T) {
	s := testServer("")
	s.keyVar, s.hasKey = "", false
	if err := s.classify(401, complaint{}); !strings.HasSuffix(err.Message, "wants an API key, set api_key") {
		t.Error(err.Message)
	}
	s.urlVar = "THE_URL"
	if err := s.classify(404, complaint{}); !strings.Contains(err.Message, "THE_URL") {
		t.Error(err.Message)
	}
}

// The longest complaint takes no longer for a letter than a short one, and shows no
// part of a key.
func TestHugeComplaintsAreReadInLinearTime(t *testing.T) {
	for _, unit := range []string{"x", "does not support ", "`a`, ", "{[", "unknown field ", "1m", "not_found_error", "***"} {
		body := []byte(`{"error":{"message":"` + strings.Repeat(unit, 256<<10/len(unit)) + ` k3y-value"}}`)
		start := time.Now()
		err := testServer("").classify(400, parseComplaint(body))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%q took %v", unit, took)
		}
		if len(err.Message) > 2000 || strings.Contains(err.Message, "k3y") {
			t.Errorf("%q ends in %s", unit, err.Message)
		}
	}
}

func FuzzParseComplaint(f *testing.F) {
	for _, seed := range []string{`{"error":{"message":"x"}}`, `[{"error":"x"}]`, `{"detail":[{"loc":["body",1],"msg":"x","type":"extra_forbidden"}]}`, "<title>x", "data: {}", `{"error":{"message":"a {\"error\":1}"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := parseComplaint(body)
		if err := testServer("").classify(c.status, c); err.Kind == "" || err.Message == "" || strings.ContainsAny(err.Message, "\n\x00") {
			t.Errorf("%q: %s", err.Kind, err.Message)
		}
		_, _, _, _ = c.names("store"), c.refusesDeveloper(), c.wantsAlternation(), c.wantsReasoningBack()
	})
}
