/** Rows of the list: a heading, a chat, an agent below its root. */

import { modelName } from "./names.js";
import { me } from "../session.js";
import { icon } from "../shared/icons.js";
import { age } from "../state/ages.js";
import { addressOf } from "../state/filters.js";
import { agentLight, familyLight, LIGHT_NAMES } from "../state/lights.js";
import { rowLine } from "../state/row_words.js";
import { later } from "../shared/later.js";
import { html, memo } from "../ui.js";
import { minute, second } from "./clock.js";
import { filters } from "./look.js";

/** @typedef {import("../wire/types.js").Chat} Chat */

const Chip = later(() => import("./pull_request_chip.js").then((module) => module.RowChip));

/** The cue light. @param {{light: import("../state/lights.js").Light}} props */
export const Cue = ({ light }) => html`<i class=${`cue ${light}`} aria-hidden="true"></i>`;

/**
 * How long ago something was; it counts on by itself, and seconds only for what goes on.
 * @param {{at: string, counts?: boolean}} props
 */
export function Age({ at, counts = false }) {
  const then = Date.parse(at);
  const slow = minute.value;
  const now = counts && slow - then < 90_000 ? second.value : slow;
  const text = age(then, now);
  return html`<time datetime=${at}
    title=${new Date(then).toLocaleString()}>${counts || !/s$/.test(text) ? text : "now"}</time>`;
}

/**
 * @param {{title: string, count: number, folded: boolean, section: string, onFold: (section: string) => void}} props
 */
export const Head = memo(function Head({ title, count, folded, section, onFold }) {
  return html`<h2 class=${folded ? "folded" : ""}>
    <button aria-expanded=${!folded}
      onClick=${() => onFold(section)}>${title}${icon(folded ? "chev" : "down")}</button>
    ${count ? html`<span class="num">${count}</span>` : null}
  </h2>`;
});

/** A listener that does nothing: without one from the beginning, browsers do not let a finger drag a row. */
const watched = () => {};

/**
 * @param {{chat: Chat, open: boolean, kid: boolean, last: boolean, unfolded: boolean | null, isChosen: boolean, isChoosing: boolean,
 *   tab: boolean, onFold: (id: string, open: boolean) => void, onMenu: (id: string, at: Element) => void}} props
 */
export const ChatRow = memo(function ChatRow(props) {
  const { chat, kid, open, unfolded, isChosen, isChoosing, tab, onMenu } = props;
  const light = kid ? agentLight(chat) : familyLight(chat);
  const name = isChosen ? `chosen, ${LIGHT_NAMES[light]}` : LIGHT_NAMES[light];
  return html`<div class=${classes(props, light)} data-chat=${chat.id} onTouchMove=${chat.pin_order > 0 ? watched : undefined}>
    ${isChoosing && !kid ? html`<i class="pick"
      aria-hidden="true">${isChosen ? icon("check") : null}</i>` : html`<${Cue} light=${light} />`}
    <a href=${`/c/${chat.id}${addressOf(filters.value)}`} aria-current=${open ? "page" : null}
      tabindex=${tab ? 0 : -1} draggable=${false} title=${chat.title}
        aria-describedby=${`light-${chat.id}`}><b>${chat.title}</b></a>
    <span class="sr" id=${`light-${chat.id}`}>${name}</span>
    <${Age} at=${chat.updated_at} counts=${light === "go" || light === "ask"} />
    <button class="ic sm more" aria-label=${`Menu of ${chat.title}`} tabindex="-1"
      onClick=${(/** @type {any} */ event) => onMenu(chat.id, event.currentTarget)}>${icon("dots")}</button>
    ${kid ? null : html`<${SecondLine} chat=${chat} />`}
    ${unfolded === null ? null : html`<${FoldButton} ...${props} />`}
  </div>`;
});

/**
 * @param {{kid: boolean, last: boolean, open: boolean, isChosen: boolean, chat: Chat}} props
 * @param {string} light
 */
function classes({ kid, last, open, isChosen, chat }, light) {
  const names = [
    "row",
    kid && "below",
    kid && last && "last",
    open && "is-open",
    isChosen && "chosen",
    light === "new" && "unread",
    chat.pin_order > 0 && "pinned",
  ];
  return names.filter(Boolean).join(" ");
}

/** @param {{chat: Chat}} props */
function SecondLine({ chat }) {
  const line = rowLine(chat, { me: me.value?.id ?? "", model: modelName });
  const kind = line.kind === "ask" || line.kind === "err" ? line.kind : "";
  return html`<small class=${kind} title=${line.text}>
    ${line.added ? html`<span class="p">+${line.added}</span>${" "}` : null}${line.removed ? html`<span
      class="m">−${line.removed}</span>${" "}` : null}${chat.diff_status?.pull_request_state ? html`<${Chip} status=${chat.diff_status} />` : null}${line.text}${" "}
  </small>`;
}

/** @param {{chat: Chat, unfolded: boolean | null, onFold: (id: string, open: boolean) => void}} props */
function FoldButton({ chat, unfolded, onFold }) {
  const count = chat.children.length;
  return html`<button class="agents-fold num" aria-expanded=${unfolded} tabindex="-1"
    onClick=${() => onFold(chat.id, !unfolded)}
    aria-label=${`${count === 1 ? "1 agent" : `${count} agents`} of ${chat.title}`}>${count}${icon(unfolded ? "down" : "chev")}</button>`;
}
