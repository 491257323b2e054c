// Package lsp is the LSP dialect: it lets an editor, or any client that speaks the
// Language Server Protocol, run sessions, review what they propose, and apply it in
// its own buffers. PROTOCOL.md is its specification.
//
// A [Server] handles one connection. What the client says of documents is in
// documents (documents.go, sync.go); a prompt becomes a turn of a session (turn.go,
// prompt.go), whose events go out through an outbox (outbox.go). The editor is the
// client as agent.Editor: it asks with assent/review (review.go, reading.go) or, of a
// client that has no review, with questions (ask.go); and it lands edits with
// workspace/applyEdit (land.go, send.go), and believes only the text that the client
// then shows (judge.go), in whichever line ends (ends.go).
package lsp
