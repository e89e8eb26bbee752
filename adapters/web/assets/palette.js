/** The palette: chats by title, everything that can be done, pages of settings, and a search. */

import {chats} from "./chats_store.js";
import {available, find} from "./commands.js";
import {catalogue} from "./composer/catalogue.js";
import {keysOf} from "./keys.js";
import {go} from "./routes.js";
import {isAdmin} from "./session.js";
import {Dialog} from "./shared/dialog.js";
import {icon} from "./shared/icons.js";
import {SETTINGS_PAGES} from "./settings/table.js";
import {familyLight} from "./state/lights.js";
import {best} from "./state/match.js";
import {loadSheet} from "./shared/sheet.js";
import {html, useEffect, useRef, useState} from "./ui.js";
import {api} from "./wire/api.js";

const CHATS_MAX = 8;
const COMMANDS_MAX = 8;
const FOUND_MS = 150; // after the last letter the daemon is asked for titles

/** @typedef {{key: string, group: string, icon: string, text: string, keys?: string, run: () => void,
 *   beside?: () => void, light?: string}} Row */

/** @param {any} chat @returns {Row} */
function chatRow(chat) {
  const run = () => find("chat.enter")?.run(chat.id);
  const beside = () => find("chat.beside")?.run(chat.id);
  return {key: `chat ${chat.id}`, group: "Chats", icon: "", light: familyLight(chat), text: chat.title || "Untitled", run, beside};
}

/** @param {import("./commands.js").Command} command @returns {Row} */
function commandRow({id, title, group}) {
  const run = () => find(id)?.run();
  return {key: id, group: "Commands", icon: "chev", text: group ? `${group}: ${title}` : title, keys: keysOf(id), run};
}

/** Return where a command stands: those of chats come first, those that are rarely chosen last. @param {import("./commands.js").Command} command */
const rank = ({group = ""}) => ["Chat", "Chats", "", "View"].indexOf(group) + 1 || 9;

/** @returns {Row[]} */
function pageRows() {
  return SETTINGS_PAGES.filter((page) => !page.admin || isAdmin.value).map((page) => ({
    key: page.path, group: "Settings", icon: "gear", text: page.title, run: () => go(page.path),
  }));
}

/** @returns {Row[]} */
function modelRows() {
  const command = find("chat.model");
  const models = command ? catalogue.value.groups.flatMap((group) => group.models) : [];
  return models.filter((model) => !model.why).map(({id, name}) => ({
    key: `model ${id}`, group: "Models", icon: "bulb", text: `Use ${name}`, run: () => command?.run({id}),
  }));
}

/** @param {string} typed @param {any[]} found @returns {Row[]} */
function rowsOf(typed, found) {
  const known = new Map([...chats.list.value.roots, ...found].map((chat) => [chat.id, chat]));
  const all = [...known.values()].map(chatRow);
  const commands = available().filter((each) => !each.hidden && each.id !== "palette.open")
    .sort((a, b) => rank(a) - rank(b)).map(commandRow);
  if (!typed) return [...all.slice(0, CHATS_MAX), ...commands];
  const textOf = (/** @type {Row} */ row) => row.text;
  const search = {
    key: "search", group: "Search", icon: "search", text: `Search all chats for “${typed}”`,
    run: () => go(`/search?q=${encodeURIComponent(typed)}`),
  };
  return [
    ...best(commands, typed, textOf, COMMANDS_MAX), ...best(all, typed, textOf, CHATS_MAX),
    ...best(modelRows(), typed, textOf, COMMANDS_MAX), ...best(pageRows(), typed, textOf, COMMANDS_MAX),
    search,
  ];
}

/** Chats whose titles have these words, as the daemon finds them. @param {string} typed */
function useFound(typed) {
  const [found, set] = useState(/** @type {any[]} */ ([]));
  useEffect(() => {
    const words = typed.replaceAll('"', " ").trim();
    if (!words) return;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const query = {q: `title:"${words}"`, limit: CHATS_MAX};
      try {
        set(await api.get("chats", query, {signal: stop.signal}));
      } catch {
        // what is in the list is found without the daemon
      }
    }, FOUND_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [typed]);
  return found;
}

/** @param {{row: Row, at: number, chosen: boolean, first: boolean, run: () => void}} props */
function Line({row, at, chosen, first, run}) {
  const line = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (chosen) line.current?.scrollIntoView({block: "nearest"});
  }, [chosen]);
  return html`${first && html`<li class="group" role="presentation">${row.group}</li>`}
    <li ref=${line} id=${`palette-${at}`} class="hit" role="option" aria-selected=${chosen}
      onClick=${run}>
      ${row.light ? html`<i class="cue ${row.light}"></i>` : icon(row.icon)}<span>${row.text}</span>${row.keys && html`<kbd>${row.keys}</kbd>`}
    </li>`;
}

/** @param {{onClose: () => void}} props */
export function Palette({onClose}) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const found = useFound(typed);
  const rows = rowsOf(typed.trim(), found);
  const chosen = useRef(/** @type {(() => void) | undefined} */ (undefined));
  const run = (/** @type {Row | undefined} */ row, aside = false) => {
    chosen.current = (aside && row?.beside) || row?.run;
    onClose();
  };
  // It is done when the dialog is gone: nothing else can have the focus as long as that is open.
  useEffect(() => () => queueMicrotask(() => chosen.current?.()), []);
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) setAt((at + step + rows.length) % rows.length);
    else if (event.key === "Enter" && !event.isComposing) run(rows[at], event.ctrlKey || event.metaKey);
    else return;
    event.preventDefault();
  };
  const typedNow = (/** @type {any} */ event) => {
    setTyped(event.target.value);
    setAt(0);
  };
  return html`<${Dialog} label="Search or do" className="palette" onClose=${onClose}>
    <label class="typed">${icon("search")}<input role="combobox" aria-expanded="true" autofocus
      aria-label="Search or do" aria-controls="palette-hits" aria-activedescendant=${`palette-${at}`}
      placeholder="Search or do…" autocomplete="off" spellcheck="false" value=${typed}
      onInput=${typedNow} onKeyDown=${pressed} /></label>
    <ul class="hits" id="palette-hits" role="listbox" aria-label="What was found">
      ${rows.map((row, place) => html`<${Line} key=${row.key} row=${row} at=${place}
        chosen=${place === at} first=${rows[place - 1]?.group !== row.group} run=${() => run(row)} />`)}
    </ul>
  </${Dialog}>`;
}

/** Return it once its sheet is there. */
export const load = () => loadSheet("palette.css").then(() => Palette);
