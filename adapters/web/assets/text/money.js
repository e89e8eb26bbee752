/** Costs in words. What is not known is never shown as nothing. Pure. */

/**
 * Return a cost as text: "$1.21", "< 1 ¢", "≥ $0.84" if some requests have no known price, "unknown" if
 * none has.
 *
 * @param {number} micros millionths of a US dollar
 * @param {number} [unpriced] requests whose cost is not known
 */
export function money(micros, unpriced = 0) {
  if (micros === 0 && unpriced > 0) return "unknown";
  return unpriced > 0 ? `≥ ${dollars(micros)}` : dollars(micros);
}

/** @param {number} micros */
function dollars(micros) {
  const amount = micros / 1e6;
  if (micros > 0 && amount < 0.01) return "< 1 ¢";
  return `$${amount.toFixed(2).replace(/\B(?=(\d{3})+(?!\d))/g, ",")}`;
}
