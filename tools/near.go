package tools

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assent/agent"
)

// maxNearWalk bounds the walk for near names: an error must not take as long as
// a search.
const maxNearWalk = 5000

// missing is the error for a path at which nothing is. It names what is near:
// names in the same directory that are spelled alike, and files of that very
// name elsewhere.
func missing(ctx context.Context, files agent.Files, given string, info agent.Info, advice string) error {
	text := "there is no " + given
	if near := nearNames(ctx, files, info); len(near) > 0 {
		text += "; near names are " + strings.Join(near, ", ")
	}
	return fmt.Errorf("%s; %s", text, advice)
}

func nearNames(ctx context.Context, files agent.Files, info agent.Info) []string {
	dir, missed := existingParent(ctx, files, info.Path)
	if info.Outside || dir.Outside || dir.Path == "" { // looking outside would need consent
		return nil
	}
	base := filepath.Base(info.Path)
	if near := nearIn(ctx, files, dir, missed, base); len(near) > 0 {
		return near
	}
	top, err := files.Stat(ctx, ".")
	if err != nil || top.Path == dir.Path {
		return nil
	}
	return nearIn(ctx, files, top, "", base)
}

// nearIn lists what is spelled like missed in a directory, then files called base
// further down.
func nearIn(ctx context.Context, files agent.Files, dir agent.Info, missed, base string) []string {
	beside := map[string]string{} // last name → name for people
	var elsewhere, names []string
	walked := 0
	for entry, err := range files.List(ctx, dir.Path) {
		if walked++; walked > maxNearWalk || ctx.Err() != nil {
			break
		}
		if err != nil {
			continue
		}
		name := nameBelow(dir, entry)
		switch {
		case !strings.Contains(name, "/"):
			beside[name] = entry.Name
			names = append(names, name)
		case strings.EqualFold(path.Base(name), base) && len(elsewhere) < 3:
			elsewhere = append(elsewhere, entry.Name)
		}
	}
	var near []string
	for _, name := range closestNames(missed, names, 3) {
		near = append(near, beside[name])
	}
	near = append(near, elsewhere...)
	return near[:min(len(near), 4)]
}

// existingParent is the closest directory above p that exists, and the name in it
// on the way to p that does not.
func existingParent(ctx context.Context, files agent.Files, p string) (dir agent.Info, missed string) {
	for {
		parent := filepath.Dir(p)
		if parent == p {
			return agent.Info{}, ""
		}
		info, err := files.Stat(ctx, parent)
		if err != nil {
			return agent.Info{}, ""
		}
		if info.Exists && info.Dir {
			return info, filepath.Base(p)
		}
		p = parent
	}
}

// closestNames picks the candidates that are spelled like name, best first.
func closestNames(name string, candidates []string, limit int) []string {
	type scored struct {
		name  string
		score int
	}
	var near []scored
	lower := strings.ToLower(name)
	for _, c := range candidates {
		most := max(2, len(name)/3)
		other := strings.ToLower(c)
		d := distance(lower, other, most)
		if d > most && stem(lower) == stem(other) && stem(lower) != "" {
			d = most // the same name with another extension
		}
		if d <= most && d < len(name) {
			near = append(near, scored{c, d})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return a.score - b.score })
	var names []string
	for _, n := range near[:min(len(near), limit)] {
		names = append(names, n.name)
	}
	return names
}

func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// distance is the Levenshtein distance, or more than limit if it is above that.
// Names longer than a file name can be are not compared.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit || len(a) > 255 {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
