// What the chat is about and has cost: its summary, money by agent and model, tokens, and its facts.

import { html, useEffect, useMemo } from "../ui.js";
import { catalogue, modelOf, readModels } from "../composer/catalogue.js";
import { costOf, readCost, useCost } from "../composer/cost.js";
import { shortName } from "../composer/model.js";
import { tokensText } from "../composer/usage.js";
import { run } from "../commands.js";
import { usePart } from "../shared/part.js";
import { turnWords } from "../state/row_words.js";
import { money } from "../text/money.js";
import { isMine } from "../list/acts.js";
import { Consent } from "./consent.js";
import { useBought } from "./bought.js";
import { familyOf } from "./family.js";
import { useWorkspace } from "./workspaces.js";
import { PastNote } from "./past_note.js";
import { byModel, sumOf } from "./usage_of.js";

/** @param {import("./panel.js").About} props */
export function SummaryTab({ conversation }) {
  const chat = usePart(conversation, (state) => state.chat);
  useEffect(() => void readModels(), []);
  if (!chat) return html`<div class="pbody"><p class="none" role="status">Reading the chat…</p></div>`;
  return html`<div class="pbody sum">
    <section><h3>Summary</h3><p>${chat.summary || turnWords(chat) || "There is no summary yet."}</p></section>
    <${CostTable} conversation=${conversation} />
    <${TokenTable} conversation=${conversation} />
    <${Facts} chat=${chat} conversation=${conversation} />
    <${Consent} conversation=${conversation} mine=${isMine(chat)} />
</div>`;
}

const BESIDE = { title: "Titles", summary: "Summaries and labels", advice: "Advice", compaction: "Making room", answer: "Answers that came to nothing" };

/** @param {{conversation: any}} props */
function CostTable({ conversation }) {
  const cost = useCost(conversation);
  const chat = usePart(conversation, (state) => state.chat);
  const children = familyOf(chat)?.children ?? [];
  useEffect(() => children.forEach((/** @type {any} */ child) => void readCost(child.id)), [children]);
  if (!cost) return null;
  const own = chat?.parent_chat_id ? "This agent" : "This chat";
  const rows = [
    { name: own, micros: cost.own_cost_micros, unpriced: cost.own_unpriced_request_count, requests: cost.own_request_count },
    ...children.filter((/** @type {any} */ child) => child.id !== conversation.id).map((/** @type {any} */ child) => agentRow(child)).filter(Boolean),
  ];
  return html`<section><h3>Cost</h3><table class="figures"><thead><tr><th>Of</th><th>calls</th><th>cost</th></tr></thead><tbody>
    ${rows.map((row) => html`<tr><th scope="row">${row.name}</th><td class="num">${row.requests}</td><td class="num">${money(row.micros, row.unpriced)}</td></tr>`)}
    ${(cost.beside ?? []).map((side) => html`<tr class="dim"><th scope="row">${BESIDE[/** @type {keyof typeof BESIDE} */ (side.what)] ?? side.what}</th><td class="num">${side.request_count}</td><td class="num">${money(side.cost_micros, side.unpriced_request_count)}</td></tr>`)}
    </tbody><tfoot><tr><th scope="row">With its agents</th><td class="num">${cost.request_count}</td><td class="num">${money(cost.total_cost_micros, cost.unpriced_request_count)}</td></tr></tfoot></table></section>`;
}

/** @param {any} child */
function agentRow(child) {
  const cost = costOf(child.id).value;
  return cost && { name: child.title, micros: cost.own_cost_micros, unpriced: cost.own_unpriced_request_count, requests: cost.own_request_count };
}

/** @param {{conversation: any}} props */
function TokenTable({ conversation }) {
  const bought = useBought(conversation);
  const rows = useMemo(() => byModel(bought.messages.value), [bought.messages.value]);
  if (!rows.length) return html`<${PastNote} past=${bought} />`;
  const all = sumOf(rows);
  void catalogue.value;
  const row = (/** @type {string} */ name, /** @type {any} */ use) => html`<tr key=${name}><th scope="row">${name}</th><td class="num">${tokensText(use.input)}</td><td class="num">${use.cached ? tokensText(use.cached) : "–"}</td><td class="num">${tokensText(use.output)}</td>${
    all.priced ? html`<td class="num">${use.priced ? money(use.micros, use.unpriced) : "–"}</td>` : null}</tr>`;
  return html`<section><h3>Tokens by model</h3><table class="figures"><thead><tr><th>Model</th><th>read</th><th>cached</th><th>written</th>${all.priced ? html`<th>cost</th>` : null}</tr></thead>
    <tbody>${rows.map((use) => row(shortName(modelOf(use.model)?.name ?? "A model that is gone"), use))}</tbody>
    ${rows.length > 1 ? html`<tfoot>${row("All", all)}</tfoot>` : null}</table><${PastNote} past=${bought} /></section>`;
}

/** @param {{chat: any, conversation: any}} props */
function Facts({ chat }) {
  const workspace = useWorkspace(chat.workspace_id);
  const labels = Object.entries(chat.labels ?? {});
  const time = (/** @type {string} */ at) => html`<time datetime=${at}>${new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}</time>`;
  return html`<section><h3>Facts</h3><dl class="facts">
    <dt>Model</dt><dd>${shortName(modelOf(chat.last_model_config_id)?.name ?? "–")}${chat.last_reasoning_effort ? ` · ${chat.last_reasoning_effort}` : ""}</dd>
    <dt>Workspace</dt><dd>${chat.workspace_id ? html`${workspace?.name ?? "…"}${workspace ? html` <span class="dim">${workspace.status}</span><br /><span class="mono dim">${workspace.path}</span>` : null}` : "none"}</dd>
    <dt>Labels</dt><dd>${labels.length ? labels.map(([key, value]) => html`<span class="chip">${key}: ${value}</span> `) : "none"} ${isMine(chat) ? html`<button type="button" class="link" onClick=${() => run("chat.label", { chat: chat.id })}>Change</button>` : null}</dd>
    <dt>Shared</dt><dd>${chat.shared ? "with others" : "with nobody"}</dd>
    <dt>Begun</dt><dd>${time(chat.created_at)}${chat.owner_name || chat.owner_username ? ` by ${chat.owner_name || chat.owner_username}` : ""}</dd>
    <dt>Changed</dt><dd>${time(chat.updated_at)}</dd></dl></section>`;
}
