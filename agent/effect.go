package agent

import (
	"bytes"
	"encoding/json"
)

// Effect is something that needs consent: [Edit], [Exec], [Remote],
// [OutsideRead] or [SecretRead].
type Effect interface {
	effect()
	// same reports whether another effect is this very one.
	same(Effect) bool
}

// Exec is a command line in a directory.
type Exec struct{ Dir, Command string }

// Remote is a call of another server's tool.
type Remote struct {
	Server, Tool string
	Input        json.RawMessage
}

// OutsideRead is a read of a file that is in no workspace folder. Path is
// absolute and resolved.
type OutsideRead struct{ Path string }

// SecretRead is a read of a file that holds keys or credentials. It is asked
// each time; no policy can allow it.
type SecretRead struct{ Path string }

func (Edit) effect()        {}
func (Exec) effect()        {}
func (Remote) effect()      {}
func (OutsideRead) effect() {}
func (SecretRead) effect()  {}

func (e Exec) same(o Effect) bool        { return o == Effect(e) }
func (e OutsideRead) same(o Effect) bool { return o == Effect(e) }
func (e SecretRead) same(o Effect) bool  { return o == Effect(e) }

func (e Remote) same(o Effect) bool {
	r, ok := o.(Remote)
	return ok && r.Server == e.Server && r.Tool == e.Tool && bytes.Equal(r.Input, e.Input)
}
