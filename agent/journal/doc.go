// Package journal keeps the records of a session in a file, one JSON object a
// line, and reads them back. [Recorder] implements [agent.Store].
//
// # The file
//
// A journal is a file of mode 0600, <base>/<workspace>/<id>.jsonl (see [Dir] and
// [Path]). It is only ever appended to. A line ends with LF; no other character
// ends a line, and no line is longer than 256 MiB. Every line begins
//
//	{"v":1,"seq":7,"time":"2026-12-01T01:02:03.456Z","type":"user", …}
//
// v is the version of this format, seq counts the records from 1 without a gap,
// time is UTC in milliseconds. Fields that are empty, zero or false are left out,
// unless noted. A reader ignores fields that it doesn't know, keeps a line with
// an unknown type or a newer v as an opaque [Entry] (Record is nil), and skips a
// line that is no record at all: blank, cut off, not an object, not UTF-8. None
// of these is an error; each kind gives one [Warning].
//
// # Values
//
//   - A text is a JSON string. If it isn't valid UTF-8 it is {"base64":"…"}, its
//     bytes in standard base64, since JSON can't hold them and a replacement
//     character must never land in a file.
//   - A hash is the SHA-256 in lower-case hexadecimal; left out: there is no file.
//   - ms is a duration in whole milliseconds.
//   - A usage is {"inputTokens":n,"outputTokens":n}.
//   - A call is {id, name, input | inputText, invalid, inputRaw, opaque}. input is the
//     JSON value byte by byte as the model wrote it, so that a resumed session
//     sends the same bytes. inputText is the same as a text, where the bytes don't
//     fit on a line (line breaks) or are no JSON. invalid and inputRaw are those
//     of a call whose arguments are not an object; opaque is what the model server
//     wants back with it.
//   - A failure is {error, errorKind, status, retryAfterMs}, all but error being
//     those of an [agent.ModelError], whose cause is not kept.
//   - A hunk is {id, at, old, new, by}.
//   - An edit is {kind, path, to, base, hunks, oldText}, kind being "edit",
//     "create", "delete" or "rename".
//
// An edit does not hold the old text of its file: a journal must not grow by the
// whole file at each edit, and base says whether a text is that one. A decoded
// [agent.Edit] therefore has an empty Old; who lands it after a crash reads the
// file, compares the hash, and fills Old in. Only a delete has oldText, as nothing
// else could bring that text back.
//
// # Types
//
//	session      id, version, cwd, model, provider, tools:[name]
//	user         text | blocks
//	request      messages, bytes, tokens, attempt, model, provider, compacting
//	response     attempt, firstByteMs, ms, finish, usage, failure
//	assistant    thinking, text, toolUses:[call] | blocks; stop, finish, usage, ms
//	proposed     proposalId, revision, title, parts:[{toolUseId, name, effect, info, toInfo,
//	             conflict, moot:[hunk]}]
//	decided      proposalId, revision, by, comment, parts:[{accept, confirm, comment,
//	             hunks:{id:{accept, text, comment}}, rewrite:[hunk]}]
//	landed       proposalId, toolUseId, edit, status, where, before, after,
//	             landed:[id], conflicts:[id], leftOut:[id], foreign, note,
//	             problems:{new:[problem], more, gone}
//	tool_result  toolUseId, name, input | inputText, invalid, inputRaw, opaque, output,
//	             isError, ms
//	compacted    summary, said:[text], kept, clip, clipNewest, tokensBefore, tokensAfter
//	done         reason, failure, turns, denied, usage, unheard:[text]
//
// Thinking, text, toolUses is the order of the blocks. A message with another
// order, two texts, an empty one, an image, a note of the session itself, or a thinking
// of which the model server wants more back than the text has blocks instead, a list of
// {type:"text", text}, {type:"image", mediaType, data}, {type:"note", text}, {type:"thinking", text, source, opaque},
// {type:"tool_use", call …} and {type:"tool_result", id, output, isError}. data is
// in base64. A call and a failure stand where they are named, their fields among
// the others.
//
// A request is about one attempt, and the response after it says how that ended:
// with a failure, or with the reply that follows. tokens are estimated by what the
// server counted so far; finish is the server's own word for why the reply ended.
// firstByteMs is rounded up, and left out if the server sent nothing at all. Older
// journals have no response.
//
// A compacted says what the history is from there on: said, the summary and the user's
// newest message of what went, whole, stand for all but the newest kept replies (those
// that have a call or a text) and what follows them, whose results and long arguments
// keep clip bytes each if clip is not 0, and those of the last reply with calls
// clipNewest; see [agent.Compacted.Apply]. A request with compacting, and its
// response, are for the summary, and no message follows.
//
// The effect of a part is an edit, {kind:"exec", dir, command}, {kind:"remote",
// server, tool, input | inputText}, {kind:"outside_read", path} or
// {kind:"secret_read", path}. A part names its call; the arguments stand in the
// assistant record before it, and reading puts them back. info and toInfo are
// {path, name, exists, dir, size, outside, secret, protected}.
//
// A proposal whose texts moved while it was open is recorded once more, with its last
// revision, before its decision. A hunk or a part with conflict is for lines, or a text,
// that someone changed meanwhile; moot are hunks that the text has without us.
//
// In decided, confirm says that the yes is for what the person confirms in a preview of
// their editor as it lands; such an edit lands there or nowhere. text, even an empty one, is what the person put in place of the
// hunk, and rewrite, even an empty one, is what they made of the whole edit. A
// hunk ID that isn't UTF-8 stands in base64 as a key of hunks64 instead.
//
// In landed, status is "landed", "partial", "failed" or "unconfirmed"; where is
// "disk" or "buffer". A problem is {path, name, line, column, endLine, endColumn,
// severity, message, source}; lines and columns count from 0, columns as the editor
// does, and severity is 1 for an error to 4 for a hint.
//
// # Secrets
//
// [Options].Secrets are replaced by "[redacted]" in every text, also inside input
// and the bytes of an image, and such a line ends with "redacted":true. Nothing may
// be landed out of a line like that ([Entry].Redacted): its texts are not those that
// were shown.
//
// # One writer, and crashes
//
// A [Recorder] holds a lock on <resolved path>.lock; in it, after one byte that
// the lock itself takes, stands the process ID. The lock ends with its process,
// whatever stays of the file.
//
// Each record is one write. A decided record that accepts something is also
// synced to the disk before Append returns. A write that fails is cut off again,
// and if that fails too, "#" and LF end the fragment before the next record. A
// fragment that a crash left is ended with LF before the next record; if it is a
// whole record, that makes it one, else it is skipped from then on. So each byte
// prefix of a journal is a journal, and what was written is never taken out.
package journal
