package tools

import (
	"context"
	"fmt"
	"path"

	"assent/agent"
)

type moveFileArgs struct {
	From string `json:"from" jsonschema_description:"File to move, relative to the workspace or absolute"`
	To   string `json:"to" jsonschema_description:"Its new path, with the file name; nothing may be there yet"`
}

// MoveFile renames a file.
func MoveFile() agent.Tool {
	return Define(agent.Spec{
		Name:        "move_file",
		Description: "Moves or renames a file, with the directories that its new path needs. The person is asked first.",
		Tier:        agent.TierWrite,
	}, planMoveFile)
}

func planMoveFile(ctx context.Context, files agent.Files, args moveFileArgs) (agent.Plan, error) {
	from, err := files.Stat(ctx, args.From)
	if err != nil {
		return agent.Plan{}, err
	}
	to, err := files.Stat(ctx, args.To)
	switch {
	case err != nil:
		return agent.Plan{}, err
	case from.Outside || to.Outside: // first, so that it says nothing of what is there
		return agent.Plan{}, fmt.Errorf("moving %s to %s would leave the workspace, and files are moved only inside it; choose paths in the workspace", args.From, args.To)
	case !from.Exists:
		return agent.Plan{}, missing(ctx, files, args.From, from, "list_files shows what is there")
	case from.Dir:
		return agent.Plan{}, fmt.Errorf("%s is a directory; move its files one by one", args.From)
	case to.Path == from.Path:
		return agent.Plan{}, fmt.Errorf("%s and %s are the same file; give another path in to", args.From, args.To)
	case to.Dir || namesDir(args.To):
		return agent.Plan{}, fmt.Errorf("%s is a directory; give the new path with the file name, like %s", args.To, path.Join(args.To, path.Base(from.Name)))
	case to.Exists:
		return agent.Plan{}, fmt.Errorf("%s already exists and would be lost; choose another path, or delete it first with delete_file", args.To)
	}
	return agent.Plan{Effects: []agent.Effect{agent.Edit{Path: from.Path, Kind: agent.EditRename, To: to.Path}}}, nil
}
