package openai

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"assent/agent"
)

// wording is an answer as a server gives it, and what it has to mean.
type wording struct {
	name    string
	status  int
	body    string
	headers []string
	title   string // of the server, where it matters

	kind  agent.ModelErrorKind
	again bool
	after time.Duration
	say   string // in the sentence for the person
}

func testServer(title string) server {
	base, _ := url.Parse("https://model.example/v1")
	return server{host: base.Host, model: "tinymodel:latest", hasKey: true, secrets: newRedactor(base, Options{APIKey: "k3y-value"}), keyVar: "THE_KEY", title: title}
}

func checkWordings(t *testing.T, all []wording) {
	t.Helper()
	for _, w := range all {
		t.Run(w.name, func(t *testing.T) {
			h := http.Header{}
			for i := 0; i < len(w.headers); i += 2 {
				h.Set(w.headers[i], w.headers[i+1])
			}
			err, ok := testServer(w.title).statusError(&http.Response{StatusCode: w.status, Header: h}, []byte(w.body)).(*agent.ModelError)
			if !ok {
				t.Fatal("it is no ModelError")
			}
			if err.Kind != w.kind || err.Retryable() != w.again || err.RetryAfter != w.after {
				t.Errorf("%s, again %v after %v; want %s, %v, %v", err.Kind, err.Retryable(), err.RetryAfter, w.kind, w.again, w.after)
			}
			if !strings.Contains(err.Message, w.say) {
				t.Errorf("%q is not in: %s", w.say, err.Message)
			}
		})
	}
}

const (
	overflow  = agent.ErrorContextOverflow
	quota     = agent.ErrorQuota
	rate      = agent.ErrorRateLimit
	config    = agent.ErrorConfig
	auth      = agent.ErrorAuth
	noToolsAt = agent.ErrorNoTools
	provider  = agent.ErrorProvider
)

