// What the tests of rules share: a seeded random, recordings of the daemon, and how often to try.

import { readFileSync, readdirSync } from "node:fs";

const FIXTURES = new URL("../fixtures/", import.meta.url);

export const TIMES = Number(process.env.PURE_TIMES ?? 1);
export const SEED = Number(process.env.PURE_SEED ?? 1);

/** Return a function of random numbers from 0 to below 1, the same for the same seed. */
export function randomOf(seed) {
  let state = (seed * 2654435761) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Return a whole number from 0 to below `count`. */
export const below = (random, count) => Math.floor(random() * count);

export const pick = (random, list) => list[below(random, list.length)];

/** Return the names of the recordings of tests/web/record_frames.py. */
export const recordings = () =>
  readdirSync(FIXTURES).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5));

export const recording = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, FIXTURES), "utf8"));
