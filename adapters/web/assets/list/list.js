/** The list of chats: the left region. */

import { chats } from "../chats_store.js";
import { run } from "../commands.js";
import { Bell } from "../inbox_count.js";
import { keysOf } from "../keys.js";
import { icon } from "../shared/icons.js";
import { Strip } from "../strip.js";
import { addressOf, NO_FILTERS, wanted } from "../state/filters.js";
import { html, useEffect, useState } from "../ui.js";
import { reasonOf } from "./acts.js";
import { Chips, filter } from "./chips.js";
import { chatCommands } from "./commands.js";
import { Foot } from "./foot.js";
import { chooseNone, chosen, filters, rows } from "./look.js";
import { itemsOfMany } from "./menu.js";
import { useModels } from "./names.js";
import { Rows } from "./rows.js";

const SKELETON_AFTER = 150; // milliseconds: what is there sooner needs none

export function List() {
  const query = wanted(filters.value);
  useModels();
  useEffect(() => chats.begin(), []);
  useEffect(chatCommands, []);
  useEffect(() => void chats.show(query), [JSON.stringify(query)]);
  return html`<nav class="side" aria-label="Chats">
    <header>
      <a class="brand" href="/"><i></i>promptcorner</a>
      <${Bell} />
      <a class="ic" href="/settings" aria-label="Settings">${icon("gear")}</a>
      <a class="ic" href=${`/new${addressOf(filters.value)}`} aria-label="New chat"
        title=${`New chat (${keysOf("chat.new")})`}>${icon("pen")}</a>
    </header>
    <button class="find" aria-haspopup="dialog"
      onClick=${() => run("palette.open")}>${icon("search")}<span>Search or do…</span><kbd
        class="only-l">${keysOf("palette.open")}</kbd></button>
    <${Chips} />
    <${Body} />
    ${chosen.value.size ? html`<${Chosen} />` : null}
    <${Strip} />
    <${Foot} />
  </nav>`;
}

/** The rows, or what is said in their place. */
function Body() {
  const { state, error } = chats.list.value;
  if (rows.value.length) return html`<${Rows} />`;
  if (state === "failed") return html`<${Unread} why=${reasonOf(error)} />`;
  if (state === "loading") return html`<${Skeleton} />`;
  return html`<${Empty} />`;
}

/** @param {{why: string}} props */
const Unread = ({ why }) =>
  html`<div class="list nothing"><p role="alert">The chats could not be read: ${why}.</p><button class="btn"
    onClick=${() => chats.again()}>${icon("retry")}Try again</button></div>`;

/** Grey rows in the place of those that come. */
function Skeleton() {
  const [shown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(show, SKELETON_AFTER, true);
    return () => clearTimeout(timer);
  }, []);
  return html`<div class="list" aria-busy="true">${shown ? Array.from({ length: 8 }, (_, key) => html`<div
    key=${key} class="row bones"><i></i><b></b><small></small></div>`) : null}</div>`;
}

function Empty() {
  const now = filters.value;
  if (!addressOf({ ...now, group: "time" }))
    return html`<div class="list nothing"><p>No chats yet.</p><a class="btn main"
      href="/new">${icon("pen")}Begin one</a></div>`;
  const words =
    now.archived && !now.labels.length && !now.prs.length && !now.unread
      ? "Nothing is archived."
      : now.needs
        ? "Nothing needs you."
        : "No chat is like that.";
  return html`<div class="list nothing"><p>${words}</p><button class="btn"
    onClick=${() => filter({ ...NO_FILTERS })}>Show all chats</button></div>`;
}

/** What can be done with the chats that are chosen. */
function Chosen() {
  const together = [...chosen.value].flatMap((id) => chats.find(id) ?? []);
  if (!together.length) return null;
  return html`<div class="chosen-bar" role="toolbar" aria-label=${`${together.length} chosen`}>
    <b class="num">${together.length} chosen</b><span class="sp"></span>
    ${itemsOfMany(together).map((item) => (item === "-" || !item.icon ? null : html`<button key=${item.label}
      class="ic sm" aria-label=${item.label} title=${item.label}
        onClick=${item.run}>${icon(item.icon)}</button>`))}
    <button class="ic sm" aria-label="Choose none" onClick=${chooseNone}>${icon("x")}</button>
  </div>`;
}
