package agent

import (
	"regexp"
	"strings"
	"sync"
)

// The hints that the session itself gives the model, each once a run.
const (
	announcedHint = "[You said what you would do next, but made no call, so nothing was done. If it is still to be done, make the call now; if not, say so, or ask the person what you need to know.]"
	endlessHint   = "[Your last reply began to repeat itself and was stopped there. Go on without repeating: make the next call, or answer in a few words.]"
)

// nudge gives the model another turn after a reply without a call that is no answer,
// once for each reason, and reports whether it did.
func (r *run) nudge(reply Message) (bool, error) {
	hint := ""
	switch {
	case reply.Stop == StopRepeated:
		hint = endlessHint
	case reply.Stop == StopComplete && len(r.s.specs) > 0 && announces(reply.Text()):
		hint = announcedHint
	}
	if hint == "" || r.nudged[hint] {
		return false, nil
	}
	r.nudged[hint] = true
	return true, r.append(Message{Role: RoleUser, Blocks: []Block{Note{hint}}}, 0)
}

var (
	intent = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:(?:ok(?:ay)?|now|next|first|then|so|great|good|alright|sure|perfect)[,.!:]? +)*` +
			`(?:i(?:'|’)ll|i will|i(?:'|’)m going to|i am going to|let me|let(?:'|’)s)(?: (?:now|next|first|then|also|just|start by|begin by|go ahead and|proceed to))* ` +
			`(?:edit|updat|chang|modif|creat|writ|add|fix|implement|remov|delet|renam|refactor|appl|mak|read|look|check|search|open|inspect|examin|view|list|run|replac|mov|find|do that|do this)`)
	})
	conditional = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:if|once|when|after|unless|until|whenever|before|know|would you|should i)\b`)
	})
)

// announces reports whether a text ends by saying what its writer is about to do, in
// English. A question, or something that waits for the person, is an answer.
func announces(text string) bool {
	text = strings.TrimSpace(text)
	if at := strings.LastIndexByte(text, '\n'); at >= 0 {
		text = strings.TrimSpace(text[at:])
	}
	if len(text) > 400 || strings.HasSuffix(text, "?") {
		return false
	}
	sentences := strings.FieldsFunc(strings.NewReplacer(". ", ".\n", "! ", "!\n", "? ", "?\n").Replace(text), func(c rune) bool { return c == '\n' })
	if len(sentences) == 0 {
		return false
	}
	last := sentences[len(sentences)-1]
	return intent().MatchString(last) && !conditional().MatchString(last)
}
