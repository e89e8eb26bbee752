// By how much the daemon's clock is ahead, as its answers tell.

import assert from "node:assert/strict";
import { test } from "node:test";
import { skewAfter } from "../../../adapters/web/assets/state/skew.js";

const AT = Date.parse("2026-03-01T12:00:00Z");
const HOUR = 3_600_000;

/** An answer that took so long, of a daemon that is ahead by so much, and drops the milliseconds. */
const answer = (ahead, took = 40, at = AT + 730) => ({ date: Math.floor((at + ahead) / 1000) * 1000, asked: at - took / 2, answered: at + took / 2 });

test("clocks that nearly agree have no skew, however slow the answers are", () => {
  for (const ahead of [-4000, -900, 0, 900, 4000])
    for (const took of [0, 40, 3000, 60_000]) assert.equal(skewAfter(0, answer(ahead, took)), 0);
});

test("a clock that is wrong by hours is known after one answer, to a second", () => {
  for (const ahead of [-5 * HOUR, -60_000, 60_000, 5 * HOUR]) assert.ok(Math.abs(skewAfter(0, answer(ahead)) - ahead) < 1000);
});

test("what is known stays while answers may be true with it", () => {
  let skew = skewAfter(0, answer(5 * HOUR));
  const first = skew;
  for (let at = 0; at < 100; at++) skew = skewAfter(skew, answer(5 * HOUR, at * 50, AT + at * 137));
  assert.equal(skew, first);
});

test("a clock that is put right has no skew any more", () => {
  assert.equal(skewAfter(skewAfter(0, answer(-5 * HOUR)), answer(0)), 0);
});

test("what says nothing changes nothing", () => {
  assert.equal(skewAfter(7000, { date: NaN, asked: 1, answered: 2 }), 7000);
  assert.equal(skewAfter(7000, { ...answer(0), asked: AT + HOUR }), 7000);
});
