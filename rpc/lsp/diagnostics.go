package lsp

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"assent/agent"
	"assent/rpc"

	"go.lsp.dev/protocol"
)

const (
	// tellLimit is how long a client may take to answer assent/diagnostics. No person
	// has to think for it.
	tellLimit = 2 * time.Second
	// settleLimit is how long the editor's tools may take to look at a change.
	settleLimit = 1500 * time.Millisecond

	maxProblems = 10   // that are told
	maxMessage  = 2000 // bytes of what is kept of one
)

// patient waits between two questions, each time longer, and reports false when that
// was enough.
func patient() func(context.Context) bool {
	began, pause := time.Now(), 50*time.Millisecond
	return func(ctx context.Context) bool {
		pause = min(pause, settleLimit-time.Since(began))
		if pause <= 0 {
			return false
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
		pause *= 2
		return true
	}
}

// Apply implements the landing half of [agent.Editor], and asks the client before and
// after it what its tools say, if it offers that.
func (e *editor) Apply(ctx context.Context, ok agent.Approval, edit agent.Edit) (agent.Landing, error) {
	if edit.Kind != agent.EditText && edit.Kind != agent.EditCreate {
		return e.land(ctx, ok, edit)
	}
	asking, cancel := e.s.sessions.uncancelled(ctx, e.session)
	defer cancel()
	before, asked := e.s.diagnostics(asking, "")
	landing, err := e.land(ctx, ok, edit)
	if asked && err == nil && (landing.Status == agent.LandComplete || landing.Status == agent.LandPartial) {
		landing.Problems = e.problems(asking, before, edit.Path)
	}
	return landing, err
}

// diagnostics asks what the client's tools say of a document, or of all for "". A client
// that fails to answer is not asked again.
func (s *Server) diagnostics(ctx context.Context, uri string) (all []agent.Problem, ok bool) {
	if !s.client.diagnostics || s.untold.Load() || ctx.Err() != nil {
		return nil, false
	}
	asking, cancel := context.WithTimeoutCause(ctx, tellLimit, errSilent)
	defer cancel()
	var result DiagnosticsResult
	err := s.conn.Call(asking, methodDiagnostics, DiagnosticsParams{uri}, &result)
	if err == nil && result.Items == nil {
		err = errors.New("its answer has no items")
	}
	switch {
	case err == nil:
		return problemsOf(*result.Items), true
	case ctx.Err() != nil, errors.Is(err, rpc.ErrClosed):
		return nil, false
	}
	s.untold.Store(true)
	s.log.Info("the client is not asked for diagnostics any more, since it failed to tell them; mend that in the client, or don't offer them", "error", err)
	return nil, false
}

// problemsOf leaves out what is about no file.
func problemsOf(items []Diagnostic) []agent.Problem {
	paths := map[string]string{}
	var all []agent.Problem
	for _, d := range items {
		path, known := paths[d.URI]
		if !known {
			path = locate(d.URI).real()
			paths[d.URI] = path
		}
		if path == "" {
			continue
		}
		from, to := d.Range.Start, d.Range.End
		all = append(all, agent.Problem{
			Path: path, Severity: agent.Severity(cmp.Or(d.Severity, int(agent.SeverityError))), Message: d.Message, Source: d.Source,
			Span: agent.Span{Line: int(from.Line), Column: int(from.Character), EndLine: int(to.Line), EndColumn: int(to.Character)},
		})
	}
	return all
}

// problems waits until the editor's tools have looked at a change of a file, as far as
// can be told, and says what is new.
func (e *editor) problems(ctx context.Context, before []agent.Problem, path string) agent.Problems {
	uri, _ := e.s.place(path)
	was := counted(before, path)
	last := was
	wait := e.s.patience()
	for settled := false; !settled && wait(ctx); {
		all, ok := e.s.diagnostics(ctx, uri)
		if !ok {
			return agent.Problems{}
		}
		now := counted(all, path)
		settled = !maps.Equal(now, was) && maps.Equal(now, last)
		last = now
	}
	after, ok := e.s.diagnostics(ctx, "")
	if !ok {
		return agent.Problems{}
	}
	return e.changed(ctx, before, after, path)
}

// symptom is what two reports of one problem have in common. Lines move.
type symptom struct {
	path, message, source string
	severity              agent.Severity
}

func symptomOf(p agent.Problem) symptom {
	return symptom{pathKey(p.Path), p.Message, p.Source, p.Severity}
}

// counted are the symptoms of one file, or of all for "".
func counted(all []agent.Problem, path string) map[symptom]int {
	out := map[symptom]int{}
	for _, p := range all {
		if path == "" || pathKey(p.Path) == pathKey(path) {
			out[symptomOf(p)]++
		}
	}
	return out
}

// changed compares two answers. Of other files than the changed one only errors count,
// and only where the model may look unasked.
func (e *editor) changed(ctx context.Context, before, after []agent.Problem, path string) agent.Problems {
	var out agent.Problems
	left := counted(before, "")
	infos := map[string]agent.Info{}
	for _, p := range after {
		if s := symptomOf(p); left[s] > 0 {
			left[s]--
			continue
		}
		here := pathKey(p.Path) == pathKey(path)
		if !here && p.Severity != agent.SeverityError {
			continue
		}
		info, known := infos[p.Path]
		if !known {
			info, _ = e.Stat(ctx, p.Path) // else it has no name
			infos[p.Path] = info
		}
		if !here && (info.Name == "" || info.Secret || info.Outside) {
			continue
		}
		p.Name, p.Message = cmp.Or(info.Name, p.Path), strings.ToValidUTF8(p.Message[:min(len(p.Message), maxMessage)], "")
		if info.Secret {
			p.Message = ""
		}
		out.New = append(out.New, p)
	}
	for s, n := range left {
		if s.path == pathKey(path) {
			out.Gone += n
		}
	}
	slices.SortStableFunc(out.New, func(a, b agent.Problem) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Span.Line, b.Span.Line))
	})
	if more := len(out.New) - maxProblems; more > 0 {
		out.New, out.More = out.New[:maxProblems], more
	}
	return out
}

// problems is their wire form, nil for no change.
func (x *Events) problems(p agent.Problems) *Problems {
	if len(p.New) == 0 && p.More == 0 && p.Gone == 0 {
		return nil
	}
	out := &Problems{New: []Diagnostic{}, More: p.More, Gone: p.Gone}
	for _, one := range p.New {
		uri, _ := x.place(one.Path)
		out.New = append(out.New, Diagnostic{uri, protocol.Range{
			Start: protocol.Position{Line: uint32(one.Span.Line), Character: uint32(one.Span.Column)},
			End:   protocol.Position{Line: uint32(one.Span.EndLine), Character: uint32(one.Span.EndColumn)},
		}, int(one.Severity), one.Message, one.Source})
	}
	return out
}
