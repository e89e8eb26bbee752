/** What lies over the whole page one at a time: the palette, the keys. Loaded when it is asked for. */

import {signal} from "./ui.js";

/** @type {import("./vendor/preact.js").Signal<any>} */
export const overlay = signal(null);

/** @param {() => Promise<any>} load gives the view, which gets `onClose` */
export async function showOverlay(load) {
  overlay.value = await load();
}

export function closeOverlay() {
  overlay.value = null;
}
