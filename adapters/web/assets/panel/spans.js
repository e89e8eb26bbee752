// Spans of time that count on while something runs.

import { signal, useEffect } from "../ui.js";
import { now, onClock } from "../wire/clock.js";

const shown = signal(now());
const tick = () => void (shown.value = now());
let users = 0;
/** @type {ReturnType<typeof setInterval> | undefined} */
let timer;

/** Return the time, which goes on each second while it is wanted. @param {boolean} wanted */
export function useClock(wanted) {
  useEffect(() => {
    if (!wanted) return;
    if (!users++) timer = setInterval(tick, 1000);
    tick();
    return () => void (--users || clearInterval(timer));
  }, [wanted]);
  return wanted ? shown.value : now();
}

onClock(tick);

/** Return a span as people read it: 35 ms, 8 s, 2 min 10 s, 3 h 5 min. @param {number} ms */
export function spanText(ms) {
  if (ms >= 1 && ms < 950) return `${Math.round(ms)} ms`;
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  return minutes % 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.floor(minutes / 60)} h`;
}
