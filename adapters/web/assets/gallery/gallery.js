// All cards in all states, for whoever changes one: /web/dev/gallery, with ?theme= and ?card=.

import { html, render, signal } from "../ui.js";
import { CallView } from "../timeline/cards/table.js";
import { fixtures } from "./fixtures.js";
import { ITEMS } from "./items.js";
import { ItemView } from "../timeline/rows.js";
import { ADVICE, AGENTS } from "./tools.js";
import { Failed, Retry } from "../timeline/cards/endings.js";
import { ERRORS, RETRY } from "./endings.js";

const query = new URLSearchParams(location.search);
const opened = new Map();

/** @param {string} key @returns {any} */
function open(key) {
  let one = opened.get(key);
  if (!one) opened.set(key, (one = signal(query.get("open") ? true : undefined)));
  return one;
}

const CHILDREN = [
  { id: AGENTS[0], title: "Reproduce under kill -9", status: "running", last_turn_summary: "Running 40 lives with seed 7; 31 pass so far", created_at: new Date(Date.now() - 48_000).toISOString() },
  { id: AGENTS[1], title: "Read the law of promote", status: "requires_action", approvals: [{ tool_name: "read_file", args: '{"path":"~/.pgpass"}' }], created_at: new Date(Date.now() - 68_000).toISOString() },
];
const folds = signal(/** @type {ReadonlySet<string>} */ (new Set()));
const drafts = new Map();

/** What the cards ask for, answered from nothing. */
const AT = {
  chat: "gallery",
  do: (/** @type {string} */ command, /** @type {any} */ args) => console.debug(command, args),
  opened: (/** @type {string} */ key) => open(key).value,
  setOpened: (/** @type {string} */ key, /** @type {boolean} */ isOpen) => void (open(key).value = isOpen),
  draft: (/** @type {string} */ key) => drafts.get(key) ?? drafts.set(key, {}).get(key),
  agent: (/** @type {string} */ id) => CHILDREN.find((each) => each.id === id),
  text: async () => ADVICE,
  href: () => "#",
  server: (/** @type {any} */ call) => {
    const at = call.name.indexOf("__");
    return at > 0 ? { name: call.name.slice(0, at), tool: call.name.slice(at + 2) } : { name: "", tool: call.name };
  },
  decided: () => undefined,
  isFirst: () => true,
  isCurrent: () => true,
  isUnfolded: (/** @type {string} */ key) => folds.value.has(key),
  unfold: (/** @type {string} */ key, /** @type {boolean} */ isOpen) => (folds.value = new Set(isOpen ? [key] : [])),
  fill: () => {},
  model: () => "Sonnet 5",
  money: (/** @type {number} */ micros) => `$${(micros / 1e6).toFixed(2)}`,
  person: () => "",
  readonly: false,
};

/** @param {string} title @param {any} view */
const shown = (title, view) => html`<p class="quiet state">${title}</p><div class="tl-row" data-state=${title}>${view}</div>`;

function Gallery() {
  const wanted = query.get("card");
  const states = query.get("states")?.split(",");
  const groups = fixtures().filter(({ title, name }) => !wanted || title === wanted || name === wanted);
  return html`<main class="tl gallery" aria-label="Gallery">
    <h1>Cards</h1>
    ${!wanted || wanted === "items" ? html`<section><h2>items</h2>${ITEMS.map((item) => shown(item.title ?? item.kind, html`<${ItemView} item=${item} at=${AT} />`))}</section>` : ""}
    ${!wanted || wanted === "endings" ? html`<section><h2>endings</h2>${shown("retry", html`<${Retry} retry=${RETRY} at=${AT} />`)}${ERRORS.map((error) => shown(error.kind, html`<${Failed} error=${error} at=${AT} />`))}</section>` : ""}
    ${groups.map(
      ({ title, calls }) => html`<section data-card=${title}>
        <h2>${title}</h2>
        ${calls.filter(({ state }) => !states || states.includes(state)).map(({ state, call }) => shown(state, html`<${CallView} call=${call} at=${AT} />`))}
      </section>`,
    )}
  </main>`;
}

document.documentElement.dataset.theme = query.get("theme") ?? "light";
const place = document.getElementById("app");
if (place) render(html`<${Gallery} />`, place);
