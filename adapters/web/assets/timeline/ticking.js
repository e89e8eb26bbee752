// Time that passes, for what counts it: one timer for the whole page, and none if nothing counts.

import { html, signal, useEffect } from "../ui.js";
import { now, onClock } from "../wire/clock.js";
import { countdown, elapsed } from "./words.js";

const shown = signal(now());
let users = 0;
let timer = 0;

/** Return the time, and draw the view that asks anew each second. */
function useNow() {
  useEffect(() => {
    if (users++ === 0) start();
    return () => {
      if (--users === 0) clearInterval(timer);
    };
  }, []);
  return shown.value;
}

const tick = () => void (shown.value = now());

function start() {
  tick();
  timer = setInterval(tick, 1000);
}

onClock(tick);

/** How long something has been going on. @param {{since: number | null}} props */
export function Elapsed({ since }) {
  const time = useNow();
  return since === null ? null : html`<span class="num">${elapsed(time - since)}</span>`;
}

/**
 * How long it is until something, and what is said when the time is over.
 * @param {{until: number, over: string}} props
 */
export function Countdown({ until, over }) {
  const left = until - useNow();
  return left > 0 ? html`<span class="num">${countdown(left)}</span>` : over;
}
