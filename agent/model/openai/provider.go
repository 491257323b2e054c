package openai

import (
	"net/url"
	"slices"
	"strings"
)

// Wires that a server may speak.
const (
	APIChat      = "chat"      // Chat Completions
	APIResponses = "responses" // OpenAI's Responses
)

// Provider is a kind of model server: where it is, and what it does in its own way.
// What is not known of a server is found out by asking (adapt.go), so these are
// only the defaults that spare the first refusal.
type Provider struct {
	Name    string // as the settings call it
	Title   string // as its makers call it
	BaseURL string // with the version path; "": every user has another
	URLVar  string // environment variable with the address, may be ""
	KeyVar  string // environment variable with the key, may be ""
	Local   bool   // runs on the person's own machine and needs no key
	API     string // its default wire

	dialect dialect
}

// dialect is what a server wants in its own way.
type dialect struct {
	keyHeader string // that carries the key; "": Authorization
	ids       idForm // of calls
	noUsage   bool   // it counts tokens unasked, and refuses stream_options
	reasoning bool   // it wants its reasoning back, in the field that it came in
	maxTokens string // name of that field, "" is max_tokens
	developer bool   // the system prompt is the developer's
	cacheKey  bool   // it knows prompt_cache_key
	marks     bool   // it knows cache_control, for models of Anthropic
	schema    schemaDialect
}

var providers = []Provider{
	{Name: "openai", Title: "OpenAI", BaseURL: "https://api.openai.com/v1", URLVar: "OPENAI_BASE_URL", KeyVar: "OPENAI_API_KEY", API: APIResponses,
		dialect: dialect{maxTokens: "max_completion_tokens", developer: true, cacheKey: true}},
	{Name: "azure", Title: "Azure OpenAI", URLVar: "AZURE_OPENAI_ENDPOINT", KeyVar: "AZURE_OPENAI_API_KEY", API: APIChat,
		dialect: dialect{keyHeader: "api-key", maxTokens: "max_completion_tokens"}},
	{Name: "ollama", Title: "Ollama", BaseURL: "http://localhost:11434/v1", URLVar: "OLLAMA_HOST", Local: true, API: APIChat,
		dialect: dialect{ids: idsAny, reasoning: true}},
	{Name: "llamacpp", Title: "llama.cpp", BaseURL: "http://localhost:8080/v1", KeyVar: "LLAMA_API_KEY", Local: true, API: APIChat,
		dialect: dialect{ids: idsAny, reasoning: true, schema: schemaPlain}},
	{Name: "vllm", Title: "vLLM", BaseURL: "http://localhost:8000/v1", KeyVar: "VLLM_API_KEY", Local: true, API: APIChat,
		dialect: dialect{ids: idsAny, reasoning: true}},
	{Name: "sglang", Title: "SGLang", BaseURL: "http://localhost:30000/v1", Local: true, API: APIChat,
		dialect: dialect{ids: idsAny, reasoning: true}},
	{Name: "lmstudio", Title: "LM Studio", BaseURL: "http://localhost:1234/v1", Local: true, API: APIChat,
		dialect: dialect{ids: idsAny, schema: schemaPlain}},
	{Name: "deepseek", Title: "DeepSeek", BaseURL: "https://api.deepseek.com/v1", KeyVar: "DEEPSEEK_API_KEY", API: APIChat,
		dialect: dialect{reasoning: true}},
	{Name: "kimi", Title: "Kimi (Moonshot AI)", BaseURL: "https://api.moonshot.ai/v1", KeyVar: "MOONSHOT_API_KEY", API: APIChat,
		dialect: dialect{ids: idsAny, reasoning: true, schema: schemaKimi}},
	{Name: "mistral", Title: "Mistral", BaseURL: "https://api.mistral.ai/v1", KeyVar: "MISTRAL_API_KEY", API: APIChat,
		dialect: dialect{ids: idsNine, noUsage: true}},
	{Name: "groq", Title: "Groq", BaseURL: "https://api.groq.com/openai/v1", KeyVar: "GROQ_API_KEY", API: APIChat,
		dialect: dialect{maxTokens: "max_completion_tokens"}},
	{Name: "openrouter", Title: "OpenRouter", BaseURL: "https://openrouter.ai/api/v1", KeyVar: "OPENROUTER_API_KEY", API: APIChat,
		dialect: dialect{reasoning: true, marks: true}},
	{Name: "gemini", Title: "Gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", KeyVar: "GEMINI_API_KEY", API: APIChat,
		dialect: dialect{schema: schemaPlain}},
}

// Providers are the kinds of servers that are known by name.
func Providers() []Provider { return slices.Clone(providers) }

// ProviderNamed is one of [Providers].
func ProviderNamed(name string) (Provider, bool) {
	i := slices.IndexFunc(providers, func(p Provider) bool { return p.Name == name })
	if i < 0 {
		return Provider{}, false
	}
	return providers[i], true
}

// providerAt is the kind of server at an address: the named one, or the one whose
// address it is, or one of which nothing is known.
func providerAt(name string, base *url.URL) Provider {
	at := place(base)
	if p, ok := ProviderNamed(name); ok && (name != "openai" || at == "api.openai.com") {
		return p
	}
	for _, p := range providers {
		if home, err := url.Parse(p.BaseURL); err == nil && home.Host != "" && place(home) == at {
			return p
		}
	}
	switch host := strings.ToLower(base.Hostname()); {
	case strings.HasSuffix(host, ".openai.azure.com"), strings.HasSuffix(host, ".services.ai.azure.com"):
		p, _ := ProviderNamed("azure")
		return p
	}
	return Provider{Name: "openai", Title: base.Host, URLVar: "OPENAI_BASE_URL", KeyVar: "OPENAI_API_KEY", API: APIChat}
}

// place is a host and its port in the one spelling that they are compared in.
func place(u *url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "127.0.0.1" || host == "::1" {
		host = "localhost"
	}
	if port := u.Port(); port != "" && !(u.Scheme == "https" && port == "443") && !(u.Scheme == "http" && port == "80") {
		host += ":" + port
	}
	return host
}
