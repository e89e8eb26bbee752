// The list of models and efforts to choose from.

import { html, useCallback } from "../ui.js";
import { Picker } from "../shared/combobox.js";
import { Popover } from "../shared/popover.js";
import { vendorMark } from "../shared/vendor_mark.js";
import { catalogue, modelOf } from "./catalogue.js";
import { chosen } from "./model.js";
import { keepChoice } from "./last_choice.js";
import { fitting } from "./words.js";

/** @typedef {import("./composer.js").Place} Place */
/** @typedef {import("./catalogue.js").Model} Model */

/** @param {{place: Place, anchor: HTMLElement | null, close: () => void}} props */
export function ModelPopover({ place, anchor, close }) {
  const { model } = chosen(place);
  const { groups, state, why } = catalogue.value;
  const list = useCallback((/** @type {string} */ typed) => groups.map((group) => ({
    title: group.title,
    mark: vendorMark(group.vendor),
    items: fitting(group.models, typed, (one) => `${one.name} ${one.model} ${group.title}`).map((one) => itemOf(one, one.id === model?.id)),
  })), [groups, model?.id]);
  const pick = (/** @type {{id: string}} */ item) => {
    place.desk.model.value = item.id;
    keepChoice(item.id, null);
    if (!modelOf(item.id)?.efforts.includes(place.desk.effort.peek() ?? "")) place.desk.effort.value = null;
    if (!modelOf(item.id)?.efforts.length) close();
  };
  const empty = state === "failed" ? why : state === "loading" ? "Reading the models…" : "No model fits.";
  return html`<${Popover} anchor=${anchor} label="Model" className="models" onClose=${close}>
    <${Picker} label="Model" placeholder="Model or provider" groups=${list} onPick=${pick} empty=${empty}
      foot=${html`<${Efforts} place=${place} />`} />
  <//>`;
}

/** @param {Model} model @param {boolean} checked */
function itemOf(model, checked) {
  const hint = [model.name === model.model ? "" : model.model, `${Math.round(model.contextLimit / 1000)} k`].filter(Boolean).join(" · ");
  return { id: model.id, name: model.name, hint, why: model.why, badge: model.isDefault ? "default" : "", checked };
}

/** @param {{place: Place}} props */
function Efforts({ place }) {
  const { model, effort } = chosen(place);
  if (!model?.efforts.length) return null;
  const now = effort || model.effort;
  return html`<div class="efforts" role="group" aria-label="How hard it thinks">
    <span class="dim">Effort</span>
    ${model.efforts.map((one) => html`<button type="button" key=${one} class=${`chip${one === now ? " on" : ""}`} aria-pressed=${one === now}
      onClick=${() => {
        place.desk.effort.value = one;
        place.desk.model.value = model.id;
        keepChoice(model.id, one);
      }}>${one}</button>`)}
  </div>`;
}
