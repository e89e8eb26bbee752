// How long to wait before a line is tried again. Pure.

const FIRST_SECONDS = 0.25;
const MOST_SECONDS = 10;

/**
 * Return the seconds before the next try, after so many that failed one after the other.
 * `random` is 0 to 1: tries of many pages spread over the later half of the time.
 * @param {number} failures from 1
 * @param {number} random
 */
export function delaySeconds(failures, random) {
  const whole = Math.min(MOST_SECONDS, FIRST_SECONDS * 2 ** Math.min(failures - 1, 10));
  return whole * (0.5 + random / 2);
}
