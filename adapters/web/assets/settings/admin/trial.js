/** A word from a model: whether its provider answers with the key that it has. */
import {html, useState} from "../../ui.js";
import {me} from "../../session.js";
import {api} from "../../wire/api.js";
import {modelName, modelOptions} from "../catalogue.js";
import {icon} from "../../shared/icons.js";
import {Notice} from "../page.js";

const CHATS = "/api/experimental/chats";
const WAIT_MS = 60_000; // longer than that no model takes for a word

/** @param {{models: any[], provider: any}} props */
export function Trial({ models, provider }) {
  const usable = models.filter((each) => each.enabled);
  const [model, setModel] = useState("");
  const [outcome, setOutcome] = useState(/** @type {{tone: string, text: string} | null} */ (null));
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    setOutcome(null);
    setOutcome(await tried(model || usable[0].id).catch((error) => ({ tone: "bad", text: [error.message, error.detail].filter(Boolean).join(" ") })));
    setBusy(false);
  };
  if (!usable.length) return html`<p class="field-help">It has no model yet. <a href="/admin/models/new?provider=${provider.id}">Add one</a>, then it can be tried.</p>`;
  return html`<div class="pair">
    ${usable.length > 1 ? html`<span class="in-pick"><select class="in" aria-label="Model" onChange=${(/** @type {any} */ event) => setModel(event.currentTarget.value)}>${/** @type {[string, string][]} */ (modelOptions(usable)).map(([id, label]) => html`<option key=${id} value=${id}>${label}</option>`)}</select>${icon("down")}</span>` : html`<span class="in in-still">${modelName(usable[0])}</span>`}
    <button type="button" class="btn" disabled=${busy || !provider.enabled} onClick=${run}>${busy ? "Asking…" : "Try it"}</button>
  </div>
  <div role="status">${outcome && html`<${Notice} tone=${outcome.tone}>${outcome.text}<//>`}</div>`;
}

/** @typedef {{tone: string, text: string, goesOn?: boolean}} Outcome `goesOn`: it is tried again */

/** @param {string} model @returns {Promise<Outcome>} */
async function tried(model) {
  const began = Date.now();
  const content = [{ type: "text", text: "Answer with the single word: ready" }];
  const { id } = await api.post(CHATS, { organization_id: me.peek()?.organization_ids[0], content, model_config_id: model });
  const line = new EventSource(`${CHATS}/${id}/stream/sse`);
  const outcome = await first(line, (event) => outcomeOf(event, Date.now() - began));
  void away(id, line, !outcome || outcome.goesOn);
  return outcome ?? { tone: "bad", text: "There was no answer within a minute." };
}

/**
 * Return the first thing that is found in the events of a line; null: nothing within a minute.
 * @template T @param {EventSource} line @param {(event: any) => T | null} look @returns {Promise<T | null>}
 */
function first(line, look) {
  return new Promise((resolve) => {
    line.onmessage = ({ data }) => {
      const found = look(JSON.parse(data));
      if (found) resolve(found);
    };
    setTimeout(() => resolve(null), WAIT_MS);
  });
}

/** Put the chat away, once it is at rest. @param {string} chat @param {EventSource} line @param {boolean | undefined} isAtWork */
async function away(chat, line, isAtWork) {
  if (isAtWork) {
    const rests = first(line, ({ type, status }) => type === "status" && ["waiting", "error"].includes(status.status));
    await api.post(`${CHATS}/${chat}/interrupt`).catch(() => null);
    await rests;
  }
  line.close();
  await api.patch(`${CHATS}/${chat}`, { archived: true }).catch(() => null);
}

/** @param {any} event @param {number} ms @returns {Outcome | null} */
function outcomeOf({ type, retry, error, status }, ms) {
  if (type === "retry") return { tone: "bad", text: sentence({ ...retry, message: retry.error }), goesOn: true };
  if (type === "error") return { tone: "bad", text: sentence(error) };
  if (type === "status" && status.status === "waiting") return { tone: "go", text: `It answered after ${(ms / 1000).toFixed(1)} s.` };
  return null;
}

/** @param {any} error */
function sentence(error) {
  return [error?.message || "It failed, and gave no reason.", error?.detail, error?.status_code && `HTTP ${error.status_code}`].filter(Boolean).join(" · ");
}
