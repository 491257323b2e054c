// Package agent is a coding agent that can't do anything without a yes. It is the
// hub of this module: it imports the standard library only, and what it needs of
// the world it declares as interfaces, [Model], [Tool], [Editor] and [Store].
//
// # A session
//
// A [Session] is one conversation: a history of messages, the tools that exist
// for the model, and what the person let it read. [New] makes one of a [Config],
// [Session.Run] answers a prompt and yields what happens, and the history stays
// for the next prompt. A nil Editor refuses everything and a nil Store lets
// nothing be asked, so what is left out is never what was needed to say yes.
//
// # The loop
//
// loop.go is the agent, and the place to begin reading. For each turn it asks the
// model, and gives each of its calls exactly one result, in the next message and
// in order: an unknown tool, arguments that are no object, a refusal, an error, a
// panic, a time limit and a cancel give an error result. Without calls the run is
// complete. After Config.MaxTurns replies, and at the fifth identical call, the
// model is asked for a last answer without tools.
//
// The calls of a reply are taken in order as batches: consecutive reads, which run
// side by side, consecutive edits, or a single command or remote call.
//
// # Plans and consent
//
// A tool plans, which has no effect, and a [Plan] names every [Effect] that the
// call can have. The edits of a batch are planned in order on a scratch copy, so a
// later one sees the earlier ones. What is known of a path (inside, protected,
// secret) comes from the Editor and not from the tool.
//
// A [Policy] may answer for the person, but not where an effect is secret,
// protected or an edit outside the workspace. Everything else of the batch is one
// [Proposal], put to [Editor].Review. Only what the answer clearly takes becomes an
// [Approval]: a missing, malformed or late answer is a no. An Approval can't be
// made outside this package, nor inside it but in consent.go, and covers an edit
// only as it was shown, hunk by hunk, or as the person rewrote it.
//
// An approved edit is landed by [Editor].Apply, one after another; for all else
// Plan.Run does the work and is given the Approval. The model is told what landed,
// which may be less than it proposed, or the person's own text.
//
// # Records before effects
//
// Most events are also records, which go to the [Store] before they are yielded,
// whoever listens: a [Proposed] before the question, a [Decided] before anything
// lands. If the Store fails, the run ends there with an error, and what the record
// announced does not happen. All of it is done by the goroutine of the loop, which
// alone records and yields, so the journal has one order.
//
// # Histories
//
// A request holds a history that every server takes, both ways: each call has its
// result, each result its call, no ID comes twice and nothing is empty. A history that
// is not like that, out of a damaged journal, is mended for the requests. One that
// fills the window of the model is put in short first: [Compacted] is the record, and
// its Apply does the same again to what is read from a journal. The window is what
// Config.Window says until the server says less.
//
// # Cancel
//
// The end of the context, and a consumer that breaks out of the range, cancel.
// That is no error: open questions count as not answered, calls that were not
// begun get a result that says so, a landing that was begun is carried out within
// a grace time, and the run ends with [Done] and [StopCancelled]. Results are still
// recorded after the consumer left. A lost connection ([ErrInterrupted]) is not a
// cancel: it decides nothing and ends the run with an error, and the next run gives
// the open calls their results before it does anything else.
//
// # What an implementation owes
//
//   - A [Model] yields a whole reply only after a proper end, and leaves retrying
//     to the session.
//   - A [Tool] does nothing in Plan, and afterwards nothing that its plan did not
//     name. Its errors and results are texts for the model.
//   - An [Editor] waits for an answer without a time limit, reports a lost
//     connection as [ErrInterrupted], lands only what the Approval covers, and says
//     what is there afterwards, not what it sent.
//   - A [Store] returns once a crash can't lose the record.
//
// The interfaces say all of it. Package agenttest has a suite for models and one
// for tools, and a scripted model and a fake person to test with.
package agent
