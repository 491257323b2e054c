package host_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/workspace"
)

// onStage is the person of a stage, with the real files.
type onStage struct {
	*workspace.Workspace
	stage *stage
}

func (p onStage) Review(_ context.Context, q agent.Proposal, _ func(agent.Proposal) error) (agent.Decision, error) {
	p.stage.asked = append(p.stage.asked, q)
	if p.stage.review != nil {
		return p.stage.review(q), nil
	}
	return agenttest.AcceptAll(q), nil
}

func (p onStage) Apply(ctx context.Context, ok agent.Approval, e agent.Edit) (agent.Landing, error) {
	if p.stage.land != nil {
		p.stage.land(e)
	}
	return p.Workspace.Apply(ctx, ok, e)
}

func (s *stage) did(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran = append(s.ran, call)
}

// tools are those that the cases call.
func (s *stage) tools() []agent.Tool {
	read := func(name string, run func(ctx context.Context, files agent.Files, path string) (string, error)) agent.Tool {
		return agenttest.Tool{Name: name, Tier: agent.TierRead, Planer: func(_ context.Context, files agent.Files, raw json.RawMessage) (agent.Plan, error) {
			var in struct{ Path string }
			if err := json.Unmarshal(raw, &in); err != nil {
				return agent.Plan{}, err
			}
			return agent.Plan{Run: func(ctx context.Context, _ agent.Approval) (agent.Result, error) {
				s.did(name)
				out, err := run(ctx, files, in.Path)
				return agent.Result{Output: out}, err
			}}, nil
		}}
	}
	return []agent.Tool{
		read("read_file", func(ctx context.Context, files agent.Files, path string) (string, error) {
			f, err := files.Read(ctx, agent.Approval{}, path)
			return f.Text, err
		}),
		read("ls", func(context.Context, agent.Files, string) (string, error) { return s.listed, nil }),
		agenttest.Tool{Name: "write_file", Tier: agent.TierWrite, Planer: s.planWrite},
		agenttest.Tool{Name: "shell", Tier: agent.TierRun, Planer: s.planShell},
	}
}

func (s *stage) planWrite(ctx context.Context, files agent.Files, raw json.RawMessage) (agent.Plan, error) {
	var in struct{ Path, Content string }
	if err := json.Unmarshal(raw, &in); err != nil {
		return agent.Plan{}, err
	}
	info, err := files.Stat(ctx, in.Path)
	if err != nil {
		return agent.Plan{}, err
	}
	edit := agent.Edit{Path: info.Path, Kind: agent.EditCreate}
	if info.Exists {
		f, err := files.Read(ctx, agent.Approval{}, in.Path)
		if err != nil {
			return agent.Plan{}, err
		}
		edit = agent.Edit{Path: info.Path, Kind: agent.EditText, Base: f.Hash, Old: f.Text}
	}
	edit.Hunks = workspace.Diff(edit.Old, in.Content)
	if len(edit.Hunks) == 0 {
		return agent.Plan{Run: func(context.Context, agent.Approval) (agent.Result, error) {
			return agent.Result{Output: "It reads so already."}, nil
		}}, nil
	}
	return agent.Plan{Effects: []agent.Effect{edit}}, nil
}

func (s *stage) planShell(_ context.Context, _ agent.Files, raw json.RawMessage) (agent.Plan, error) {
	var in struct{ Cmd string }
	if err := json.Unmarshal(raw, &in); err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{
		Effects: []agent.Effect{agent.Exec{Dir: s.dir, Command: in.Cmd}},
		Run: func(ctx context.Context, _ agent.Approval) (agent.Result, error) {
			s.did("shell " + in.Cmd)
			out, err := s.shell(ctx, in.Cmd)
			return agent.Result{Output: out}, err
		},
	}, nil
}

// command is one process, which ends with ctx: the shell gives its place to the command.
func (s *stage) command(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+command)
	cmd.Dir = s.dir
	return cmd
}

func (s *stage) execute(ctx context.Context, command string) (string, error) {
	out, err := s.command(ctx, command).CombinedOutput()
	return string(out), err
}

func needShell(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}
