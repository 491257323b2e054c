package openai

import (
	"slices"
	"strings"
)

// names reports whether the server says that a request must not have this field. A
// mere mention is not enough: most complaints advise on other fields.
func (c complaint) names(field string) bool {
	if c.tooLong() {
		return false
	}
	isIt := func(path string) bool { return onPath(path, field) }
	if slices.ContainsFunc(c.refused, isIt) {
		return true
	}
	all := inMessage().ReplaceAllString(clipWords(strings.ToLower(c.message)), "")
	if isIt(c.param) && (says(c.code, "unsupported_parameter", "unknown_parameter", "unsupported_value", "extra_forbidden") || refusal().MatchString(all)) && !says(all, "schema") {
		return true
	}
	for _, form := range formsOf(field) {
		if refusesWord(all, form) {
			return true
		}
	}
	return false
}

// inMessage is the way to a field of a message, which a complaint may be about too.
var inMessage = lazy(`\b(?:messages|input|contents)\[\d+\]\.`)

// formsOf are the spellings of a field in sentences.
func formsOf(field string) []string {
	forms := []string{field}
	if strings.Contains(field, "_") {
		forms = append(forms, strings.ReplaceAll(field, "_", ""), strings.ReplaceAll(field, "_", " "), strings.Replace(field, "_", ".", 1))
	}
	if field == "reasoning" || field == "reasoning_effort" {
		forms = append(forms, "thinking")
	}
	return forms
}

var pathSteps = lazy(`[\w-]+`)

// onPath reports whether a path such as messages[0].reasoning_content is about a field:
// one on the way to it counts, unless all of a request is in it.
func onPath(path, field string) bool {
	steps := pathSteps().FindAllString(strings.ToLower(path), -1)
	for i, step := range steps {
		last := i == len(steps)-1
		if step == field && (last || !slices.Contains(containers, field)) {
			return true
		}
	}
	return strings.EqualFold(path, field) || len(steps) == 2 && steps[0]+"_"+steps[1] == field // reasoning.effort
}

// containers hold so much that a refusal of something in them is none of theirs.
var containers = []string{"messages", "tools", "input", "functions", "content"}

const quotes = "'\"`" + `\[\](){}<>*:`

var (
	refusal = lazy(`unsupported|not (?:currently |yet )?(?:supported|permitted|allowed(?: |[.,;]|$)|accepted)|unknown|unrecogni[sz]ed|does(?: not|n't) support|forbidden|extra inputs|only supported|deprecated|cannot find field`)

	// What is said before a field that is refused, up to the field, and after one.
	// Between may be names that are refused as well.
	before = lazy(`(?:\b(?:un(?:supported|known|recogni[sz]ed|expected|permitted)|extraneous)[ _](?:request |input |body |json )?(?:param(?:eter)?s?|fields?|arguments?|args?|names?|keyword arguments?|keys?|propert(?:y|ies)|options?|variant)(?:\(s\))?(?: in (?:object|request(?: body)?))?(?: supplied| found)?` +
		`|\bunsupported value(?: for)?` +
		`|\b(?:not|n't|never) (?:currently |yet )?(?:support|accept|recogni[sz]e|permit|allow)` +
		`|\b(?:additional|extra) (?:properties|inputs?|fields?|param(?:eter)?s?) (?:are |is )?(?:not allowed|not permitted|forbidden)` +
		`|\b(?:param(?:eter)?s?|arguments?|fields?|propert(?:y|ies)|features?) (?:is |are )?(?:not supported|unsupported|not allowed|not permitted)(?: (?:on|by|for|with|in) (?:this|the) (?:model|endpoint|api|request))?` +
		`|\b(?:remove|omit|drop))` +
		`(?:[\s,` + quotes + `]|\b(?:the|an?|and|or|use of|using|param(?:eter)?s?|fields?|arguments?|property|options?|settings?|value|named|called|keys?|true|false|null|none|body|request)\b|['"` + "`" + `][\w.\-]*['"` + "`" + `]|[\w.]+[,:])*$`)
	after = lazy(`^(?:\.\w+|\[\d+\])*[` + quotes + `]*\s*(?:(?:param(?:eter)?s?|field|argument|property|option|value|setting|feature|content|input|key|type)s?\b\s*)?` +
		`(?:\s*(?:,|and\b|or\b|&|\+)\s*[` + quotes + `]*[\w.]+[` + quotes + `]*)*[\s,\-` + quotes + `]*` +
		`(?:(?:(?:is|are|was|were) )?(?:currently |yet )?(?:not (?:currently |yet )?(?:be )?(?:supported|permitted|allowed|accepted|recogni[sz]ed|available|enabled|implemented)|unsupported|unknown|unrecogni[sz]ed|unexpected|forbidden|deprecated|disallowed|prohibited|only (?:supported|allowed|available)|not an? (?:valid|known|recogni[sz]ed|supported) (?:param|field|argument|property|option|key))` +
		`|(?:does not|doesn't|isn't|aren't) support` +
		`|(?:must|should|can|may)(?: not|not|n't) (?:be )?(?:used|set|specified|provided|included|passed|sent|combined|present|customized)` +
		`|(?:must|should|has to|have to) be (?:omitted|removed|left out|unset|absent|null|none)|may only be` +
		`|extra (?:inputs?|fields?) (?:are )?not permitted|cannot find field)`)
	// What makes it a complaint of the value alone.
	onlyValue = lazy(`^[` + quotes + `]*\s*(?:values? )?(?:is |are |being |set |to |of )*(?:greater|larger|above|more than|over \d|exceed|less|below|too |[<>]|=\s*\d|not allowed to|only supported up|only allowed up)`)
)

