// The side panel of a chat: what it has changed, its agents, its commands, and what it is about.

import { computed, html, useEffect, useMemo, useRef, useSignal } from "../ui.js";
import { showPanel } from "../frame.js";
import { icon } from "../shared/icons.js";
import { partOf, usePart } from "../shared/part.js";
import { changesOf } from "./changes_of.js";
import { familyOf } from "./family.js";
import { pastOf } from "./past.js";
import { PastNote } from "./past_note.js";
import { processesOf } from "./processes_of.js";
import { TABS, asked, isTree, tab } from "./tabs.js";

/** @typedef {import("./tabs.js").Tab} Tab */
/** @typedef {{conversation: any, past: import("./past.js").Past, file: import("../vendor/preact.js").Signal<{path: string}>}} About what a tab is given */

/** @type {Record<Tab, () => Promise<any>>} */
const LOAD = {
  changes: () => import("./changes.js").then((module) => module.Changes),
  agents: () => import("./agents.js").then((module) => module.Agents),
  files: () => import("./files.js").then((module) => module.Files),
  terminal: () => import("./terminal.js").then((module) => module.Terminal),
  summary: () => import("./summary.js").then((module) => module.SummaryTab),
  desktop: () => import("./desktop.js").then((module) => module.Desktop),
  calls: () => import("./calls.js").then((module) => module.Calls),
};

const loadPullRequest = () => import("./pull_request.js").then((module) => module.PullRequest);

/** @param {{conversation: any}} props */
export function Panel({ conversation }) {
  const past = useMemo(() => pastOf(conversation), [conversation]);
  const counts = useMemo(() => countsOf(conversation, past), [conversation]);
  const hasBranch = usePart(conversation, (state) => Boolean(state.chat?.diff_status?.head_branch));
  return html`<aside class="panel" aria-label="Side panel">
    <${TabList} counts=${counts.value} />
    ${TABS.filter((one) => one.id === tab.value).map(({ id, name }) => html`<div class="tabpanel" role="tabpanel" id=${`tabpanel-${id}`} aria-labelledby=${`tab-${id}`} key=${id}>
      ${id === "changes" && hasBranch ? html`<${Loaded} load=${loadPullRequest} name="The pull request" props=${{ conversation }} />` : null}
      ${id === "changes" && !counts.value.changes && !isTree.value ? html`<${NoChanges} conversation=${conversation} past=${past} />` : html`<${Loaded} load=${LOAD[id]} name=${name} props=${{ conversation, past, file: asked }} />`}</div>`)}
  </aside>`;
}

/** @param {any} conversation @param {import("./past.js").Past} past */
function countsOf(conversation, past) {
  const asks = partOf(conversation, (state) => state.asks);
  const chat = partOf(conversation, (state) => state.chat);
  const changes = computed(() => new Set(changesOf(past.messages.value).map((change) => change.path)).size);
  const terminal = computed(() => processesOf(past.messages.value, asks.value).filter((process) => process.state === "running").length);
  const agents = computed(() => familyOf(chat.value)?.children.length ?? 0);
  return computed(() => ({ changes: changes.value, agents: agents.value, files: 0, terminal: terminal.value, summary: 0, desktop: 0, calls: 0 }));
}

/** @param {{counts: Record<Tab, number>}} props */
function TabList({ counts }) {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const keys = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const at = TABS.findIndex((one) => one.id === tab.peek());
    tab.value = TABS[(at + by + TABS.length) % TABS.length].id;
    document.getElementById(`tab-${tab.peek()}`)?.focus();
  };
  return html`<div class="tabs"><button type="button" class="ic only-s" aria-label="Back to the chat" onClick=${() => showPanel(false)}>${icon("back")}</button>
    <div role="tablist" class="tablist" aria-label="Side panel" ref=${list} onKeyDown=${keys}>${TABS.map(({ id, name }) => html`<button type="button" class="tab" role="tab" key=${id}
      id=${`tab-${id}`} aria-controls=${`tabpanel-${id}`} aria-selected=${tab.value === id} tabindex=${tab.value === id ? 0 : -1}
      onClick=${() => (tab.value = id)}>${name}${counts[id] ? html` <span class="b num">${counts[id]}</span>` : null}</button>`)}</div>
    <button type="button" class="ic only-l" aria-label="Close the side panel" title="Close ( ] )" onClick=${() => showPanel(false)}>${icon("x")}</button></div>`;
}

/** Most chats change nothing: then nothing that shows changes is loaded. @param {{conversation: any, past: import("./past.js").Past}} props */
function NoChanges({ conversation, past }) {
  const chat = usePart(conversation, (state) => state.chat);
  useEffect(() => void past.read(), [past]);
  return html`<div class="pbody"><p class="none">No file has been changed in this chat. ${chat?.workspace_id ? html`<button type="button" class="link" onClick=${() => (isTree.value = true)}>Show the working tree</button>` : null}</p><${PastNote} past=${past} /></div>`;
}

/** A tab whose module is loaded when it is shown for the first time. @param {{load: () => Promise<any>, name: string, props: About}} props */
export function Loaded({ load, name, props }) {
  const View = useSignal(/** @type {{view: any} | null} */ (null));
  const failed = useSignal(false);
  const begin = () => {
    failed.value = false;
    load().then((view) => (View.value = { view }), () => (failed.value = true));
  };
  useEffect(begin, [load]);
  if (failed.value) return html`<p class="none">${name} could not be loaded. <button type="button" class="btn" onClick=${begin}>Try again</button></p>`;
  return View.value ? html`<${View.value.view} ...${props} />` : html`<p class="none late" role="status">Loading…</p>`;
}
