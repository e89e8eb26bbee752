/** How long ago something was, in few characters; and the headings of a list by time. Pure. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const weekday = new Intl.DateTimeFormat("en", { weekday: "short" });
const dayOfYear = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const month = new Intl.DateTimeFormat("en", { month: "long" });
const monthOfYear = new Intl.DateTimeFormat("en", { month: "long", year: "numeric" });
const shortMonth = new Intl.DateTimeFormat("en", { month: "short", year: "numeric" });

/** Return the midnight that began the day of a moment, in the time zone of the browser. @param {number} at */
export const midnight = (at) => new Date(at).setHours(0, 0, 0, 0);

/**
 * Return the age of a moment. A moment that a wrong clock puts into the future is "now".
 *
 * @param {number} at milliseconds
 * @param {number} now milliseconds
 */
export function age(at, now) {
  const past = now - at;
  if (!(past > 5 * SECOND)) return "now";
  if (past < MINUTE) return `${Math.floor(past / SECOND)}s`;
  if (past < HOUR) return `${Math.floor(past / MINUTE)}m`;
  if (past < DAY) return `${Math.floor(past / HOUR)}h`;
  if (past < 6 * DAY) return weekday.format(at);
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return sameYear ? dayOfYear.format(at) : shortMonth.format(at);
}

/**
 * Return when the text of `age` will be another, in milliseconds from now.
 * @param {number} at
 * @param {number} now
 */
export function nextChange(at, now) {
  const past = Math.max(0, now - at);
  const step = past < MINUTE ? SECOND : past < HOUR ? MINUTE : HOUR;
  return step - (past % step);
}

/**
 * Return the heading under which a moment stands: Today, Yesterday, This week, then months.
 *
 * @param {number} at
 * @param {number} today midnight of this day
 * @returns {{key: string, title: string}}
 */
export function period(at, today) {
  if (at >= today) return { key: "today", title: "Today" };
  if (at >= midnight(today - HOUR)) return { key: "yesterday", title: "Yesterday" };
  if (at >= midnight(today - 6 * DAY)) return { key: "week", title: "This week" };
  const then = new Date(at);
  const sameYear = then.getFullYear() === new Date(today).getFullYear();
  const title = (sameYear ? month : monthOfYear).format(then);
  return {
    key: `${then.getFullYear()}-${then.getMonth()}`,
    title: sameYear && then.getMonth() === new Date(today).getMonth() ? "This month" : title,
  };
}
