package tools

import (
	"context"
	"fmt"

	"assent/agent"
)

type deleteFileArgs struct {
	Path string `json:"path" jsonschema_description:"File to delete, relative to the workspace or absolute"`
}

// DeleteFile removes a text file.
func DeleteFile() agent.Tool {
	return Define(agent.Spec{
		Name:        "delete_file",
		Description: "Deletes a text file. The person is asked first and sees what would be lost.",
		Tier:        agent.TierWrite,
	}, planDeleteFile)
}

func planDeleteFile(ctx context.Context, files agent.Files, args deleteFileArgs) (agent.Plan, error) {
	info, err := files.Stat(ctx, args.Path)
	switch {
	case err != nil:
		return agent.Plan{}, err
	case info.Outside: // only reading it may tell what is there
	case !info.Exists:
		return agent.Plan{}, missing(ctx, files, args.Path, info, "if it was deleted before, there is nothing left to do")
	case info.Dir:
		return agent.Plan{}, fmt.Errorf("%s is a directory; delete its files one by one", args.Path)
	}
	// Its text is read so that the person sees it, and so that it can be brought
	// back. A binary file has none and is refused by the read.
	file, err := readWhole(ctx, files, args.Path)
	if err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{Effects: []agent.Effect{agent.Edit{Path: file.Path, Kind: agent.EditDelete, Base: file.Hash, Old: file.Text}}}, nil
}
