package workspace

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxIgnore is the largest ignore file, in bytes, that is looked at.
const maxIgnore = 1 << 20

// ignoreRules are the patterns of the ignore files from the folder down to a
// directory, the later ones winning. They are data: what is no pattern is left
// out, and nothing of it can widen what is listed beyond the folder.
//
// The matcher is our own since go-git's takes a rule about a directory for one
// about each file below it, and does not try "**" again further down.
type ignoreRules []ignoreRule

type ignoreRule struct {
	names     []string // patterns of the names from the ignore file's directory on; "**" is any number of them
	above     int      // how many names lead to that directory
	dirOnly   bool
	exception bool // "!": what matches is listed after all
}

// with adds the rules of an ignore file of the directory at path.
func (rules ignoreRules) with(dir *os.Root, file string, path []string) ignoreRules {
	added := rules[:len(rules):len(rules)]
	for line := range strings.Lines(readIgnore(dir, file)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, lf), "\r")
		if rule, ok := parseIgnore(line); ok {
			rule.above = len(path)
			added = append(added, rule)
		}
	}
	return added
}

func parseIgnore(line string) (rule ignoreRule, ok bool) {
	if strings.HasPrefix(line, "#") {
		return ignoreRule{}, false
	}
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	line, rule.exception = strings.CutPrefix(line, "!")
	line, rule.dirOnly = strings.CutSuffix(line, "/")
	if line == "" {
		return ignoreRule{}, false
	}
	if !strings.Contains(line, "/") {
		line = "**/" + line
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(line, "/"), "/") {
		name = strings.ReplaceAll(name, "[!", "[^")
		if _, err := path.Match(name, ""); err != nil {
			return ignoreRule{}, false
		}
		if name != "**" || len(rule.names) == 0 || rule.names[len(rule.names)-1] != "**" {
			rule.names = append(rule.names, name)
		}
	}
	if rule.names[len(rule.names)-1] == "**" { // all in the directory, but not the directory
		rule.names = append(rule.names, "*")
	}
	return rule, true
}

// match reports whether the entry at path is ignored. The directories above it
// are known not to be.
func (rules ignoreRules) match(path []string, dir bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		rule := rules[i]
		if (dir || !rule.dirOnly) && matchNames(rule.names, path[rule.above:]) {
			return !rule.exception
		}
	}
	return false
}

// matchNames tries "**" on one name more each time the rest does not match; only
// the last "**" so far has to be tried again, so the work stays bounded.
func matchNames(patterns, names []string) bool {
	p, n := 0, 0
	again, from := -1, 0
	for n < len(names) {
		switch {
		case p < len(patterns) && patterns[p] == "**":
			again, from = p, n
			p++
		case p < len(patterns) && matchName(patterns[p], names[n]):
			p, n = p+1, n+1
		case again >= 0:
			from++
			p, n = again+1, from
		default:
			return false
		}
	}
	return p == len(patterns)
}

func matchName(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// readIgnore reads an ignore file, and nothing if it is a link or no file, as
// git does.
func readIgnore(dir *os.Root, file string) string {
	file = filepath.FromSlash(file)
	info, err := dir.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnore {
		return ""
	}
	f, err := dir.OpenFile(file, os.O_RDONLY|noWait, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(string(data), marks[utf8BOM])
}
