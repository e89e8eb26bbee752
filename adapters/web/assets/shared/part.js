// Parts of a chat's state. The state is another one with each piece of an answer; a view that needs
// a part of it is drawn again only when that part is another one.

import { computed, useMemo } from "../ui.js";

/**
 * @template Part
 * @param {any} conversation @param {(state: any) => Part} part
 * @returns {import("../vendor/preact.js").ReadonlySignal<Part>}
 */
export const partOf = (conversation, part) => computed(() => part(conversation.state.value));

/**
 * @template Part
 * @param {any | null} conversation null: there is no chat yet, and no part of it
 * @param {(state: any) => Part} part
 * @returns {Part | undefined}
 */
export function usePart(conversation, part) {
  const found = useMemo(() => (conversation ? partOf(conversation, part) : null), [conversation]);
  return found?.value;
}
