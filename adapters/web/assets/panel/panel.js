// The side panel of a chat: what it has changed, its agents, its commands, and what it is about.

import { computed, html, useEffect, useMemo, useSignal } from "../ui.js";
import { panelFull, showPanel, widenPanel } from "../frame.js";
import { icon } from "../shared/icons.js";
import { openMenu } from "../shared/menu.js";
import { partOf, usePart } from "../shared/part.js";
import { loadSheet } from "../shared/sheet.js";
import { changesOf } from "./changes_of.js";
import { familyOf } from "./family.js";
import { pastOf } from "./past.js";
import { PastNote } from "./past_note.js";
import { processesOf } from "./processes_of.js";
import { TABS, asked, closeTab, isTree, openTabs, showTab, tab } from "./tabs.js";

/** @typedef {import("./tabs.js").Tab} Tab */
/** @typedef {{conversation: any, past: import("./past.js").Past, file: import("../vendor/preact.js").Signal<{path: string}>}} About what a tab is given */

/** Wait for the sheet of such views, too. @param {Promise<any>} view */
const styled = (view) => loadSheet("panel/tabs.css").then(() => view);

/** @type {Record<Tab, () => Promise<any>>} */
const LOAD = {
  changes: () => import("./changes.js").then((module) => module.Changes),
  agents: () => styled(import("./agents.js").then((module) => module.Agents)),
  files: () => styled(import("./files.js").then((module) => module.Files)),
  terminal: () => styled(import("./terminal.js").then((module) => module.Terminal)),
  summary: () => styled(import("./summary.js").then((module) => module.SummaryTab)),
  desktop: () => styled(import("./desktop.js").then((module) => module.Desktop)),
  calls: () => styled(import("./calls.js").then((module) => module.Calls)),
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

/** @param {Tab} id */
const focusTab = (id) => document.getElementById(`tab-${id}`)?.focus();

/** Close a tab; the one that is shown then has the focus at once, for the next key. @param {Tab} id */
function shut(id) {
  closeTab(id);
  focusTab(tab.peek());
}

/** @param {KeyboardEvent} event */
function tabKeys(event) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by && event.key !== "Delete") return;
  event.preventDefault();
  const open = openTabs.peek();
  const at = open.findIndex((one) => one.id === tab.peek());
  if (!by) return shut(tab.peek());
  showTab(open[(at + by + open.length) % open.length].id);
  focusTab(tab.peek());
}

/** @param {any} event */
function openClosed(event) {
  const items = TABS.filter(({ id }) => !openTabs.peek().some((one) => one.id === id)).map(({ id, name }) => ({ label: name, run: () => (showTab(id), requestAnimationFrame(() => focusTab(id))) }));
  openMenu({ at: event.currentTarget, label: "Closed tabs", items });
}

/** @param {{counts: Record<Tab, number>}} props */
function TabList({ counts }) {
  const full = panelFull.value;
  return html`<div class="tabs"><button type="button" class="ic only-s" aria-label="Back to the chat" onClick=${() => showPanel(false)}>${icon("back")}</button>
    <div role="tablist" class="tablist" aria-label="Side panel" onKeyDown=${tabKeys}>${openTabs.value.map((one) => html`<${TabButton} key=${one.id} ...${one} count=${counts[one.id]} />`)}</div>
    ${openTabs.value.length < TABS.length ? html`<button type="button" class="ic sm" aria-label="Open a tab" title="Open a tab" aria-haspopup="menu" onClick=${openClosed}>${icon("plus")}</button>` : null}
    <button type="button" class="ic sm only-l" aria-label="Full width" title="Full width" aria-pressed=${full} onClick=${widenPanel}>${icon("expand")}</button>
    <button type="button" class="ic sm only-l" aria-label="Close the side panel" title="Close ( ] )" onClick=${() => showPanel(false)}>${icon("x")}</button></div>`;
}

/** A tab. Within it the cross is for pointers, as nothing in a tab may be a button; for keys there is Delete. @param {{id: Tab, name: string, count: number}} props */
function TabButton({ id, name, count }) {
  const isShown = tab.value === id;
  const cross = (/** @type {Event} */ event) => (event.stopPropagation(), shut(id));
  return html`<button type="button" class="tab" role="tab" id=${`tab-${id}`} aria-controls=${`tabpanel-${id}`} aria-selected=${isShown} aria-keyshortcuts="Delete"
    tabindex=${isShown ? 0 : -1} onClick=${() => showTab(id)} onAuxClick=${(/** @type {MouseEvent} */ event) => event.button === 1 && shut(id)}>${name}${count ? html` <span class="b num">${count}</span>` : null}
    ${isShown && openTabs.value.length > 1 ? html`<span class="shut-tab" aria-hidden="true" title="Close this tab (Delete)" onClick=${cross}>${icon("x")}</span>` : null}</button>`;
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
