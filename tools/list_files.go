package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"assent/agent"
)

const (
	maxEntries    = 500
	maxListBytes  = 28_000  // long names: the result must not be cut by the session
	maxListedWalk = 200_000 // entries looked at, so that a walk ends
)

type listFilesArgs struct {
	Path string `json:"path,omitempty" jsonschema_description:"Directory to list; the workspace if left out"`
	Glob string `json:"glob,omitempty" jsonschema_description:"Only names that match, like *.go (in every directory) or src/**/*.{ts,tsx} (from path on); !*.min.js for all but those"`
}

// ListFiles shows the names below a directory to the model.
func ListFiles() agent.Tool {
	return Define(agent.Spec{
		Name: "list_files",
		Description: "Lists the files and directories below a directory, also in directories below it, one a line; directories end in a slash. " +
			"Names are relative to the workspace, so they can be given to the other tools as they are. Ignored files (.gitignore) are left out.",
		Tier: agent.TierRead,
	}, planListFiles)
}

func planListFiles(ctx context.Context, files agent.Files, args listFilesArgs) (agent.Plan, error) {
	pattern, err := newGlob(args.Glob)
	if err != nil {
		return agent.Plan{}, err
	}
	base, err := place(ctx, files, args.Path)
	if err != nil {
		return agent.Plan{}, err
	}
	if !base.Dir {
		return agent.Plan{}, fmt.Errorf("%s is a file; use read_file to read it", args.Path)
	}
	return agent.Plan{Run: func(ctx context.Context, _ agent.Approval) (agent.Result, error) {
		found := listing{base: base}
		if err := found.walk(ctx, files, pattern); err != nil {
			return agent.Result{}, err
		}
		return agent.Result{Output: found.String()}, nil
	}}, nil
}

// place resolves where to list or search.
func place(ctx context.Context, files agent.Files, given string) (agent.Info, error) {
	given = cmp.Or(given, ".")
	info, err := files.Stat(ctx, given)
	switch {
	case err != nil:
		return agent.Info{}, err
	case info.Outside:
		return agent.Info{}, fmt.Errorf("%s is outside the workspace, where only read_file can look, one file at a time and with the person's consent", given)
	case !info.Exists:
		return agent.Info{}, missing(ctx, files, given, info, "list_files without a path shows what is there")
	}
	return info, nil
}

// listing is what was found below a directory.
type listing struct {
	base    agent.Info
	entries []entry
	failed  int  // entries that could not be looked at
	partial bool // the walk was ended before its end
}

type entry struct {
	name  string // from the workspace on, a directory with a slash
	depth int    // below the base, from 1
}

func (l *listing) walk(ctx context.Context, files agent.Files, pattern glob) error {
	seen := 0
	var failure error
	for info, err := range files.List(ctx, l.base.Path) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if seen++; seen > maxListedWalk {
			l.partial = true
			break
		}
		if err != nil {
			failure = err
			l.failed++
			continue
		}
		if !pattern.matches(l.base, info) {
			continue
		}
		e := entry{info.Name, 1 + strings.Count(nameBelow(l.base, info), "/")}
		if info.Dir {
			e.name += "/"
		}
		l.entries = append(l.entries, e)
	}
	if failure != nil && len(l.entries) == 0 {
		return failure
	}
	return nil
}

// String is the result for the model. If not all entries fit, those nearest to
// the base are shown: the first names in order would be one deep directory.
func (l *listing) String() string {
	shown, levels := l.nearest()
	head := fmt.Sprintf("%s: %s", l.base.Name, count(len(l.entries), "entry", "entries"))
	if len(shown) < len(l.entries) || l.partial {
		head = fmt.Sprintf("%s: %d of %d entries%s; narrow with path or glob", l.base.Name, len(shown), len(l.entries), levels)
	}
	if l.partial {
		head += fmt.Sprintf(" (only the first %d were looked at)", maxListedWalk)
	}
	if l.failed > 0 {
		head += fmt.Sprintf(" (%d could not be looked at)", l.failed)
	}
	var b strings.Builder
	b.WriteString(head + "\n")
	for i, e := range shown {
		if b.Len()+len(e.name) > maxListBytes {
			fmt.Fprintf(&b, "[%d more are left out]\n", len(shown)-i)
			break
		}
		b.WriteString(e.name + "\n")
	}
	return b.String()
}

// nearest picks the entries of as many levels as fit, and says how many.
func (l *listing) nearest() (shown []entry, levels string) {
	if len(l.entries) <= maxEntries {
		return l.entries, ""
	}
	deepest := 0
	for depth := 1; ; depth++ {
		n := 0
		for _, e := range l.entries {
			if e.depth <= depth {
				n++
			}
		}
		if n > maxEntries {
			break
		}
		deepest = depth
	}
	shown = slices.DeleteFunc(slices.Clone(l.entries), func(e entry) bool { return e.depth > deepest })
	if len(shown) == 0 { // too many on the first level there is
		return l.entries[:maxEntries], ", the first in order"
	}
	return shown, fmt.Sprintf(", %s deep", count(deepest, "level", "levels"))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
