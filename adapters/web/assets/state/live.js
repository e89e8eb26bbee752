// The answer that is being streamed: how each piece joins what is there. Pure.

/**
 * A part that grows. `argsText` is what has come of a call's arguments, `resultText` of its
 * result; `args` and `result` are there once they are whole.
 * @typedef {Partial<import("../wire/types.js").ChatMessagePart> & {type: string,
 *   role: string, argsText?: string, resultText?: string}} LivePart
 *
 * The attempt that runs. `key` is its history version and number, "3.1"; `seq` the last piece.
 * `isCut`: it goes on, and nothing more of it is shown.
 * @typedef {{key: string, history: number, attempt: number, seq: number,
 *   parts: readonly LivePart[], isCut?: boolean}} Live
 *
 * @typedef {import("../wire/types.js").ChatStreamMessagePart} Piece
 */

/** @param {Piece} piece */
export const keyOf = (piece) => `${piece.history_version}.${piece.generation_attempt}`;

/**
 * Return the attempt with the piece. "gap": pieces before it are missing; "known": it was there.
 * @param {Live | null} live
 * @param {Piece} piece
 * @returns {Live | "gap" | "known"}
 */
export function withPiece(live, piece) {
  const at = live && live.key === keyOf(piece) ? live : null;
  if (!at && live && isOlder(piece, live)) return "known";
  const seq = at ? at.seq : 0;
  const parts = at ? at.parts : [];
  if (piece.seq <= seq) return "known";
  if (piece.seq > seq + 1) return "gap";
  return {
    key: keyOf(piece),
    history: piece.history_version,
    attempt: piece.generation_attempt,
    seq: piece.seq,
    parts: piece.truncated ? parts : joined(parts, piece.part, piece.role),
    isCut: piece.truncated,
  };
}

/**
 * @param {Piece} piece
 * @param {Live} live
 */
function isOlder(piece, live) {
  const history = piece.history_version - live.history;
  return history < 0 || (history === 0 && piece.generation_attempt < live.attempt);
}

/**
 * @param {readonly LivePart[]} parts
 * @param {import("../wire/types.js").ChatMessagePart} come
 * @param {string} role
 * @returns {readonly LivePart[]}
 */
function joined(parts, come, role) {
  const at = placeOf(parts, come, role);
  if (at < 0) return [...parts, begun({ ...come, role })];
  const next = parts.slice();
  next[at] = grown(parts[at], come);
  return next;
}

/**
 * Return the place of the part that a piece continues, or -1.
 * @param {readonly LivePart[]} parts
 * @param {import("../wire/types.js").ChatMessagePart} come
 * @param {string} role
 */
function placeOf(parts, come, role) {
  const last = parts[parts.length - 1];
  switch (come.type) {
    case "text":
      return last?.type === "text" && last.role === role ? parts.length - 1 : -1;
    case "reasoning":
      return last?.type === "reasoning" && last.created_at === come.created_at
        ? parts.length - 1
        : -1;
    case "tool-call":
    case "tool-result":
      return parts.findLastIndex(
        (part) => part.type === come.type && part.tool_call_id === come.tool_call_id,
      );
    default:
      return -1;
  }
}

/**
 * Return the first piece of a part as the part.
 * @param {LivePart} part
 * @returns {LivePart}
 */
function begun({ args_delta, result_delta, result_reset, ...part }) {
  if (args_delta !== undefined) part.argsText = args_delta;
  if (result_delta !== undefined) part.resultText = result_delta;
  return part;
}

/**
 * @param {LivePart} part
 * @param {import("../wire/types.js").ChatMessagePart} come
 * @returns {LivePart}
 */
function grown(part, come) {
  const { type, args_delta, result_delta, result_reset, ...said } = come;
  if (type === "text" || type === "reasoning") return { ...part, text: (part.text ?? "") + come.text };
  if (type === "tool-call") {
    if (come.args !== undefined) return { ...part, ...said };
    return { ...part, argsText: (part.argsText ?? "") + (args_delta ?? "") };
  }
  if (come.result !== undefined) return { ...part, ...said };
  const before = result_reset ? "" : (part.resultText ?? "");
  return { ...part, resultText: before + (result_delta ?? "") };
}
