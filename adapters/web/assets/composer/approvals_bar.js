// A line above the composer while a call waits for consent and its card is out of sight.

import { html, useEffect, useSignal } from "../ui.js";
import { icon } from "../shared/icons.js";
import { run } from "../commands.js";
import { usePart } from "../shared/part.js";
import { callWords } from "../state/ask_words.js";
import { sentence } from "./acts.js";

/** @typedef {import("./composer.js").Place} Place */

/** @param {{place: Place}} props */
export function ApprovalsBar({ place }) {
  const asks = usePart(place.conversation, (state) => state.asks) ?? [];
  const first = asks[0];
  const seen = useInSight(place, first?.tool_call_id);
  if (!first || seen) return null;
  const where = first.chat_id === place.conversation.id ? "" : `${first.chat_title}: `;
  const decide = async (/** @type {string} */ decision, /** @type {MouseEvent} */ event) => {
    if (event.detail > 1) return; // of a double click: the next call may be here by now, and was not seen
    try {
      await place.conversation.decide(first, decision, "");
    } catch (error) {
      place.desk.problem.value = sentence(error, "Nothing was decided");
    }
  };
  return html`<section class="askbar" aria-label="Waits for your consent">
    ${icon("key")}<button type="button" class="what" title="Show the call" onClick=${() => show(place, first.tool_call_id)}>${where}May I ${callWords(first)}?</button>
    ${asks.length > 1 ? html`<span class="num">1 of ${asks.length}</span>` : null}
    <span class="r"><button type="button" class="btn main" onClick=${(/** @type {MouseEvent} */ event) => decide("allow_once", event)}>Allow once</button>
      <button type="button" class="btn" onClick=${() => show(place, first.tool_call_id)}>Show</button></span>
  </section>`;
}

/** The column of this composer, or all of the page. @param {Place} place */
const around = ({ desk }) => desk.field?.closest(".column, .stage") ?? document.body;

/** @param {Place} place @param {string} call */
const cardOf = (place, call) => around(place).querySelector(`[data-approval="${CSS.escape(call)}"]`);

/** @param {Place} place @param {string} call */
function show(place, call) {
  const card = cardOf(place, call);
  if (card) card.scrollIntoView({ block: "center" });
  else run("message.show", { call });
}

/** Most of the card is in sight, or it fills most of the screen. @param {IntersectionObserverEntry} entry */
const isSeen = ({ intersectionRatio, intersectionRect }) => intersectionRatio > 0.75 || intersectionRect.height > innerHeight / 2;

/** Return whether the card of a call is in sight; looked at when it appears, goes, or is scrolled. @param {Place} place @param {string | undefined} call */
function useInSight(place, call) {
  const seen = useSignal(true);
  useEffect(() => {
    if (!call) return;
    const watcher = new IntersectionObserver((entries) => (seen.value = isSeen(entries[entries.length - 1])), { threshold: [0, 0.2, 0.4, 0.6, 0.8, 1] });
    let card = /** @type {Element | null} */ (null);
    const look = () => {
      const found = cardOf(place, call);
      if (found === card) return;
      if (card) watcher.unobserve(card);
      card = found;
      if (found) watcher.observe(found);
      else seen.value = false;
    };
    look();
    if (!card) seen.value = false;
    const changes = new MutationObserver(look);
    const timeline = around(place).querySelector(".tl");
    if (timeline) changes.observe(timeline, { childList: true, subtree: true });
    return () => {
      watcher.disconnect();
      changes.disconnect();
    };
  }, [call]);
  return seen.value;
}
