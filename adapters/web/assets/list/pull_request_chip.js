// The pull request of a chat's branch, in a few words: in its row of the list, and above the conversation.

import { reviewWords, stateWord, TONES } from "../panel/pull_request_words.js";
import { isWebAddress } from "../timeline/addresses.js";
import { html } from "../ui.js";

/** @typedef {{status: import("../wire/types.js").ChatDiffStatus}} Props */

/** In a row, where there is room for a number and a word. @param {Props} props */
export function RowChip({ status }) {
  const { number, state, review, title } = wordsOf(status);
  const tone = TONES[review] === "wait" ? "wait" : (TONES[state] ?? "");
  return html`<span class=${`pr-chip ${tone}`} title=${title}>${number}${state}</span>${" "}`;
}

/** In the bar above a conversation: it leads to the forge. @param {Props} props */
export function HeaderChip({ status }) {
  const { number, state, review, title } = wordsOf(status);
  const words = html`<span class=${TONES[state] ?? ""}>${number}${state}</span>${review ? html` <span class=${TONES[review] ?? ""}>${review}</span>` : null}`;
  if (!status.url || !isWebAddress(status.url)) return html`<span class="pill num only-l pr-chip" title=${title}>${words}</span>`;
  return html`<a class="pill num only-l pr-chip" href=${status.url} target="_blank" rel="noopener noreferrer"
    title=${title}><span class="sr">Pull request </span>${words}</a>`;
}

/** @param {Props["status"]} status */
function wordsOf(status) {
  const number = status.pr_number ? `#${status.pr_number} ` : "";
  const state = stateWord(status), review = reviewWords(status);
  return { number, state, review, title: [`${number}${status.pull_request_title}`, review].filter(Boolean).join(" · ") };
}
