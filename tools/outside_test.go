package tools_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/tools"
)

// What a tool says of a path outside, unasked, must not depend on what is there.
func TestNobodyLearnsUnaskedWhatIsOutside(t *testing.T) {
	outside := newWorld(t, map[string]string{"file": "text\n", "dir/x": "", "bin": "\x00"})
	w := newWorld(t, map[string]string{"in": "text\n"})
	at := func(name string) string { return filepath.Join(outside.dir, filepath.FromSlash(name)) }
	there := []string{"none", "none/deep", "file", "dir", "bin", "file/x"}
	for _, c := range []struct {
		tool agent.Tool
		args func(path string) args
	}{
		{tools.ListFiles(), func(p string) args { return args{"path": p} }},
		{tools.Search(), func(p string) args { return args{"path": p, "pattern": "t"} }},
		{tools.EditFile(), func(p string) args { return args{"path": p, "edits": []args{change("text", "new")}} }},
		{tools.WriteFile(), func(p string) args { return args{"path": p, "content": "new"} }},
		{tools.DeleteFile(), func(p string) args { return args{"path": p} }},
		{tools.MoveFile(), func(p string) args { return args{"from": p, "to": "new"} }},
		{tools.MoveFile(), func(p string) args { return args{"from": "in", "to": p} }},
		{tools.MoveFile(), func(p string) args { return args{"from": "nothing", "to": p} }},
	} {
		said := map[string]bool{}
		for _, name := range there {
			_, err := c.tool.Plan(t.Context(), w, c.args(at(name)).json(t))
			wantError(t, err)
			said[strings.ReplaceAll(err.Error(), at(name), "PATH")] = true
		}
		if len(said) != 1 {
			t.Errorf("%s says %v", c.tool.Spec().Name, said)
		}
	}
	for _, name := range there {
		plan, err := tools.ReadFile().Plan(t.Context(), w, args{"path": at(name)}.json(t))
		must(t, err)
		if want := []agent.Effect{agent.OutsideRead{Path: at(name)}}; !reflect.DeepEqual(plan.Effects, want) {
			t.Errorf("read_file of %s plans %+v", name, plan.Effects)
		}
	}
}

func TestReadFileTellsWhatIsOutsideOnceThePersonAgreed(t *testing.T) {
	outside := newWorld(t, map[string]string{"file": "text\n", "dir/x": ""})
	w := newWorld(t, nil)
	for name, want := range map[string]string{"none": "there is no", "dir": "is a directory", "file/x": "not a directory", "file": ""} {
		path := filepath.Join(outside.dir, filepath.FromSlash(name))
		plan, err := tools.ReadFile().Plan(t.Context(), w, args{"path": path}.json(t))
		must(t, err)
		result, err := plan.Run(t.Context(), agenttest.Approve(t, plan.Effects...))
		if want == "" {
			must(t, err)
			wantText(t, result.Output, path+": lines 1-1 of 1\ntext\n")
			continue
		}
		wantError(t, err, want)
	}
}

func TestAFileOutsideThatWasReadCanBeChanged(t *testing.T) {
	outside := newWorld(t, map[string]string{"file": "text\n"})
	w := newWorld(t, nil)
	path, gone := filepath.Join(outside.dir, "file"), filepath.Join(outside.dir, "gone")
	files := with{w, agenttest.Approve(t, agent.OutsideRead{Path: path}, agent.OutsideRead{Path: gone})}
	for _, c := range []struct {
		tool agent.Tool
		args args
		want string
	}{
		{tools.EditFile(), args{"path": path, "edits": []args{change("text", "new")}}, "new\n"},
		{tools.WriteFile(), args{"path": path, "content": "new\n"}, "new\n"},
		{tools.DeleteFile(), args{"path": path}, ""},
	} {
		e, err := edit(t, c.tool, files, c.args)
		must(t, err)
		wantText(t, e.New(), c.want)
		c.args["path"] = gone
		_, err = edit(t, c.tool, files, c.args)
		wantError(t, err, "there is no such file")
	}
}
