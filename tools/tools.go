// Package tools is what the agent can do with the files of a workspace.
//
// Each tool is made with [Define] out of a struct of arguments and a function
// that plans a call. Planning has no effects: a tool that changes files returns
// the [agent.Edit] that it wants, and the session asks the person and lands it.
//
// Errors are written for the model that made the call. They say what was wrong
// and what to do instead, with all that it takes to get the next call right.
package tools

import (
	"fmt"
	"slices"
	"strings"

	"assent/agent"
)

// Default lists the tools that a session has unless it is told otherwise.
func Default() []agent.Tool {
	return []agent.Tool{
		ReadFile(), ListFiles(), Search(),
		EditFile(), WriteFile(), MoveFile(), DeleteFile(),
	}
}

// Names lists the names of tools, in order.
func Names(all []agent.Tool) []string {
	var names []string
	for _, tool := range all {
		names = append(names, nameOf(tool))
	}
	return names
}

// nameOf spares the tools made here their schema, which a session that does not
// have them never needs.
func nameOf(t agent.Tool) string {
	if named, ok := t.(interface{ name() string }); ok {
		return named.name()
	}
	return t.Spec().Name
}

// Select picks tools by name, each once, in the order of names.
func Select(all []agent.Tool, names []string) ([]agent.Tool, error) {
	known := Names(all)
	var picked []agent.Tool
	var unknown []string
	seen := map[string]bool{}
	for _, name := range names {
		i := slices.Index(known, name)
		switch {
		case i < 0:
			unknown = append(unknown, fmt.Sprintf("%q", name))
		case !seen[name]:
			picked = append(picked, all[i])
		}
		seen[name] = true
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("there is no tool %s; the tools are %s", strings.Join(unknown, ", "), strings.Join(known, ", "))
	}
	return picked, nil
}
