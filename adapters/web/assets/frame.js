/** The three regions: how wide they are, what is folded away, which one a phone shows. */

import {command} from "./commands.js";
import {isEmbedded} from "./embed.js";
import {go, route} from "./routes.js";
import {computed, effect, signal} from "./ui.js";

const KEY = "frame";
export const LIST = {first: 272, min: 200, max: 480};
export const PANEL = {first: 448, min: 320, max: 900};

/** @returns {{list?: number, panel?: number, listFolded?: boolean, panelFolded?: boolean}} */
function stored() {
  try {
    return JSON.parse(localStorage.getItem(KEY) || "{}");
  } catch {
    return {};
  }
}

/** @param {string} query */
function media(query) {
  const found = matchMedia(query);
  const now = signal(found.matches);
  found.addEventListener("change", () => (now.value = found.matches));
  return now;
}

export const phone = media("(max-width: 720px)");
export const wide = media("(min-width: 1181px)");

const before = stored();
export const listWidth = signal(before.list || LIST.first);
export const panelWidth = signal(before.panel || PANEL.first);
export const listFolded = signal(!!before.listFolded);
const panelFolded = signal(!!before.panelFolded); // beside the conversation
const panelOver = signal(false); // over it, where there is no room beside
const isFull = signal(false); // in the place of the conversation

/** Whether there is a conversation that the panel is about. */
const hasPanel = computed(() => route.value.name === "chat");

/** Whether the side panel is seen. */
export const panelOpen = computed(
  () => hasPanel.value && (wide.value ? !panelFolded.value : panelOver.value),
);

/** Whether the side panel has the place of the conversation, too. A phone shows one thing at a time anyway. */
export const panelFull = computed(() => panelOpen.value && isFull.value && !phone.value);

/** The region that a phone shows. @type {{value: "list" | "main" | "panel"}} */
export const view = computed(() => {
  if (panelOver.value && hasPanel.value) return "panel";
  return route.value.name === "home" && !isEmbedded ? "list" : "main";
});

/** @param {boolean} open */
export function showPanel(open) {
  if (!open) isFull.value = false;
  if (wide.value) panelFolded.value = !open;
  else panelOver.value = open;
}

/** Give the side panel the place of the conversation, or give that back. */
export function widenPanel() {
  const full = !panelFull.value;
  showPanel(true);
  isFull.value = full;
}

/** Do something in the conversation, which is shown again if the panel has its place. @param {() => void} act */
export function inConversation(act) {
  if (!panelFull.value) return act();
  isFull.value = false;
  requestAnimationFrame(act);
}

effect(() => {
  const now = {
    list: listWidth.value, panel: panelWidth.value, listFolded: listFolded.value,
    panelFolded: panelFolded.value,
  };
  localStorage.setItem(KEY, JSON.stringify(now));
});

effect(() => {
  route.value; // another page: what lay over the last one is away
  panelOver.value = false;
  isFull.value = false;
});

/** Put the focus into the region before or after the one that has it. @param {number} step */
function toRegion(step) {
  const regions = [...document.querySelectorAll("nav.side, main.stage:not(:has(.column)), .column, aside.panel")].filter(
    (each) => each instanceof HTMLElement && each.offsetParent !== null,
  );
  const at = regions.findIndex((each) => each.contains(document.activeElement));
  const next = regions[(at + step + regions.length) % regions.length];
  if (!(next instanceof HTMLElement)) return;
  next.tabIndex = -1;
  next.focus();
}

/** Make the commands of the frame known. */
export function registerFrame() {
  const group = "View";
  command({id: "region.list", title: "Fold the list", group, when: () => !isEmbedded, run: foldList});
  command({
    id: "region.panel", title: "Fold the side panel", group,
    when: () => hasPanel.value, run: () => showPanel(!panelOpen.value),
  });
  command({
    id: "panel.close", title: "Close the side panel", hidden: true,
    when: () => panelFull.value || (panelOver.value && !wide.value),
    run: () => (panelFull.value ? widenPanel() : showPanel(false)),
  });
  command({
    id: "panel.full", title: "Side panel: full width", group,
    when: () => hasPanel.value && !phone.value, run: widenPanel,
  });
  command({id: "region.back", title: "Back to the list", hidden: true, run: back});
  command({id: "region.next", title: "Next region", group, run: () => toRegion(1)});
  command({id: "region.previous", title: "Previous region", group, run: () => toRegion(-1)});
}

function foldList() {
  if (phone.value) back();
  else listFolded.value = !listFolded.value;
}

function back() {
  if (panelOver.value) panelOver.value = false;
  else go("/");
}
