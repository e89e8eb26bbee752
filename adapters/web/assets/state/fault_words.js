/**
 * A chat's error in one short sentence, for a row of the list. Pure.
 *
 * @typedef {import("../wire/types.js").ChatError} ChatError
 */

/** @type {Record<string, string>} */
const SENTENCES = {
  overloaded: "The provider is overloaded",
  timeout: "The provider did not answer in time",
  stream_silence_timeout: "The provider fell silent",
  rate_limit: "Too many calls for the provider",
  auth: "The key was refused",
  missing_key: "There is no key for the provider",
  provider_disabled: "The provider is switched off",
  config: "This model cannot be asked",
  usage_limit: "The budget is used up",
  content_filter: "The provider withheld the answer",
  hook_denied: "A rule refused it",
  hook_dispatch_failed: "A rule could not be asked",
};

/** Return what went wrong, with the HTTP status if there was one. @param {ChatError | undefined} error */
export function faultWords(error) {
  if (!error) return "It stopped with an error";
  const sentence = SENTENCES[error.kind ?? ""] ?? firstSentence(error.message);
  return error.status_code ? `${sentence} (${error.status_code})` : sentence;
}

/** @param {string | undefined} text */
function firstSentence(text) {
  const line = (text ?? "").trim().split("\n", 1)[0];
  return line.replace(/\.(\s.*)?$/, "") || "It stopped with an error";
}
