/** A word from a model: whether its provider answers with the key that it has. */
import {html, useState} from "../../ui.js";
import {me} from "../../session.js";
import {api} from "../../wire/api.js";
import {modelName, modelOptions} from "../catalogue.js";
import {icon} from "../../shared/icons.js";
import {Notice} from "../page.js";

const CHATS = "/api/experimental/chats";
const WAIT_MS = 60_000; // longer than that no model takes for a word
const LOOK_MS = 500;
const AWAY_TRIES = 20; // then the chat stays in the list

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

/** @typedef {{tone: string, text: string}} Outcome */

/** @param {string} model @returns {Promise<Outcome>} */
async function tried(model) {
  const began = Date.now();
  const content = [{ type: "text", text: "Answer with the single word: ready" }];
  const { id } = await api.post(CHATS, { organization_id: me.peek()?.organization_ids[0], content, model_config_id: model });
  const outcome = await heard(id, began);
  void away(id);
  return outcome;
}

/** Follow the chat to its first answer or failure. @param {string} chat @param {number} began @returns {Promise<Outcome>} */
function heard(chat, began) {
  const line = new EventSource(`${CHATS}/${chat}/stream/sse`);
  return new Promise((/** @type {(outcome: Outcome) => void} */ resolve) => {
    line.onmessage = ({ data }) => {
      const outcome = outcomeOf(JSON.parse(data), Date.now() - began);
      if (outcome) resolve(outcome);
    };
    setTimeout(() => resolve({ tone: "bad", text: "There was no answer within a minute." }), WAIT_MS);
  }).finally(() => line.close());
}

/** @param {any} event @param {number} ms @returns {Outcome | null} */
function outcomeOf({ type, retry, error, status }, ms) {
  if (type === "retry") return { tone: "bad", text: sentence({ ...retry, message: retry.error }) };
  if (type === "error") return { tone: "bad", text: sentence(error) };
  if (type === "status" && status.status === "waiting") return { tone: "go", text: `It answered after ${(ms / 1000).toFixed(1)} s.` };
  return null;
}

/** @param {any} error */
function sentence(error) {
  return [error?.message || "It failed, and gave no reason.", error?.detail, error?.status_code && `HTTP ${error.status_code}`].filter(Boolean).join(" · ");
}

/** Put the chat away, once it is at rest. @param {string} chat */
async function away(chat) {
  await api.post(`${CHATS}/${chat}/interrupt`).catch(() => null);
  for (let tries = 0; tries < AWAY_TRIES; tries += 1) {
    const isAway = await api.patch(`${CHATS}/${chat}`, { archived: true }).then(() => true, () => false);
    if (isAway) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
