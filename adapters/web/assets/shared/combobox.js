// Lists that are searched while one types, with the keys that people expect: ↑ ↓ Home End ⏎ Esc.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../ui.js";
import { icon } from "./icons.js";

/**
 * @typedef {{
 *   id: string, name: string, hint?: string, why?: string, badge?: string, icon?: string,
 *   checked?: boolean, words?: string,
 * }} Item `why`: why it cannot be chosen; `words`: by which it is found, too
 * @typedef {{title: string, items: Item[], mark?: any}} Group `mark`: a small picture beside the title
 */

let last = 0;

/**
 * Keep which of so many options is the active one, and move it by keys.
 * @param {number} count @param {(index: number) => void} pick @param {string} [typed] a change of it goes to the first
 * @param {number} [first] the one that is active at the beginning
 */
export function useListbox(count, pick, typed = "", first = 0) {
  const [name] = useState(() => `list${++last}`);
  const [active, setActive] = useState(first);
  const begun = useRef(false);
  useLayoutEffect(() => {
    if (begun.current) setActive(0);
    begun.current = true;
  }, [typed]);
  const at = Math.min(active, count - 1);
  useEffect(() => document.getElementById(`${name}-${at}`)?.scrollIntoView({ block: "nearest" }), [name, at]);
  /** @type {Record<string, number>} */
  const moves = { ArrowDown: (at + 1) % count, ArrowUp: (at - 1 + count) % count, PageDown: Math.min(at + 8, count - 1), PageUp: Math.max(at - 8, 0) };
  const onKey = (/** @type {KeyboardEvent} */ event, /** @type {string[]} */ picking = ["Enter"]) => {
    if (!count || event.isComposing || event.altKey || event.metaKey || event.ctrlKey) return false;
    if (event.key in moves) setActive(moves[event.key]);
    else if (picking.includes(event.key) && !event.shiftKey) pick(at);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return { active: at, setActive, onKey, id: name, optionId: (/** @type {number} */ index) => `${name}-${index}` };
}

/**
 * A field to search in, and below it what fits, in groups.
 * @param {{
 *   label: string, groups: (typed: string) => Group[], onPick: (item: Item) => void,
 *   placeholder?: string, empty?: string, search?: boolean, foot?: any,
 * }} props `search` false: too few to search among
 */
export function Picker({ label, groups, onPick, placeholder = "Search", empty = "Nothing fits.", search = true, foot = null }) {
  const [typed, setTyped] = useState("");
  const shown = useMemo(() => groups(typed).filter((group) => group.items.length), [groups, typed]);
  const items = shown.flatMap((group) => group.items);
  const pick = (/** @type {number} */ index) => {
    const item = items[index];
    if (item && !item.why) onPick(item);
  };
  const list = useListbox(items.length, pick, typed, Math.max(0, items.findIndex((item) => item.checked)));
  const field = search
    ? html`<label class="find picker-find">${icon("search")}<span class="sr">${label}</span><input type="text" role="combobox" autofocus
        aria-expanded="true" aria-controls=${list.id} aria-activedescendant=${list.optionId(list.active)} aria-autocomplete="list"
        autocomplete="off" spellcheck=${false} placeholder=${placeholder} value=${typed} onKeyDown=${list.onKey}
        onInput=${(/** @type {any} */ event) => setTyped(event.currentTarget.value)} /></label>`
    : null;
  return html`<div class="picker">
    ${field}
    <${Options} label=${label} groups=${shown} list=${list} pick=${pick} focus=${!search} />
    ${items.length ? null : html`<p class="none" role="status">${empty}</p>`}
    ${foot}
  </div>`;
}

/**
 * The options of a list. Without a field it takes the focus and the keys itself.
 * @param {{label: string, groups: Group[], list: ReturnType<typeof useListbox>, pick: (index: number) => void, focus?: boolean}} props
 */
export function Options({ label, groups, list, pick, focus = false }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => void (focus && box.current?.focus()), [focus]);
  let index = -1;
  return html`<div class="options" role="listbox" id=${list.id} aria-label=${label} ref=${box} tabindex=${focus ? 0 : undefined}
    aria-activedescendant=${focus ? list.optionId(list.active) : undefined} onKeyDown=${focus ? list.onKey : undefined}>
    ${groups.map((group) => html`<div role="group" aria-label=${group.title || label} key=${group.title}>
      ${group.title ? html`<h4 aria-hidden="true">${group.mark}${group.title}</h4>` : null}
      ${group.items.map((item) => option(item, ++index, list, pick))}
    </div>`)}
  </div>`;
}

/** @param {Item} item @param {number} index @param {ReturnType<typeof useListbox>} list @param {(index: number) => void} pick */
function option(item, index, list, pick) {
  const chosen = item.checked === undefined ? index === list.active : item.checked;
  return html`<div role="option" key=${item.id} id=${list.optionId(index)} class=${`option${index === list.active ? " on" : ""}`}
    aria-selected=${chosen} aria-disabled=${item.why ? "true" : undefined}
    onMouseDown=${(/** @type {Event} */ event) => event.preventDefault()}
    onMouseMove=${() => index !== list.active && list.setActive(index)} onClick=${() => pick(index)}>
    <span class="tick">${item.icon ? icon(item.icon) : item.checked ? icon("check") : null}</span>
    <span class="what">${item.name}</span>
    ${item.badge ? html`<span class="badge">${item.badge}</span>` : html`<span></span>`}
    ${item.why || item.hint ? html`<small>${item.why || item.hint}</small>` : null}
  </div>`;
}
