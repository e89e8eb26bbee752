// The film of an agent's desktop. It is loaded whole when a person wants to see it, so that any place in
// it can be gone to.

import { html, useEffect, useState } from "../../ui.js";
import { icon } from "../../shared/icons.js";

/** @typedef {{phase: "asked" | "loading" | "failed" | "there", url: string}} Film */

/** @param {{film: string, thumbnail: string, title: string}} props where they can be had; "": there is none */
export function Film({ film, thumbnail, title }) {
  const [shown, setShown] = useState(/** @type {Film} */ ({ phase: "asked", url: "" }));
  useEffect(() => () => URL.revokeObjectURL(shown.url), [shown.url]);
  if (shown.phase === "there") return html`<video class="film" controls autoplay muted playsinline src=${shown.url} poster=${thumbnail || undefined} aria-label=${`What ${title} did on its desktop`}></video>`;
  const play = async () => {
    setShown({ phase: "loading", url: "" });
    setShown(await loaded(film));
  };
  return html`<button type="button" class="film" onClick=${play} disabled=${shown.phase === "loading"}>
    ${thumbnail && html`<img src=${thumbnail} alt="" loading="lazy" decoding="async" />`}
    <span class="btn sm">${icon("play")}${WORDS[shown.phase]}<span class="sr"> of ${title}</span></span>
  </button>`;
}

const WORDS = { asked: "Watch the recording", loading: "Loading…", failed: "It could not be loaded; try again", there: "" };

/** @param {string} href @returns {Promise<Film>} */
async function loaded(href) {
  try {
    const answer = await fetch(href, { credentials: "same-origin" });
    if (answer.ok) return { phase: "there", url: URL.createObjectURL(await answer.blob()) };
  } catch {
    // the daemon is away: it is said below
  }
  return { phase: "failed", url: "" };
}