const nearby = 200 // characters around a field that are looked at

// refusesWord looks at each place of a field in a sentence.
func refusesWord(all, field string) bool {
	for from := 0; ; {
		at := strings.Index(all[from:], field)
		if at < 0 {
			return false
		}
		at += from
		from = at + len(field)
		if at > 0 && isWord(all[at-1]) || from < len(all) && isWord(all[from]) {
			continue
		}
		left, right := all[max(0, at-nearby):at], all[from:min(len(all), from+nearby)]
		left = left[sentenceStart(left):]
		if onlyValue().MatchString(right) || slices.Contains(containers, field) && strings.IndexAny(right, ".[") == 0 && len(right) > 1 && right[1] != ' ' {
			continue
		}
		if before().MatchString(left) || after().MatchString(right) && !afterVerb().MatchString(left) {
			return true
		}
	}
}

// afterVerb is of what goes before a field whose sentence is about something else:
// "tools with reasoning_effort are not supported" is about both.
var afterVerb = lazy(`\b(?:instead of|unless|without)[\s` + quotes + `]*$`)

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// sentenceStart is where the last sentence of a text begins.
func sentenceStart(text string) int {
	start := 0
	for _, end := range []string{". ", "; ", "! ", "? ", "\n"} {
		if at := strings.LastIndex(text, end); at >= 0 {
			start = max(start, at+len(end))
		}
	}
	return start
}

var namedParam = lazy(`(?i)(?:un(?:supported|known|recogni[sz]ed|expected)|extraneous)[ _](?:request )?(?:param(?:eter)?s?|fields?|arguments?|names?|keyword arguments?|keys?|property|value)(?:\(s\) in object)?(?: supplied)?[:\s]*[` + quotes + `]*([A-Za-z_][\w.]*)` +
	`|property '([\w.]+)' is unsupported|^['` + "`" + `]?([A-Za-z_][\w.\[\]]*)['` + "`" + `]?: extra inputs|additional properties are not allowed[:\s]*[` + quotes + `]*([A-Za-z_][\w.]*)|extra inputs are not permitted, field: '([\w.]+)'|extra(?:neous)? key \[([\w.]+)\]`)

// paramNamed is the field that a sentence says is not known or not supported.
func paramNamed(message string) string {
	for i, name := range namedParam().FindStringSubmatch(clipWords(message)) {
		if i > 0 && name != "" {
			return name
		}
	}
	return ""
}
