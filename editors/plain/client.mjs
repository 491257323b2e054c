// A client that we did not write the protocol part of: vscode-languageserver-protocol
// drives assent through random files, texts and answers, and checks that the diff came
// before any byte changed, and that what was accepted is exactly what landed.
//
//	node client.mjs ASSENT [ROUNDS [SEED]]
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  ApplyWorkspaceEditRequest, createProtocolConnection, DidChangeTextDocumentNotification, DidOpenTextDocumentNotification, ExitNotification,
  InitializedNotification, InitializeRequest, ShutdownRequest, StreamMessageReader, StreamMessageWriter,
} from "vscode-languageserver-protocol/node";

const [assent, rounds = "12", seed = String(Date.now())] = process.argv.slice(2);
let state = Number(seed) | 0;
const random = (n) => ((state = (Math.imul(state, 1103515245) + 12345) | 0) >>> 8) % n; // the same rounds for the same seed
const pick = (list) => list[random(list.length)];
const words = () => Array.from({ length: 1 + random(4) }, () => pick(["a", "naïve", "漢字", "🙂", "x".repeat(random(40)), "%20", "#", "& b", "c+d", "[e]"])).join(pick([" ", "-", "_"]));

// apply makes LSP text edits in a text; positions count UTF-16, as strings here do.
function apply(text, edits) {
  const starts = [0, ...[...text.matchAll(/\r\n|\n|\r/g)].map((m) => m.index + m[0].length)];
  const at = ({ line, character }) => (line < starts.length ? starts[line] + character : text.length);
  const fromTheEnd = [...edits].sort((a, b) => at(b.range.start) - at(a.range.start));
  return fromTheEnd.reduce((t, e) => t.slice(0, at(e.range.start)) + e.newText + t.slice(at(e.range.end)), text);
}

async function round(number) {
  const dir = mkdtempSync(join(tmpdir(), "assent-npm-"));
  const end = pick(["\n", "\r\n"]);
  const lines = Array.from({ length: 1 + random(30) }, (_, i) => `${i} ${words()}`);
  const target = random(lines.length);
  const last = pick(["", end]);
  const before = lines.join(end) + last;
  const want = lines.map((line, i) => (i === target ? "changed 🙂" : line)).join(end) + last;
  const file = join(dir, "ws", ...Array.from({ length: 1 + random(3) }, words)) + ".txt";
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, before);
  const call = { id: "c1", name: "edit_file", input: { path: file, edits: [{ old_string: before, new_string: want }] } };
  writeFileSync(join(dir, "replies.jsonl"), JSON.stringify({ text: "I change it.", toolUses: [call] }) + "\n" + JSON.stringify({ text: "Done." }) + "\n");

  const [accepts, open, applies] = [random(3) > 0, random(2) > 0, random(3) > 0];
  const uri = pathToFileURL(file).href;
  let text = before, reviews = 0;
  const daemon = spawn(assent, ["--stdio"], {
    cwd: dir, stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: process.env.PATH, HOME: dir, XDG_STATE_HOME: dir, ASSENT_PROVIDER: "replay", ASSENT_MODEL: join(dir, "replies.jsonl") },
  });
  const exited = new Promise((resolve) => daemon.on("exit", resolve));
  const client = createProtocolConnection(new StreamMessageReader(daemon.stdout), new StreamMessageWriter(daemon.stdin));
  const untouched = () => assert.deepEqual([text, readFileSync(file, "utf8")], [before, before], "changed before the review was answered");
  client.onRequest("assent/review", (review) => {
    reviews++;
    untouched();
    assert.deepEqual([review.files.length, review.files[0].oldText, review.files[0].newText], [1, before, want]);
    return { revision: review.revision, decision: accepts ? "accept" : "reject", comment: "as I like" };
  });
  client.onRequest(ApplyWorkspaceEditRequest.type, async ({ edit }) => {
    assert.ok(accepts && reviews === 1, "an edit without a yes");
    const change = edit.documentChanges[0];
    assert.deepEqual([change.textDocument.uri, change.textDocument.version], open ? [uri, 1] : [change.textDocument.uri, null]);
    text = apply(text, change.edits);
    if (!open) client.sendNotification(DidOpenTextDocumentNotification.type, { textDocument: { uri: change.textDocument.uri, languageId: "plaintext", version: 1, text: before } });
    await client.sendNotification(DidChangeTextDocumentNotification.type, { textDocument: { uri: change.textDocument.uri, version: 2 }, contentChanges: [{ text }] });
    return { applied: true };
  });
  client.listen();
  await client.sendRequest(InitializeRequest.type, {
    processId: process.pid, rootUri: null, workspaceFolders: [{ uri: pathToFileURL(join(dir, "ws")).href, name: "ws" }],
    capabilities: { workspace: { applyEdit: applies, workspaceEdit: { documentChanges: true } }, experimental: { assent: { version: 1, review: true } } },
  });
  await client.sendNotification(InitializedNotification.type, {});
  if (open) await client.sendNotification(DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId: "plaintext", version: 1, text } });
  const result = await client.sendRequest("assent/prompt", { text: "change it" });
  assert.deepEqual([result.stopReason, result.denied, reviews], ["complete", accepts ? 0 : 1, 1], JSON.stringify(result));
  assert.equal(text, accepts && applies ? want : before);
  assert.equal(readFileSync(file, "utf8"), accepts && !applies ? want : before);
  await client.sendRequest(ShutdownRequest.type);
  await client.sendNotification(ExitNotification.type);
  assert.equal(await exited, 0);
  client.dispose();
  rmSync(dir, { recursive: true });
  return `round ${number}: ${JSON.stringify(uri.slice(uri.indexOf("/ws/")))} ${accepts ? "accepted" : "refused"}, ${open ? "open" : "not open"}, ${applies ? "in the editor" : "on disk"}`;
}

for (let i = 1; i <= Number(rounds); i++) console.log(await round(i));
console.log(`seed ${seed}: ${rounds} rounds were right`);
process.exit(0);
