/**
 * The options of each vendor that have fields; the others are said as JSON. Pure.
 * @typedef {[string, string, {kind: "number" | "switch" | "words" | "list" | "text", help?: string, words?: string[], unit?: string, step?: number | "any"}]} Option
 * the path below the vendor's key, the label, and what it is
 */

const SEARCH = /** @type {Option} */ (["web_search_enabled", "Search the web", { kind: "switch", help: "By the vendor itself; it is billed by the search." }]);
const FETCH = /** @type {Option} */ (["web_fetch_enabled", "Read pages of the web", { kind: "switch", help: "By the vendor itself; only addresses that the conversation names." }]);
const PARALLEL = /** @type {Option} */ (["parallel_tool_calls", "Several tool calls at once", { kind: "switch" }]);
const USER = /** @type {Option} */ (["user", "User sent along", { kind: "text" }]);
const REASONING = /** @type {Option[]} */ ([
  ["reasoning.enabled", "Thinks", { kind: "switch" }],
  ["reasoning.exclude", "Keeps its thoughts to itself", { kind: "switch" }],
  ["reasoning.max_tokens", "Thinks at most", { kind: "number", unit: "tokens" }],
]);

/** @type {Record<string, Option[]>} */
export const FAMILIES = {
  anthropic: [
    ["thinking.budget_tokens", "Thinks at most", { kind: "number", unit: "tokens" }],
    ["thinking_display", "Thoughts", { kind: "words", words: ["summarized", "omitted"] }],
    ["send_reasoning", "Is shown its earlier thoughts", { kind: "switch" }],
    ["context_1m_enabled", "Reads a million tokens", { kind: "switch", help: "Set the limit above as well." }],
    ["disable_parallel_tool_use", "One tool call at a time", { kind: "switch" }],
    SEARCH,
    FETCH,
    ["allowed_domains", "Sites it may search and read", { kind: "list", help: "Either these or those below." }],
    ["blocked_domains", "Sites it may not search and read", { kind: "list" }],
  ],
  openai: [
    ["reasoning_summary", "Summary of its thoughts", { kind: "words", words: ["auto", "concise", "detailed"] }],
    ["text_verbosity", "How much it says", { kind: "words", words: ["low", "medium", "high"] }],
    ["service_tier", "Service tier", { kind: "words", words: ["auto", "default", "flex", "priority"] }],
    ["store", "Keeps what is said", { kind: "switch" }],
    PARALLEL,
    ["max_tool_calls", "Tool calls at most", { kind: "number" }],
    ["strict_json_schema", "Strict schemas", { kind: "switch" }],
    ["prompt_cache_key", "Key of the prompt cache", { kind: "text" }],
    USER,
    SEARCH,
    ["search_context_size", "How much of a search it reads", { kind: "words", words: ["low", "medium", "high"] }],
    ["allowed_domains", "Sites it may search", { kind: "list" }],
  ],
  google: [
    ["thinking_config.thinking_level", "How much it thinks", { kind: "words", words: ["minimal", "low", "medium", "high"], help: "Either this or the number below." }],
    ["thinking_config.thinking_budget", "Thinks at most", { kind: "number", unit: "tokens" }],
    ["thinking_config.include_thoughts", "Shows its thoughts", { kind: "switch" }],
    ["cached_content", "Cached content", { kind: "text" }],
    SEARCH,
    FETCH,
  ],
  openaicompat: [USER],
  openrouter: [
    ...REASONING,
    PARALLEL,
    USER,
    ["provider.order", "Vendors, first to last", { kind: "list" }],
    ["provider.only", "Only these vendors", { kind: "list" }],
    ["provider.ignore", "Not these vendors", { kind: "list" }],
    ["provider.allow_fallbacks", "Others where these fail", { kind: "switch" }],
    ["provider.data_collection", "Vendors that keep what is said", { kind: "words", words: ["allow", "deny"] }],
    ["provider.sort", "Prefer", { kind: "words", words: ["price", "throughput", "latency"] }],
  ],
  vercel: [
    ...REASONING,
    PARALLEL,
    USER,
    ["providerOptions.order", "Vendors, first to last", { kind: "list" }],
    ["providerOptions.models", "Models to fall back to", { kind: "list" }],
  ],
};
