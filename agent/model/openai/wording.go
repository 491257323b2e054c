package openai

import (
	"net/http"
	"strings"
)

// The sentences below are those of OpenAI, Azure, Anthropic, Bedrock, Gemini, Mistral,
// Groq, DeepSeek, Kimi, Qwen, Z.ai, MiniMax, xAI, Cohere, Cerebras, Together, Fireworks,
// OpenRouter, LiteLLM, Copilot, Ollama, llama.cpp, vLLM, SGLang, TGI and LM Studio.
// Codes are few and sentences are kept for years, so phrases are what there is.

// words is all that the server says, in lower case.
func (c complaint) words() string {
	return strings.ToLower(c.code + " " + clipWords(c.message))
}

// clipWords ends a text where no more of a server's own words is to be expected.
func clipWords(text string) string {
	return text[:min(len(text), maxWords)]
}

func says(words string, phrases ...string) bool {
	for _, phrase := range phrases {
		if strings.Contains(words, phrase) {
			return true
		}
	}
	return false
}

// tooLong reports whether the request does not fit the model's context, or whatever
// other bound no waiting will lift.
func (c complaint) tooLong() bool { return c.tooLongAt(0) }

// tooLongAt is tooLong for an answer with a status: a server that is busy speaks of
// its own limits in the same words.
func (c complaint) tooLongAt(status int) bool {
	all := c.words()
	busy := status == http.StatusTooManyRequests || status >= 500
	switch {
	case says(all, "request too large", "request_too_large", "string_above_max_length") && c.aboutMessages():
		return true
	case says(all, "context_length_exceeded", "exceed_context", "context_exceeded", "context_window_exceeded", "model_context_window"):
		return true
	case c.paced():
		return false // "too many tokens" in a minute
	case busy && !says(all, "context"):
		return false
	case says(all, "prompt is too long", "prompt too long", "prompt too large", "prompt is too large", "input is too long", "input too long",
		"conversation is too long", "messages are too long", "maximum prompt length", "too many tokens", "reduce the length of", "reduce your prompt",
		"prompt exceeds max", "range of input length", "inputs must have less than", "tokens to keep from the initial prompt",
		"context the overflows", "prompt 超长", "输入过长", "code 1261"):
		return !says(all, "output tokens exceeds")
	case says(all, "exceeds the limit of", "maximum allowed length") && says(all, "token", "prompt", "context", "input length"):
		return !says(all, "output token", "completion token")
	case says(all, "token limit", "input token count", "input tokens exceed", "max_new_tokens` must be", "maximum input length"):
		return !says(all, "output token", "completion token", "max_tokens")
	}
	return says(all, "context length", "context window", "context size", "context limit", "maximum context", "max context", "context overflow") &&
		says(all, "exceed", "too long", "too large", "too big", "greater", "longer", "larger", "overflow", "maximum", "limit", "requested", "increas", "full") &&
		!says(all, "too small", "memory", "allocate")
}

// aboutMessages tells a conversation that is too large from another field that is.
func (c complaint) aboutMessages() bool {
	return c.param == "" || says(c.param, "content", "input", "messages", "instructions") && !says(c.param, "tools", "name")
}

// paced reports whether a limit is one of speed, which waiting lifts.
func (c complaint) paced() bool {
	return says(c.words(), "rate limit", "rate_limit", "ratelimit", "rate-limit", "per minute", "per min", "per hour", "per day", "per second",
		"too many requests", "too_many_requests", "throttl", "please wait", "(tpm)", "(rpm)", "resource_exhausted", "resource exhausted")
}

// unpaid reports whether only money, or another plan, can help. The word quota alone
// is no proof, and neither is OpenAI's sentence about it: Gemini says the same of
// its limits per minute.
func (c complaint) unpaid(status int) bool {
	all := c.words()
	if says(all, "insufficient_quota", "billing_hard_limit", "billing_not_active", "billing hard limit", "insufficient_balance", "insufficient balance",
		"insufficient credit", "insufficient_credit", "insufficient funds", "insufficient_funds", "not enough credit", "out of credits", "no credits",
		"run out of credit", "credit balance is too low", "all available credits", "余额不足", "欠费", "arrearage", "account is in good standing",
		"free tier of the model has been exhausted", "free allocated quota", "budget_exceeded", "exceeded_current_quota", "billing_error") {
		return true
	}
	if status == http.StatusBadRequest || status == http.StatusUnprocessableEntity || status >= 500 {
		return false // the other words are also those of tools and of texts
	}
	if says(all, "more credits", "credit balance", "spending limit", "spend limit", "spending_limit", "recharge", "key limit exceeded", "included credits",
		"payment required", "payment_required", "budget has been exceeded", "unpaid", "limit: 0,", "limit: 0\n") {
		return true
	}
	return says(all, "exceeded your current quota", "exceeded the current quota") && says(all, "billing") &&
		!c.paced() && !says(all, "gemini", "generativelanguage", "please retry in", "quota_exceeded_per") && c.wait == 0
}

