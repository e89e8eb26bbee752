// The message of the user's that is being changed: what follows it is faded meanwhile.

import { signal } from "../ui.js";

/**
 * @type {import("../ui.js").Signal<{chat: string, message: import("./items.js").Message} | null>}
 */
export const editing = signal(null);
