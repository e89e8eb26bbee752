// The views of the items of a chat. Each is drawn again only if its item has changed.

import { html, memo } from "../ui.js";
import { icon } from "../shared/icons.js";
import { later } from "../shared/later.js";
import { hostOf, isWebAddress } from "./addresses.js";
import { SignButton, useToggle } from "./controls.js";
import { timeOf } from "./calls.js";
import { preferences } from "../preferences.js";
import { Guard, NOTHING } from "./guard.js";
import { OwnMessage } from "./own_message.js";
import { FileChip } from "./attachments.js";
import { Prose } from "./prose.js";
import { Elapsed } from "./ticking.js";
import { clock, counted, duration, grouped, tokens } from "./words.js";

/** @typedef {import("./items.js").Item} Item */
/** @typedef {import("./cards/frame.js").At} At */
/** @typedef {At & {unfold: (key: string, isOpen: boolean) => void, isUnfolded: (key: string) => boolean,
 *   fill: (hole: any) => void, model: (id: string | undefined) => string, money: (micros: number) => string,
 *   person: (id: string | undefined) => string}} Around */

/** @type {Record<string, (item: Item, at: Around) => any>} */
const VIEWS = {
  me: (item, at) => html`<${OwnMessage} message=${item.said} at=${at} />`,
  text: (item, at) => html`<${Answer} item=${item} at=${at} />`,
  thought: (item, at) => html`<${Thought} item=${item} at=${at} />`,
  call: (item, at) => html`<${CallItem} item=${item} at=${at} />`,
  sources: (item) => sources(item),
  file: (item, at) => html`<div class="files"><${FileChip} part=${item.part} at=${at} /></div>`,
  notice: (item) => html`<p class="notice">${icon("warn")}<span>${item.text}</span></p>`,
  fold: (item, at) => html`<${Fold} item=${item} at=${at} />`,
  hole: (item, at) => html`<${Hole} item=${item} at=${at} />`,
};

/** What tools did: cards are loaded with the first of them. */
const CallItem = later(() => import("./cards/table.js").then((module) => module.CallItem));

const PlainCalls = later(() => import("./cards/table.js").then((module) => module.PlainCalls));

/** An item whose own view has fallen: calls in the general card. @param {{item: Item, at: Around}} props */
export const PlainItem = ({ item, at }) =>
  html`<${Guard} of=${item} fallback=${NOTHING}>
    ${item.call || item.calls ? html`<${PlainCalls} calls=${item.calls ?? [item.call]} at=${at} />` : NOTHING()}
  </${Guard}>`;

/** An item of the timeline. @param {{item: Item, at: Around}} props */
export const ItemView = memo(({ item, at }) => (VIEWS[item.kind] ?? VIEWS.call)(item, at));

/** @param {{item: Item, at: Around}} props */
const Answer = memo(({ item, at }) => {
  const { text, facts, grows } = item;
  const time = timeOf(facts?.created_at);
  return html`<article class="said" data-message=${item.message || "live"} data-role="assistant" aria-label=${time === null ? "Answer" : `Answer, ${clock(time)}`}>
    <${Prose} text=${text} grows=${Boolean(grows)} />
    ${facts && html`<${AnswerFoot} item=${item} at=${at} time=${time} />`}
  </article>`;
});

/** @param {{item: Item, at: Around, time: number | null}} props */
function AnswerFoot({ item, at, time }) {
  const { facts, text } = item;
  const model = at.model(facts.model_config_id);
  const used = facts.usage;
  return html`<footer class=${`meta acts ${item.ends ? "" : "over"}`}>
    <${SignButton} sign="copy" label="Copy as Markdown" onClick=${() => at.do("copy", { text })} />
    <${SignButton} sign="link" label="Copy a link to this answer" onClick=${() => at.do("message.link", { message: facts.id })} />
    ${model && html`<span>${model}</span>`}
    ${time !== null && html`<time datetime=${facts.created_at}>${clock(time)}</time>`}
    ${used?.output_tokens > 0 &&
    html`<span title=${usageWords(used)}>${tokens((used.input_tokens ?? 0) + (used.output_tokens ?? 0))} tokens</span>`}
    ${typeof facts.cost_micros === "number" && html`<span>${at.money(facts.cost_micros)}</span>`}
  </footer>`;
}

