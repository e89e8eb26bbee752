/** Who is logged in here, and what shows the daemon that a request is ours. */

import {takeAnswer} from "./shell.js";
import {computed, signal} from "./ui.js";

/**
 * The user, as the API tells it; null until it is known.
 * @type {import("./vendor/preact.js").Signal<any>}
 */
export const me = signal(takeAnswer("/api/v2/users/me") || null);

/** Whether the user administers this deployment. */
export const isAdmin = computed(
  () => !!me.value?.roles?.some((/** @type {any} */ role) => role.name === "owner"),
);

/** Whether the session has ended: the login lies over the page until it has begun anew. */
export const needsLogin = signal(false);

/** @type {Array<() => void>} */
let waiting = [];

/** The value that a request has to bring along that changes something. @returns {string} */
export function csrf() {
  const pair = document.cookie.split("; ").find((each) => each.startsWith("csrf_token="));
  return pair ? pair.slice("csrf_token=".length) : "";
}

/** Show the login over the page. @returns {Promise<void>} settled once somebody has logged in */
export function untilLoggedIn() {
  needsLogin.value = true;
  return new Promise((resolve) => waiting.push(resolve));
}

/** Somebody has logged in: what waited goes on. @param {any} user */
export function loggedIn(user) {
  if (me.value && me.value.id !== user.id) {
    location.reload(); // what is shown belongs to another user
    return;
  }
  me.value = user;
  needsLogin.value = false;
  const resolved = waiting;
  waiting = [];
  for (const resolve of resolved) resolve();
}
