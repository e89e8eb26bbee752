/** What a user prefers, kept in this browser and the same in all of its tabs. */

import {batch, effect, signal} from "./ui.js";

const KEY = "preferences";

/** @type {Record<string, any>} */
const FIRST = {
  theme: "system", density: "normal", textSize: 14, column: 740, contrast: false,
  sendKey: "enter", letters: true, thinking: "auto", commands: "auto", diffs: "auto",
  tools: "auto", sound: false, notify: false,
};

/** @returns {Record<string, any>} */
function stored() {
  try {
    return JSON.parse(localStorage.getItem(KEY) || "{}");
  } catch {
    return {};
  }
}

const before = stored();

/** @type {Record<string, import("./vendor/preact.js").Signal<any>>} */
export const preferences = Object.fromEntries(
  Object.entries(FIRST).map(([name, value]) => [name, signal(before[name] ?? value)]),
);

effect(() => {
  const all = Object.fromEntries(Object.keys(FIRST).map((name) => [name, preferences[name].value]));
  localStorage.setItem(KEY, JSON.stringify(all));
});

addEventListener("storage", (event) => {
  if (event.key !== KEY) return;
  const now = stored();
  batch(() => { // what is half taken over would be stored
    for (const name in FIRST) if (name in now) preferences[name].value = now[name];
  });
});
