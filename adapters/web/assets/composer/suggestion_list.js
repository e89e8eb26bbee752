// The list of what fits, above the field, which keeps the focus.

import { html, useLayoutEffect, useRef } from "../ui.js";
import { Options, useListbox } from "../shared/combobox.js";
import { mentionItems } from "./mentions.js";
import { slashItems } from "./slash.js";

/** @typedef {import("./suggestions.js").Suggestions} Suggestions */

/** @param {import("./composer.js").Place} place @param {import("./words.js").Lookup} lookup */
export const itemsOf = (place, lookup) => (lookup.sign === "/" ? slashItems(place, lookup) : mentionItems(place, lookup));

/** @param {{suggestions: Suggestions}} props */
export function OpenList({ suggestions }) {
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
