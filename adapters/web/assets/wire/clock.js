// The daemon's time. Ages, deadlines and countdowns are the daemon's, and the clock of the machine
// at which somebody sits may be wrong, by hours even.
//
//   now()                      the daemon's time, in milliseconds
//   hearDate(date, asked)      of each answer: its Date, and when our clock said that it was asked for
//   onClock(heard)             `heard` is called when the two clocks turn out to differ by something else

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
