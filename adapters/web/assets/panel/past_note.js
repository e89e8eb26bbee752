// How far back the panel has looked.

import { html } from "../ui.js";

/** @param {{past: {state: import("../vendor/preact.js").ReadonlySignal<string>, read: () => Promise<void>}}} props */
export function PastNote({ past }) {
  switch (past.state.value) {
    case "loading":
      return html`<p class="none" role="status">Looking through earlier messages…</p>`;
    case "failed":
      return html`<p class="none">Earlier messages could not be read. <button type="button" class="btn" onClick=${past.read}>Try again</button></p>`;
    case "bound":
      return html`<p class="none">This shows the newest 10,000 messages.</p>`;
    default:
      return null;
  }
}
