// Lines of a diff with their numbers. Keys go through the lines; ⏎ writes a remark on those chosen.

import { html, memo, useEffect, useMemo, useRef, useState } from "../ui.js";
import { markedPieces, sideBySide } from "../text/diff.js";
import { colourLines } from "./colours.js";

/**
 * @typedef {import("../text/diff.js").Row} Row
 * @typedef {import("../text/diff.js").Hunk} Hunk
 * @typedef {{from: number, to: number}} Chosen rows, counted over all hunks
 */

const ROWS_FIRST = 400; // of a file; more are shown when they are asked for

/**
 * @param {{
 *   hunks: Hunk[], name: string, split?: boolean, onRemark?: (chosen: Chosen) => void,
 *   note?: (row: number) => any, label?: string,
 * }} props `note`: what stands below a row
 */
function Rows({ hunks, name, split = false, onRemark, note, label = `Changes of ${name}` }) {
  const [most, setMost] = useState(ROWS_FIRST);
  const [chosen, choose] = useState(/** @type {Chosen | null} */ (null));
  const colours = useColours(hunks, name);
  const rows = useMemo(() => hunks.flatMap((hunk) => hunk.rows), [hunks]);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const keys = (/** @type {KeyboardEvent} */ event) => onKey(event, chosen, rows.length, choose, onRemark);
  useEffect(() => void (chosen && box.current?.querySelector(`[data-row="${chosen.to}"]`)?.scrollIntoView({ block: "nearest" })), [chosen]);
  const view = { chosen, choose, onRemark, note, colours, most };
  const parts = split ? splitParts(hunks, view) : unifiedParts(hunks, view);
  return html`<div class=${`diff${split ? " split" : ""}${onRemark ? " can" : ""}`} ref=${box} tabindex="0" role="region" aria-label=${label} onKeyDown=${keys}>
    ${parts}
    ${rows.length > most ? html`<button type="button" class="more" onClick=${() => setMost(most * 4)}>Show ${Math.min(rows.length - most, most * 3)} more lines of ${rows.length - most}</button>` : null}
  </div>`;
}

export const DiffRows = memo(Rows);

/** @typedef {{chosen: Chosen | null, choose: (chosen: Chosen | null) => void, onRemark?: (chosen: Chosen) => void, note?: (row: number) => any, colours: any[], most: number}} View */

/** @param {Hunk[]} hunks @param {View} view */
function unifiedParts(hunks, view) {
  let index = 0, end = 1;
  return hunks.flatMap((hunk, at) => {
    const head = html`<span class="h" key=${`h${at}`}>${headText(hunk, end)}</span>`;
    const first = index;
    const lines = hunk.rows.slice(0, Math.max(0, view.most - first)).map((row, line) => unifiedRow(row, first + line, view));
    index += hunk.rows.length;
    end = hunk.old + hunk.rows.filter((row) => row.kind !== "add").length;
    return first < view.most ? [head, ...lines] : [];
  });
}

/** Return how many lines lie between, and where this is. @param {Hunk} hunk @param {number} end of the hunk before */
function headText(hunk, end) {
  const between = hunk.old - end;
  return `${between > 0 ? `@@ ${between} ${between === 1 ? "line" : "lines"} @@ ` : "@@ "}${hunk.head}`;
}

const LETTER = { add: "a", del: "d", same: "" };

/** @param {Row} row @param {number} index @param {View} view */
function unifiedRow(row, index, view) {
  const kind = LETTER[row.kind];
  const on = view.chosen && index >= Math.min(view.chosen.from, view.chosen.to) && index <= Math.max(view.chosen.from, view.chosen.to) ? " on" : "";
  const click = pointing(index, view);
  return html`<span class=${`o ${kind}${on}`} ...${click}>${row.old ?? ""}</span><span class=${`o ${kind}${on}`} ...${click}>${row.new ?? ""}</span>
    <span class=${`t ${kind}${on}`} data-row=${index} key=${index}>${lineOf(row, view.colours[index])}</span>${view.note?.(index) ?? null}`;
}

