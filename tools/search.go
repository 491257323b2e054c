package tools

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"unicode/utf8"

	"assent/agent"
)

const (
	maxMatches     = 200
	maxSearchBytes = 26_000  // of matches: with the notes the result fits
	maxLineShown   = 240     // bytes of a line with a match
	maxSearched    = 5 << 20 // bytes of a file that is searched
)

type searchArgs struct {
	Pattern string `json:"pattern" jsonschema_description:"What to look for in each line: a regular expression in Go's syntax (RE2), or plain text with literal. (?i) at its start ignores case"`
	Literal bool   `json:"literal,omitempty" jsonschema_description:"Take pattern as plain text"`
	Path    string `json:"path,omitempty" jsonschema_description:"Directory or file to search; the workspace if left out"`
	Glob    string `json:"glob,omitempty" jsonschema_description:"Only files whose name matches, like *.go (in every directory) or src/**/*.{ts,tsx} (from path on); !*.min.js for all but those"`
}

// Search finds lines in the files of the workspace.
func Search() agent.Tool {
	return Define(agent.Spec{
		Name: "search",
		Description: "Searches the text files of the workspace, one line at a time, and shows each line that matches as name:line: text. " +
			"Ignored files, binary files and files that may hold secrets are left out.",
		Tier: agent.TierRead,
	}, planSearch)
}

func planSearch(ctx context.Context, files agent.Files, args searchArgs) (agent.Plan, error) {
	find, err := finder(args.Pattern, args.Literal)
	if err != nil {
		return agent.Plan{}, err
	}
	pattern, err := newGlob(args.Glob)
	if err != nil {
		return agent.Plan{}, err
	}
	base, err := place(ctx, files, args.Path)
	if err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{Run: func(ctx context.Context, _ agent.Approval) (agent.Result, error) {
		s := search{find: find}
		if err := s.walk(ctx, files, base, pattern); err != nil {
			return agent.Result{}, err
		}
		return agent.Result{Output: s.String()}, nil
	}}, nil
}

// finder says where in a line the pattern is: from and to, or nil.
func finder(pattern string, literal bool) (func(line string) []int, error) {
	switch {
	case pattern == "":
		return nil, errors.New("pattern is empty; give what to look for, or use list_files to see the files")
	case strings.Contains(pattern, "\n"):
		return nil, errors.New("pattern has a line break, but search looks at one line at a time; search for one of the lines, then use read_file")
	case literal:
		return func(line string) []int {
			i := strings.Index(line, pattern)
			if i < 0 {
				return nil
			}
			return []int{i, i + len(pattern)}
		}, nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("pattern is not a regular expression that Go knows (%s); repair it, or set literal to true to look for it as plain text", cut(err.Error(), 200))
	}
	return re.FindStringIndex, nil
}

// search is a search under way and what it found.
type search struct {
	find func(line string) []int

	out      strings.Builder
	matches  int
	inFiles  int
	searched int
	secret   []string // names of files left out
	skipped  int      // not text, or too large
	full     bool     // there may be more matches
}

func (s *search) walk(ctx context.Context, files agent.Files, base agent.Info, pattern glob) error {
	entries := files.List(ctx, base.Path)
	if !base.Dir {
		entries = single(base)
	}
	for info, err := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case err != nil:
			s.skipped++
		case info.Dir || info.Outside || !pattern.matches(base, info):
		case info.Secret:
			s.secret = append(s.secret, info.Name)
		case info.Size > maxSearched:
			s.skipped++
		default:
			s.file(ctx, files, info)
		}
		if s.full {
			return nil
		}
	}
	return ctx.Err()
}

func single(info agent.Info) iter.Seq2[agent.Info, error] {
	return func(yield func(agent.Info, error) bool) { yield(info, nil) }
}

func (s *search) file(ctx context.Context, files agent.Files, info agent.Info) {
	// With the zero approval, so that a file that became a secret, or a link
	// that leads out, since it was listed is refused here.
	file, err := files.Read(ctx, agent.Approval{}, info.Path)
	if err != nil {
		s.skipped++
		return
	}
	s.searched++
	number, before := 0, s.matches
	for line := range strings.Lines(file.Text) {
		number++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		at := s.find(line)
		if at == nil {
			continue
		}
		if s.matches == maxMatches || s.out.Len() > maxSearchBytes {
			s.full = true
			break
		}
		s.matches++
		fmt.Fprintf(&s.out, "%s:%d: %s\n", info.Name, number, around(line, at[0]))
	}
	if s.matches > before {
		s.inFiles++
	}
}

// String is the result for the model.
func (s *search) String() string {
	var b strings.Builder
	switch {
	case s.full:
		fmt.Fprintf(&b, "the first %d matching lines, there are more; narrow with pattern, path or glob\n", s.matches)
	case s.matches == 0:
		fmt.Fprintf(&b, "no matches in %s\n", count(s.searched, "file", "files"))
	default:
		fmt.Fprintf(&b, "%s in %s\n", count(s.matches, "matching line", "matching lines"), count(s.inFiles, "file", "files"))
	}
	b.WriteString(s.out.String())
	if n := len(s.secret); n > 0 {
		names := strings.Join(s.secret[:min(n, 10)], ", ")
		if n > 10 {
			names += ", …"
		}
		verb := "were"
		if n == 1 {
			verb = "was"
		}
		fmt.Fprintf(&b, "[%s that may hold secrets %s left out: %s]\n", count(n, "file", "files"), verb, cut(names, 1000))
	}
	if s.skipped > 0 {
		fmt.Fprintf(&b, "[%s skipped: not text, too large, or not readable]\n", count(s.skipped, "entry", "entries"))
	}
	return b.String()
}

// around cuts a long line to what is near the match.
func around(line string, from int) string {
	if len(line) <= maxLineShown {
		return line
	}
	start := max(0, min(from-maxLineShown/4, len(line)-maxLineShown))
	end := min(len(line), start+maxLineShown)
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	text := line[start:end]
	if start > 0 {
		text = "…" + text
	}
	if end < len(line) {
		text += "…"
	}
	return text
}