func TestEveryServerSaysInItsOwnWordsThatTheContextIsFull(t *testing.T) {
	said := func(name string, status int, body string) wording {
		return wording{name: name, status: status, body: body, kind: overflow, say: "too long for the model tinymodel:latest"}
	}
	checkWordings(t, []wording{
		said("OpenAI chat", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`),
		said("OpenAI responses", 400, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`),
		said("OpenAI, more than a minute's tokens", 429, `{"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 31538. The input or output tokens must be reduced in order to run successfully.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`),
		said("OpenAI, one message", 400, `{"error":{"message":"Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760, but got 12000000 instead.","type":"invalid_request_error","param":"messages[1].content","code":"string_above_max_length"}}`),
		said("Groq, more than a minute's tokens", 413, "{\"error\":{\"message\":\"Request too large for model `llama-3.3-70b-versatile` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again.\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}"),
		said("Groq", 400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`),
		said("Ollama", 400, `{"error":{"message":"prompt too long; exceeded max context length by 200 tokens","type":"api_error"}}`),
		said("llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`),
		said("vLLM", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 4196 tokens (4096 in the messages, 100 in the completion).","type":"BadRequestError","param":null,"code":400}`),
		said("vLLM, of the sum", 400, `{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 input tokens (2000 > 4096 - 2104).","type":"BadRequestError","param":"max_tokens","code":400}}`),
		said("SGLang", 400, `{"object":"error","message":"The input (5000 tokens) is longer than the model's context length (4096 tokens).","type":"BadRequestError","param":null,"code":400}`),
		said("LM Studio", 400, `{"error":"Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens."}`),
		said("LM Studio, another", 400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length."}`),
		said("TGI", 422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`\",\"error_type\":\"validation\"}"),
		said("DeepSeek", 400, `{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (136000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`),
		said("Kimi", 400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)","type":"invalid_request_error"}}`),
		said("Mistral", 400, `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_invalid_args","code":"3051"}`),
		said("OpenRouter", 400, `{"error":{"message":"This endpoint's maximum context length is 163840 tokens. However, you requested about 200000 tokens.","code":400,"metadata":{"provider_name":null}}}`),
		said("OpenRouter, of its provider", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 213462 tokens > 200000 maximum\"}}","provider_name":"Anthropic"}}}`),
		said("Gemini", 400, `[{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`),
		said("Anthropic, with the output", 400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again\"}}"),
		said("Anthropic, of bytes", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`),
		said("Bedrock behind LiteLLM", 400, `{"error":{"message":"litellm.BadRequestError: BedrockException - {\"message\":\"Input is too long for requested model.\"}","type":null,"param":null,"code":"400"}}`),
		said("xAI", 400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`),
		said("Cerebras", 400, `{"message":"Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}`),
		said("Together", 422, "{\"error\":{\"message\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens\",\"type\":\"invalid_request_error\"}}"),
		said("Fireworks", 400, `{"error":{"object":"error","type":"invalid_request_error","message":"The prompt is too long: 131273, model maximum context length: 131072"}}`),
		said("DashScope", 400, `{"error":{"code":"invalid_parameter_error","message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]","param":null,"type":"invalid_request_error"}}`),
		said("Z.ai", 400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`),
		said("MiniMax", 400, `{"type":"error","error":{"type":"bad_request_error","message":"invalid params, context window exceeds limit (2013)"}}`),
		said("Copilot", 400, `{"error":{"message":"prompt token count of 135000 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}`),
		said("Cohere", 400, `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081"}`),
		said("a proxy", 413, "<html><head><title>413 Request Entity Too Large</title></head></html>"),
		{name: "a server whose context the person chooses", status: 400, title: "llama.cpp", body: `{"error":"context size exceeded"}`, kind: overflow, say: "--ctx-size"},
	})
}

func TestMoneyAndSpeedAreToldApart(t *testing.T) {
	checkWordings(t, []wording{
		{name: "OpenAI's empty account", status: 429, body: `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, kind: quota, say: "billing"},
		{name: "the same without a code", status: 429, body: `{"error":{"message":"OpenAIException - You exceeded your current quota, please check your plan and billing details."}}`, kind: quota},
		{name: "Gemini's limit per minute in the same words", status: 429,
			body:  `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 10\nPlease retry in 34.07s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m","quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]`,
			kind:  rate,
			again: true, after: 34 * time.Second},
		{name: "Gemini without a free tier", status: 429, body: `[{"error":{"code":429,"message":"You exceeded your current quota.\n* Quota exceeded for metric: x_free_tier_requests, limit: 0, model: gemini-3-pro","status":"RESOURCE_EXHAUSTED"}}]`, kind: quota},
		{name: "Gemini's short form", status: 429, body: `[{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}]`, kind: rate, again: true},
		{name: "a status that says it all", status: 402, body: ``, kind: quota},
		{name: "OpenRouter's credits", status: 402, body: `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 3395.","code":402}}`, kind: quota},
		{name: "OpenRouter's credits for the prompt", status: 402, body: `{"error":{"message":"Prompt tokens limit exceeded: 69120 > 36608. To increase, visit https://openrouter.ai/settings/credits","code":402}}`, kind: quota},
		{name: "OpenRouter's key limit", status: 403, body: `{"error":{"message":"Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys","code":403}}`, kind: quota},
		{name: "DeepSeek", status: 402, body: `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, kind: quota},
		{name: "Kimi", status: 429, body: `{"error":{"message":"Your account org-x <ak-x> is suspended due to insufficient balance, please recharge your account","type":"exceeded_current_quota_error"}}`, kind: quota},
		{name: "Z.ai", status: 429, body: `{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`, kind: quota},
		{name: "Z.ai in Chinese", status: 429, body: `{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}`, kind: quota},
		{name: "MiniMax, as its own fault", status: 500, body: `{"type":"error","error":{"type":"api_error","message":"insufficient balance (1008)"}}`, kind: quota},
		{name: "MiniMax, as a base_resp", status: 200, body: `{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, kind: quota},
		{name: "Anthropic", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, kind: quota},
		{name: "xAI", status: 403, body: `{"code":"The caller does not have permission to execute the specified operation","error":"Your team x has either used all available credits or reached its monthly spending limit."}`, kind: quota},
		{name: "DashScope in arrears", status: 400, body: `{"error":{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing.","type":"Arrearage"}}`, kind: quota},
		{name: "LiteLLM's budget", status: 400, body: `{"error":{"message":"Budget has been exceeded! Current cost: 10.1, Max budget: 10.0","type":"budget_exceeded","param":null,"code":"400"}}`, kind: quota},

		{name: "OpenAI's tokens per minute", status: 429, body: `{"error":{"message":"Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s. Visit https://platform.openai.com/account/rate-limits to learn more.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, kind: rate, again: true, after: 2 * time.Second},
		{name: "OpenAI's advice to pay for more speed", status: 429, body: `{"error":{"message":"Rate limit reached on requests per minute. Limit: 3 / min. Please try again in 20s. Please add a payment method to your account to increase your rate limit. Visit https://platform.openai.com/account/billing to add a payment method.","type":"requests","code":null}}`, kind: rate, again: true, after: 20 * time.Second},
		{name: "Groq's tokens per day", status: 429, body: `{"error":{"message":"Rate limit reached on tokens per day (TPD): Limit 100000, Used 99900, Requested 600. Please try again in 7m12.5s. Need more tokens? Upgrade at https://console.groq.com/settings/billing","type":"tokens","code":"rate_limit_exceeded"}}`, kind: rate, again: true, after: 7*time.Minute + 12500*time.Millisecond},
		{name: "Azure", status: 429, body: `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 7 seconds. Please go here: https://aka.ms/oai/quotaincrease if you would like to further increase the default rate limit."}}`, kind: rate, again: true, after: 7 * time.Second},
		{name: "Cerebras", status: 429, body: `{"message":"Tokens per minute limit exceeded - too many tokens processed.","type":"too_many_tokens_error","param":"quota","code":"token_quota_exceeded"}`, kind: rate, again: true},
		{name: "Bedrock", status: 429, body: `{"__type":"ThrottlingException","message":"Too many tokens, please wait before trying again."}`, kind: rate, again: true},
		{name: "Anthropic's long context", status: 429, body: `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 30,000 input tokens per minute"}}`, kind: rate, again: true},
		{name: "Z.ai's speed", status: 429, body: `{"error":{"code":"1302","message":"High concurrency usage of this API, please reduce concurrency"}}`, kind: rate, again: true},
		{name: "a secondary limit as 403", status: 403, body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`, kind: rate, again: true},
		{name: "OpenRouter's free models", status: 429, body: `{"error":{"message":"Rate limit exceeded: free-models-per-min.","code":429}}`, kind: rate, again: true},
		{name: "Anthropic's overload is neither", status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, kind: provider, again: true, say: "overloaded"},
	})
}

func TestHowLongToWait(t *testing.T) {
	slow := func(name string, after time.Duration, sentence string, headers ...string) wording {
		return wording{name: name, status: 429, body: `{"error":{"message":"` + sentence + `","code":"rate_limit_exceeded"}}`, headers: headers, kind: rate, again: true, after: after}
	}
	checkWordings(t, []wording{
		slow("the header before the sentence", 3*time.Second, "try again in 9s", "Retry-After", "3"),
		slow("the sentence before the limits", 1500*time.Millisecond, "Please try again in 1.5s.", "X-Ratelimit-Reset-Requests", "8s"),
		slow("milliseconds", 20*time.Millisecond, "Please try again in 20ms."),
		slow("minutes and seconds", 6*time.Minute, "Please try again in 6m0s."),
		slow("words", 90*time.Second, "Wait 1 minute 30 seconds and repeat"),
		slow("seconds without a unit", 30*time.Second, "retry after 30."),
		slow("between words", 30*time.Second, "please retry your request after 30 sec"),
		slow("a quota that resets", 56*time.Second, "Your quota will reset after 56s."),
		slow("more than a day", 24*time.Hour, "Please retry after 864000 seconds."),
		slow("tokens are no time", 0, "try reducing it to 8192 tokens, or wait for 3 messages"),
		slow("nothing", 0, "slow down"),
		slow("a limit's header", 8*time.Second, "slow down", "X-Ratelimit-Reset-Requests", "8s"),
		slow("the limit that was hit", 6*time.Minute, "slow down", "X-Ratelimit-Reset-Requests", "8s", "X-Ratelimit-Remaining-Requests", "5", "X-Ratelimit-Reset-Tokens", "6m0s", "X-Ratelimit-Remaining-Tokens", "0"),
		slow("the first of two limits", 20*time.Millisecond, "slow down", "X-Ratelimit-Reset-Requests", "8s", "X-Ratelimit-Reset-Tokens", "20ms"),
		slow("a moment in milliseconds", 90*time.Second, "slow down", "Date", "Tue, 01 Jan 2030 00:00:00 GMT", "X-Ratelimit-Reset", "1893456090000"),
		slow("a moment in seconds", 90*time.Second, "slow down", "Date", "Tue, 01 Jan 2030 00:00:00 GMT", "X-Ratelimit-Reset", "1893456090"),
		slow("a moment as a date", 90*time.Second, "slow down", "Date", "Tue, 01 Jan 2030 00:00:00 GMT", "X-Ratelimit-Reset-Tokens", "2030-01-01T00:01:30Z"),
		slow("seconds of a limit", 7660*time.Millisecond, "slow down", "X-Ratelimit-Reset-Tokens-Minute", "7.66"),
		slow("a limit that is gone", 0, "slow down", "X-Ratelimit-Reset", "1234567890", "Date", "Tue, 01 Jan 2030 00:00:00 GMT"),
		{name: "an overloaded server", status: 503, body: `{"error":"try again in 5 seconds"}`, kind: provider, again: true, after: 5 * time.Second},
		{name: "another overloaded server", status: 529, body: `{"error":{"message":"busy","retry_after":4}}`, kind: provider, again: true, after: 4 * time.Second},
		{name: "a limit of a server that failed", status: 503, headers: []string{"X-Ratelimit-Reset-Requests", "8s"}, kind: provider, again: true},
		{name: "a request that is wrong", status: 400, body: `{"error":"wrong, do not try again in 5 seconds"}`, kind: provider},
	})
}

func TestModelsWithoutTools(t *testing.T) {
	checkWordings(t, []wording{
		{name: "Ollama", status: 400, title: "Ollama", body: `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error","param":null,"code":null}}`, kind: noToolsAt, say: "tinymodel:latest"},
		{name: "OpenRouter", status: 404, body: `{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing","code":404}}`, kind: noToolsAt, say: "choose a model"},
		{name: "OpenRouter, newer", status: 404, body: `{"error":{"message":"No endpoints found that support tool use. Try disabling \"question\".","code":404}}`, kind: noToolsAt},
		{name: "vLLM", status: 400, body: `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`, kind: noToolsAt, say: "start the server with --enable-auto-tool-choice and --tool-call-parser"},
		{name: "SGLang", status: 400, title: "SGLang", body: `{"message":"Tool calls need --tool-call-parser"}`, kind: noToolsAt, say: "start the server with --tool-call-parser"},
		{name: "llama.cpp", status: 500, body: `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, kind: noToolsAt, say: "--jinja"},
		{name: "llama.cpp, older", status: 500, title: "llama.cpp", body: `{"code":500,"message":"Unsupported param: tools","type":"server_error"}`, kind: noToolsAt, say: "--jinja"},
		{name: "Groq", status: 400, body: "{\"error\":{\"message\":\"`tool calling` is not supported with this model\",\"type\":\"invalid_request_error\"}}", kind: noToolsAt},
		{name: "DeepSeek", status: 400, body: `{"error":{"message":"deepseek-reasoner does not support Function Calling","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, kind: noToolsAt},
		{name: "Bedrock", status: 400, body: `{"message":"This model doesn't support tool use."}`, kind: noToolsAt},
		{name: "Bedrock, older", status: 400, body: `{"message":"Malformed input request: #: extraneous key [tools] is not permitted, please reformat your input and try again."}`, kind: noToolsAt},
		{name: "OpenAI's old models", status: 400, body: `{"error":{"message":"tools is not supported in this model. For a list of supported models, see the docs.","type":"invalid_request_error","param":null,"code":null}}`, kind: noToolsAt},
		{name: "Mistral", status: 422, body: `{"object":"Error","detail":[{"type":"extra_forbidden","loc":["body","tools"],"msg":"Extra inputs are not permitted","input":[]}],"type":"invalid_request_error","code":3001}`, kind: noToolsAt},

		{name: "a tool choice is another matter", status: 404, body: `{"error":{"message":"No endpoints found that support the provided 'tool_choice' value.","code":404}}`, kind: config},
		{name: "a tool choice of Bedrock", status: 400, body: `{"message":"This model doesn't support the toolConfig.toolChoice.any field. Remove toolConfig.toolChoice.any and try again"}`, kind: provider},
		{name: "parallel calls", status: 400, body: `{"error":{"message":"This model does not support parallel tool calls"}}`, kind: provider},
		{name: "strict calls", status: 400, body: `{"error":{"message":"Strict tool calling is not supported"}}`, kind: provider},
		{name: "tools with reasoning", status: 400, body: `{"error":{"message":"Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses instead.","param":"reasoning_effort","type":"invalid_request_error","code":null}}`, kind: config, say: "Responses"},
		{name: "a schema of a tool", status: 400, body: `{"error":{"message":"Invalid schema for function 'edit': In context=(), 'oneOf' is not permitted.","type":"invalid_request_error","param":"tools[0].function.parameters","code":"invalid_function_parameters"}}`, kind: provider, say: "edit"},
		{name: "a word of a schema", status: 400, body: `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"const\" at 'tools[0].function_declarations[5].parameters': Cannot find field.","status":"INVALID_ARGUMENT"}}]`, kind: provider},
		{name: "a part of a tool", status: 422, body: `{"detail":[{"type":"extra_forbidden","loc":["body","tools",0,"function","strict"],"msg":"Extra inputs are not permitted"}]}`, kind: provider},
		{name: "too many tools", status: 400, body: `{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.","param":"tools","code":"array_above_max_length"}}`, kind: provider},
		{name: "a call that the model got wrong", status: 400, body: `{"error":{"message":"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=x>"}}`, kind: provider, again: true, say: "call"},
	})
}

func TestWhoIsNotLetIn(t *testing.T) {
	checkWordings(t, []wording{
		{name: "OpenAI's key", status: 401, body: `{"error":{"message":"Incorrect API key provided: sk-abc***xyz.","type":"invalid_request_error","code":"invalid_api_key"}}`, kind: auth, say: "check THE_KEY"},
		{name: "Gemini's key", status: 400, body: `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}]`, kind: auth, say: "check THE_KEY"},
		{name: "xAI's key", status: 400, body: `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***yz."}`, kind: auth, say: "check THE_KEY"},
		{name: "OpenRouter's key", status: 401, body: `{"error":{"message":"No auth credentials found","code":401}}`, kind: auth, say: "check THE_KEY"},
		{name: "DeepSeek's key", status: 401, body: `{"error":{"message":"Authentication Fails (no such user)","type":"authentication_error"}}`, kind: auth, say: "check THE_KEY"},
		{name: "a key without a word", status: 403, body: ``, kind: auth, say: "check THE_KEY"},

		{name: "OpenAI's countries", status: 403, body: `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}`, kind: auth, say: "the place that the request comes from"},
		{name: "Gemini's places", status: 400, body: `[{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}]`, kind: auth, say: "the place"},
		{name: "a verified organization", status: 400, body: `{"error":{"message":"Your organization must be verified to stream this model. Please go to the settings.","type":"invalid_request_error","param":"stream","code":"unsupported_value"}}`, kind: auth, say: "verified"},
		{name: "Groq's terms", status: 400, body: "{\"error\":{\"message\":\"The model `x` requires terms acceptance.\",\"type\":\"invalid_request_error\",\"code\":\"model_terms_required\"}}", kind: auth, say: "terms"},
		{name: "a project without the model", status: 403, body: "{\"error\":{\"message\":\"Project `proj_x` does not have access to model `gpt-5`\",\"type\":\"invalid_request_error\",\"code\":\"model_not_found\"}}", kind: auth, say: "let this account use the model"},
		{name: "Bedrock's models", status: 403, body: `{"message":"You don't have access to the model with the specified model ID."}`, kind: auth, say: "let this account use the model"},
		{name: "DashScope's models", status: 403, body: `{"error":{"message":"Model access denied.","code":"Model.AccessDenied"}}`, kind: auth, say: "let this account use the model"},
		{name: "Anthropic's organizations", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"This organization has been disabled."}}`, kind: auth, say: "account"},
		{name: "a restricted key", status: 401, body: `{"error":{"message":"You have insufficient permissions for this operation. Missing scopes: model.request.","type":"invalid_request_error"}}`, kind: auth, say: "let this account"},
		{name: "a firewall", status: 403, body: "<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head><body>k3y</body></html>", kind: auth, say: "proxy before it refuses the request, check the network and THE_KEY: Attention Required! | Cloudflare"},

		{name: "what was said", status: 403, body: `{"error":{"message":"Your chosen model requires moderation and your input was flagged for \"violence\".","code":403}}`, kind: provider, say: "other words"},
		{name: "Azure's filter", status: 400, body: `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","param":"prompt","code":"content_filter","status":400}}`, kind: provider, say: "other words"},
	})
}

func TestModelsThatAreNotThere(t *testing.T) {
	missing := func(name string, status int, body string) wording {
		return wording{name: name, status: status, body: body, kind: config, say: "model.example has no model tinymodel:latest, check ASSENT_MODEL:"}
	}
	checkWordings(t, []wording{
		missing("OpenAI", 404, "{\"error\":{\"message\":\"The model `x` does not exist or you do not have access to it.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"model_not_found\"}}"),
		missing("Azure", 404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`),
		missing("vLLM", 404, "{\"object\":\"error\",\"message\":\"The model `x` does not exist.\",\"type\":\"NotFoundError\",\"param\":null,\"code\":404}"),
		missing("DeepSeek", 400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`),
		missing("Mistral", 400, `{"object":"error","message":"Invalid model: x","type":"invalid_model","param":null,"code":"1500"}`),
		missing("OpenRouter", 400, `{"error":{"message":"x/y is not a valid model ID","code":400}}`),
		missing("OpenRouter, gone", 404, `{"error":{"message":"No endpoints found for nousresearch/hermes-3:free.","code":404}}`),
		missing("Gemini", 404, `[{"error":{"code":404,"message":"models/x is not found for API version v1main, or is not supported for generateContent.","status":"NOT_FOUND"}}]`),
		missing("Anthropic", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-x not found"}}`),
		missing("Z.ai", 400, `{"error":{"code":"1211","message":"Unknown Model, please check the model code."}}`),
		missing("LiteLLM", 400, "{\"error\":{\"message\":\"/chat/completions: Invalid model name passed in model=x. Call `/v1/models` to view available models for your key.\",\"code\":\"400\"}}"),
		missing("Fireworks", 404, `{"error":{"message":"Model not found, inaccessible, and/or not deployed","code":"NOT_FOUND"}}`),
		missing("Copilot", 400, `{"error":{"message":"The requested model is not supported.","code":"model_not_supported","param":"model","type":"invalid_request_error"}}`),
		missing("Groq, gone", 400, "{\"error\":{\"message\":\"The model `x` has been decommissioned and is no longer supported.\",\"code\":\"model_decommissioned\"}}"),
		{name: "Ollama", status: 404, title: "Ollama", body: `{"error":{"message":"model \"tinymodel:latest\" not found, try pulling it first","type":"not_found_error"}}`, kind: config, say: "ollama pull tinymodel:latest"},
		{name: "LM Studio", status: 404, body: "{\"error\":{\"message\":\"No models loaded. Please load a model in the developer page or use the `lms load` command.\"}}", kind: config, say: "load tinymodel:latest there first"},
		{name: "the other API", status: 404, body: `{"error":{"message":"This model is only supported in v1/responses and not in v1/chat/completions.","type":"invalid_request_error","param":"model","code":null}}`, kind: config, say: "api to responses"},
		{name: "a wrong address", status: 404, body: `404 page not found`, kind: config, say: "base_url ends in the API's path"},
		{name: "a method that is not allowed", status: 405, body: `{"detail":"Method Not Allowed"}`, kind: config, say: "base_url"},
		{name: "a tool that is not there", status: 400, body: `{"error":{"message":"Tool call id call_1 not found in the model's messages"}}`, kind: provider, say: "does not accept the request"},
		{name: "a file that is not there", status: 400, body: `{"error":{"message":"File file-1 does not exist"}}`, kind: provider},
	})
}

func TestFaultsOfServers(t *testing.T) {
	checkWordings(t, []wording{
		{name: "llama.cpp is loading", status: 503, body: `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, kind: provider, again: true, say: "still loading the model tinymodel:latest"},
		{name: "Hugging Face is loading", status: 503, body: `{"error":"Model x is currently loading","estimated_time":20.0}`, kind: provider, again: true, say: "still loading"},
		{name: "an API that is not made yet", status: 501, body: `{"error":{"code":501,"message":"This server does not support it","type":"not_supported_error"}}`, kind: provider, again: true, say: "does not have this API"},
		{name: "too little memory", status: 500, body: `{"error":{"message":"model requires more system memory (5.6 GiB) than is available (2.1 GiB)"}}`, kind: provider, again: true, say: "system memory"},
		{name: "a context that can't be allocated", status: 500, body: `{"error":{"message":"failed to allocate a context size of 131072, too large for the memory"}}`, kind: provider, again: true},
		{name: "images for llama.cpp", status: 500, body: `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`, kind: config, say: "does not take images"},
		{name: "too much output", status: 400, body: `{"error":{"message":"max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}`, kind: provider},
		{name: "too much output in other words", status: 400, body: `{"error":{"message":"max_tokens exceeds the model's output token limit"}}`, kind: provider},
		{name: "a context that is too small", status: 400, body: `{"error":{"message":"Model context window too small (minimum is 128k tokens)"}}`, kind: provider},
		{name: "another field that is too long", status: 400, body: `{"error":{"message":"Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64.","param":"prompt_cache_key","code":"string_above_max_length"}}`, kind: provider},
		{name: "a word of the conversation, far behind", status: 400, body: `{"error":{"message":"wrong: ` + strings.Repeat("x", 5000) + ` does not support tools, insufficient_quota"}}`, kind: provider},
	})
}

func TestErrorsAmongTheEvents(t *testing.T) {
	for name, w := range map[string]struct {
		event  string
		kind   agent.ModelErrorKind
		status int
		again  bool
		after  time.Duration
	}{
		"a fault of the server":        {`{"error":{"message":"worker limit reached","type":"server_error"}}`, provider, 0, true, 0},
		"a mere sentence":              {`{"error":"oops"}`, provider, 0, true, 0},
		"a number":                     {`{"error":{"message":"oops","code":502}}`, provider, 502, true, 0},
		"a number in words":            {`{"error":{"message":"wrong","code":"400"}}`, provider, 400, false, 0},
		"Responses, too long":          {`{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}`, overflow, 0, false, 0},
		"Responses, too fast":          {`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Rate limit reached. Please try again in 2s."}}}`, rate, 0, true, 2 * time.Second},
		"Responses, its own fault":     {`{"type":"error","code":"server_error","message":"An error occurred while processing your request.","param":null,"sequence_number":3}`, provider, 0, true, 0},
		"Responses, the prompt":        {`{"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"Invalid prompt."}}}`, provider, 400, false, 0},
		"Responses, nested":            {`{"type":"error","error":{"type":"invalid_request_error","code":null,"message":"No tool call found for function call output."}}`, provider, 400, false, 0},
		"Responses, overloaded":        {`{"type":"response.failed","response":{"error":{"code":"server_is_overloaded","message":"Try again."}}}`, provider, 0, true, 0},
		"Responses, no money":          {`{"type":"error","error":{"type":"insufficient_quota","code":"insufficient_quota","message":"You exceeded your current quota."}}`, quota, 0, false, 0},
		"OpenRouter, cut off":          {`{"id":"g","error":{"code":"server_error","message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`, provider, 0, true, 0},
		"Anthropic, overloaded":        {`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, provider, 0, true, 0},
		"a key that was withdrawn":     {`{"error":{"type":"authentication_error","message":"invalid x-api-key"}}`, auth, 401, false, 0},
		"a model that has gone":        {`{"error":{"type":"not_found_error","message":"model: x not found"}}`, config, 404, false, 0},
		"Ollama, a call it can't read": {`{"error":{"message":"error parsing tool call: raw='{\"a\"'","type":"api_error"}}`, provider, 0, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			err, ok := testServer("").streamError([]byte(w.event)).(*agent.ModelError)
			if !ok || err.Kind != w.kind || err.Status != w.status || err.Retryable() != w.again || err.RetryAfter != w.after {
				t.Errorf("%s, status %d, again %v after %v: %s", err.Kind, err.Status, err.Retryable(), err.RetryAfter, err.Message)
			}
		})
	}
}
