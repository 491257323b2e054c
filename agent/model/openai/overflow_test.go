package openai

import "testing"

// TestWhatFitsIsReadFromTheComplaint takes sentences of servers; numbers that mean
// something else must not be taken for a limit.
func TestWhatFitsIsReadFromTheComplaint(t *testing.T) {
	for body, want := range map[string][2]int{
		`{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens."}}`:                                                                              {128000, 130000},
		`{"error":{"message":"This model's maximum context length is 128,000 tokens. However, your messages resulted in 1,130,000 tokens."}}`:                                                                          {128000, 1130000},
		`{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`:                                  {4096, 5000},
		`{"message":"This model's maximum context length is 4096 tokens. However, you requested 4196 tokens (4096 in the messages, 100 in the completion)."}`:                                                          {3996, 4096},
		`{"message":"This model's maximum context length is 4096 tokens. However, you requested 9000 tokens (1000 in the messages, 8000 in the completion)."}`:                                                         {4096, 1000},
		`{"message":"'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 input tokens (2000 > 4096 - 2104)."}`:                    {2096, 2104},
		`{"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 0 output tokens and your prompt contains at least 4097 input tokens, for a total of at least 4097 tokens."}}`: {4096, 4097},
		`{"message":"The input (5000 tokens) is longer than the model's context length (4096 tokens)."}`:                                                                                                               {4096, 5000},
		`{"error":"Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens."}`:                                                          {4096, 15857},
		`{"message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"}`:                                                                                         {32768, 40000},
		`{"error":{"message":"This endpoint's maximum context length is 163840 tokens. However, you requested about 200000 tokens."}}`:                                                                                 {163840, 200000},
		`{"error":{"message":"Provider returned error","metadata":{"raw":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 213462 tokens > 200000 maximum\"}}"}}}`:  {200000, 213462},
		`[{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`:                                                     {1048576, 1196265},
		`{"error":{"message":"The prompt is too long: 131273, model maximum context length: 131072"}}`:                                                                                                                 {131072, 131273},
		`{"error":{"message":"prompt too long; exceeded max context length by 2000 tokens"}}`:                                                                                                                          {0, 0},
		`{"error":{"message":"invalid params, context window exceeds limit (2013)"}}`:                                                                                                                                  {0, 0},
		`{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again."}}`:                                                                                         {0, 0},
		`not a word of it`: {0, 0},
	} {
		if limit, tokens := parseComplaint([]byte(body)).sizes(); limit != want[0] || tokens != want[1] {
			t.Errorf("%s\nsays %d and %d, want %v", body, limit, tokens, want)
		}
	}
}
