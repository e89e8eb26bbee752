/**
 * The meter at the foot of the list: what is used of the limit of spending that is nearest. Without a
 * limit there is none. It is read anew when a chat has come to rest, while the page is looked at only;
 * this module is loaded when the page has nothing else to do.
 */

import { rereader } from "../shared/rereader.js";
import { money } from "../text/money.js";
import { effect, html, signal } from "../ui.js";
import { api } from "../wire/api.js";
import { hearWatch } from "../wire/watch.js";
import { meter } from "./foot.js";

/**
 * @typedef {{scope: string, name: string, period: string, period_end: string, limit_micros: number | null,
 *   soft_limit_micros: number | null, spent_micros: number, is_reached: boolean}} Limit
 */

const PAUSE_MS = 3000; // chats that come to rest meanwhile are asked about together
const RESTING = new Set(["waiting", "error", "requires_action"]);

/** @type {import("../vendor/preact.js").Signal<Limit | null>} */
const nearest = signal(null);
const soon = rereader(read, PAUSE_MS);

/** Follow what is used of the limits from now on. */
export function followSpend() {
  hearWatch((event) => (event.kind === "again" || RESTING.has(event.chat?.status)) && soon());
  effect(() => void (meter.value = nearest.value && Meter));
  void read().catch(() => {}); // the next news ask again
}

async function read() {
  /** @type {{limits: Limit[]}} */
  const { limits } = await api.get("/api/v2/users/me/ai/spend");
  nearest.value = limits.reduce((/** @type {Limit | null} */ found, each) => (found && share(found) >= share(each) ? found : each), null);
}

/** @param {Limit} limit */
const most = (limit) => Math.max(limit.limit_micros ?? limit.soft_limit_micros ?? 0, 1);
/** @param {Limit} limit how much of it is used, 1: all */
const share = (limit) => (limit.is_reached ? 1 : Math.min(limit.spent_micros / most(limit), 1));

function Meter() {
  const limit = nearest.value;
  if (!limit) return null;
  const amount = limit.limit_micros ?? limit.soft_limit_micros ?? 0;
  const period = limit.period === "day" ? "today" : "this month";
  const whose = limit.scope === "deployment" ? ", all users together" : "";
  const used = limit.is_reached ? "used up" : `${money(limit.spent_micros)} of ${money(amount)}`;
  const percent = Math.round(share(limit) * 100);
  return html`<a class="budget" href="/settings/usage" title=${`${money(limit.spent_micros)} of ${money(amount)} ${period}${whose}; begins anew on ${limit.period_end.slice(0, 10)}`}>
    <span>Spent ${period}</span><b class="num">${used}</b>
    <meter min="0" max="100" low="80" high="95" optimum="0" value=${percent} aria-label=${`Limit of spending ${period}${whose}`}></meter>
  </a>`;
}
