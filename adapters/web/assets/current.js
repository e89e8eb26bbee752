/** The conversation that is open, for what stands outside of it: title, palette, strip. */

import {signal} from "./ui.js";

/** @type {import("./vendor/preact.js").Signal<import("./conversation.js").Conversation | null>} */
export const current = signal(null);
