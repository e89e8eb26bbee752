// Which model answers, and how hard it thinks: for this message and those after it.

import { html, useEffect, useRef, useSignal } from "../ui.js";
import { command } from "../commands.js";
import { current } from "../current.js";
import { icon } from "../shared/icons.js";
import { later } from "../shared/later.js";
import { catalogue, modelOf, ownChoice, readModels } from "./catalogue.js";
import { lastChoice } from "./last_choice.js";

/** @typedef {import("./composer.js").Place} Place */

const ModelPopover = later(() => import("./model_picker.js").then((module) => module.ModelPopover));

/**
 * Return the model and the effort that the next message will go with. A new chat begins with what
 * the user's settings say, else with what was chosen last here, else with the default.
 * @param {Place} place
 */
export function chosen({ desk, conversation, chat: { value: chat } }) {
  const last = lastChoice();
  const first = conversation ? "" : ownChoice.value.model || last.model;
  const before = (first && modelOf(first)?.why === "" && modelOf(first)) || modelOf(chat?.last_model_config_id ?? null);
  const wished = desk.model.value ? modelOf(desk.model.value) : before;
  const model = wished ?? modelOf(null); // the default answers for one that is gone
  const effort = desk.model.value || !conversation ? last.efforts[model?.id ?? ""] : chat?.last_reasoning_effort;
  const wanted = desk.effort.value ?? ((!conversation && model?.id === ownChoice.value.model && ownChoice.value.effort) || effort) ?? "";
  return { model, effort: model?.efforts.includes(wanted) ? wanted : "", gone: catalogue.value.state === "ready" && !wished };
}

/** Return a sentence if the chosen model is gone, with the one that answers instead; or "". @param {Place} place */
export function goneWords(place) {
  const { model, gone } = chosen(place);
  if (!gone) return "";
  return model ? `The model of this chat is gone. ${shortName(model.name)} answers, unless you choose another one.` : "There is no model that could answer.";
}

/** @param {{place: Place}} props */
export function ModelButton({ place }) {
  const open = useSignal(false);
  const button = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => void readModels(), []);
  useEffect(() => command({ id: "chat.model", title: "Choose the model", group: "Chat",
    when: () => !place.conversation || !current.value || current.value === place.conversation,
    run: (args) => void (args?.id ? (place.desk.model.value = args.id) : (open.value = true)) }), []);
  const { model, effort, gone } = chosen(place);
  const name = model?.name ?? (gone ? "No model" : "Model");
  return html`<button type="button" class=${`sel model${gone ? " bad" : ""}`} ref=${button} aria-haspopup="dialog" aria-expanded=${open.value}
      title=${gone ? "The model of this chat is gone: the default answers, unless you choose another one" : `${name} ${effort}`} onClick=${() => (open.value = !open.value)}>
      <span class="what">${shortName(name)}</span>${effort ? html` <span class="dim">${effort}</span>` : null}${icon("down")}</button>
    ${open.value ? html`<${ModelPopover} place=${place} anchor=${button.current} close=${() => (open.value = false)} />` : null}`;
}

/** Return the name of a model without what is said beside it. @param {string} name */
export const shortName = (name) => name.replace(/\s*\(.*\)\s*$/, "");
