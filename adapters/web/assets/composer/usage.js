// How full the context is: from what the newest step has read, and the model's limits. Pure.

/** @typedef {{used: number | null, limit: number, threshold: number, percent: number | null}} Fullness */

/**
 * Return the tokens of the newest step that counted any, or null if none has.
 * A summary that came later leaves room that nobody has counted yet.
 * @param {readonly {role: string, usage?: {input_tokens?: number, output_tokens?: number, total_tokens?: number}, content?: any[]}[]} messages by id
 */
export function usedTokens(messages) {
  for (let at = messages.length - 1; at >= 0; at--) {
    const { role, usage, content } = messages[at];
    if (role !== "assistant") continue;
    if (content?.some((part) => part.type === "tool-call" && part.tool_name === "chat_summarized")) return null;
    if (usage?.input_tokens) return usage.total_tokens ?? usage.input_tokens + (usage.output_tokens ?? 0);
  }
  return null;
}

/**
 * @param {number | null} used @param {number} limit @param {number} threshold percent at which it is summarised; 100: never
 * @returns {Fullness}
 */
export function fullness(used, limit, threshold) {
  return { used, limit, threshold, percent: used === null || !limit ? null : Math.min(999, Math.round((used / limit) * 100)) };
}

/** Return tokens as people read them: 840, 8.4 k, 84 k, 1.2 M. @param {number} tokens */
export function tokensText(tokens) {
  if (tokens < 1000) return String(tokens);
  if (tokens < 1_000_000) return `${tokens < 10_000 ? (tokens / 1000).toFixed(1).replace(/\.0$/, "") : Math.round(tokens / 1000)} k`;
  return `${(tokens / 1_000_000).toFixed(1).replace(/\.0$/, "")} M`;
}

/** @param {Fullness} fullness */
export function fullnessText({ used, limit, threshold, percent }) {
  const room = used === null ? `${tokensText(limit)} tokens` : `${tokensText(used)} of ${tokensText(limit)} tokens`;
  const when = threshold < 100 ? `summarised at ${threshold} %` : "never summarised by itself";
  return percent === null ? `Context: ${room}; ${when}` : `${room}; ${when}`;
}
