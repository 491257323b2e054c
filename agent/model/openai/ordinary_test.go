package openai

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"assent/agent"
)

// TestOrdinaryWordsAreNoReason: tools, schemas and texts are quoted in complaints, and
// their words are not the server's.
func TestOrdinaryWordsAreNoReason(t *testing.T) {
	for _, c := range []struct {
		status int
		said   string
		kind   agent.ModelErrorKind
		again  bool
	}{
		{400, "Invalid schema for function 'recharge_card': wrong", agent.ErrorProvider, false},
		{400, "tool name get_unpaid_invoices does not match pattern", agent.ErrorProvider, false},
		{400, "function get_credit_balance: 'credit balance' is not a valid enum", agent.ErrorProvider, false},
		{500, `failed at {"name":"list_unpaid"}`, agent.ErrorProvider, true},
		{400, "thinking budget has been exceeded", agent.ErrorProvider, false},
		{429, "Number of concurrent requests exceeds the limit of 5", agent.ErrorRateLimit, true},
		{503, "queue is full: number of waiting requests exceeds the limit of 100", agent.ErrorProvider, true},
		{500, "too many tokens in batch, server busy", agent.ErrorProvider, true},
		{400, "number of tools exceeds the limit of 128", agent.ErrorProvider, false},
		{400, "image size exceeds the limit of 5 MB", agent.ErrorProvider, false},
		{400, "Function name exceeds the maximum allowed length of 64", agent.ErrorProvider, false},
		{400, "Invalid schema, description: terms of service", agent.ErrorProvider, false},
		{400, "ids of calls and results do not agree to the order", agent.ErrorProvider, false},
		{400, "Tool 'suspend_user' result: account suspended", agent.ErrorProvider, false},
		{400, "Failed to parse tool call arguments: user said: api key expired", agent.ErrorProvider, false},
		{400, "messages[2].content, moderation tool result missing", agent.ErrorProvider, false},
		{500, "context size has been exceeded", agent.ErrorContextOverflow, false},
		{400, "prompt token count of 9 exceeds the limit of 8", agent.ErrorContextOverflow, false},
		{400, "Your credit balance is too low to access the API", agent.ErrorQuota, false},
		{401, "Missing bearer or basic authentication in header", agent.ErrorAuth, false},
	} {
		err := testServer("").statusError(&http.Response{StatusCode: c.status}, fmt.Appendf(nil, `{"error":{"message":%q}}`, c.said)).(*agent.ModelError)
		if err.Kind != c.kind || err.Retryable() != c.again || strings.Contains(err.Message, "hidden") {
			t.Errorf("%d %s: %s, again %v: %s", c.status, c.said, err.Kind, err.Retryable(), err.Message)
		}
	}
}

// TestWhatAFormGivesUp, and only that, once.
func TestWhatAFormGivesUp(t *testing.T) {
	whole := form{streamed: true, usage: true, encrypted: true, images: true, reasoning: true, extras: true}
	for said, c := range map[string]struct {
		pictures bool
		gives    func(f *form)
	}{
		"Item 'rs_1' of type 'reasoning' was provided without its required following item.":       {false, func(f *form) { f.encrypted = false }},
		"The encrypted content gAAA could not be verified. Reason: organization_id did not match": {false, func(f *form) { f.encrypted = false }},
		"Unknown parameter: 'messages[1].reasoning_content'.":                                     {false, func(f *form) { f.reasoning, f.silent = false, true }},
		"Unrecognized request argument supplied: messages[1].reasoning":                           {false, func(f *form) { f.reasoning, f.silent = false, true }},
		"This model only supports text":                                                           {true, func(f *form) { f.images = false }},
		"This model only supports text.":                                                          {false, nil},
		"The reasoning_content in the thinking mode must be passed back to the API.":              {false, func(f *form) { f.filled = true }},
	} {
		want := whole
		if c.gives != nil {
			c.gives(&want)
		}
		var pictures []agent.Image
		if c.pictures {
			pictures = []agent.Image{{MediaType: "image/png", Data: []byte("x")}}
		}
		got, what := whole.adapt(parseComplaint(fmt.Appendf(nil, `{"error":{"message":%q}}`, said)), pictures)
		if got != want || (what != "") != (c.gives != nil) {
			t.Errorf("%s: %s\n%+v\nwant\n%+v", said, what, got, want)
		}
	}
	off := form{silent: true} // what it gave up it does not take up again
	if got, _ := off.adapt(parseComplaint([]byte(`{"error":"reasoning_content must be passed back"}`)), nil); got != off {
		t.Errorf("%+v", got)
	}
}

// TestOnlySecretsAreSecret: ordinary headers and parameters are words that a text may
// hold, in a journal too.
func TestOnlySecretsAreSecret(t *testing.T) {
	o := Options{
		APIKey: "the-key", BaseURL: "https://someone:pass@host.example/v1?api-version=preview&sig=abc123",
		Headers: map[string]string{
			"X-Title": "my-project", "Accept-Language": "english", "X-Corp": "Token corp-abcdef99", "X-Api-Key": "k1", "Authorization": "Basic dXNlcjpodW50ZXIy",
			"X-Trace": "0af7651916cd43dd8448eb211c80319c", "X-Team": "blue, red and green, since 2024",
		},
	}
	found := Secrets(o)
	for _, secret := range []string{"the-key", "someone", "pass", "abc123", "corp-abcdef99", "k1", "dXNlcjpodW50ZXIy", "hunter2", "0af7651916cd43dd8448eb211c80319c"} {
		if !slices.Contains(found, secret) {
			t.Errorf("%s is not among %q", secret, found)
		}
	}
	for _, plain := range []string{"my-project", "english", "preview", "blue, red and green, since 2024"} {
		if slices.Contains(found, plain) {
			t.Errorf("%s is among %q", plain, found)
		}
	}
}

// TestADisguisedSecretIsHidden: a person could read it still.
func TestADisguisedSecretIsHidden(t *testing.T) {
	base, err := url.Parse("https://host.example/v1")
	if err != nil {
		t.Fatal(err)
	}
	const key = "Zk9/abCd+EfGh12=="
	r := newRedactor(base, Options{APIKey: key})
	for _, text := range []string{
		`["got Zk9\/abCd+EfGh12=="]`, `"\u005ak9/abCd+EfGh12=="`, "Zk9/abCd\n+EfGh12==", "Zk9/abCd\x00+EfGh12==", "it is WmtrOS9hYkNkK0VmR2gxMj09 no", "QmVhcmVyIFprOS9hYkNkK0VmR2gxMj09",
		"proxy http://user:hunter22@proxy.example failed",
	} {
		said := r.clean(text)
		for _, part := range []string{"Zk9", "EfGh12", "QmVhcmVyIFpr", "hunter22"} {
			if strings.Contains(said, part) {
				t.Errorf("%q is shown as %q", text, said)
			}
		}
	}
	if plain := `it's {"a": "b\n"} at https://host.example/v1`; r.clean(plain) != plain {
		t.Errorf("%q is shown as %q", plain, r.clean(plain))
	}
}
