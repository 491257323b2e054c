package lsp

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"assent/agent"
	"assent/agent/workspace"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// show has the client show the diff of an edit, in a file that only this user can read
// and that hide removes. The file's name is "" if it is not shown, as far as can be
// told. What may hold secrets stays off the disk, and our files out of the workspace.
func (e *editor) show(ctx context.Context, part agent.Part, hunks []agent.Hunk) (name string, hide func()) {
	hide = func() {}
	if !e.s.client.shows || part.Info.Secret || part.To.Secret {
		return "", hide
	}
	if info, err := e.Stat(ctx, os.TempDir()); err != nil || !info.Outside {
		return "", hide
	}
	dir, err := os.MkdirTemp("", "assent-")
	if err != nil {
		e.s.log.Warn("a diff could not be written for the editor to show, so it is put into questions", "error", err)
		return "", hide
	}
	hide = func() {
		if err := os.RemoveAll(dir); err != nil {
			e.s.log.Warn("the file of a diff could not be removed; remove it yourself", "dir", dir, "error", err)
		}
	}
	name = path.Base(part.Info.Name) + ".diff" // a new one each time: editors show what they loaded before
	if err := e.showFile(ctx, filepath.Join(dir, name), readable(part, hunks)); err != nil {
		e.s.log.Info("the editor did not show a diff, so it is put into questions", "error", err)
		hide()
		return "", func() {}
	}
	return agent.Printable(name), hide
}

func (e *editor) showFile(ctx context.Context, file, text string) error {
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, tellLimit, errSilent)
	defer cancel()
	no := false
	var result struct {
		Success bool `json:"success"`
	}
	err := e.s.call(ctx, protocol.MethodWindowShowDocument, &protocol.ShowDocumentParams{URI: uri.URI(fileURI(file)), TakeFocus: &no}, &result)
	if err == nil && !result.Success {
		err = errNotShown
	}
	return err
}

var errNotShown = errors.New("it says that it could not")

// readable is the diff of an edit with nothing in it that an editor would hide.
func readable(part agent.Part, hunks []agent.Hunk) string {
	edit := part.Effect.(agent.Edit)
	windows, unix := ends(edit.Old + edit.New())
	var b strings.Builder
	for line := range strings.Lines(workspace.Unified(agent.Printable(part.Info.Name), edit, hunks)) {
		body, end := strings.CutSuffix(line, "\n")
		if windows && !unix { // else one that differs is seen
			body = strings.TrimSuffix(body, "\r")
		}
		b.WriteString(agent.Printable(body))
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
