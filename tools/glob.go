package tools

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"assent/agent"
)

// glob selects names. The zero glob selects all.
type glob struct {
	pattern string
	not     bool // all but those
}

func newGlob(pattern string) (glob, error) {
	p, not := strings.CutPrefix(filepath.ToSlash(pattern), "!") // as in ripgrep
	p = strings.TrimPrefix(p, "./")
	if strings.HasSuffix(p, "/") {
		p += "**"
	}
	if !doublestar.ValidatePattern(p) {
		return glob{}, fmt.Errorf("glob %s is not a valid pattern; use * in a name, ** for directories, {a,b} for choices", cut(pattern, 100))
	}
	return glob{p, not && p != ""}, nil
}

// matches reports whether an entry below base is selected. A pattern without a
// slash goes by the last name, as in ripgrep and .gitignore. One with a slash
// goes by the name below base, or by the name from the workspace on: models give
// path and then repeat it in the pattern.
func (g glob) matches(base, entry agent.Info) bool {
	if g.pattern == "" {
		return true
	}
	below := nameBelow(base, entry)
	if !strings.Contains(g.pattern, "/") {
		return doublestar.MatchUnvalidated(g.pattern, path.Base(below)) != g.not
	}
	return (doublestar.MatchUnvalidated(g.pattern, below) || doublestar.MatchUnvalidated(g.pattern, entry.Name)) != g.not
}

// nameBelow is the name of entry relative to base. It goes by names and not by
// paths: those of a symbolic link lead to where it points.
func nameBelow(base, entry agent.Info) string {
	switch base.Name {
	case ".":
		return entry.Name
	case entry.Name: // base is a file
		return path.Base(entry.Name)
	}
	return strings.TrimPrefix(entry.Name, base.Name+"/")
}
