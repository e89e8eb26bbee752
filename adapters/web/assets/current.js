/** The conversation that is open, for what stands outside of it: title, palette, strip. */

import {signal} from "./ui.js";

/** @type {import("./vendor/preact.js").Signal<import("./conversation.js").Conversation | null>} */
export const current = signal(null);

/** The id of the chat that gets the focus as soon as it is shown: in its field, or else its column. */
export const entered = signal("");
