/** The time as signals, for ages that count on: one changes each second, one each half minute. */

import { signal } from "../ui.js";
import { now, onClock } from "../wire/clock.js";

export const second = signal(now());
export const minute = signal(now());

/** @param {boolean} all whether the slow one goes on, too */
function tick(all) {
  if (document.hidden) return;
  second.value = now();
  if (all || second.value - minute.peek() >= 30_000) minute.value = second.value;
}

setInterval(tick, 1000, false);
onClock(() => tick(true));
document.addEventListener("visibilitychange", () => tick(true));
