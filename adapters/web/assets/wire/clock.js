// The daemon's time. Ages, deadlines and countdowns are in the daemon's time, and the clock of the
// user's machine may be wrong by hours.
//
//   now()                      the daemon's time, in milliseconds
//   hearDate(date, asked)      takes an answer's Date, and the time on our clock when it was asked for
//   onClock(heard)             calls `heard` when the difference of the two clocks changes

import { skewAfter } from "../state/skew.js";

let skew = 0; // milliseconds that are added to our clock
/** @type {Set<() => void>} */
const listeners = new Set();

/** @returns {number} */
export const now = () => Date.now() + skew;

/** @param {string | null} date @param {number} asked */
export function hearDate(date, asked) {
  const before = skew;
  skew = skewAfter(before, { date: Date.parse(date ?? ""), asked, answered: Date.now() });
  if (skew !== before) for (const heard of listeners) heard();
}

/** @param {() => void} heard */
export function onClock(heard) {
  listeners.add(heard);
}
