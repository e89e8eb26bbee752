// What an error of a turn says: a title, a sentence, and what can be done about it. Pure.

/**
 * @typedef {"again" | "model" | "key" | "compact" | "edit" | "usage"} Act
 * @typedef {{title: string, sentence: string, acts: readonly Act[]}} Fault
 */

const KEPT = "What was said before is kept.";

/** @type {Record<string, Fault>} */
const KINDS = {
  overloaded: { title: "The provider is overloaded", sentence: `It took no more calls. ${KEPT}`, acts: ["again", "model"] },
  timeout: { title: "The provider does not answer", sentence: KEPT, acts: ["again", "model"] },
  stream_silence_timeout: { title: "The provider fell silent", sentence: `It began to answer and then said nothing more. ${KEPT}`, acts: ["again", "model"] },
  rate_limit: { title: "Too many calls", sentence: `The provider wants a pause. ${KEPT}`, acts: ["again", "model"] },
  auth: { title: "The key was refused", sentence: `Nothing was said in this attempt; what was said before is kept.`, acts: ["model", "key", "again"] },
  missing_key: { title: "There is no key", sentence: "The key that this chat relied on no longer exists.", acts: ["key", "model", "again"] },
  provider_disabled: { title: "This provider is switched off", sentence: "An administrator switched it off.", acts: ["model"] },
  config: { title: "The provider did not accept the request", sentence: "The settings of the model do not fit.", acts: ["model", "again"] },
  usage_limit: { title: "The budget is used up", sentence: "", acts: ["usage", "model"] },
  content_filter: { title: "The provider withheld the answer", sentence: "It did so for its own rules. Say it in other words, or ask another model.", acts: ["edit", "model"] },
  hook_denied: { title: "A rule of your deployment refused it", sentence: "", acts: [] },
  hook_dispatch_failed: { title: "A rule of your deployment could not be asked", sentence: "", acts: ["again"] },
};
/** @type {Fault} */
const TOO_LONG = { title: "It does not fit", sentence: "The conversation is longer than this model can read.", acts: ["compact", "model"] };

/**
 * @param {{kind?: string, message?: string, detail?: string, retryable?: boolean}} error
 * @returns {Fault}
 */
export function faultOf(error) {
  const { kind = "generic", message = "", detail = "" } = error;
  if (/too long|larger context|does not fit/i.test(message)) return TOO_LONG;
  const known = KINDS[kind];
  if (known) return known.sentence ? known : { ...known, sentence: detail || message };
  return { title: "It went wrong", sentence: firstSentence(message || detail), acts: ["again", "model"] };
}

/** @param {string} text */
const firstSentence = (text) => /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;

/** @type {Record<string, string>} */
const WHY = {
  overloaded: "Overloaded.",
  rate_limit: "Too many calls.",
  timeout: "No answer.",
  stream_silence_timeout: "It fell silent.",
};

/** Why it is tried again, in a word or two. @param {{kind?: string, error: string}} retry */
export const retryWords = ({ kind = "", error }) => WHY[kind] ?? firstSentence(error);

/** Where the provider came from and what it answered. @param {{status_code?: number, provider?: string}} what */
export const originWords = ({ status_code: status, provider }) =>
  [status ? `HTTP ${status}` : "", provider ?? ""].filter(Boolean).join(", ");

/** @type {Record<string, string>} */
export const STATUS_PAGES = {
  anthropic: "https://status.anthropic.com",
  openai: "https://status.openai.com",
};
