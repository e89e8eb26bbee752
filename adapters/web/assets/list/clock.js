/** The time as signals, for ages that count on: one changes each second, one each half minute. */

import { signal } from "../ui.js";

export const second = signal(Date.now());
export const minute = signal(Date.now());

/** @param {boolean} all whether the slow one goes on, too */
function tick(all) {
  if (document.hidden) return;
  second.value = Date.now();
  if (all || second.value - minute.peek() >= 30_000) minute.value = second.value;
}

setInterval(tick, 1000, false);
document.addEventListener("visibilitychange", () => tick(true));
