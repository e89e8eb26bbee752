/** Open chats: one, or several beside each other, each with a composer and a line of its own. */

import {openConversation} from "./conversation.js";
import {current, entered} from "./current.js";
import {afterPaint} from "./kernel/first_paint.js";
import {ComposerPlace, HeaderPlace} from "./places.js";
import {go, route} from "./routes.js";
import {icon} from "./shared/icons.js";
import {later} from "./shared/later.js";
import {Timeline} from "./timeline/timeline.js";
import {html, signal, useEffect, useLayoutEffect, useMemo} from "./ui.js";
import {ApiError} from "./wire/api.js";

const ChatHeader = later(() => afterPaint().then((module) => module.ChatHeader), HeaderPlace);
const Composer = later(() => afterPaint().then((module) => module.Composer), ComposerPlace);

const TOUCH = matchMedia("(pointer: coarse)"); // a field with the focus brings up a keyboard there
export const COLUMNS_MAX = 4; // a further one takes the place of the last

/** The chat whose column was used last: keys and the side panel are about it. */
export const used = signal("");

/** @param {string[]} chats @returns {Promise<void>} */
export const show = (chats) => go(chats.length ? `/c/${chats.join("+")}` : "/");

/**
 * Put the focus into a chat that was opened to write in it: into its field, or the column itself.
 * @param {string} id @param {unknown} opening @returns {void}
 */
function useEntering(id, opening) {
  const isEntered = entered.value === id;
  useEffect(() => {
    if (!isEntered || opening === "loading") return;
    const column = document.querySelector(`.column[data-chat="${CSS.escape(id)}"]`);
    const field = TOUCH.matches ? null : column?.querySelector("textarea.txt");
    if (field) entered.value = ""; // a field that comes later takes the focus itself
    const target = field ?? column;
    if (target instanceof HTMLElement) target.focus();
  }, [isEntered, opening]);
}

/** @param {string} id */
export function close(id) {
  show(route.value.chats.filter((each) => each !== id));
}

/** @param {string[]} chats @returns {string} the chat that keys are about */
export const activeOf = (chats) => (chats.includes(used.value) ? used.value : chats[0] || "");

/** The reason why a chat cannot be shown. @param {{error: ApiError}} props */
function NotThere({error}) {
  if (error.status === 404 || error.status === 403) {
    return html`<div class="page"><h1>This chat is not here</h1>
      <p>It has been deleted, or it is not shared with you. <a href="/">To the chats</a></p></div>`;
  }
  return html`<div class="page"><h1>The chat could not be read</h1>
    <p>${error.message} <button class="btn" onClick=${() => location.reload()}>Try again</button></p></div>`;
}

/** @param {{id: string, isActive: boolean, isAlone: boolean}} props */
function Column({id, isActive, isAlone}) {
  const conversation = useMemo(() => openConversation(id), [id]);
  useEffect(() => () => conversation.close(), [conversation]);
  const opening = conversation.opening.value;
  const fault = opening instanceof ApiError ? opening : null;
  useEntering(id, opening);
  useLayoutEffect(() => {
    if (isActive && !fault) current.value = conversation;
    return () => {
      if (current.peek() === conversation) current.value = null;
    };
  }, [conversation, isActive, fault]);
  const use = () => (used.value = id);
  const title = conversation.state.value.chat?.title || "Chat";
  return html`<section class="column" data-chat=${id} data-active=${isActive} tabindex="-1"
    aria-label=${isAlone ? undefined : title} onFocusCapture=${use} onPointerDownCapture=${use}>
    <${ChatHeader} conversation=${conversation} />
    ${fault ? html`<${NotThere} error=${fault} />` : html`<${Timeline} conversation=${conversation} />
      <${Composer} conversation=${conversation} />`}
    ${!isAlone && html`<button class="ic sm shut" aria-label=${`Close ${title}`} title="Close this column"
      onClick=${() => close(id)}>${icon("x")}</button>`}
  </section>`;
}

/** All that the address names. */
export function Columns() {
  const chats = [...new Set(route.value.chats)].slice(0, COLUMNS_MAX);
  const active = activeOf(chats);
  return html`<div class="columns" data-count=${chats.length}>
    ${chats.map((id) => html`<${Column} key=${id} id=${id} isActive=${id === active}
      isAlone=${chats.length === 1} />`)}
  </div>`;
}