/** @param {Record<string, number>} used */
const usageWords = (used) =>
  [
    ["read", used.input_tokens],
    ["of them from the cache", used.cache_read_tokens],
    ["written", used.output_tokens],
    ["of them thought", used.reasoning_tokens],
  ]
    .filter(([, n]) => n)
    .map(([name, n]) => `${grouped(Number(n))} ${name}`)
    .join(", ");

/** @param {{item: Item, at: Around}} props */
const Thought = memo(({ item, at }) => {
  const { part, grows, key } = item;
  const began = timeOf(part.created_at);
  const ended = timeOf(part.completed_at);
  const mode = preferences.thinking.value;
  const isOpen = at.opened(key) ?? (mode === "auto" ? Boolean(grows) : mode === "open");
  const onToggle = useToggle(key, isOpen, at);
  const title = titleOf(part.text ?? "");
  return html`<details class="work thought" open=${isOpen} onToggle=${onToggle} data-call=${key}>
    <summary>
      ${icon("brain")}<span class="what"><b>${grows ? "Thinking" : "Thought"}</b>${title && ` about ${title}`}</span>
      <span class="r">${
        grows ? html`<i class="cue go"></i><${Elapsed} since=${began} />` : began !== null && ended !== null && ended > began && html`<span class="num">${duration(ended - began)}</span>`
      }</span>${icon("chev")}
    </summary>
    ${isOpen && html`<div class=${`think ${grows ? "live" : ""}`}><${Prose} text=${part.text ?? ""} grows=${Boolean(grows)} /></div>`}
  </details>`;
});

/** The title that models put above a thought, as "**Weighing the lock**". @param {string} text */
function titleOf(text) {
  const found = /^\s*\*\*(.{3,80}?)\*\*/.exec(text) ?? /^\s*#+\s+(.{3,80})$/m.exec(text.slice(0, 200));
  return found ? found[1][0].toLowerCase() + found[1].slice(1) : "";
}

/** @param {Item} item */
const sources = (item) =>
  html`<nav class="src" aria-label="Sources">
    ${item.sources.filter((/** @type {any} */ each) => isWebAddress(each.url)).map(
      (/** @type {any} */ each, /** @type {number} */ i) =>
        html`<a href=${each.url} target="_blank" rel="noopener noreferrer" title=${each.url}
          ><i>${i + 1}</i>${hostOf(each.url)}${each.title && html`<span> · ${each.title}</span>`}</a
        >`,
    )}
  </nav>`;

/** @param {{item: Item, at: Around}} props */
const Fold = memo(({ item, at }) => {
  const isOpen = at.isUnfolded(item.key);
  const facts = [
    item.failed ? html`<span class="bad">${item.failed} failed</span>` : null,
    html`<span>${counted(item.steps, "step")}</span>`,
    item.took ? html`<span class="num">${duration(item.took)}</span>` : null,
    item.cost === null ? null : html`<span class="num">${at.money(item.cost)}</span>`,
  ];
  return html`<button type="button" class="fold" aria-expanded=${isOpen} data-call=${item.key} onClick=${() => at.unfold(item.key, !isOpen)}>
    ${icon("chev")}<span class="what">${item.what}</span><span class="r">${facts}</span>
  </button>`;
});

/** @param {{item: Item, at: Around}} props */
const Hole = memo(({ item, at }) => {
  const { state } = item.hole;
  return html`<div class="mark hole">
    <button type="button" class="btn quiet" disabled=${state === "loading"} onClick=${() => at.fill(item.hole)}>
      ${state === "loading" ? "Loading what lies between…" : state === "failed" ? "It could not be loaded. Again" : "Show what lies between"}
    </button>
  </div>`;
});
