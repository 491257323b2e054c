package agent

import (
	"regexp"
	"strings"
	"sync"
)

// The hints that the session itself gives the model, each once a run.
const (
	announcedHint = "[You said what you would do next, but made no call, so nothing was done. If it is still to be done, make the call now; if not, say so, or ask the person what you need to know.]"
	closingHint   = "[The turn ends here. Answer the person in a few words.]"
	endlessHint   = "[Your last reply began to repeat itself and was stopped there. Go on without repeating: make the next call, or answer in a few words.]"
)

// hint is what the model is to be told after a reply without a call that is no answer,
// once for each reason; "" if it is one.
func (r *run) hint(reply Message) (hint string) {
	switch {
	case len(reply.ToolUses()) > 0:
	case reply.Stop == StopRepeated:
		hint = endlessHint
	case reply.Stop == StopComplete && len(r.s.specs) > 0 && announces(reply.Text()):
		hint = announcedHint
	}
	if r.nudged[hint] {
		return ""
	}
	return hint
}

// nudge gives the model another turn with a hint.
func (r *run) nudge(hint string) error {
	r.nudged[hint] = true
	return r.append(Message{Role: RoleUser, Blocks: []Block{Note{hint}}}, 0)
}

// closing sees to it that there is something to answer: a request must not end with
// the model's own words.
func (r *run) closing() error {
	if h := r.s.history; h[len(h)-1].Role != RoleAssistant {
		return nil
	}
	return r.nudge(closingHint)
}

var (
	intent = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^[*_#>\s-]*(?:(?:ok(?:ay)?|now|next|first|then|so|great|good|alright|sure|perfect)[,.!:]? +)*` +
			`(?:i(?:'|’)ll|i will|i(?:'|’)m (?:now )?going to|i am (?:now )?going to|let me|let(?:'|’)s)(?: (?:now|next|first|then|also|just|start by|begin by|go ahead and|proceed to))* ` +
			`(?:take a look|see what|see how|edit|updat|chang|modif|creat|writ|rewrit|add|fix|correct|implement|remov|delet|renam|refactor|appl|mak|read|look|check|search|open|inspect|examin|view|list|run|execut|try|test|call|use|replac|mov|find|get|do (?:that|this|it))`)
	})
	conditional = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:if you|if that|if this|if it|once|when|after you|as soon as|on your|unless|until|whenever|before|know|would you|should i|later|no|nothing|not|caveat|note|one thing|explain)\b`)
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
