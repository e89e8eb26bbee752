// On the home screen of an iPhone or iPad a page cannot download: there a file is given by the sheet for sharing.

import { toast } from "./toast.js";

/** Have links that download open that sheet, from now on. */
export function shareDownloads() {
  addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[download]") : null;
    if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented) return;
    event.preventDefault();
    void give(link.href, link.download || link.pathname.split("/").pop() || "file");
  });
}

/** @param {string} href @param {string} name */
async function give(href, name) {
  try {
    const answer = await fetch(href, { credentials: "same-origin" });
    if (!answer.ok) throw new Error(`the daemon answered ${answer.status}`);
    const blob = await answer.blob();
    const files = [new File([blob], name, { type: blob.type })];
    if (!navigator.canShare({ files })) throw new Error("this device does not take such a file");
    await navigator.share({ files });
  } catch (error) {
    const { name: kind, message } = /** @type {Error} */ (error);
    if (kind !== "AbortError") toast(`${name} could not be given to you: ${message}`); // else its user thought better of it
  }
}
