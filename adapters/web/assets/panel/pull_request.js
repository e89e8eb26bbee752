// The branch that a chat works on and its pull request, as the forge has told of it.

import { html, useEffect, useState } from "../ui.js";
import { isMine } from "../list/acts.js";
import { usePart } from "../shared/part.js";
import { isWebAddress } from "../timeline/addresses.js";
import { api } from "../wire/api.js";
import { reviewWords, stateWord, TONES, whyUnknown } from "./pull_request_words.js";

const TOKENS = "/api/v2/users/me/forge-tokens";

/** Nothing while no branch is known. @param {{conversation: any}} props */
export function PullRequest({ conversation }) {
  const chat = usePart(conversation, (state) => state.chat);
  const status = chat?.diff_status;
  if (!status?.head_branch) return null;
  const branch = status.base_branch ? `${status.head_branch} → ${status.base_branch}` : status.head_branch;
  const asOf = status.refreshed_at && `As the forge told ${new Date(status.refreshed_at).toLocaleString()}`;
  return html`<section class="pr" aria-label="Branch and pull request" title=${asOf || undefined}>
    <p><code>${branch}</code>${status.pull_request_state ? html`<span class="pm"><span class="p">+${status.additions}</span> <span class="m">−${status.deletions}</span></span>` : null}</p>
    ${status.pull_request_state ? html`<${Found} status=${status} />` : html`<${Unknown} chat=${chat} />`}
  </section>`;
}

/** @param {{status: import("../wire/types.js").ChatDiffStatus}} props */
function Found({ status }) {
  const title = `${status.pr_number ? `#${status.pr_number} ` : ""}${status.pull_request_title}`;
  const word = stateWord(status), review = reviewWords(status);
  return html`<p>${status.url && isWebAddress(status.url) ? html`<a href=${status.url} target="_blank" rel="noopener noreferrer">${title}</a>` : html`<b>${title}</b>`}
    <span class=${TONES[word] ?? ""}>${word}</span>${review ? html`<span class=${TONES[review] ?? ""}>${review}</span>` : null}</p>`;
}

/** Why no pull request is known. What is wrong with a token only its user is told. @param {{chat: any}} props */
function Unknown({ chat }) {
  const [forges, setForges] = useState(/** @type {any[] | null} */ (null));
  const { refreshed_at: answered, stale_at: due } = chat.diff_status;
  const asksTokens = !answered && Boolean(due) && isMine(chat);
  useEffect(() => {
    if (asksTokens) void api.get(TOKENS).then(setForges, () => setForges(null));
  }, [asksTokens, due]);
  return html`<p role="status">${whyUnknown(chat, asksTokens ? forges : null)}${asksTokens ? html` <a href="/settings/forges">Forges…</a>` : null}</p>`;
}
