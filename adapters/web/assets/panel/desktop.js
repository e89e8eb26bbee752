// The desktop of the chat's workspace: seen at first, and operated by those who take control of it.

import { html, signal, useEffect, useRef, useSignal } from "../ui.js";
import { isTyping } from "../keys.js";
import { isMine } from "../list/acts.js";
import { icon } from "../shared/icons.js";
import { loadSheet } from "../shared/sheet.js";
import { usePart } from "../shared/part.js";
import { ApiError, api } from "../wire/api.js";

const SOCKET_EXPECTED = 426; // the answer to a plain request where a socket would be let in
const ENDED = "The desktop has ended, or cannot be reached.";
const streamOf = (/** @type {string} */ chat) => `/api/v2/chats/${chat}/stream/desktop`;

/** @typedef {"closed" | "opening" | "open"} State */

/** Whether the picture is made to fit; else it has its own size, and is scrolled. It stays so from chat to chat. */
const fits = signal(true);

/** @param {import("./panel.js").About} props */
export function Desktop({ conversation }) {
  const chat = usePart(conversation, (state) => state.chat);
  if (!chat) return null;
  if (!isMine(chat)) return html`<p class="none">Only the owner of a chat sees its desktop.</p>`;
  if (!chat.workspace_id) return html`<p class="none">This chat has no workspace, and so no desktop.</p>`;
  return html`<${Viewer} key=${chat.id} chat=${chat.id} />`;
}

/** The address of a window with nothing but the desktop of a chat. @param {string} chat */
const windowOf = (chat) => `/c/${chat}?embed=1&view=desktop`;

/** A desktop alone, in a window of its own. @param {{chat: string}} props */
export const DesktopAlone = ({ chat }) => html`<section class="desk-alone" aria-label="Desktop"><${Viewer} chat=${chat} isAlone /></section>`;

/** @param {{chat: string, isAlone?: boolean}} props */
function Viewer({ chat, isAlone = false }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const screen = useRef(/** @type {import("../vendor/novnc.js").RFB | null} */ (null));
  const state = useSignal(/** @type {State} */ ("closed"));
  const said = useSignal("");
  const inControl = useSignal(false);
  const wanted = useRef(false);
  useEffect(() => () => leave(screen, wanted), []);
  useEffect(() => void (screen.current && (screen.current.scaleViewport = fits.value)), [fits.value, state.value]);
  useEffect(() => {
    if (!screen.current) return;
    screen.current.viewOnly = !inControl.value;
    if (inControl.value) screen.current.focus();
  }, [inControl.value, state.value]);
  useEffect(() => followKeys(() => state.peek() === "open" && !inControl.peek()), []);
  const show = () => void open({ chat, box, screen, state, said, wanted });
  useEffect(() => void (isAlone && show()), []);
  const hide = () => {
    leave(screen, wanted);
    state.value = "closed";
    inControl.value = false;
  };
  const popOut = () => {
    hide();
    window.open(windowOf(chat), `desktop-${chat}`, "popup,width=1280,height=800");
  };
  return html`<div class="desk">
    <div class="shells" role="group" aria-label="Desktop">
      ${state.value === "closed"
        ? html`<button type="button" class="btn sm" onClick=${show}>Show the desktop</button>`
        : html`<button type="button" class="btn sm" onClick=${hide}>Leave the desktop</button>
          <button type="button" class="btn sm" aria-pressed=${inControl.value} disabled=${state.value !== "open"}
            onClick=${() => (inControl.value = !inControl.value)}>Take control</button>
          <button type="button" class="btn sm" aria-pressed=${fits.value} title="Fit (Ctrl+0), or its own size (Ctrl+1)" onClick=${() => (fits.value = !fits.value)}>Fit</button>`}
      ${isAlone ? null : html`<button type="button" class="ic sm" aria-label="Open in a window of its own" title="Open in a window of its own" onClick=${popOut}>${icon("expand")}</button>`}
    </div>
    <div class="screen" ref=${box} hidden=${state.value === "closed"}></div>
    <p class=${`none ${state.value === "closed" && said.value ? "err" : ""}`} role="status">${said.value || words(state.value, inControl.value)}</p>
  </div>`;
}

/** Hear the keys of its size while they are not those of the desktop. Returns what ends that. @param {() => boolean} areOurs */
function followKeys(areOurs) {
  const hear = (/** @type {KeyboardEvent} */ event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || isTyping(event.target) || !areOurs()) return;
    if (event.key !== "0" && event.key !== "1") return;
    event.preventDefault();
    fits.value = event.key === "0";
  };
  addEventListener("keydown", hear);
  return () => removeEventListener("keydown", hear);
}

/** @param {State} state @param {boolean} inControl */
function words(state, inControl) {
  if (state === "opening") return "Opening the desktop…";
  if (state === "closed") return "An agent of type computer_use works on a desktop, which starts when it is first shown or used.";
  return inControl ? "Your pointer and keys go to the desktop, beside those of the agent." : "You only look.";
}

/**
 * @typedef {{chat: string, box: {current: HTMLElement | null}, screen: {current: import("../vendor/novnc.js").RFB | null},
 *   state: import("../ui.js").Signal<State>, said: import("../ui.js").Signal<string>, wanted: {current: boolean}}} Parts
 * @param {Parts} parts
 */
async function open(parts) {
  const { state, said, wanted } = parts;
  [state.value, said.value, wanted.current] = ["opening", "", true];
  const library = await import("../vendor/novnc.js").catch(() => null);
  if (!wanted.current || parts.screen.current) return; // it was left, or left and opened again, meanwhile
  if (library) return connect(library, parts);
  [state.value, said.value] = ["closed", "The viewer of desktops could not be loaded; reload the page."];
}

/** Return why there is no desktop, in the daemon's words: a socket that was refused has none. @param {string} chat */
async function refusal(chat) {
  try {
    await api.get(streamOf(chat));
  } catch (error) {
    const { status, message, detail } = /** @type {ApiError} */ (error);
    if (status !== SOCKET_EXPECTED) return detail || message;
  }
  return ENDED;
}

/** @param {typeof import("../vendor/novnc.js")} library @param {Parts} parts */
function connect(library, { chat, box, screen, state, said }) {
  const url = new URL(streamOf(chat), location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const made = new library.RFB(/** @type {HTMLElement} */ (box.current), url.href);
  made.viewOnly = true;
  made.scaleViewport = fits.peek();
  made.background = "transparent";
  screen.current = made;
  made.addEventListener("connect", () => {
    state.value = "open";
    box.current?.querySelector("canvas")?.setAttribute("aria-label", "Desktop");
    box.current?.querySelector("canvas")?.setAttribute("role", "application");
  });
  made.addEventListener("disconnect", () => {
    if (screen.current !== made) return;
    screen.current = null;
    const wasOpen = state.peek() === "open";
    [state.value, said.value] = ["closed", ENDED];
    if (!wasOpen) void refusal(chat).then((why) => state.peek() === "closed" && (said.value = why));
  });
}

/** @param {{current: import("../vendor/novnc.js").RFB | null}} screen @param {{current: boolean}} wanted */
function leave(screen, wanted) {
  wanted.current = false;
  const made = screen.current;
  screen.current = null;
  made?.disconnect();
}

/** Return the desktop in a window of its own, once its sheet is there. */
export const loadAlone = () => loadSheet("panel/tabs.css").then(() => DesktopAlone);
