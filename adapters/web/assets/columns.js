/** Open chats: one, or several beside each other, each with a composer and a line of its own. */

import {command} from "./commands.js";
import {openConversation} from "./conversation.js";
import {current, entered} from "./current.js";
import {phone} from "./frame.js";
import {afterPaint} from "./kernel/first_paint.js";
import {ComposerPlace, HeaderPlace} from "./places.js";
import {go, route} from "./routes.js";
import {icon} from "./shared/icons.js";
import {later} from "./shared/later.js";
import {toast} from "./shared/toast.js";
import {Timeline} from "./timeline/timeline.js";
import {html, signal, useEffect, useLayoutEffect, useMemo} from "./ui.js";
import {ApiError} from "./wire/api.js";

const ChatHeader = later(() => afterPaint().then((module) => module.ChatHeader), HeaderPlace);
const Composer = later(() => afterPaint().then((module) => module.Composer), ComposerPlace);

const TOUCH = matchMedia("(pointer: coarse)"); // there a field with the focus brings up a keyboard
const COLUMNS_MAX = 4; // a further one takes the place of the last

/** The chat whose column was used last: keys and the side panel are about it. */
const used = signal("");

/** @param {string[]} chats @returns {Promise<void>} */
const show = (chats) => go(chats.length ? `/c/${chats.join("+")}` : "/");

/** Show a chat beside those that are open. @param {string} id */
function openBeside(id) {
  const {chats} = route.value;
  used.value = id;
  if (chats.includes(id)) return;
  if (chats.length >= COLUMNS_MAX) toast(`There is room for ${COLUMNS_MAX} chats: the last one made room.`);
  show([...chats.slice(0, COLUMNS_MAX - 1), id]);
}

/** Show a chat, and write in it. @param {string} id */
function enter(id) {
  entered.value = id;
  return show([id]);
}

/** @param {string} id @param {unknown} opening @returns {void} */
function useEntering(id, opening) {
  const isEntered = entered.value === id;
  useEffect(() => {
    if (!isEntered || opening === "loading") return;
    const column = document.querySelector(`.column[data-chat="${CSS.escape(id)}"]`);
    const field = TOUCH.matches ? null : column?.querySelector("textarea.txt");
    if (field) entered.value = ""; // else it takes the keyboard when it comes, if it does
    const target = field ?? column;
    if (target instanceof HTMLElement) target.focus();
  }, [isEntered, opening]);
}

/** @param {string} id */
function close(id) {
  show(route.value.chats.filter((each) => each !== id));
}

/** @param {string[]} chats @returns {string} the chat that keys are about */
const activeOf = (chats) => (chats.includes(used.value) ? used.value : chats[0] || "");

/** Save a chat as one page of HTML. @param {string} id */
function save(id) {
  const link = document.createElement("a");
  link.href = `/c/${id}/read?all=1`;
  link.download = `chat-${id}.html`;
  link.click();
}

/** @param {number} step */
function toColumn(step) {
  const {chats} = route.value;
  used.value = chats[(chats.indexOf(activeOf(chats)) + step + chats.length) % chats.length] || "";
  const column = document.querySelector(`.column[data-chat="${CSS.escape(used.value)}"]`);
  const field = column?.querySelector("textarea") || column;
  if (field instanceof HTMLElement) field.focus();
}

/** Make known what can be done with columns. */
export function registerColumns() {
  const several = () => route.value.chats.length > 1;
  const group = "View";
  command({id: "chat.enter", title: "Open and write", hidden: true, run: enter});
  command({id: "chat.beside", title: "Open to the side", hidden: true, when: () => !phone.value, run: openBeside});
  command({
    id: "column.close", title: "Close this column", group, when: several,
    run: () => close(activeOf(route.value.chats)),
  });
  command({
    id: "chat.export", title: "Save as one file", group: "Chat", when: () => !!activeOf(route.value.chats),
    run: () => save(activeOf(route.value.chats)),
  });
  command({id: "column.next", title: "Next column", group, when: several, run: () => toColumn(1)});
  command({id: "column.previous", title: "Previous column", group, when: several, run: () => toColumn(-1)});
}

/** Says why a chat cannot be shown. @param {{error: ApiError}} props */
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
