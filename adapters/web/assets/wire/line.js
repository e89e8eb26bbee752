// A line to the daemon that is kept: dialled, listened to for signs of life, and dialled again.
//
//   const line = keepLine({dial, onOpen, onData, onState, probe, silenceMs})
//   line.again()     dial now: something says that this line is not what it should be
//   line.close()     for good
//
// `dial(ways, hear)` opens a connection and returns how to end it; `hear` is {open, data, closed}.
// A line in use is renewed by a second one that takes its place once it is open, so a silence that
// was only a silence costs nothing that a person sees. State, as `onState` hears it:
//
//   {state: "wait", since}              it is being dialled for the first time
//   {state: "live", since}              it is open
//   {state: "broken", since, next_at}   it was lost, or could not be had; next_at: the next try
//   {state: "gone", since, error}       it will not be had: what it is about is not there

import { delaySeconds } from "./backoff.js";
import { isOffline, onWake } from "./wake.js";

const SETTLED_MS = 5000; // a line that has lived so long begins anew with short waits
const DIAL_MS = 15_000; // a line that has not opened by then is given up
const CHECK_MS = 5000; // between looks at how long a line has been silent
const OFFLINE_MS = 10_000; // between tries while the browser knows of no network

/**
 * @typedef {{open: () => void, data: (data: any) => void, closed: (code?: number) => void}} Hear
 * @typedef {{state: "wait" | "live" | "broken" | "gone", since: number, next_at?: number,
 *   error?: unknown}} LineState
 *
 * `probe` asks the daemon in the plain way why a line could not be had: it returns "again" to dial,
 * "other" to dial in the second way, "gone" to stop, and raises if the daemon does not answer.
 * `silenceMs`: after so long without a word the line is renewed.
 * @typedef {{dial: (way: number, hear: Hear) => () => void, onOpen: () => void,
 *   onData: (data: any) => void, onState: (state: LineState) => void,
 *   probe: (failures: number) => Promise<"again" | "other" | "gone">, silenceMs: () => number,
 *   random?: () => number}} LineParts
 */

/** @param {LineParts} parts */
export function keepLine(parts) {
  const line = new Line(parts);
  line.begin();
  return { again: () => line.renew(), close: () => line.close() };
}

class Line {
  /** @param {LineParts} parts */
  constructor(parts) {
    this.parts = parts;
    this.way = 0;
    this.failures = 0;
    this.dials = 0;
    this.heardAt = Date.now();
    /** @type {(() => void) | null} */
    this.end = null; // of the line in use
    /** @type {(() => void) | null} */
    this.endNext = null; // of the one that is being dialled
    this.closed = false;
    this.timer = /** @type {any} */ (undefined);
    this.lostAt = 0;
  }

  begin() {
    this.say({ state: "wait", since: Date.now() });
    this.unwake = onWake({
      lost: () => this.cutOff(),
      back: () => this.dialNow(),
      seen: () => this.looked(),
    });
    this.watcher = setInterval(() => this.checkSilence(), CHECK_MS);
    this.dial();
  }

  /** @param {LineState} state */
  say(state) {
    if (this.closed) return;
    this.state = state;
    this.parts.onState(state);
  }

  dial() {
    if (this.closed || this.endNext) return;
    clearTimeout(this.timer);
    this.dials += 1;
    let open = false;
    let over = false;
    /** @type {() => void} */
    let hangUp = () => {};
    const end = () => {
      over = true;
      clearTimeout(limit);
      hangUp();
    };
    const limit = setTimeout(() => closed(), DIAL_MS);
    const closed = () => {
      if (over) return;
      end();
      if (open) this.lost(end);
      else this.failed();
    };
    this.endNext = end;
    hangUp = this.parts.dial(this.way, {
      open: () => {
        if (over || open) return;
        open = true;
        clearTimeout(limit);
        this.opened(end);
      },
      data: (data) => !over && this.heard(data),
      closed,
    });
    if (over) hangUp();
  }

  /** @param {() => void} end */
  opened(end) {
    this.end?.();
    this.end = end;
    this.endNext = null;
    this.heardAt = this.openedAt = Date.now();
    this.parts.onOpen();
    if (this.state?.state !== "live") this.say({ state: "live", since: Date.now() });
  }

  /** @param {any} data  null: only a sign of life */
  heard(data) {
    this.heardAt = Date.now();
    if (data !== null) this.parts.onData(data);
  }

  /** @param {() => void} end */
  lost(end) {
    if (this.end !== end) return;
    this.end = null;
    if (Date.now() - (this.openedAt ?? 0) > SETTLED_MS) this.failures = 0;
    this.lostAt = Date.now();
    if (!this.endNext) this.later();
  }

  failed() {
    this.endNext = null;
    if (this.closed) return;
    this.failures += 1;
    const { dials } = this;
    const isLast = () => dials === this.dials; // it is not dialled, or open, again since
    this.parts.probe(this.failures).then(
      (found) => (isLast() || found === "gone") && this.probed(found),
      () => isLast() && this.later(),
    );
  }

  /** @param {"again" | "other" | "gone"} found */
  probed(found) {
    if (this.closed) return;
    if (found === "gone") {
      this.say({ state: "gone", since: Date.now() });
      this.close();
      return;
    }
    if (found === "other") this.way = 1 - this.way;
    this.later();
  }

  /** Dial again after a while; what was in use, if anything, is over. */
  later() {
    if (this.closed) return;
    this.end?.();
    this.end = null;
    this.failures = Math.max(1, this.failures);
    const random = this.parts.random ?? Math.random;
    const wait = isOffline() ? OFFLINE_MS : delaySeconds(this.failures, random()) * 1000;
    const since = this.state?.state === "broken" ? this.state.since : Date.now();
    this.say({ state: "broken", since, next_at: Date.now() + wait });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.dial(), wait);
  }

  /** Put another line in the place of this one; the old one serves until the new one is open. */
  renew() {
    this.heardAt = Date.now();
    this.dial();
  }

  checkSilence() {
    if (this.end && Date.now() - this.heardAt > this.parts.silenceMs()) this.renew();
  }

  /** The network has gone: a line that still seems open is dead. */
  cutOff() {
    this.endNext?.();
    this.endNext = null;
    this.later();
  }

  /** The network is back: whatever was heard last, this line may be dead. */
  dialNow() {
    this.failures = 0;
    if (this.endNext) return; // it is being dialled already
    if (this.end) this.renew();
    else this.dial();
  }

  /** A person looks at the page again. */
  looked() {
    if (!this.end || Date.now() - this.heardAt > SETTLED_MS) this.dialNow();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    clearInterval(this.watcher);
    this.unwake?.();
    this.endNext?.();
    this.end?.();
  }
}
