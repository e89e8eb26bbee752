/** The conversation that is open, for what stands outside of it: title, palette, strip. */

import {signal} from "./ui.js";

/** @type {import("./vendor/preact.js").Signal<import("./conversation.js").Conversation | null>} */
export const current = signal(null);

/** The chat that gets the keyboard as soon as it is shown: its field, or else the conversation. */
export const entered = signal("");
