/** Filters of the list as chips; they stand in the address, so that a filtered list is a link. */

import { chats } from "../chats_store.js";
import { go, route } from "../routes.js";
import { icon } from "../shared/icons.js";
import { toast } from "../shared/toast.js";
import { addressOf } from "../state/filters.js";
import { html } from "../ui.js";
import { filters, known } from "./look.js";
import { Cue } from "./row.js";

/** @typedef {import("../state/filters.js").Filters} Filters */

export const SOURCES = /** @type {const} */ ({ "": "All", mine: "Mine", shared: "Shared with me" });

const notLoaded = () => toast("The daemon did not answer. Try it again.");
const menus = () => import("./chip_menus.js");
const openSources = (/** @type {any} */ { currentTarget: at }) => void menus().then((module) => module.openSources(at), notLoaded);
const openMore = (/** @type {any} */ { currentTarget: at }) => void menus().then((module) => module.openMore(at), notLoaded);

/** Put other filters into the address. @param {Partial<Filters>} change */
export function filter(change) {
  const { path, name } = route.peek();
  const base = name === "chat" || name === "new" || name === "home" ? path : "/";
  go(base + addressOf({ ...filters.peek(), ...change }));
}

export function Chips() {
  const now = filters.value;
  const { unread } = known.value;
  const needs = chats.needs.value;
  const more = chats.list.value.more === "no" ? "" : "+";
  return html`<div class="chips" role="toolbar" aria-label="Filters">
    <button class=${`chip ${now.source ? "on" : ""}`} aria-haspopup="menu"
      onClick=${openSources}>${SOURCES[now.source]}${icon("down")}</button>
    <button class=${`chip ${now.needs ? "on" : ""}`} aria-pressed=${now.needs}
      onClick=${() => filter({ needs: !now.needs })}><${Cue}
        light="ask" />Needs me${needs ? ` ${needs}` : ""}</button>
    <button class=${`chip ${now.unread ? "on" : ""}`} aria-pressed=${now.unread}
      onClick=${() => filter({ unread: !now.unread })}>Unread${unread ? ` ${unread}${more}` : ""}</button>
    ${now.labels.map((label) => html`<${Removable} key=${label} name=${label.replace(":", ": ")}
      onRemove=${() => filter({ labels: now.labels.filter((one) => one !== label) })} />`)}
    ${now.prs.map((state) => html`<${Removable} key=${state} name=${`Pull request: ${state}`}
      onRemove=${() => filter({ prs: now.prs.filter((one) => one !== state) })} />`)}
    ${now.archived ? html`<${Removable} name="Archived"
      onRemove=${() => filter({ archived: false })} />` : null}
    <button class="chip" aria-haspopup="menu"
      onClick=${openMore}>${known.value.labels.length ? "Label…" : "More…"}</button>
  </div>`;
}

/** A filter that a click takes away. @param {{name: string, onRemove: () => void}} props */
export const Removable = ({ name, onRemove }) =>
  html`<button class="chip on" aria-label=${`${name}: remove this filter`}
    onClick=${onRemove}>${name}${icon("x")}</button>`;
