package openai

import (
	"strconv"
	"strings"
)

// Servers that refuse a request as too long mostly say how many tokens they take and
// how many it had. What they say is used to make it fit, so a number that may be
// another is left alone.

var (
	limitAfter = lazy(`((?:context (?:length|window|size|limit)|maximum prompt length|maximum number of tokens allowed|token limit|maximum input length)[^0-9]{0,40}?)(\d{3,9})\b`)
	limitFirst = lazy(`[> ](\d{3,9}) (?:tokens? )?max(?:imum)?\b`)
	counted    = lazy(`(?:resulted in (\d{2,9}) tokens|has (\d{2,9}) input tokens|at least (\d{2,9}) input tokens|` +
		`input \((\d{2,9}) tokens|token count(?: of)? \(?(\d{2,9})|contains (\d{2,9}) tokens|too long: (\d{2,9})|first (\d{2,9}) tokens|requested (?:about )?(\d{2,9}) tokens)`)
	inPrompt = lazy(`(\d{2,9}) (?:tokens )?in the (?:messages|prompt)`) // of a sum, which is named first
	forReply = lazy(`(?:(\d{1,9}) (?:tokens )?in the completion|requested (\d{1,9}) output tokens|tokens' is too large: (\d{1,9}))`)
	grouped  = lazy(`(\d)[,_](\d{3})\b`)
)

// sizes are the tokens that a request may have, without what the server keeps for the
// reply, and those that it had; 0 if the server did not say so.
func (c complaint) sizes() (limit, tokens int) {
	text := strings.ToLower(clipWords(c.message))
	text = grouped().ReplaceAllString(grouped().ReplaceAllString(text, "$1$2"), "$1$2")
	for _, m := range limitAfter().FindAllStringSubmatch(text, -1) {
		if gap := m[1]; !strings.Contains(gap, " by ") && !strings.Contains(gap, "limit (") { // by how much; a code
			limit = amount(m[2])
			break
		}
	}
	if m := limitFirst().FindStringSubmatch(text); limit == 0 && m != nil {
		limit = amount(m[1])
	}
	if tokens = firstAmount(inPrompt().FindStringSubmatch(text)); tokens == 0 {
		tokens = firstAmount(counted().FindStringSubmatch(text))
	}
	if c.context > 0 {
		limit, tokens = c.context, c.prompt
	}
	if reply := firstAmount(forReply().FindStringSubmatch(text)); reply < limit {
		limit -= reply
	}
	return limit, tokens
}

func firstAmount(groups []string) int {
	for _, g := range groups[min(1, len(groups)):] {
		if g != "" {
			return amount(g)
		}
	}
	return 0
}

func amount(digits string) int {
	n, _ := strconv.Atoi(digits) // at most nine of them
	return n
}
