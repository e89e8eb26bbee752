// The family of a chat as a tree: what each does, how long, what it costs; one can be interrupted.

import { html, memo, useEffect, useSignal } from "../ui.js";
import { api } from "../wire/api.js";
import { find, run } from "../commands.js";
import { costOf, readCost } from "../composer/cost.js";
import { modelOf, readModels } from "../composer/catalogue.js";
import { shortName } from "../composer/model.js";
import { isMine } from "../list/acts.js";
import { Age, Cue } from "../list/row.js";
import { usePart } from "../shared/part.js";
import { icon } from "../shared/icons.js";
import { lightOf, LIGHT_NAMES, works } from "../state/lights.js";
import { rowLine } from "../state/row_words.js";
import { money } from "../text/money.js";
import { familyOf } from "./family.js";
import { spanText, useClock } from "./spans.js";

/** @param {import("./panel.js").About} props */
export function Agents({ conversation }) {
  const root = familyOf(usePart(conversation, (state) => state.chat));
  useEffect(() => void readModels(), []);
  if (!root) return html`<div class="pbody"><p class="none" role="status">Reading the agents…</p></div>`;
  const children = [...root.children].sort((one, other) => one.created_at.localeCompare(other.created_at));
  return html`<div class="pbody"><ul class="agents" aria-label="Agents">
      <${Agent} chat=${root} open=${root.id === conversation.id} root />
      ${children.map((child) => html`<${Agent} key=${child.id} chat=${child} open=${child.id === conversation.id} />`)}
    </ul>
    ${children.length ? html`<${Total} root=${root} count=${children.length} />` : html`<p class="none">This chat has begun no agents.</p>`}</div>`;
}

const Agent = memo(
  /** @param {{chat: any, open: boolean, root?: boolean}} props */
  function Agent({ chat, open, root = false }) {
    const working = works(chat);
    useEffect(() => void readCost(chat.id), [chat.id, chat.status]);
    const cost = costOf(chat.id).value;
    const line = rowLine({ ...chat, children: [] }, { model: (id) => shortName(modelOf(id)?.name ?? "") });
    return html`<li class=${`agent${root ? "" : " kid"}${open ? " on" : ""}`}>
      <${Cue} light=${lightOf(chat)} /><span class="sr">${LIGHT_NAMES[lightOf(chat)]}</span>
      <a href=${`/c/${chat.id}`} aria-current=${open ? "page" : undefined} title=${chat.title}>${chat.title}</a>
      <span class="r num">${cost && cost.own_request_count > cost.own_unpriced_request_count ? html`<span>${money(cost.own_cost_micros, cost.own_unpriced_request_count)}</span>` : null}<${Elapsed} chat=${chat} working=${working} />
        ${open || !find("chat.beside") ? null : html`<button type="button" class="ic sm" aria-label=${`Open ${chat.title} to the side`} title="Open to the side" onClick=${() => run("chat.beside", chat.id)}>${icon("list")}</button>`}
        ${working && isMine(chat) ? html`<${Interrupt} chat=${chat} />` : null}</span>
      <small class=${line.kind === "err" ? "err" : line.kind === "ask" ? "ask" : ""}>${line.text}</small>
    </li>`;
  },
);

/** How long it works, or when it ended. @param {{chat: any, working: boolean}} props */
function Elapsed({ chat, working }) {
  const now = useClock(working);
  if (!working) return html`<${Age} at=${chat.updated_at} />`;
  return html`<time>${spanText(now - Date.parse(chat.updated_at))}</time>`;
}

/** @param {{chat: any}} props */
function Interrupt({ chat }) {
  const state = useSignal("");
  const stop = async () => {
    state.value = "Stopping…";
    try {
      await api.post(`chats/${chat.id}/interrupt`);
    } catch (error) {
      state.value = /** @type {any} */ (error).status === 409 ? "" : `Not stopped: ${/** @type {Error} */ (error).message}`;
    }
  };
  return html`<button type="button" class="ic sm" aria-label=${`Interrupt ${chat.title}`} title=${state.value || "Interrupt"} aria-disabled=${state.value === "Stopping…"} onClick=${stop}>${icon("stop")}</button>`;
}

/** @param {{root: any, count: number}} props */
function Total({ root, count }) {
  const cost = costOf(root.id).value;
  if (!cost?.request_count) return null;
  return html`<p class="none num">Cost of the chat and ${count === 1 ? "its agent" : `its ${count} agents`}: ${money(cost.total_cost_micros, cost.unpriced_request_count)}</p>`;
}
