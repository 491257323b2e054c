package agent

import (
	"fmt"
	"time"
)

// Event is what [Session.Run] yields: [Delta], [Requested], [Appended],
// [Responded], [Answered], [Proposed], [Revised], [Decided], [Landed], [Compacted],
// [Retrying] or [Done].
type Event interface{ event() }

// Record is what the session has the [Store] keep: every event but [Delta], [Revised]
// and [Retrying], and [Started].
type Record interface{ record() }

// Store keeps the records of one session. Append returns once the record is
// where a crash of this process does not lose it; a [Decided] that accepts
// something, once a crash of the machine does not either. If it fails, the
// effect that the record announces does not happen.
type Store interface{ Append(Record) error }

// Started begins a journal.
type Started struct {
	ID        string
	Version   string // of assent
	Dir       string // the first workspace folder
	Model     string
	Provider  string
	ToolNames []string
}

// Delta is a piece of the reply that is coming. If the attempt fails and is
// made again, nothing was shown before.
type Delta struct {
	Text, Thinking string
	Recast         bool // all text of this reply so far was reasoning
}

// Requested says that a request goes to the model.
type Requested struct {
	Messages int
	Bytes    int // of the text in them
	Tokens   int // of the whole request, by the server's counts so far
	Attempt  int // from 1
	Model    string
	Provider string

	Compacting bool // the model is asked to put the history in short; nothing of its reply is shown
}

// Responded says how an attempt ended.
type Responded struct {
	Attempt   int
	FirstByte time.Duration // from the request to the first event of its answer; 0: none came
	Elapsed   time.Duration // from the request to the end
	Finish    string        // the server's own word for why the reply ended
	Usage     Usage
	Err       error // why there is no reply; nil: it follows
}

// Retrying says that a request failed and will be made again.
type Retrying struct {
	Err     error
	Attempt int // the next one
	Wait    time.Duration
}

// Appended is a message of the user or of the model, now in the history. Tool
// results come one by one, as [Answered].
type Appended struct {
	Message Message
	Elapsed time.Duration // of a reply: from request to end
}

// Answered is the result of one tool use.
type Answered struct {
	Use     ToolUse
	Result  ToolResult
	Elapsed time.Duration // of planning and running, without the wait for a person
}

// Proposed is a question, about to be put to the person or answered by a policy.
type Proposed struct{ Proposal Proposal }

// Revised is an open question whose texts moved. The last revision is on record, as
// [Proposed], before its answer is.
type Revised struct{ Proposal Proposal }

// Decided is the answer to a proposal, before anything of it lands.
type Decided struct {
	ProposalID string
	Revision   int
	Decision   Decision
}

// Landed says what became of an edit that was accepted.
type Landed struct {
	ProposalID string
	ToolUseID  string
	Edit       Edit // as approved, narrowed to the accepted hunks
	Landing    Landing
}

// Done ends a run, and is its last event.
type Done struct {
	Reason StopReason
	Err    error // with StopError: what the model server did
	Turns  int   // replies of the model
	Denied int   // calls refused by a person or a rule
	Usage  Usage // sum over the run

	Unheard []string // what the person said meanwhile that came too late
}

func (Delta) event()     {}
func (Requested) event() {}
func (Responded) event() {}
func (Retrying) event()  {}
func (Appended) event()  {}
func (Answered) event()  {}
func (Proposed) event()  {}
func (Revised) event()   {}
func (Decided) event()   {}
func (Landed) event()    {}
func (Compacted) event() {}
func (Done) event()      {}

func (Started) record()   {}
func (Requested) record() {}
func (Responded) record() {}
func (Appended) record()  {}
func (Answered) record()  {}
func (Proposed) record()  {}
func (Decided) record()   {}
func (Landed) record()    {}
func (Compacted) record() {}
func (Done) record()      {}

// Explain says in a sentence, for the person, why a run stopped; "" if it is complete.
func (d Done) Explain() string {
	switch d.Reason {
	case StopMaxTurns:
		return fmt.Sprintf("Stopped after %d replies of the model; give it a smaller task, or raise the limit (--max-turns, maxTurns).", d.Turns)
	case StopRepeated:
		return "Stopped: the model did or said the same again and again. Say it in other words, or try another model."
	case StopCancelled:
		return "Cancelled."
	case StopTruncated:
		return "The answer was cut at the server's output limit; ask for less at once, or raise the limit there."
	case StopRefused:
		return "The model, or a filter of its server, refused to answer."
	case StopError:
		return fmt.Sprintf("The model server failed: %v", d.Err)
	}
	return ""
}
