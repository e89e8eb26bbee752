// What the cards of a chat look up elsewhere on the page. It is there after the first picture; views
// that have asked before are drawn again.

import { signal } from "../ui.js";

export const lookups = signal({
  /** Return another chat, as far as it is known. @type {(id: string) => any} */
  chat: () => undefined,
  /** Return the name of a model, or "". @type {(id: string) => string} */
  model: () => "",
});
