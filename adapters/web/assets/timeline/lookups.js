// Look-ups of a chat's cards elsewhere on the page. They are there after the first picture. Views that
// asked before are drawn again then.

import { signal } from "../ui.js";

export const lookups = signal({
  /** Return another chat, as far as it is known. @type {(id: string) => any} */
  chat: () => undefined,
  /** Return the name of a model, or "". @type {(id: string) => string} */
  model: () => "",
});
