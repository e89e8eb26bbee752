/** The connection to the daemon, apart from what a chat does: one strip, shown after a second. */

import {html, signal, useEffect, useState} from "./ui.js";

/**
 * What the line to the daemon does: since when it is broken, and when it is tried again (both in
 * milliseconds of `Date.now()`); null: it is there.
 * @type {import("./vendor/preact.js").Signal<{since: number, nextAt: number} | null>}
 */
export const broken = signal(null);

const SHOWN_MS = 1000;

/** A clock of seconds while it is drawn. */
function useNow() {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function Broken() {
  const now = useNow();
  const line = broken.value;
  if (!line || now - line.since < SHOWN_MS) return null;
  const seconds = Math.max(0, Math.ceil((line.nextAt - now) / 1000));
  const words = navigator.onLine ? `Reconnecting${seconds ? `, ${seconds} s` : "…"}` : "Offline";
  return html`<div class="strip"><i class="cue ask"></i>${words}</div>`;
}

/** The strip at the foot of the list. */
export function Strip() {
  return html`<div role="status">${broken.value && html`<${Broken} />`}</div>`;
}
