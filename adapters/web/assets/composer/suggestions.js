// What is offered while one types `/` or `@`: computed from the text at the caret.

import { computed, html, signal, useLayoutEffect, useRef } from "../ui.js";
import { Options, useListbox } from "../shared/combobox.js";
import { lookupAt, replaced } from "./words.js";
import { slashItems } from "./slash.js";
import { mentionItems } from "./mentions.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("../shared/combobox.js").Item & {pick: (desk: Desk) => string}} Choice `pick` does it and returns the text to put in its place */
/** @typedef {{title: string, items: Choice[]}} Choices */

export class Suggestions {
  /** @param {Desk} desk @param {import("./composer.js").Place} place */
  constructor(desk, place) {
    this.desk = desk;
    this.place = place;
    /** @type {import("../vendor/preact.js").Signal<import("./words.js").Lookup | null>} */
    this.lookup = signal(null);
    /** @type {import("../vendor/preact.js").Signal<number>} */
    this.dismissed = signal(-1); // where the sign stands that was answered with Esc
    this.groups = computed(() => this.#groups());
    this.count = computed(() => this.groups.value.reduce((sum, group) => sum + group.items.length, 0));
    this.open = computed(() => this.count.value > 0);
    this.activeId = signal("");
    this.listId = "";
    /** @type {((event: KeyboardEvent) => boolean) | null} */
    this.onKey = null;
  }

  /** Look again at what stands at the caret. */
  look() {
    const field = this.desk.field;
    const idle = !field || document.activeElement !== field || field.selectionStart !== field.selectionEnd || this.desk.browsing.peek();
    const found = idle ? null : lookupAt(field.value, field.selectionStart);
    if (!found) this.dismissed.value = -1;
    this.lookup.value = found && found.from !== this.dismissed.peek() ? found : null;
  }

  /** Close the list until another sign is typed; false if it is not open. */
  dismiss() {
    const lookup = this.lookup.peek();
    if (!lookup || !this.open.peek()) return false;
    this.dismissed.value = lookup.from;
    this.lookup.value = null;
    return true;
  }

  /** @param {number} index */
  choose(index) {
    const lookup = this.lookup.peek();
    const choice = this.groups.peek().flatMap((group) => group.items)[index];
    if (!lookup || !choice || choice.why) return;
    this.lookup.value = null;
    const { text, caret } = replaced(this.desk.text.peek(), lookup, "");
    this.desk.text.value = text;
    const put = choice.pick(this.desk);
    if (!put) return this.desk.focus(caret);
    const done = replaced(text, { ...lookup, to: lookup.from }, put);
    this.desk.text.value = done.text;
    this.desk.focus(done.caret);
  }

  /** @returns {Choices[]} */
  #groups() {
    const lookup = this.lookup.value;
    if (!lookup) return [];
    const groups = lookup.sign === "/" ? slashItems(this.place, lookup) : mentionItems(this.place, lookup);
    return groups.filter((group) => group.items.length);
  }
}

/** @param {{suggestions: Suggestions}} props */
export function SuggestionList({ suggestions }) {
  if (!suggestions.open.value) return null;
  return html`<${OpenList} suggestions=${suggestions} />`;
}

/** @param {{suggestions: Suggestions}} props */
function OpenList({ suggestions }) {
  const lookup = suggestions.lookup.value;
  const list = useListbox(suggestions.count.value, (index) => suggestions.choose(index), lookup?.word);
  const keys = useRef(list.onKey);
  keys.current = list.onKey;
  useLayoutEffect(() => {
    suggestions.onKey = (event) => keys.current(event, ["Enter", "Tab"]);
    suggestions.listId = list.id;
    return () => void (suggestions.onKey = null);
  }, [suggestions]);
  useLayoutEffect(() => void (suggestions.activeId.value = list.optionId(list.active)));
  const label = lookup?.sign === "/" ? "Commands" : "References";
  return html`<div class="suggest">
    <${Options} label=${label} groups=${suggestions.groups.value} list=${list} pick=${(/** @type {number} */ index) => suggestions.choose(index)} />
  </div>`;
}
