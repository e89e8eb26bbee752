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
    ${usable.length > 1 ? html`<span class="in-pick"><select class="in" aria-label="Model" onChange=${(/** @type {any} */ event) => setModel(event.currentTarget.value)}>${modelOptions(usable).map(([id, label]) => html`<option key=${id} value=${id}>${label}</option>`)}</select>${icon("down")}</span>` : html`<span class="in in-still">${modelName(usable[0])}</span>`}
    <button type="button" class="btn" disabled=${busy || !provider.enabled} onClick=${run}>${busy ? "Asking…" : "Try it"}</button>
  </div>
  <div role="status">${outcome && html`<${Notice} tone=${outcome.tone}>${outcome.text}<//>`}</div>`;
}

/** @param {string} model */
async function tried(model) {
  const began = Date.now();
  const content = [{ type: "text", text: "Answer with the single word: ready" }];
  const { id } = await api.post(CHATS, { organization_id: me.peek()?.organization_ids[0], content, model_config_id: model });
  try {
    return await ended(id, began);
  } finally {
    await api.post(`${CHATS}/${id}/interrupt`, {}).catch(() => null);
    await api.patch(`${CHATS}/${id}`, { archived: true }).catch(() => null);
  }
}

/** @param {string} chat @param {number} began */
async function ended(chat, began) {
  while (Date.now() - began < WAIT_MS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const { status, last_error } = await api.get(`${CHATS}/${chat}`);
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    if (status === "error") return { tone: "bad", text: sentence(last_error) };
    if (status === "waiting" || status === "completed") return { tone: "go", text: `It answered after ${seconds} s.` };
  }
  return { tone: "bad", text: "There was no answer within a minute." };
}

/** @param {any} error */
function sentence(error) {
  if (!error) return "It failed, and gave no reason.";
  if (typeof error === "string") return error;
  return [error.message, error.detail, error.status_code && `HTTP ${error.status_code}`].filter(Boolean).join(" · ");
}
