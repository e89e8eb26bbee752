/** The menus of the filters: whose chats, and what there is besides. */

import { openMenu } from "../shared/menu.js";
import { addressOf, NO_FILTERS, PR_STATES } from "../state/filters.js";
import { filter, SOURCES } from "./chips.js";
import { filters, known } from "./look.js";

const GROUPS = /** @type {const} */ ({
  time: "Group by time",
  status: "Group by status",
  label: "Group by label",
});

/** @param {Element} at */
export function openSources(at) {
  openMenu({
    at,
    label: "Whose chats",
    items: /** @type {(keyof typeof SOURCES)[]} */ (["", "mine", "shared"]).map((source) => ({
      label: SOURCES[source],
      checked: filters.peek().source === source,
      run: () => filter({ source }),
    })),
  });
}

/** @param {Element} at */
export function openMore(at) {
  const now = filters.peek();
  const labels = known.peek().labels.filter((label) => !now.labels.includes(label)).slice(0, 12);
  /** @type {(import("../shared/menu.js").Item | "-")[]} */
  const items = labels.map((label) => ({
    label: label.replace(":", ": "),
    run: () => filter({ labels: [...now.labels, label] }),
  }));
  if (labels.length) items.push("-");
  for (const state of PR_STATES)
    if (!now.prs.includes(state)) items.push({ label: `Pull request: ${state}`, run: () => filter({ prs: [...now.prs, state] }) });
  items.push("-", { label: "Archived", checked: now.archived, run: () => filter({ archived: !now.archived }) }, "-");
  for (const [group, label] of Object.entries(GROUPS))
    items.push({ label, checked: now.group === group, run: () => filter({ group: /** @type {any} */ (group) }) });
  if (addressOf(now)) items.push("-", { label: "Clear all filters", run: () => filter({ ...NO_FILTERS }) });
  openMenu({ at, label: "More filters", items });
}
