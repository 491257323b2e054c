// Package rpc is a JSON-RPC 2.0 connection over two byte streams, such as the
// standard streams of a process. It knows frames, order and cancellation, and
// nothing of agents. Calls and their answers are matched by the Conn of
// sourcegraph/jsonrpc2; the frames below it and the handlers above it are ours.
//
// # Frames
//
// A message is either preceded by headers, as in the Language Server Protocol
// (Content-Length, in bytes, and a blank line), or is a line. The first byte of
// the input that is no blank tells which, see [Framing]; what is written has the
// same form. A message that is too large, or is not JSON, or is no message is
// answered with an error, and the next one is read. Only a length that can't be
// believed ends the connection, since after it nothing is in step.
//
// # Order
//
// [Conn.Serve] hands every message to its [Handler] on one goroutine, in the
// order of their arrival. A notification is handled there. Of a request the
// handler makes a [Work] there, which then runs on a goroutine of its own. So the
// reader never waits for a handler, and what a handler learns from a message it
// knows before it sees the next.
//
// # Ends
//
// When the input ends, calls to the client fail with [ErrClosed] at once: nobody
// can answer them any more. Work that needs no answer goes on, and its reply is
// written. When the output can't be written, or the watched process is gone, all
// work is cancelled.
package rpc
