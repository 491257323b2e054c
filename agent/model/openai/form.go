package openai

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assent/agent"
)

// form is how requests to one server look: what is known of its kind, and what it
// turned out not to take. It is a value, so that a request knows what it was made
// with though another one learns something meanwhile.
type form struct {
	streamed  bool   // asks for the reply in pieces
	usage     bool   // asks for the count of tokens
	maxTokens string // name of the field, "": it is left out
	renamed   bool   // that is its second name
	effort    bool   // says how much to reason
	summary   bool   // asks for a summary of the reasoning
	encrypted bool   // asks for the reasoning itself, sealed
	cacheKey  bool
	marks     bool // of what is to be cached
	system    systemRole
	reasoning bool // sends the reasoning back
	silent    bool // and never again: it was refused
	filled    bool // and a word where there is none, beside calls
	extras    bool // sends back what else came with calls and reasoning
	merged    bool // no two messages of the user in a row
	images    bool
	unread    *unread // pictures that the server could not read
	ids       idForm
	schema    schemaDialect
}

// systemRole is who the system prompt comes from, on the wire.
type systemRole int

const (
	asSystem systemRole = iota
	asDeveloper
	asUser // in front of the first message
)

// newForm is how to begin with a server of this kind.
func newForm(p Provider, o Options) form {
	f := form{
		streamed: true, usage: !p.dialect.noUsage, effort: o.Effort != "", summary: true, encrypted: true,
		cacheKey: p.dialect.cacheKey, marks: p.dialect.marks && strings.HasPrefix(o.Model, "anthropic/"),
		reasoning: p.dialect.reasoning, extras: true, images: true, ids: p.dialect.ids, schema: p.dialect.schema,
	}
	if o.MaxTokens > 0 {
		f.maxTokens = "max_tokens"
		if p.dialect.maxTokens != "" {
			f.maxTokens = p.dialect.maxTokens
		}
	}
	if p.dialect.developer {
		f.system = asDeveloper
	}
	for _, old := range []string{"gpt-3", "gpt-4", "chatgpt-"} { // they do not reason
		if strings.HasPrefix(o.Model, old) {
			f.effort, f.summary, f.encrypted = false, false, false
		}
	}
	return f
}

// adapt is the form without what a server complains of, and in words what changed.
// Each change goes one way and is made once, so a server can't keep us at it.
func (f form) adapt(c complaint, pictures []agent.Image) (form, string) {
	was := f
	drop := func(field string, active *bool) string {
		if !*active || !c.names(field) {
			return ""
		}
		*active = false
		return fmt.Sprintf("%s is left out from now on", field)
	}
	for _, try := range []func() string{
		func() string { return f.adaptMaxTokens(c) },
		func() string { return drop("stream_options", &f.usage) },
		func() string { return drop("stream", &f.streamed) },
		func() string { return drop("prompt_cache_key", &f.cacheKey) },
		func() string { return drop("cache_control", &f.marks) },
		func() string { return drop("reasoning_effort", &f.effort) },
		func() string { return drop("include", &f.encrypted) },
		func() string {
			if !f.encrypted || !c.refusesSealed() {
				return ""
			}
			f.encrypted = false
			return "sealed reasoning is left out from now on"
		},
		func() string { return drop("reasoning.summary", &f.summary) },
		func() string { return drop("summary", &f.summary) },
		func() string { return f.adaptReasoning(c) },
		func() string { return drop("extra_content", &f.extras) },
		func() string { return drop("reasoning_details", &f.extras) },
		func() string { return f.adaptRoles(c) },
		func() string {
			if !f.images || len(pictures) == 0 || !c.refusesImages() {
				return ""
			}
			f.images = false
			return "pictures are left out from now on"
		},
		func() string { return f.adaptPictures(c, pictures) },
	} {
		if what := try(); what != "" && f != was {
			return f, what
		}
	}
	return was, ""
}

// adaptPictures leaves out the pictures of a request in which the server could not
// read one, since it does not say which: else each later request of the session, which
// has them too, would fail like it.
func (f *form) adaptPictures(c complaint, pictures []agent.Image) string {
	pictures = slices.DeleteFunc(slices.Clone(pictures), func(i agent.Image) bool { return !f.shows(i) })
	if len(pictures) == 0 || !c.blamesPictures() {
		return ""
	}
	f.unread = f.unread.and(pictures)
	return "the pictures in it are left out from now on"
}

// shows reports whether a picture goes out.
func (f form) shows(i agent.Image) bool { return f.images && !f.unread.has(i) }

// unread are pictures, by their hashes. It does not change, so that forms compare.
type unread struct{ sums map[[sha256.Size]byte]bool }

func (u *unread) has(i agent.Image) bool { return u != nil && u.sums[sha256.Sum256(i.Data)] }

func (u *unread) and(pictures []agent.Image) *unread {
	more := map[[sha256.Size]byte]bool{}
	if u != nil {
		maps.Copy(more, u.sums)
	}
	for _, i := range pictures {
		more[sha256.Sum256(i.Data)] = true
	}
	return &unread{more}
}

func (f *form) adaptMaxTokens(c complaint) string {
	switch {
	case f.maxTokens == "":
		return ""
	case c.names("max_output_tokens"): // of the other wire
		f.maxTokens = ""
		return "max_output_tokens is left out from now on"
	case !c.names(f.maxTokens):
		return ""
	}
	old := f.maxTokens
	other := map[string]string{"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}[old]
	if f.renamed || old == "max_tokens" && !strings.Contains(c.message, other) {
		f.maxTokens = ""
		return old + " is left out from now on"
	}
	f.maxTokens, f.renamed = other, true
	return fmt.Sprintf("%s is called %s from now on", old, f.maxTokens)
}

// adaptReasoning sends reasoning back to a server that wants it, and no more to one
// that does not know the field. "reasoning" is also a parameter of the other wire.
func (f *form) adaptReasoning(c complaint) string {
	switch {
	case !f.reasoning && !f.silent && c.wantsReasoningBack():
		f.reasoning = true
		return "its reasoning is sent back from now on"
	case f.reasoning && !f.filled && c.wantsReasoningBack():
		f.filled = true
		return "calls go back with a word in place of reasoning that is not known"
	case f.reasoning && (c.names("reasoning_content") || c.names("reasoning")):
		f.reasoning, f.silent = false, true
		return "its reasoning is not sent back from now on"
	case (f.effort || f.summary) && c.names("reasoning"):
		f.effort, f.summary = false, false
		return "reasoning is left out from now on"
	}
	return ""
}

func (f *form) adaptRoles(c complaint) string {
	switch {
	case f.system == asDeveloper && c.refusesDeveloper():
		f.system = asSystem
		return "its instructions come from the system from now on"
	case f.system != asUser && c.refusesSystem():
		f.system = asUser
		return "its instructions come with the first message from now on"
	case !f.merged && c.wantsAlternation():
		f.merged = true
		return "messages in a row are joined from now on"
	}
	return ""
}
