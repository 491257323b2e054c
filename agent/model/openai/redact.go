package openai

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const maxSaid = 300 // characters of a server's own words

// redactor takes out of a text what nobody may read in it: the key, and the
// user, the password and the query of the base URL.
type redactor struct {
	secrets []string       // longest first
	looks   *regexp.Regexp // of keys in general, also those that the server masked itself
}

func newRedactor(base *url.URL, o Options) redactor {
	found := []string{o.APIKey, base.RawQuery}
	for _, value := range o.Headers {
		found = append(found, value)
	}
	if u := base.User; u != nil {
		password, _ := u.Password()
		pair := u.Username() + ":" + password
		found = append(found, u.String(), u.Username(), password, pair, base64.StdEncoding.EncodeToString([]byte(pair)))
	}
	for _, values := range base.Query() {
		found = append(found, values...)
	}
	r := redactor{looks: regexp.MustCompile(`(?i)bearer\s+\S+|\bsk-[\w*.-]+|\S*\*{3}\S*`)}
	for _, secret := range found {
		quoted, _ := json.Marshal(secret)
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(string(quoted), `"`)} {
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

func (r redactor) hide(text string) string {
	for _, secret := range r.secrets {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	return r.looks.ReplaceAllString(text, "[hidden]")
}

// cause is err without a URL around it, if nothing in it is secret.
func (r redactor) cause(err error) error {
	err = innermost(err)
	if said := err.Error(); r.hide(said) != said {
		return errors.New(r.hide(said))
	}
	return err
}
