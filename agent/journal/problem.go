package journal

import "assent/agent"

func (l *line) problems(p agent.Problems) {
	if len(p.New) == 0 && p.More == 0 && p.Gone == 0 {
		return
	}
	l.begin("problems", '{')
	if len(p.New) > 0 {
		l.begin("new", '[')
		for _, one := range p.New {
			l.element()
			l.text("path", one.Path)
			l.text("name", one.Name)
			l.num("line", int64(one.Span.Line))
			l.num("column", int64(one.Span.Column))
			l.num("endLine", int64(one.Span.EndLine))
			l.num("endColumn", int64(one.Span.EndColumn))
			l.num("severity", int64(one.Severity))
			l.text("message", one.Message)
			l.text("source", one.Source)
			l.end('}')
		}
		l.end(']')
	}
	l.num("more", int64(p.More))
	l.num("gone", int64(p.Gone))
	l.end('}')
}

type problemsWire struct {
	New  []problemWire `json:"new"`
	More int           `json:"more"`
	Gone int           `json:"gone"`
}

type problemWire struct {
	Path      text `json:"path"`
	Name      text `json:"name"`
	Line      int  `json:"line"`
	Column    int  `json:"column"`
	EndLine   int  `json:"endLine"`
	EndColumn int  `json:"endColumn"`
	Severity  int  `json:"severity"`
	Message   text `json:"message"`
	Source    text `json:"source"`
}

func (w problemsWire) problems() agent.Problems {
	p := agent.Problems{More: w.More, Gone: w.Gone}
	for _, one := range w.New {
		p.New = append(p.New, agent.Problem{
			Path: string(one.Path), Name: string(one.Name), Severity: agent.Severity(one.Severity),
			Span:    agent.Span{Line: one.Line, Column: one.Column, EndLine: one.EndLine, EndColumn: one.EndColumn},
			Message: string(one.Message), Source: string(one.Source),
		})
	}
	return p
}
