package main

import (
	"encoding/json"
	"io"

	"assent/agent"
	"assent/agent/host"
	"assent/rpc/lsp"
)

// jsonPrinter writes one event a line, in the shapes of rpc/lsp/PROTOCOL.md.
type jsonPrinter struct {
	out    *json.Encoder
	events lsp.Events
}

func newJSONPrinter(out io.Writer, s *host.Session) *jsonPrinter {
	p := &jsonPrinter{out: json.NewEncoder(out)}
	p.out.SetEscapeHTML(false)
	// A failing stdout shows at the first event too.
	_ = p.out.Encode(lsp.SessionEvent{Type: "session", SessionID: s.ID, Journal: s.Journal})
	return p
}

func (p *jsonPrinter) print(e agent.Event) error {
	for _, wire := range p.events.Of(e) {
		if err := p.out.Encode(wire); err != nil {
			return err
		}
	}
	return nil
}
