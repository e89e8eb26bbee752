/** Menus: a list of what can be done here, by click, by keys and by letters. */

import {find} from "../commands.js";
import {keysOf} from "../keys.js";
import {html, render, useEffect, useRef} from "../ui.js";
import {icon} from "./icons.js";
import {Popover} from "./popover.js";

/**
 * @typedef {{
 *   label?: string, run?: () => void, command?: string, args?: any, icon?: string, key?: string,
 *   checked?: boolean, disabled?: boolean | string, danger?: boolean, mark?: any,
 * }} Item
 * command: done with args, and gives title and key; disabled: a text says why; mark: a picture instead of the icon.
 */

/** @param {Item} item @param {() => void} close */
function act(item, close) {
  if (item.disabled) return;
  close();
  if (item.run) item.run();
  else if (item.command) find(item.command)?.run(item.args);
}

/** @param {{item: Item, close: () => void}} props */
function Row({item, close}) {
  const known = item.command ? find(item.command) : undefined;
  const words = item.label || known?.title || "";
  const key = item.key ?? (item.command ? keysOf(item.command) : "");
  const role = item.checked === undefined ? "menuitem" : "menuitemradio";
  return html`<button class="item ${item.danger ? "bad" : ""}" role=${role} tabindex="-1"
    aria-checked=${item.checked} aria-disabled=${item.disabled ? "true" : undefined}
    onClick=${() => act(item, close)}>
    ${item.mark ?? icon(item.checked ? "check" : item.icon || "")}
    <span>${words}${typeof item.disabled === "string" && html`<small>${item.disabled}</small>`}</span>
    ${key && html`<kbd>${key}</kbd>`}
  </button>`;
}

/** @param {KeyboardEvent} event @param {HTMLElement | null} menu */
function move(event, menu) {
  const rows = /** @type {HTMLElement[]} */ ([...(menu?.querySelectorAll(".item") || [])]);
  const at = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1}[event.key];
  if (to !== undefined) {
    event.preventDefault();
    rows[(to + rows.length) % rows.length]?.focus();
  } else if (event.key.length === 1 && event.key !== " ") {
    const begins = (/** @type {HTMLElement} */ row) =>
      row.innerText.trim().toLowerCase().startsWith(event.key.toLowerCase());
    const found = [...rows.slice(at + 1), ...rows.slice(0, at + 1)].find(begins);
    found?.focus();
    event.stopPropagation();
  }
}

/** @param {{items: Array<Item | "-">, close: () => void}} props */
function Items({items, close}) {
  const menu = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const first = menu.current?.querySelector(".item");
    if (first instanceof HTMLElement) first.focus();
  }, []);
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Tab") close();
    else move(event, menu.current);
  };
  return html`<div ref=${menu} onKeyDown=${pressed}>
    ${items.map((item) =>
      item === "-" ? html`<hr role="separator" />` : html`<${Row} item=${item} close=${close} />`,
    )}
  </div>`;
}

let closeLast = () => {};
/** @type {import("./popover.js").Anchor | null} */
let openAt = null;

/**
 * Open a menu. Only one is open at a time; the same anchor once more closes it.
 * @param {{at: import("./popover.js").Anchor, items: Array<Item | "-">, label: string}} what
 * @returns {() => void} closes it
 */
export function openMenu({at, items, label}) {
  const again = openAt === at;
  closeLast();
  if (again) return () => {};
  const place = document.body.appendChild(document.createElement("div"));
  const before = document.activeElement;
  const close = () => {
    if (closeLast !== close) return;
    closeLast = () => {};
    openAt = null;
    render(null, place);
    place.remove();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  };
  closeLast = close;
  openAt = at;
  render(html`<${Popover} anchor=${at} label=${label} onClose=${close} role="menu" className="menu">
    <${Items} items=${items} close=${close} />
  </${Popover}>`, place);
  return close;
}
