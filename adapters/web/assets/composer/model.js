// Which model answers, and how hard it thinks: for this message and those after it.

import { html, useEffect, useRef, useSignal } from "../ui.js";
import { command } from "../commands.js";
import { icon } from "../shared/icons.js";
import { later } from "../shared/later.js";
import { catalogue, modelOf, readModels } from "./catalogue.js";

/** @typedef {import("./composer.js").Place} Place */

const ModelPopover = later(() => import("./model_picker.js").then((module) => module.ModelPopover));

/** Return the model and the effort that the next message will go with. @param {Place} place */
export function chosen({ desk, chat: { value: chat } }) {
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
