// A line that is kept: dialled again after a break, renewed in silence, given up when it is in vain.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { delaySeconds } from "../../../adapters/web/assets/wire/backoff.js";
import { keepLine } from "../../../adapters/web/assets/wire/line.js";

/** A line under a clock of the test's own; `dials` are the connections that it has asked for. */
function aLine(t, parts = {}) {
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  t.after(() => mock.timers.reset());
  const dials = [];
  const told = [];
  const opened = [];
  const come = [];
  const line = keepLine({
    dial: (way, hear) => {
      const dial = { way, ...hear, ended: false };
      dials.push(dial);
      return () => (dial.ended = true);
    },
    onOpen: () => opened.push(dials.length),
    onData: (data) => come.push(data),
    onState: (state) => told.push(state),
    probe: async () => "again",
    silenceMs: () => 45_000,
    random: () => 1,
    ...parts,
  });
  t.after(() => line.close());
  return { line, dials, told, opened, come, states: () => told.map((state) => state.state) };
}

/** Let promises settle. */
const settle = async () => {
  for (let time = 0; time < 10; time += 1) await Promise.resolve();
};

test("waits grow from a quarter of a second to ten", () => {
  assert.deepEqual([1, 2, 3, 6, 7, 50].map((failures) => delaySeconds(failures, 1)), [0.25, 0.5, 1, 8, 10, 10]);
  assert.equal(delaySeconds(3, 0), 0.5);
});

test("a line that opens is live, and what it says is heard", (t) => {
  const { dials, states, come, opened } = aLine(t);

  dials[0].open();
  dials[0].data(["news"]);

  assert.deepEqual(states(), ["wait", "live"]);
  assert.deepEqual(come, [["news"]]);
  assert.deepEqual(opened, [1]);
});

test("a line that breaks is said to be broken, and dialled again", (t) => {
  const { dials, told, states } = aLine(t);
  dials[0].open();
  mock.timers.tick(60);

  dials[0].closed(1006);
  assert.equal(told.at(-1).next_at, Date.now() + 250);
  mock.timers.tick(250);
  dials[1].open();

  assert.deepEqual(states(), ["wait", "live", "broken", "live"]);
});

test("one that cannot be had is asked about in the plain way, and tried later and later", async (t) => {
  const { dials, told } = aLine(t);
  const waits = [];
  for (let time = 0; time < 3; time += 1) {
    dials.at(-1).closed();
    await settle();
    waits.push(told.at(-1).next_at - Date.now());
    mock.timers.tick(10_000);
  }

  assert.deepEqual(waits, [250, 500, 1000]);
  assert.equal(told.at(-1).since, told[1].since);
});

test("what it is about is not there: it is given up", async (t) => {
  const { dials, states } = aLine(t, { probe: async () => "gone" });

  dials[0].closed();
  await settle();
  mock.timers.tick(60_000);

  assert.deepEqual(states(), ["wait", "gone"]);
  assert.equal(dials.length, 1);
});

test("where the first way is blocked the second one is taken", async (t) => {
  const { dials } = aLine(t, { probe: async (failures) => (failures > 1 ? "other" : "again") });
  for (let time = 0; time < 2; time += 1) {
    dials.at(-1).closed();
    await settle();
    mock.timers.tick(10_000);
  }

  assert.deepEqual(dials.map((dial) => dial.way), [0, 0, 1]);
});

test("a silent line is renewed, and nobody sees it: the old one serves until the new one is open", (t) => {
  const { dials, states, come } = aLine(t);
  dials[0].open();

  mock.timers.tick(50_000);
  dials[0].data("late");
  assert.deepEqual([dials.length, dials[0].ended, come], [2, false, ["late"]]);
  dials[1].open();

  assert.equal(dials[0].ended, true);
  assert.deepEqual(states(), ["wait", "live"]);
});

test("signs of life put the renewal off", (t) => {
  const { dials, come } = aLine(t);
  dials[0].open();
  for (let time = 0; time < 10; time += 1) {
    mock.timers.tick(30_000);
    dials[0].data(null);
  }

  assert.deepEqual([dials.length, come], [1, []]);
});

test("a dial that does not answer is given up", async (t) => {
  const { dials, states } = aLine(t);

  mock.timers.tick(15_000);
  await settle();

  assert.equal(dials[0].ended, true);
  assert.deepEqual(states(), ["wait", "broken"]);
});

test("a closed line says nothing more and dials no more", (t) => {
  const { line, dials, states } = aLine(t);
  dials[0].open();

  line.close();
  dials[0].closed();
  mock.timers.tick(100_000);

  assert.deepEqual(states(), ["wait", "live"]);
  assert.deepEqual([dials.length, dials[0].ended], [1, true]);
});

test("again puts another line in the place of this one", (t) => {
  const { line, dials } = aLine(t);
  dials[0].open();

  line.again();
  line.again();
  dials[1].open();

  assert.deepEqual(dials.map((dial) => dial.ended), [true, false]);
});

/** A browser whose network goes and comes. */
function aNetwork() {
  globalThis.window = new EventTarget();
  globalThis.document = new EventTarget();
  return { goes: () => window.dispatchEvent(new Event("offline")), comes: () => window.dispatchEvent(new Event("online")) };
}

test("the answer about a dial that failed ends no line that was dialled since", async (t) => {
  const network = aNetwork();
  let refuse;
  const { dials, states } = aLine(t, { probe: () => new Promise((_, reject) => (refuse = reject)) });
  dials[0].closed();
  network.comes();
  dials[1].open();

  refuse(new TypeError("Failed to fetch")); // over the network that there was
  await settle();

  assert.deepEqual([states(), dials[1].ended], [["wait", "live"], false]);
});

test("a dial that ends because the network has gone is followed by another", async (t) => {
  const network = aNetwork();
  const { dials } = aLine(t);
  dials[0].open();
  mock.timers.tick(60);
  dials[0].closed(1006);
  mock.timers.tick(250);

  network.goes(); // nobody says that it has come back: the browser may be wrong
  mock.timers.tick(20_000);

  assert.deepEqual([dials.length, dials[1].ended], [3, true]);
});
