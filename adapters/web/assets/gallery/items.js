// The other things that a timeline shows: messages, answers, thoughts, marks.

import { ADVICE } from "./tools.js";

const AT = new Date(Date.now() - 3_600_000).toISOString();
const LATER = new Date(Date.now() - 3_589_000).toISOString();
const USAGE = { input_tokens: 84_210, output_tokens: 1_204, total_tokens: 85_414, cache_read_tokens: 80_000 };
const ANSWER = "`pop` commits before `insert`. Between the two, a second sender sees an empty queue and takes the place of the first. The order of the two statements is the fault, not the lock.";

/** @param {any} item */
const item = (item) => ({ key: `item.${item.title ?? item.kind}`, message: 41, turn: "t", ...item });

/** @param {any} call */
const summary = (call) => ({ key: "summary", name: "chat_summarized", args: {}, error: "", state: "done", running: false, failed: false, ...call });

/** @type {readonly any[]} */
export const ITEMS = [
  item({ kind: "me", said: { id: 41, key: "m41", role: "user", created_at: AT, content: [
    { type: "text", text: "Messages vanish from the queue when two of us send at once. Find out why, fix it, and show me a test that fails without the fix." },
    { type: "file", name: "daemon.log", media_type: "text/plain", file_id: "0b0f7c1e-0000-4000-8000-0000000000aa" },
    { type: "file", name: "notes.zip", media_type: "application/zip", file_id: "0b0f7c1e-0000-4000-8000-0000000000ab" },
    { type: "file", name: "old.png", media_type: "image/png" },
    { type: "file-reference", file_name: "adapters/postgres/queue.py", start_line: 88, end_line: 104, content: "async def promote" },
  ] } }),
  item({ title: "me, long", kind: "me", said: { id: 42, key: "m42", role: "user", created_at: AT, content: [{ type: "text", text: "A line of a long message.\n".repeat(60) }] } }),
  item({ kind: "thought", part: { type: "reasoning", text: "**Who commits first**\n\nThe pop is in its own transaction.", created_at: AT, completed_at: LATER } }),
  item({ title: "thought, live", kind: "thought", grows: true, part: { type: "reasoning", text: Array.from({ length: 14 }, (_, i) => `A thought in line ${i}.`).join("\n\n"), created_at: LATER } }),
  item({ kind: "text", text: ANSWER, facts: { id: 43, created_at: AT, model_config_id: "x", usage: USAGE, cost_micros: 310_000 } }),
  item({ title: "text, markdown", kind: "text", text: `# A title\n\n${ADVICE}\n\n## Code\n\n\`\`\`python\nasync with lock(chat) as row:\n    head = await pop(row)  # 41\n    return f"{head.id}"\n\`\`\`\n\n| a | b |\n|---|--:|\n| one | 1 |\n| two | 22 |\n\n> quoted ~~words~~\n\n- [x] done\n- [ ] open\n  - deeper\n\n[a link](https://example.org) and ![an image](https://example.org/x.png), as is written[^1].\n\n[^1]: In *The book of queues*, page 7.\n\n---\n\nThe end.`, facts: { id: 44, created_at: AT } }),
  item({ title: "text, grows", kind: "text", text: "Both runs are as expected: without the change seed 41 loses one message, with it none of 40 does. I would push the branch now", grows: true }),
  item({ kind: "sources", sources: [{ url: "https://www.postgresql.org/docs", title: "Explicit locking" }, { url: "https://lwn.net/x", title: "Queues in a table" }, { url: "javascript:alert(1)", title: "no" }] }),
  item({ kind: "notice", text: "A rule of your deployment took a customer's name out of this message." }),
  item({ kind: "fold", what: "Read 7 files, ran 4 commands, made 2 edits", steps: 14, took: 130_000, cost: 310_000, failed: 1, items: [] }),
  item({ kind: "summary", call: summary({ result: { summary: ADVICE, source: "automatic", context_tokens: 148_000 } }) }),
  item({ title: "summary, running", kind: "summary", call: summary({ running: true, state: "running" }) }),
  item({ title: "summary, failed", kind: "summary", call: summary({ failed: true, state: "failed", error: "the model did not answer" }) }),
  item({ kind: "hole", hole: { after: 1, before: 2, state: "more" } }),
  item({ kind: "strange", part: { type: "hologram", text: "what nobody knows", depth: 3 } }),
];
