// Which tab of the side panel is shown, and the commands that show one.

import { effect, signal } from "../ui.js";
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

/** The tab that is shown; it stays the same from chat to chat. */
export const tab = signal(/** @type {Tab} */ (TABS.find((one) => one.id === localStorage.getItem(KEY))?.id ?? "changes"));
effect(() => localStorage.setItem(KEY, tab.value));

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
  if (to && TABS.some((one) => one.id === to)) tab.value = to;
  if (file) asked.value = { path: file };
  showPanel(true);
}
