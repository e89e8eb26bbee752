/** The connection to the daemon, apart from what a chat does: one strip, shown after a second. */

import {current} from "./current.js";
import {html, useEffect, useState} from "./ui.js";
import {isOld} from "./version.js";
import {watchLine} from "./wire/watch.js";

const SHOWN_MS = 1000; // of a break that nobody has to know of
const LOOK_MS = 500;

/** @typedef {import("./wire/line.js").LineState} LineState */

/** @returns {LineState | undefined} a line that is broken: that of the list, or of the open chat */
function brokenLine() {
  const lines = [watchLine.value, current.value?.line.value];
  return lines.find((line) => line?.state === "broken");
}

/** @param {{line: LineState}} props */
function Broken({line}) {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  if (now - line.since < SHOWN_MS) return null;
  const seconds = Math.max(0, Math.ceil(((line.next_at || now) - now) / 1000));
  const words = navigator.onLine ? `Reconnecting${seconds ? `, ${seconds} s` : "…"}` : "Offline";
  return html`<div class="strip"><i class="cue ask"></i><span>${words}</span></div>`;
}

function NewVersion() {
  return html`<div class="strip new"><i class="cue new"></i><span>There is a new version.</span>
    <button class="btn quiet" onClick=${() => location.reload()}>Reload</button></div>`;
}

/** What stands at the foot of the list when something is to be known of the daemon. */
export function Strip() {
  const line = brokenLine();
  return html`<div class="strips" role="status">
    ${line && html`<${Broken} line=${line} />`}${isOld.value && html`<${NewVersion} />`}
  </div>`;
}
