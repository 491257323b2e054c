// Package fake is an LSP editor for tests. It is connected to a server over
// two byte streams and behaves as real clients do, which is not always as the
// specification wishes.
//
// # What it is
//
// It is not a mock: nothing is scripted. It has documents with versions, it
// converts positions, it applies a WorkspaceEdit to its own buffers, and it
// tells the server about every change. A test says which editor it wants with
// [Options], lets the person act ([Editor.Type], [Editor.Save]), and looks at
// what the editor has ([Editor.Text], the disk) and at what was said
// ([Editor.Log]).
//
// It imports the standard library only, and nothing of this module: it is a
// second, independent implementation of framing, positions and edits, so that
// a mistake in one does not hide in the other.
//
// # Streams and goroutines
//
// One goroutine reads and never waits on a handler; one writes out of an
// unbounded queue, so no lock is ever held over a blocked pipe. Each request of
// the server is answered in a goroutine of its own; workspace/applyEdit
// requests are done one at a time, in the order of arrival. [Editor.Close]
// waits for all of them.
//
// # Faults of the server
//
// The fake is strict where a test wants to know: a byte that belongs to no
// frame, a wrong Content-Length, a body that is not JSON-RPC, an answer to a
// question that was not asked. Such a fault is kept in [Editor.Err], and every
// test should look at it. After a broken frame nothing later can be trusted:
// pending calls fail with the fault, and the rest of the stream is thrown away.
package fake
