package agent

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Tool is something that the model can do.
type Tool interface {
	// Spec describes the tool. It is constant.
	Spec() Spec

	// Plan decides what a call would do, and does nothing yet: it may read
	// through files, which shows the edits planned earlier in the same reply.
	// What it returns is all that the call can do later. Plan may be called
	// from any goroutine, never twice at once for one session's edits. An
	// error is shown to the model as the call's result, so its text says how
	// to repair the call. A panic is caught and reported in the same way.
	Plan(ctx context.Context, files Files, input json.RawMessage) (Plan, error)
}

// Plan is what a call would do.
//
// A tool of [TierRead] plans [OutsideRead] and [SecretRead] effects or none; of
// [TierWrite] only [Edit], which the session itself lands, with Run nil (or no
// effect, when there is nothing to change, and a Run that says so); of [TierRun]
// and [TierRemote] at least one effect. A plan against these rules is an error
// result and does nothing.
type Plan struct {
	// Effects need consent, each of them.
	Effects []Effect

	// Run does the work of reads, commands and remote calls, after consent. It
	// gets the approval of the effects as the person may have narrowed them, must
	// end soon after ctx does, and may be called on any goroutine. A call that
	// outlives its time limit is answered without waiting for Run.
	Run func(ctx context.Context, ok Approval) (Result, error)
}

// MissedError is the error of a plan that rests on a text that is not in the file. Such
// calls are counted by file, since a model that edits out of its memory goes on so.
type MissedError struct {
	Path string
	Err  error
}

func (e *MissedError) Error() string { return e.Err.Error() }
func (e *MissedError) Unwrap() error { return e.Err }

// Result is what a call says to the model. Its first line says that and how the
// call ended, since models repeat calls that do not look done.
type Result struct {
	Output  string
	IsError bool
}

// Spec describes a tool to the model and to the session.
type Spec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the input, an object
	Tier        Tier
	Timeout     time.Duration // for Plan and for Run, 0: the session's default

	// Idempotent says that Plan.Run may be called again after it failed with an
	// [ErrTransient], since doing it twice is the same as once. No other is.
	Idempotent bool
}

// ErrTransient is wrapped by an error of a call that may do better a moment later, as
// after a broken connection.
var ErrTransient = errors.New("it may pass")

// Tier says what a tool may touch. The zero Tier is refused by [New].
type Tier int

const (
	TierRead   Tier = iota + 1 // reads, at most Config.Parallel at once
	TierWrite                  // plans edits, which the session lands one at a time
	TierRun                    // runs a command
	TierRemote                 // calls something outside this machine
)

var tierNames = [...]string{"none", "read", "write", "run", "remote"}

func (t Tier) String() string {
	if t < 0 || int(t) >= len(tierNames) {
		return "unknown"
	}
	return tierNames[t]
}
