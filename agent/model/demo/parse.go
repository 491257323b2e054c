package demo

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// grammar is what the model understands. It is compiled once for each model, not
// when the package is loaded: most programs that link it never use it.
type grammar struct {
	rules    []rule
	separate *regexp.Regexp // sentences
	verb     *regexp.Regexp // begins one
	polite   *regexp.Regexp // before a command
	thanks   *regexp.Regexp // after it

	// The first line of what read_file says, and the mark that the session leaves
	// where it cut a long result.
	readLines, readEmpty, cutMark *regexp.Regexp
}

// rule makes a task of a sentence that matches. build gets the groups of the
// pattern; not ok means that the sentence is something else after all.
type rule struct {
	pattern *regexp.Regexp
	build   func(q quotes, groups []string) (task, bool)
}

func newGrammar() grammar {
	g := grammar{
		separate:  compile(`\s*[\r\n]+\s*|\s*;\s*|\s*,?\s+and\s+then\s+|\s*[,.]\s+then\s+`),
		verb:      compile(`^(?:show|read|open|cat|print|display|find|search|grep|look|list|ls|create|make|append|add|replace|change|in|rename|move|delete|remove|what|how)\b`),
		polite:    compile(`^(?:(?:please|hi|hey|hello|now|then|can you|could you|would you|will you|i want you to|i would like you to|i'd like you to|i’d like you to)\b[,!]?\s*)+`),
		thanks:    compile(`[,.]?\s*(?:please|for me|thanks|thank you)[.!?]*$`),
		readLines: compile(`: lines (\d+)-(\d+) of (\d+)((?:[,;] [^,;]+)*)$`),
		readEmpty: compile(`: empty file\s*$`),
		cutMark:   compile(`\[\d+ bytes cut here: `),
	}
	file := `(?:the )?(?:file )?`
	// A rule that wants more words around its names comes before one that takes
	// any.
	g.rules = []rule{
		{compile(`\bweather\b.*?\b(?:in|for|at) (.+)$`), weather},
		{compile(`^in ` + file + `(\S+?),? (?:replace|change)(?: all| every| each)? (.+?) (?:with|by|to|into) (.+)$`), replaceIn},
		{compile(`^replace(?: all| every| each)? (.+?) (?:with|by) (.+) in ` + file + `(\S+)$`), replace},
		{compile(`^change(?: all| every| each)? (.+?) (?:to|into) (.+) in ` + file + `(\S+)$`), replace},
		{compile(`^(?:append|add) (?:(?:the|a)(?: new)? (?:line|text|word|words) )?(.+) (?:to|at) (?:the end of )?` + file + `(\S+)$`), g.add},
		{compile(`^(?:create|make) (?:an? |the )?(?:new )?(?:empty )?(?:file )?(?:called |named )?(\S+?)(?:,? (?:with|containing|that contains|that says)\b(?: the)?(?: contents?\b| text\b)?:?(?: (.+))?)?$`), create},
		{compile(`^(?:rename|move) ` + file + `(\S+) (?:to|into|as) ` + file + `(\S+)$`), move},
		{compile(`^(?:delete|remove) ` + file + `(\S+)$`), remove},
		{compile(`^(?:list|show|what)(?: me)?(?: all)?(?: the| my)?(?: (\S*[*?]\S*))? files?(?: are)?(?: there)?(?:(?: are)? (?:in|of|under|inside) (.+))?[?.]*$`), listFiles},
		{compile(`^(?:list|ls)(?: (.+))?$`), list},
		{compile(`^search (?:in )?(\S+) for (.+)$`), searchIn},
		{compile(`^(?:find|search|grep|look)(?: for)?(?: all)?(?: occurrences of| mentions of)? (.+) in (.+)$`), searchFor},
		{compile(`^(?:find|search|grep|look)(?: for)?(?: all)?(?: occurrences of| mentions of)? (.+)$`), searchFor},
		{compile(`^(?:show|read|open|cat|print|display)(?: me)? lines? (\d+)(?: ?(?:-|–|to) ?(\d+))? (?:of|in|from) ` + file + `(\S+)$`), showLines},
		{compile(`^(?:show|read|open|cat|print|display)(?: me)?(?: the)?(?: contents? of)? ` + file + `(\S+)$`), show},
		{compile(`^what(?:'s|’s| is) in ` + file + `(\S+)$`), show},
	}
	return g
}

// parse makes tasks of a prompt. If it does not understand a sentence, it returns
// that instead: half of what was asked for may be worse than nothing.
func (g grammar) parse(prompt string) (tasks []task, unknown string) {
	masked, q := mask(prompt)
	for _, s := range g.sentences(masked) {
		sentence := strings.TrimSpace(q.original(s))
		t, ok := g.sentence(q, s)
		if !ok {
			return nil, sentence
		}
		t.sentence = sentence
		tasks = append(tasks, t)
	}
	return tasks, ""
}