/** Choose lines by their numbers: a click begins, with shift it goes on to there. @param {number} index @param {View} view */
function pointing(index, { chosen, choose, onRemark }) {
  if (!onRemark) return {};
  return {
    title: "Write a remark",
    onClick: (/** @type {MouseEvent} */ event) => {
      const lines = event.shiftKey && chosen ? { from: chosen.from, to: index } : { from: index, to: index };
      choose(lines);
      onRemark(sorted(lines));
    },
  };
}

/** @param {Chosen} chosen */
const sorted = ({ from, to }) => ({ from: Math.min(from, to), to: Math.max(from, to) });

/** @param {Hunk[]} hunks @param {View} view */
function splitParts(hunks, view) {
  let index = 0;
  /** @type {Map<Row, number>} */
  const at = new Map();
  for (const hunk of hunks) for (const row of hunk.rows) at.set(row, index++);
  let end = 1;
  return hunks.flatMap((hunk, place) => {
    const head = html`<span class="h" key=${`h${place}`}>${headText(hunk, end)}</span>`;
    end = hunk.old + hunk.rows.filter((row) => row.kind !== "add").length;
    const pairs = sideBySide(hunk.rows).filter((pair) => (at.get(/** @type {Row} */ (pair.new ?? pair.old)) ?? 0) < view.most);
    return pairs.length ? [head, ...pairs.map((pair) => html`${splitCell(pair.old, "old", at, view)}${splitCell(pair.new, "new", at, view)}`)] : [];
  });
}

/** @param {Row | null} row @param {"old" | "new"} side @param {Map<Row, number>} at @param {View} view */
function splitCell(row, side, at, view) {
  if (!row) return html`<span class="o void"></span><span class="t void"></span>`;
  const index = at.get(row) ?? 0;
  const kind = LETTER[row.kind];
  return html`<span class=${`o ${kind}`} ...${pointing(index, view)}>${row[side] ?? ""}</span>
    <span class=${`t ${kind}`} data-row=${side === "new" || row.kind === "del" ? index : undefined}>${lineOf(row, view.colours[index])}</span>
    ${side === "new" || row.kind === "del" ? view.note?.(index) ?? null : null}`;
}

/** @param {Row} row @param {{text: string, cls: string}[] | undefined} colours */
function lineOf(row, colours) {
  return markedPieces(colours ?? [{ text: row.text, cls: "" }], row.marks ?? []).map(({ text, cls, marked }) =>
    marked ? html`<mark class=${cls}>${text}</mark>` : cls ? html`<span class=${cls}>${text}</span>` : text);
}

/** Colour the lines once they are there: text first, colours when they are ready. @param {Hunk[]} hunks @param {string} name */
function useColours(hunks, name) {
  const [colours, setColours] = useState(/** @type {any[]} */ ([]));
  useEffect(() => {
    let over = false;
    setColours([]);
    void colourLines(hunks, name).then((lines) => over || setColours(lines));
    return () => void (over = true);
  }, [hunks, name]);
  return colours;
}

/**
 * @param {KeyboardEvent} event @param {Chosen | null} chosen @param {number} count
 * @param {(chosen: Chosen | null) => void} choose @param {((chosen: Chosen) => void) | undefined} onRemark
 */
function onKey(event, chosen, count, choose, onRemark) {
  if (event.target !== event.currentTarget || event.altKey || event.metaKey || event.ctrlKey || !onRemark) return;
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by) {
    const to = chosen ? Math.max(0, Math.min(chosen.to + by, count - 1)) : 0;
    choose({ from: event.shiftKey && chosen ? chosen.from : to, to });
  } else if (event.key === "Enter" && chosen) onRemark(sorted(chosen));
  else if (event.key === "Escape" && chosen) choose(null);
  else return;
  event.preventDefault();
  event.stopPropagation();
}
