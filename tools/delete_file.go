package tools

import (
	"context"

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
	// Its text is read so that the person sees it, and so that it can be brought
	// back. A binary file has none and is refused by the read.
	file, err := readExisting(ctx, files, args.Path, "if it was deleted before, there is nothing left to do", "delete its files one by one")
	if err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{Effects: []agent.Effect{agent.Edit{Path: file.Path, Kind: agent.EditDelete, Base: file.Hash, Old: file.Text}}}, nil
}
