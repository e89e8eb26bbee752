// Texts that grow, compared at each length with the whole.

import assert from "node:assert/strict";
import { blocksOf } from "../../../adapters/web/assets/text/blocks.js";
import { grown } from "../../../adapters/web/assets/text/grow.js";

const plain = (text) => text.replace(/\r\n?/g, "\n");

/** A long paragraph may have its words in pieces. */
function joined(block) {
  if (block.type !== "paragraph") return block;
  const children = block.children.reduce((all, one) => {
    if (typeof one === "string" && typeof all.at(-1) === "string") return [...all.slice(0, -1), all.at(-1) + one];
    return [...all, one];
  }, []);
  return { ...block, children };
}

/** Grow a text by steps of one character, or of random lengths; compare at each. */
export function growAll(text, stepOf) {
  let state = null;
  for (let at = 0; at <= text.length; at += stepOf()) {
    const part = text.slice(0, at);
    state = grown(state, part);
    assert.deepEqual(state.blocks.map(joined), blocksOf(plain(part)), JSON.stringify(part));
  }
}
