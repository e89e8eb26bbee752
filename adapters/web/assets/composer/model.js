// Which model answers, and how hard it thinks: for this message and those after it.

import { html, useCallback, useEffect, useRef, useSignal } from "../ui.js";
import { command } from "../commands.js";
import { icon } from "../shared/icons.js";
import { Popover } from "../shared/popover.js";
import { Picker } from "../shared/combobox.js";
import { catalogue, modelOf, readModels } from "./catalogue.js";
import { fitting } from "./words.js";

/** @typedef {import("./composer.js").Place} Place */
/** @typedef {import("./catalogue.js").Model} Model */

/** Return the model and the effort that the next message will go with. @param {Place} place */
export function chosen({ desk, conversation }) {
  const chat = conversation?.state.value.chat;
  const model = modelOf(desk.model.value ?? chat?.last_model_config_id ?? null);
  const wanted = desk.effort.value ?? (desk.model.value ? "" : chat?.last_reasoning_effort ?? "");
  return { model, effort: model?.efforts.includes(wanted) ? wanted : "" };
}

/** @param {{place: Place}} props */
export function ModelButton({ place }) {
  const open = useSignal(false);
  const button = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => void readModels(), []);
  useEffect(() => command({ id: "chat.model", title: "Choose the model", group: "Chat", run: () => void (open.value = true) }), []);
  const { model, effort } = chosen(place);
  const gone = catalogue.value.state === "ready" && !model;
  const name = model?.name ?? (gone ? "No model" : "Model");
  return html`<button type="button" class=${`sel model${gone ? " bad" : ""}`} ref=${button} aria-haspopup="dialog" aria-expanded=${open.value}
      title=${gone ? "The model of this chat is gone: choose another one" : `${name} ${effort}`} onClick=${() => (open.value = !open.value)}>
      <span class="what">${shortName(name)}</span>${effort ? html` <span class="dim">${effort}</span>` : null}${icon("down")}</button>
    ${open.value ? html`<${ModelPopover} place=${place} anchor=${button.current} close=${() => (open.value = false)} />` : null}`;
}

/** Return the name of a model without what is said beside it. @param {string} name */
export const shortName = (name) => name.replace(/\s*\(.*\)\s*$/, "");

/** @param {{place: Place, anchor: HTMLElement | null, close: () => void}} props */
function ModelPopover({ place, anchor, close }) {
  const { model } = chosen(place);
  const { groups, state, why } = catalogue.value;
  const list = useCallback((/** @type {string} */ typed) => groups.map((group) => ({
    title: group.title,
    items: fitting(group.models, typed, (one) => `${one.name} ${one.model} ${group.title}`).map((one) => itemOf(one, one.id === model?.id)),
  })), [groups, model?.id]);
  const pick = (/** @type {{id: string}} */ item) => {
    place.desk.model.value = item.id;
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
      }}>${one}</button>`)}
  </div>`;
}
