package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"assent/agent"
	"assent/agent/workspace"
)

type writeFileArgs struct {
	Path    string `json:"path" jsonschema_description:"File to write, relative to the workspace or absolute"`
	Content string `json:"content" jsonschema_description:"The whole text of the file"`
}

// WriteFile creates a file, or gives one another text.
func WriteFile() agent.Tool {
	return Define(agent.Spec{
		Name: "write_file",
		Description: "Creates a text file with the directories it needs, or replaces all of its text. " +
			"To change parts of a file use edit_file. The person sees the change as a diff and may accept it, change it, or refuse it.",
		Tier: agent.TierWrite,
	}, planWriteFile)
}

func planWriteFile(ctx context.Context, files agent.Files, args writeFileArgs) (agent.Plan, error) {
	info, err := files.Stat(ctx, args.Path)
	switch {
	case err != nil:
		return agent.Plan{}, err
	case namesDir(args.Path):
		return agent.Plan{}, fmt.Errorf("%s ends in a slash, which names a directory; name the file itself", args.Path)
	case info.Outside:
		return planOutside(ctx, files, args)
	case info.Dir:
		return agent.Plan{}, fmt.Errorf("%s is a directory; name a file in it", args.Path)
	case !info.Exists:
		return planCreate(info, args.Content)
	}
	file, err := readWhole(ctx, files, args.Path)
	if err != nil {
		return agent.Plan{}, err
	}
	return planContent(file, args.Content)
}

// planOutside changes a file outside that the person let the session read. Of any
// other path it says the same whatever is there.
func planOutside(ctx context.Context, files agent.Files, args writeFileArgs) (agent.Plan, error) {
	file, err := files.Read(ctx, agent.Approval{}, args.Path)
	if errors.Is(err, agent.ErrNotApproved) {
		return agent.Plan{}, fmt.Errorf("%s is outside the workspace, where no file can be created, and one that is there can be changed only once it was read, which was %w; choose a path in the workspace, or read it with read_file first, which asks them", args.Path, agent.ErrNotApproved)
	}
	if err != nil {
		return agent.Plan{}, fmt.Errorf("%w; outside the workspace no file can be created", err)
	}
	return planContent(file, args.Content)
}

func planContent(file agent.File, content string) (agent.Plan, error) {
	content = strings.TrimPrefix(content, "\uFEFF") // a file that has a byte-order mark keeps it
	if !strings.Contains(content, "\r") {
		// The model sees LF only, so LF says nothing about the line ends it wants.
		content = workspace.MatchLineEnds(content, file.Text, file.Text)
	}
	return planText(file, content)
}

func planCreate(info agent.Info, content string) (agent.Plan, error) {
	if err := checkText(content); err != nil {
		return agent.Plan{}, err
	}
	edit := agent.Edit{Path: info.Path, Kind: agent.EditCreate}
	if content != "" {
		edit.Hunks = []agent.Hunk{agent.NewHunk(0, "", content)}
	}
	return agent.Plan{Effects: []agent.Effect{edit}}, nil
}

// namesDir reports whether a path can only be a directory's.
func namesDir(path string) bool {
	return strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/.")
}
