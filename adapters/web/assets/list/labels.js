/** Labels of one chat, or of several: key and value, by which lists are filtered. */

import { chats } from "../chats_store.js";
import { icon } from "../shared/icons.js";
import { openDialog } from "../shared/dialog.js";
import { KEY_FAULT, labelFault, readLabel } from "../state/labels.js";
import { html, useState } from "../ui.js";
import { reasonOf } from "./acts.js";
import { chooseNone, known } from "./look.js";

/** @typedef {import("../wire/types.js").Chat} Chat */

/** Ask for other labels. @param {Chat[]} wanted */
export function editLabels(wanted) {
  const label = wanted.length === 1 ? "Labels" : `Labels of ${wanted.length} chats`;
  openDialog(({ close }) => html`<${LabelForm} chats=${wanted} title=${label} close=${close} />`, { label });
}

/** Return the labels that all of the chats have. @param {Chat[]} wanted */
function common(wanted) {
  const [first, ...others] = wanted;
  return Object.fromEntries(
    Object.entries(first.labels).filter(([key, value]) => others.every((chat) => chat.labels[key] === value)),
  );
}

/** @param {{chats: Chat[], title: string, close: () => void}} props */
function LabelForm({ chats: wanted, title, close }) {
  const { labels, text, fault, type, take, drop, save } = useLabels(wanted, close);
  return html`<form class="form" onSubmit=${save}>
    <h2>${title}</h2>
    ${wanted.length > 1 ? html`<p class="dim">Shown are those that all of them have.</p>` : null}
    <div class="labels">
      ${Object.entries(labels).map(
        ([key, value]) => html`<button key=${key} type="button" class="chip on"
          aria-label=${`${key}: ${value}, remove`} onClick=${() => drop(key)}>${key}: ${value}${icon("x")}</button>`,
      )}
    </div>
    <label class="field"><span>Another one</span>
      <input class="input" value=${text} list="known-labels" placeholder="area: web" autocomplete="off" autofocus
        onInput=${(/** @type {any} */ event) => type(event.target.value)} />
    </label>
    <datalist id="known-labels">
      ${known.value.labels.map((label) => html`<option key=${label} value=${label.replace(":", ": ")}></option>`)}
    </datalist>
    ${fault ? html`<p class="err" role="alert">${fault}</p>` : null}
    <footer>
      <button type="button" class="btn" disabled=${!text.trim()} onClick=${take}>${icon("plus")}Add</button>
      <span class="sp"></span>
      <button type="button" class="btn quiet" onClick=${close}>Cancel</button>
      <button class="btn main">Save</button>
    </footer>
  </form>`;
}

/** The labels as they are changed in the form. @param {Chat[]} wanted @param {() => void} close */
function useLabels(wanted, close) {
  const before = common(wanted);
  const [labels, setLabels] = useState(before);
  const [text, type] = useState("");
  const [fault, setFault] = useState("");
  const take = () => {
    const label = readLabel(text);
    const wrong = label ? labelFault(label, labels) : KEY_FAULT;
    setFault(wrong);
    if (!label || wrong) return null;
    const next = { ...labels, [label.key]: label.value };
    setLabels(next);
    type("");
    return next;
  };
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const next = text.trim() ? take() : labels;
    if (!next) return;
    try {
      await Promise.all(wanted.map((chat) => chats.label(chat.id, merged((chats.find(chat.id) ?? chat).labels, before, next))));
      chooseNone();
      close();
    } catch (error) {
      setFault(`Not labelled: ${reasonOf(error)}`);
    }
  };
  return { labels, text, fault, type, take, save, drop: (/** @type {string} */ key) => setLabels(without(labels, key)) };
}

/**
 * Return a chat's labels after a change of those that all have in common.
 * @param {Record<string, string>} own
 * @param {Record<string, string>} before
 * @param {Record<string, string>} after
 */
function merged(own, before, after) {
  const kept = Object.entries(own).filter(([key]) => !(key in before) || key in after);
  return { ...Object.fromEntries(kept), ...after };
}

/** @param {Record<string, string>} labels @param {string} key */
const without = (labels, key) => Object.fromEntries(Object.entries(labels).filter(([one]) => one !== key));
