// Which tab of the side panel is shown, and the commands that show one.

import { computed, effect, signal } from "../ui.js";
import { command, run } from "../commands.js";
import { showPanel } from "../frame.js";

/** @typedef {"changes" | "agents" | "files" | "terminal" | "summary" | "desktop" | "calls"} Tab */

/** @type {{id: Tab, name: string}[]} */
export const TABS = [
  { id: "changes", name: "Changes" },
  { id: "agents", name: "Agents" },
  { id: "files", name: "Files" },
  { id: "terminal", name: "Terminal" },
  { id: "summary", name: "Summary" },
  { id: "desktop", name: "Desktop" },
  { id: "calls", name: "Calls" },
];
const KEY = "panel";

const CLOSED = "panel.closed";

/** The tabs that were closed; like the one that is shown they stay so from chat to chat. */
export const closed = signal(new Set((localStorage.getItem(CLOSED) ?? "").split(" ")));
effect(() => localStorage.setItem(CLOSED, [...closed.value].join(" ").trim()));

/** The tabs that there are room is taken for. @type {import("../ui.js").ReadonlySignal<typeof TABS>} */
export const openTabs = computed(() => {
  const found = TABS.filter(({ id }) => !closed.value.has(id));
  return found.length ? found : TABS.slice(0, 1);
});

const wanted = signal(/** @type {Tab} */ (localStorage.getItem(KEY) ?? ""));
effect(() => localStorage.setItem(KEY, wanted.value));

/** The tab that is shown; it stays the same from chat to chat. */
export const tab = computed(() => (openTabs.value.find(({ id }) => id === wanted.value) ?? openTabs.value[0]).id);

/** Show a tab, which is opened if it is closed. @param {Tab} id */
export function showTab(id) {
  if (closed.value.has(id)) closed.value = new Set([...closed.value].filter((each) => each !== id));
  wanted.value = id;
}

/** Close a tab; the one after it is shown then, or the one before. The last one stays. @param {Tab} id */
export function closeTab(id) {
  const before = openTabs.value;
  if (before.length < 2) return;
  const at = before.findIndex((one) => one.id === id);
  if (tab.value === id) wanted.value = (before[at + 1] ?? before[at - 1]).id;
  closed.value = new Set([...closed.value, id]);
}

/** Whether the Changes are those that git sees in the workspace, and not those of the chat's calls. */
export const isTree = signal(localStorage.getItem("panel.tree") === "yes");
effect(() => localStorage.setItem("panel.tree", isTree.value ? "yes" : "no"));

/** The file of the Changes that was asked for from elsewhere, until it is shown. */
export const asked = signal({ path: "" });

/** Make the commands of the panel known. Returns what ends that. */
export function registerTabs() {
  const removes = TABS.map(({ id, name }) => command({ id: `panel.${id}`, title: `Side panel: ${name}`, group: "View", run: () => run("panel.show", { tab: id }) }));
  removes.push(command({ id: "panel.show", title: "Show the side panel", hidden: true, run: show }));
  return () => removes.forEach((remove) => remove());
}

/** @param {{tab?: Tab, file?: string}} [what] */
function show({ tab: to, file } = {}) {
  if (to && TABS.some((one) => one.id === to)) showTab(to);
  if (file) asked.value = { path: file };
  showPanel(true);
}
