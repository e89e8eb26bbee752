/**
 * Which rows of a long list are built: those near the view, and those that must be there. Pure.
 *
 * @typedef {{at: Float64Array, total: number}} Places where each row begins; one more than there are rows
 * @typedef {{index: number} | {gap: number, before: number}} Piece a row to build, or the room of those left out
 */

/**
 * Return where the rows begin.
 * @param {readonly string[]} kinds
 * @param {Record<string, number>} heights of each kind
 * @returns {Places}
 */
export function placesOf(kinds, heights) {
  const at = new Float64Array(kinds.length + 1);
  for (let index = 0; index < kinds.length; index += 1)
    at[index + 1] = at[index] + (heights[kinds[index]] ?? 0);
  return { at, total: at[kinds.length] };
}

/** Return the row at a height: the last that begins at or above it. @param {Places} places @param {number} y */
export function rowAt({ at }, y) {
  let low = 0;
  let high = at.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (at[middle] <= y) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/**
 * Return the rows to build and the gaps between them, from the top.
 *
 * @param {Places} places
 * @param {number} top of the view
 * @param {number} bottom
 * @param {readonly number[]} kept rows that are built wherever they are
 * @returns {Piece[]}
 */
export function piecesOf(places, top, bottom, kept = []) {
  const count = places.at.length - 1;
  if (count === 0) return [];
  const [from, to] = [rowAt(places, top), rowAt(places, bottom) + 1];
  const wanted = new Set(kept.filter((index) => index >= 0 && index < count));
  for (let index = from; index < to; index += 1) wanted.add(index);
  /** @type {Piece[]} */
  const pieces = [];
  let done = 0;
  for (const index of [...wanted].sort((one, other) => one - other)) {
    if (index > done) pieces.push({ gap: places.at[index] - places.at[done], before: index });
    pieces.push({ index });
    done = index + 1;
  }
  if (done < count) pieces.push({ gap: places.total - places.at[done], before: count });
  return pieces;
}