// badKey reports whether the key itself is refused, whatever the status: Gemini and
// xAI answer 400.
func (c complaint) badKey() bool {
	return says(c.words(), "api key not valid", "incorrect api key", "invalid api key", "invalid_api_key", "api_key_invalid", "api key expired. please", "invalid x-api-key",
		"missing api key", "no auth credentials", "no api key", "didn't provide an api key", "authentication_error", "authentication fails", "unauthenticated",
		"invalid authentication", "invalid_authentication", "api key is invalid", "invalid bearer token")
}

// barred says why a request is not let in although the key may be good; "" if it
// does not say so.
func (c complaint) barred() string {
	all := c.words()
	switch {
	case says(all, "country, region", "unsupported_country", "location is not supported", "not available in your region", "not supported in your region",
		"not available in your country", "unsupported region", "from your region", "from your location"):
		return "does not serve the place that the request comes from, go there by another network or choose another provider"
	case says(all, "must be verified", "terms acceptance", "terms_required", "accept the terms", "terms of service", "data policy", "agree to", "consent to"):
		return "wants the terms accepted or the organization verified first, do that in its settings"
	case says(all, "flagged", "moderation", "content_filter", "content policy", "content management policy", "usage policies", "safety system", "data_inspection_failed"):
		return "" // it is what was said, not who says it
	case says(all, "does not have access", "do not have access", "don't have access", "not have permission", "permission denied", "permission_denied", "permission_error",
		"missing scopes", "insufficient permissions", "insufficient_permissions", "model_not_found", "accessdenied", "access_denied", "access denied", "not allowed to access", "not authorized to"):
		return "does not let this account use the model"
	case says(all, "organization has been", "organization_restricted", "member of an organization", "account has been", "account is not active", "deactivated", "suspended"):
		return "has a problem with the account, see its settings"
	}
	return ""
}

// barredFromAll is barred in words that no text has by chance: servers say so with
// statuses that are of other things too.
func (c complaint) barredFromAll() bool {
	return c.barred() != "" && says(c.words(), "country, region", "unsupported_country", "location is not supported", "organization must be verified", "terms_required",
		"terms acceptance", "organization has been disabled", "permission_denied", "permission_error", "accessdenied", "access_denied", "organization_restricted")
}

// flagged reports whether it is the content that is refused.
func (c complaint) flagged() bool {
	return says(c.words(), "flagged", "content_filter", "content policy", "content management policy", "usage policies", "data_inspection_failed")
}

// unknownModel reports whether the model is not there, or not at this address.
func (c complaint) unknownModel() bool {
	all := c.words()
	return says(all, "model_not_found", "deploymentnotfound", "model_not_supported", "unknown model", "unknown_model", "invalid model name", "invalid model:",
		"invalid_model", "not a valid model", "no models loaded", "no model loaded", "no such model", "model not exist", "model not found", "requested model is not supported", "not a chat model",
		"only supported in v1/responses", "no endpoints found for") ||
		says(all, "model") && says(all, "does not exist", "not found, try pulling", "is not found for api version", "has been decommissioned", "has been deprecated", "not currently loaded") ||
		modelNotFound().MatchString(all)
}

var modelNotFound = lazy("(?:\\bmodels?\\b|not_found_error)[:/]? ?['\"`]?[\\w./:@-]{0,80}['\"`]? (?:was |is )?not (?:found|available)")

// loading reports whether the server is still getting ready.
func (c complaint) loading() bool {
	return says(c.words(), "loading model", "model is loading", "currently loading", "still loading", "warming up", "model_loading", "model is not ready", "starting up")
}

// refusesTools reports whether the model, or the server as it runs, can't call tools
// at all; that it can't take some form of them is another matter.
func (c complaint) refusesTools() bool {
	all := c.words()
	if says(all, "--enable-auto-tool-choice", "--tool-call-parser", "requires --jinja", "unsupported param: tools") || c.names("tools") || c.names("functions") {
		return !says(all, "reasoning_effort")
	}
	for _, m := range noTools().FindAllStringSubmatch(all, -1) {
		switch m[1] {
		case "parallel", "strict", "custom", "multiple", "hosted", "built-in", "builtin":
		default:
			return true
		}
	}
	return false
}