// sentences splits at line ends, and elsewhere where a command follows: a text
// may have a semicolon.
func (g grammar) sentences(masked string) []string {
	var all []string
	start := 0
	for _, at := range g.separate.FindAllStringIndex(masked, -1) {
		next := g.polite.ReplaceAllString(masked[at[1]:], "")
		if strings.ContainsAny(masked[at[0]:at[1]], "\r\n") || g.verb.MatchString(next) {
			all = append(all, masked[start:at[0]])
			start = at[1]
		}
	}
	all = append(all, masked[start:])
	return slices.DeleteFunc(all, func(s string) bool { return strings.Trim(s, " \t\r\n.;") == "" })
}

func (g grammar) sentence(q quotes, s string) (task, bool) {
	s = g.polite.ReplaceAllString(strings.TrimSpace(s), "")
	// Thanks may be a part of a text, so they are only taken off where it helps.
	for _, s := range []string{s, g.thanks.ReplaceAllString(s, "")} {
		for _, r := range g.rules {
			if m := r.pattern.FindStringSubmatch(s); m != nil {
				if t, ok := r.build(q, m[1:]); ok {
					return t, true
				}
			}
		}
	}
	return task{}, false
}

func show(q quotes, m []string) (task, bool) { return showLines(q, []string{"", "", m[0]}) }

func showLines(q quotes, m []string) (task, bool) {
	in := readInput{Path: q.path(m[2])}
	in.Start, _ = strconv.Atoi(m[0]) // a number out of range is as good as none
	if in.End, _ = strconv.Atoi(m[1]); in.End == 0 {
		in.End = in.Start
	}
	return task{
		doing:  "I read " + in.Path + ".",
		first:  []call{{"read_file", in}},
		report: reportFile,
	}, isName(in.Path)
}

func listFiles(q quotes, m []string) (task, bool) {
	where, glob, ok := q.place(m[1])
	if m[0] != "" {
		glob = q.text(m[0])
	}
	return task{doing: "I list the files.", first: []call{{"list_files", listInput{where, glob}}}, report: reportPlain}, ok
}

func list(q quotes, m []string) (task, bool) { return listFiles(q, []string{"", m[0]}) }

func searchIn(q quotes, m []string) (task, bool) {
	if strings.EqualFold(m[0], "for") {
		return task{}, false
	}
	return searchFor(q, []string{m[1], m[0]})
}

func searchFor(q quotes, m []string) (task, bool) {
	in := searchInput{Pattern: q.text(m[0]), Literal: true}
	ok := true
	if len(m) > 1 {
		in.Path, in.Glob, ok = q.place(m[1])
	}
	if n := len(in.Pattern); n > 2 && in.Pattern[0] == '/' && in.Pattern[n-1] == '/' {
		in.Pattern, in.Literal = in.Pattern[1:n-1], false
	}
	return task{
		doing:  "I search for “" + in.Pattern + "”.",
		first:  []call{{"search", in}},
		report: reportPlain,
	}, ok && in.Pattern != ""
}

func create(q quotes, m []string) (task, bool) {
	in := writeInput{q.path(m[0]), endLine(q.text(m[1]))}
	return writing("I propose the new file "+in.Path+".", call{"write_file", in}), isName(in.Path)
}

func (g grammar) add(q quotes, m []string) (task, bool) {
	file, text := q.path(m[1]), q.text(m[0])
	return g.appendTask(file, text), isName(file) && text != ""
}

func replace(q quotes, m []string) (task, bool) {
	in := editInput{q.path(m[2]), []replacement{{q.text(m[0]), q.text(m[1]), true}}}
	return writing("I propose the change of "+in.Path+".", call{"edit_file", in}), isName(in.Path) && in.Edits[0].Old != ""
}

func replaceIn(q quotes, m []string) (task, bool) { return replace(q, []string{m[1], m[2], m[0]}) }

func move(q quotes, m []string) (task, bool) {
	in := moveInput{q.path(m[0]), q.path(m[1])}
	if strings.HasSuffix(in.To, "/") {
		in.To += path.Base(in.From)
	}
	return writing("I propose to rename "+in.From+".", call{"move_file", in}), isName(in.From) && isName(in.To)
}

func remove(q quotes, m []string) (task, bool) {
	in := deleteInput{q.path(m[0])}
	return writing("I propose to delete "+in.Path+".", call{"delete_file", in}), isName(in.Path)
}

func writing(doing string, c call) task {
	return task{doing: doing, first: []call{c}, report: reportAll}
}

func weather(q quotes, m []string) (task, bool) {
	list := strings.NewReplacer(" and ", ",", " & ", ",", ", and ", ",").Replace(q.original(m[0]))
	t := task{doing: "I look at the weather.", report: reportAll}
	for city := range strings.SplitSeq(list, ",") {
		if _, after, again := strings.Cut(city, "weather in "); again {
			city = after
		}
		city = strings.Trim(city, " \t.?!\"'")
		for _, when := range []string{" right now", " now", " today"} {
			city = strings.TrimSuffix(city, when)
		}
		if city != "" {
			t.first = append(t.first, call{"get_weather", weatherInput{city}})
		}
	}
	return t, len(t.first) > 0
}

// isName reports whether a word may be meant as the name of a file.
func isName(word string) bool {
	return word != "" && !slices.Contains([]string{"file", "files", "it", "me", "this", "that", "them"}, strings.ToLower(word))
}
