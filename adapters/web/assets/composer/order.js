// Orders of the queue. Pure.

/**
 * Return the ids with one of them moved to another place.
 * @param {number[]} ids @param {number} id @param {number} to
 */
export function moved(ids, id, to) {
  const rest = ids.filter((other) => other !== id);
  if (rest.length === ids.length) return ids;
  const place = Math.max(0, Math.min(to, rest.length));
  return [...rest.slice(0, place), id, ...rest.slice(place)];
}

/**
 * Return where a row lands that is dropped at `y`: before the first row whose middle is below it.
 * @param {{top: number, height: number}[]} boxes of all rows but the one that is dragged @param {number} y
 */
export function placeAt(boxes, y) {
  const below = boxes.findIndex((box) => y < box.top + box.height / 2);
  return below < 0 ? boxes.length : below;
}