var noTools = lazy(`(?:([\w-]+) |^)['"` + "`" + `]?(?:` +
	`(?:does not|doesn't|do not|don't|cannot|can't|not|that) (?:currently |yet )?support (?:the use of |using |this )?(?:native )?(?:tools?\b(?:$|[^\w ]| (?:us|call|in\b|with|for|or\b|and\b|param))|tools\b|tool[-_](?:us|call)|functions?\b(?: call|s|$|[.,]))` +
	`|(?:tools?|functions?)(?:[ _-](?:use|using|usage|calls?|calling))?['"` + "`" + `]* (?:is|are) (?:currently )?(?:not (?:currently |yet )?(?:supported|available|enabled)|unsupported))`)

// refusesImages reports whether the model can't see.
func (c complaint) refusesImages() bool {
	all := c.words()
	if says(all, "unsupported image", "invalid image", "valid image", "image format", "image size", "image type", "support images larger", "support image/") {
		return false // it is about one picture
	}
	if c.names("image_url") || c.names("input_image") {
		return true
	}
	return says(all, "support image", "support vision", "support multimodal", "supports only text", "only supports text", "image input is not", "images are not supported",
		"image inputs are not", "image content is not", "not a multimodal", "not a vision", "at most 0 image", "mmproj", "missing data required for image",
		"only 'text' content type", "cannot read images", "image_url is only", "vision is not", "image input modality", "no image processor")
}

// blamesPictures reports whether a picture can't be read, is too large or of a kind that
// is not taken. Servers say it in a hundred ways, so any that blames the request and
// speaks of a picture counts; where a server blames itself it has to say what failed.
func (c complaint) blamesPictures() bool {
	status, all := c.status, c.words()
	if status == 0 {
		status = statusOf(c.code)
	}
	switch {
	case c.tooLong(), c.unknownModel(), c.badKey(), c.unpaid(status), c.paced(), c.refusesTools():
		return false
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge, status == http.StatusUnsupportedMediaType, status == http.StatusUnprocessableEntity:
		return picture().MatchString(all + " " + strings.ToLower(c.param))
	}
	return (status == 0 || status >= 500) && says(all, "process image", "load image", "decode image", "decoding image", "read image", "open image", "identify image",
		"invalid image", "unsupported image", "image: unknown format", "image exceeds", "image is too large", "image too large", "image data")
}

var picture = lazy(`\b(?:images?|pictures?|image_url|input_image|image_parse_error|invalid_image\w*)\b`)

// refusesSystem reports whether there must be no system prompt of its own.
func (c complaint) refusesSystem() bool {
	all := c.words()
	return says(all, "system role not supported", "system role is not", "support system", "support the system", "support 'system'", `support "system"`, "support a system",
		"system messages are not", "system message is not", "system prompt is not", "system instruction is not", "developer instruction is not",
		"variant `system`", "message role: system", "invalid role: system", "role 'system' is not", "only user and assistant roles", "only user, assistant")
}

// refusesDeveloper reports whether the system prompt must not be the developer's.
func (c complaint) refusesDeveloper() bool {
	all := c.words()
	return says(all, "variant `developer`", "tag 'developer'", "role 'developer'", `role "developer"`, "role: developer", "role:developer", "role developer", "developer role",
		"'developer' role", "support 'developer'", `support "developer"`, "'developer' is not", "'developer' does not", "developer is not one of", "value: 'developer'",
		"discriminator property 'role' has invalid value", "unexpected message role", "developer messages", "developer message is not")
}

// wantsAlternation reports whether two messages of one role must not follow each other.
func (c complaint) wantsAlternation() bool {
	all := c.words()
	return says(all, "must alternate", "should alternate", "roles must be alternating", "alternating roles", "roles in a row", "consecutive messages", "consecutive user", "consecutive assistant",
		"messages with the same role") || says(all, "unexpected role") && says(all, "after role")
}

// wantsReasoningBack reports whether a model's reasoning was missing from the history.
func (c complaint) wantsReasoningBack() bool {
	all := c.words()
	return says(all, "reasoning_content", "reasoning content", "reasoning_details") &&
		says(all, "passed back", "is missing", "missing `reasoning_content`", "missing reasoning_content", "missing 'reasoning_content'", "must be included", "is required",
			"must be provided", "must be returned", "must be present", "cannot be empty", "必须", "缺少") ||
		says(all, "without its required 'reasoning' item", "must start with a thinking block")
}

// refusesSealed reports whether reasoning that went back sealed can't be opened, as by
// another account, or stands where none may.
func (c complaint) refusesSealed() bool {
	all := c.words()
	return says(all, "invalid_encrypted_content", "encrypted content") && says(all, "verified", "verify", "decrypt", "invalid", "not supported", "match") ||
		says(all, "without its required following item")
}
