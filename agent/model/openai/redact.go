package openai

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxSaid = 300 // characters of a server's own words

// secretName is of headers and of parameters of an address whose value nobody may read.
var secretName = lazy(`(?i)key|token|secret|sig|auth|pass|code|cookie|credential`)

// scheme begins the value of a header that proves who sends it.
var scheme = lazy(`(?i)^(?:bearer|basic|token|digest|api-?key|negotiate)\s+`)

// Secrets are what of the options nobody may read anywhere: the key, user and password
// of the address, and of its parameters and the headers those that prove who sends the
// request. The others are ordinary words, which must stay readable in texts.
func Secrets(o Options) []string {
	found := []string{o.APIKey}
	for name, value := range o.Headers {
		token := scheme().ReplaceAllString(value, "")
		if !secretName().MatchString(name) && token == value && !looksSecret(value) {
			continue
		}
		found = append(found, value, token)
		if pair, err := base64.StdEncoding.DecodeString(token); err == nil {
			_, password, _ := strings.Cut(string(pair), ":")
			found = append(found, string(pair), password)
		}
	}
	base, err := url.Parse(o.BaseURL)
	if err != nil { // it can't be said what of it is secret
		return append(found, o.BaseURL)
	}
	if u := base.User; u != nil {
		password, _ := u.Password()
		found = append(found, u.String(), u.Username(), password, u.Username()+":"+password)
	}
	for name, values := range base.Query() {
		for _, value := range values {
			if secretName().MatchString(name) || looksSecret(value) {
				found = append(found, value)
			}
		}
	}
	return found
}

// looksSecret reports whether a value is long and mixed, as keys are and words are not.
func looksSecret(value string) bool {
	return len(value) >= 20 && strings.ContainsAny(value, "0123456789") && !strings.ContainsAny(value, " ,;")
}

// LooksLikeKey reports whether a word is a key rather than the name of a variable:
// it begins as keys do, or is long and mixed in a way that names are not.
func LooksLikeKey(word string) bool {
	if keyPrefix().MatchString(word) {
		return true
	}
	mixed := strings.ContainsFunc(word, unicode.IsLower) || !strings.Contains(word, "_")
	return len(word) >= 16 && strings.ContainsAny(word, "0123456789") && mixed
}

var keyPrefix = lazy(`^(?:(?:sk|rk|pk|gsk|csk|hf|xai|fw|r8|nvapi|ghp|gho|ghs|glpat|github_pat)[_-][a-zA-Z_-]*[A-Z0-9]|sk-|AIza|eyJ)`)

// Hide takes secrets, in whichever form, and what looks like a key, out of texts.
func Hide(secrets []string) func(string) string { return redactorOf(secrets).hide }

// redactor takes secrets out of texts.
type redactor struct {
	secrets []string // in every form, the longest first
}

// looks are keys in general, also those that the server masked itself, and users and
// passwords in an address.
var looks = lazy(`(?i)bearer\s+[^\s\d]*\d\S*|\bsk-[\w*.-]+|\S*\*{3}\S*|//[^\s/@]+@`)

func newRedactor(base *url.URL, o Options) redactor {
	o.BaseURL = base.String()
	return redactorOf(Secrets(o))
}

func redactorOf(secrets []string) redactor {
	var r redactor
	for _, secret := range secrets {
		quoted, _ := json.Marshal(secret)
		encode := func(s string) string { return strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(s)), "=") }
		for _, form := range []string{
			secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(string(quoted), `"`), encode(secret), encode("Bearer " + secret),
		} {
			if len(form) > 2 && !slices.Contains(r.secrets, form) { // one or two letters are in every word
				r.secrets = append(r.secrets, form)
			}
		}
	}
	slices.SortFunc(r.secrets, func(a, b string) int { return len(b) - len(a) })
	return r
}

// clean makes a text fit for one line of a message.
func (r redactor) clean(text string) string {
	text = r.hide(text)
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "�"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxSaid {
		text = string(runes[:maxSaid]) + "…"
	}
	return strings.TrimRight(text, ".")
}

// maxFinish is how long the server's word for the end of a reply may be, in bytes.
const maxFinish = 64

// word makes a server's own word fit to be shown and kept.
func (r redactor) word(said string) string {
	said = r.clean(said)
	for len(said) > maxFinish {
		_, size := utf8.DecodeLastRuneInString(said)
		said = said[:len(said)-size]
	}
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, said)
}

func (r redactor) hide(text string) string {
	for _, secret := range r.secrets {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	if r.disguised(text) {
		return "[hidden]"
	}
	return looks().ReplaceAllString(text, "[hidden]")
}

// disguised reports whether a secret is still there for a reader, broken by line ends
// or written in the escapes of JSON.
func (r redactor) disguised(text string) bool {
	plain := unescape(text)
	squeezed := squeeze(plain)
	return slices.ContainsFunc(r.secrets, func(secret string) bool {
		return len(secret) >= 8 && (strings.Contains(plain, secret) || strings.Contains(squeezed, squeeze(secret)))
	})
}

var escapes = lazy(`\\u[0-9a-fA-F]{4}|\\.`)

func unescape(text string) string {
	return escapes().ReplaceAllStringFunc(text, func(e string) string {
		if n, err := strconv.ParseUint(e[2:], 16, 16); len(e) == 6 && err == nil {
			return string(rune(n))
		}
		if e == `\n` || e == `\r` || e == `\t` {
			return " "
		}
		return e[1:]
	})
}

// squeeze leaves out all that is not to be seen.
func squeeze(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.IsSpace(c) {
			return -1
		}
		return c
	}, text)
}

// cause is err without a URL around it, if nothing in it is secret.
func (r redactor) cause(err error) error {
	err = innermost(err)
	if said := err.Error(); r.hide(said) != said {
		return errors.New(r.hide(said))
	}
	return err
}
