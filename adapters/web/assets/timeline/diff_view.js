// Changes of a file, line by line. While they are still being written they are plain; whole ones are
// drawn as in the side panel, by a module that is loaded with the first of them.

import { html, memo, useEffect, useMemo, useState } from "../ui.js";

/**
 * @typedef {{path: string, patch: string}} Change  `patch`: a unified diff
 * @typedef {{kind: "same" | "add" | "del", old: number | null, new: number | null, text: string}} Row
 */

const PATCH_MAX = 256_000; // characters of a diff that are shown
const LINE_MAX = 2000; // characters of its lines while it is plain
const GROWING_MAX = 200; // lines of a diff that grows; the last ones are shown

/** @param {readonly Change[]} changes */
export function statisticsOf(changes) {
  let plus = 0;
  let minus = 0;
  for (const { patch } of changes) {
    for (const { kind } of plainRows(patch)) {
      if (kind === "add") plus += 1;
      else if (kind === "del") minus += 1;
    }
  }
  return { plus, minus };
}

/** @param {string} patch @returns {Row[]} */
function plainRows(patch) {
  const lines = patch.split("\n");
  const first = lines.findIndex((line) => line.startsWith("@@"));
  const shown = lines.slice(first + 1).filter((line) => /^[-+ ]/.test(line));
  return shown.map((line) => ({
    kind: line[0] === "+" ? "add" : line[0] === "-" ? "del" : "same",
    old: null,
    new: null,
    text: line.slice(1),
  }));
}

/** @type {{parse: (patch: string) => any[], DiffRows: any} | null} */
let whole = null;
/** @type {Promise<void> | null} */
let loading = null;

/** Load what draws whole diffs. */
export function loadDiffs() {
  loading ??= Promise.all([import("../text/diff.js"), import("../panel/diff_view.js")]).then(
    ([{ parse }, { DiffRows }]) => void (whole = { parse, DiffRows }),
  );
  loading.catch(() => (loading = null));
  return loading;
}

/** @param {{patch: string, path: string, grows: boolean, isNumbered?: boolean}} props */
export const Diff = memo(({ patch, path, grows, isNumbered = true }) => {
  const [, redraw] = useState(0);
  useEffect(() => {
    if (!whole && !grows) loadDiffs().then(() => redraw(1), () => {});
  }, [grows]);
  const isLong = patch.length > PATCH_MAX;
  const isWhole = whole && !grows;
  const hunks = useMemo(() => (isWhole ? hunksOf(isLong ? patch.slice(0, PATCH_MAX) : patch, isNumbered) : []), [isWhole, patch]);
  const note = isLong && html`<p class="in quiet">Only the beginning of this change is shown; copy the patch for all of it.</p>`;
  if (isWhole && hunks.length) return html`<${whole?.DiffRows} hunks=${hunks} name=${path} />${note}`;
  return html`<${PlainDiff} patch=${isLong ? patch.slice(0, PATCH_MAX) : patch} path=${path} />`;
});

/** @param {string} patch @param {boolean} isNumbered */
function hunksOf(patch, isNumbered) {
  const hunks = whole?.parse(patch).flatMap((file) => file.hunks) ?? [];
  if (!isNumbered) for (const hunk of hunks) for (const row of hunk.rows) row.old = row.new = null;
  return hunks;
}

const LETTER = { add: "a", del: "d", same: "" };

/** @param {{patch: string, path: string}} props */
function PlainDiff({ patch, path }) {
  const rows = plainRows(patch);
  return html`<div class="diff" tabindex="0" role="region" aria-label=${`Changes of ${path}`}>
    ${rows.slice(-GROWING_MAX).map(
      ({ kind, text }) =>
        html`<span class=${`o ${LETTER[kind]}`}></span><span class=${`o ${LETTER[kind]}`}></span><span class=${`t ${LETTER[kind]}`}>${text.slice(0, LINE_MAX)}</span>`,
    )}
  </div>`;
}
