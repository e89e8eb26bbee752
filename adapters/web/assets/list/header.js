/** The bar above a conversation: its title and state, what it costs, sharing, the side panel. */

import { chats } from "../chats_store.js";
import { run } from "../commands.js";
import { panelOpen } from "../frame.js";
import { keysOf } from "../keys.js";
import { me } from "../session.js";
import { icon } from "../shared/icons.js";
import { later } from "../shared/later.js";
import { addressOf } from "../state/filters.js";
import { agentLight, familyLight, LIGHT_NAMES } from "../state/lights.js";
import { ownerName, stateWords } from "../state/row_words.js";
import { money } from "../text/money.js";
import { api } from "../wire/api.js";
import { html, useEffect, useState } from "../ui.js";
import { isMine, mayChange } from "./acts.js";
import { Back } from "./back.js";
import { minute } from "./clock.js";
import { share } from "./forms.js";
import { filters } from "./look.js";
import { useSeen } from "./seen.js";
import { openChatMenu } from "./menu.js";
import { openChat } from "./open.js";
import { Cue } from "./row.js";

/** @typedef {import("../wire/types.js").Chat} Chat */

const Chip = later(() => import("./pull_request_chip.js").then((module) => module.HeaderChip));
const COST_PAUSE = 400; // milliseconds after a change of state, so that the bill is written

/** @param {{conversation: any}} props */
export function ChatHeader({ conversation }) {
  const chat = openChat(conversation);
  const read = conversation?.state.value.chat;
  useEffect(() => void (read && chats.know(read)), [read]);
  useSeen(chat);
  return html`<header class="top">
    <${Back} chat=${conversation?.id} />
    ${chat ? html`<${Title} chat=${chat} />` : html`<h1></h1><span class="sp"></span>`}
    <button class="ic panel-button" aria-label="Side panel" aria-pressed=${panelOpen.value}
      onClick=${() => run("region.panel")}>${icon("side")}</button>
  </header>`;
}

/** @param {{chat: Chat}} props */
function Title({ chat }) {
  const light = chat.parent_chat_id ? agentLight(chat) : familyLight(chat);
  const words = stateWords(chat, minute.value);
  return html`${chat.parent_chat_id ? html`<${Parent} chat=${chat} />` : null}
    <i class=${`cue ${light} only-s`} role="img" aria-label=${LIGHT_NAMES[light]}></i>
    <h1 title=${chat.title}>${chat.title}</h1>
    <button class="ic sm chat-menu" aria-label="Menu of the chat" aria-haspopup="menu"
      onClick=${(/** @type {any} */ event) => openChatMenu(chat.id, event.currentTarget)}>${icon("dots")}</button>
    <span class="st only-l"><${Cue} light=${light} /><span>${words}</span></span>
    <span class="sp only-l"></span>
    ${isMine(chat) || !me.value ? null : html`<span class="pill only-read"
      title=${`${ownerName(chat)} owns this chat; you can read it`}>${icon("eye")}${ownerName(chat)}’s, read only</span>`}
    ${chat.diff_status?.pull_request_state ? html`<${Chip} status=${chat.diff_status} />` : null}
    <${Cost} chat=${chat} />
    ${chat.parent_chat_id || !mayChange(chat) ? null : html`<${ShareButton} chat=${chat} />`}`;
}

/** The way up from an agent to its root. @param {{chat: Chat}} props */
function Parent({ chat }) {
  const root = chats.find(/** @type {string} */ (chat.parent_chat_id));
  const href = `/c/${chat.parent_chat_id}${addressOf(filters.value)}`;
  return html`<a class="up" href=${href}
    title=${`Up to ${root?.title ?? "the chat that began this one"} (${keysOf("chat.parent")})`}>
    ${icon("up")}<span class="only-l">${root?.title ?? "Up"}</span><span
      class="sr">, the chat that began this one</span></a>
    <span class="dim only-l" aria-hidden="true">/</span>`;
}

/** @param {{chat: Chat}} props */
function ShareButton({ chat }) {
  return html`<button class=${`ic only-l share ${chat.shared ? "on" : ""}`} aria-haspopup="dialog"
    aria-label=${chat.shared ? "Share: others may read it" : "Share"}
    onClick=${(/** @type {any} */ event) => share(chat, event.currentTarget)}>${icon("share")}</button>`;
}

/**
 * What the family has cost so far; nothing is shown before anything was asked of a model that has a price.
 * @param {{chat: Chat}} props
 */
function Cost({ chat }) {
  const cost = useCost(chat);
  if (!cost?.total_cost_micros && !(cost?.request_count > cost?.unpriced_request_count)) return null;
  const text = money(cost.total_cost_micros, cost.unpriced_request_count);
  const others = cost.total_cost_micros - cost.own_cost_micros;
  const unpriced = cost.unpriced_request_count
    ? `; ${cost.unpriced_request_count} of ${cost.request_count} requests have no known price`
    : "";
  const title =
    others > 0
      ? `This chat ${money(cost.own_cost_micros)}, its family besides ${money(others)}${unpriced}`
      : `${cost.request_count} requests${unpriced}`;
  return html`<span class="pill num only-l" title=${title}>${text}</span>`;
}

/** Read what a chat costs, again whenever its state changes. @param {Chat} chat */
function useCost(chat) {
  const [cost, setCost] = useState(/** @type {any} */ (null));
  useEffect(() => setCost(null), [chat.id]);
  useEffect(() => {
    let wanted = true;
    const read = () =>
      api.get(`/api/experimental/chats/${chat.id}/cost`).then(
        (found) => wanted && setCost(found),
        () => {},
      );
    const timer = setTimeout(read, COST_PAUSE);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [chat.id, chat.status, chat.updated_at]);
  return cost;
}
