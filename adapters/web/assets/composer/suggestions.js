// What is offered while one types `/` or `@`: computed from the text at the caret.

import { computed, html, signal } from "../ui.js";
import { later } from "../shared/later.js";
import { lookupAt, replaced } from "./words.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("../shared/combobox.js").Item & {pick: (desk: Desk) => string}} Choice `pick` does it and returns the text to put in its place */
/** @typedef {{title: string, items: Choice[]}} Choices */

const OpenList = later(() => import("./suggestion_list.js").then((module) => module.OpenList));

/** What there is to offer; loaded when somebody looks for it first. @type {import("../vendor/preact.js").Signal<typeof import("./suggestion_list.js").itemsOf | null>} */
const offered = signal(null);

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
    if (found && !offered.peek()) void import("./suggestion_list.js").then((module) => (offered.value = module.itemsOf));
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
    return offered.value ? offered.value(this.place, lookup).filter((group) => group.items.length) : [];
  }
}

/** @param {{suggestions: Suggestions}} props */
export function SuggestionList({ suggestions }) {
  if (!suggestions.open.value) return null;
  return html`<${OpenList} suggestions=${suggestions} />`;
}
