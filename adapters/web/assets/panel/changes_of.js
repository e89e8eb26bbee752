// What a chat has changed in files: made of the calls and results of its messages. Pure.

/**
 * @typedef {{
 *   path: string, kind: "edit" | "write", diff: string, content: string, message: number, call: string,
 *   cut: boolean,
 * }} Change one call's change of one file; `diff`: unified, as the daemon made it; `content`: a whole
 *   file; `cut`: not all of its lines are there
 */

/** @type {WeakMap<object, {calls: Map<string, any>, results: any[], paths: string[]}>} */
const seen = new WeakMap(); // a message never changes without becoming another object

/** @param {any} message */
function partsOf(message) {
  const known = seen.get(message);
  if (known) return known;
  const found = { calls: new Map(), results: /** @type {any[]} */ ([]), paths: /** @type {string[]} */ ([]) };
  for (const part of message.content ?? []) {
    if (part.type === "tool-call") {
      found.calls.set(part.tool_call_id, part);
      found.paths.push(...pathsIn(part.args));
    } else if (part.type === "tool-result") found.results.push(part);
    else if (part.type === "file-reference" && part.file_name.includes("/")) found.paths.push(part.file_name);
  }
  seen.set(message, found);
  return found;
}

/** @param {any} args */
function pathsIn(args) {
  if (!args || typeof args !== "object") return [];
  const files = Array.isArray(args.files) ? args.files.map((/** @type {any} */ file) => file?.path) : [];
  return [args.path, ...files].filter((path) => typeof path === "string" && path.includes("/"));
}

/**
 * Return the paths that a chat has touched, the latest first.
 * @param {readonly any[]} messages by id
 */
export function pathsOf(messages) {
  const paths = new Set();
  for (let at = messages.length - 1; at >= 0; at--) for (const path of partsOf(messages[at]).paths) paths.add(path);
  return /** @type {string[]} */ ([...paths]);
}

/**
 * Return all changes, in their order. Calls that failed have changed nothing.
 * @param {readonly any[]} messages by id
 * @returns {Change[]}
 */
export function changesOf(messages) {
  /** @type {Map<string, any>} */
  const calls = new Map();
  /** @type {Change[]} */
  const changes = [];
  for (const message of messages) {
    const { calls: more, results } = partsOf(message);
    for (const [id, call] of more) calls.set(id, call);
    for (const part of results) {
      if (part.is_error || part.result?.error) continue;
      if (part.tool_name === "edit_files") changes.push(...edits(part, calls.get(part.tool_call_id), message.id));
      if (part.tool_name === "write_file") changes.push(...written(part, calls.get(part.tool_call_id), message.id));
    }
  }
  return changes;
}

/** @param {any} part @param {any} call @param {number} message @returns {Change[]} */
function edits(part, call, message) {
  const base = { kind: /** @type {const} */ ("edit"), content: "", message, call: part.tool_call_id };
  const files = Array.isArray(part.result?.files) ? part.result.files : [];
  if (files.length) return files.map((/** @type {any} */ file) => ({ ...base, path: file.path, diff: file.diff ?? "", cut: Boolean(part.result_bytes) }));
  const asked = Array.isArray(call?.args?.files) ? call.args.files : []; // the result is cut: told by the call
  return asked.map((/** @type {any} */ file) => ({ ...base, path: file.path, diff: "", cut: true }));
}

/** @param {any} part @param {any} call @param {number} message @returns {Change[]} */
function written(part, call, message) {
  const args = call?.args;
  if (typeof args?.path !== "string") return [];
  return [{
    kind: "write", path: args.path, diff: "", content: typeof args.content === "string" ? args.content : "", message,
    call: part.tool_call_id, cut: typeof args.content !== "string",
  }];
}

/** Return the folder that all paths lie in, with its slash. @param {string[]} paths */
export function commonFolder(paths) {
  if (!paths.length) return "";
  const folders = paths.map((path) => path.split("/").slice(0, -1));
  let length = 0;
  while (folders.every((folder) => folder.length > length && folder[length] === folders[0][length])) length++;
  return length ? `${folders[0].slice(0, length).join("/")}/` : "";
}
