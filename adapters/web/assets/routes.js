/** The address says what is shown: a signal of it, links without a reload, back and forward. */

import {addressHere} from "./embed.js";
import {signal} from "./ui.js";

/**
 * @typedef {{
 *   name: "home" | "chat" | "new" | "search" | "settings" | "admin" | "nowhere",
 *   chat: string, chats: string[], message: number, path: string, page: string,
 *   query: URLSearchParams,
 * }} Route
 */

/** @type {Record<string, Route["name"]>} */
const NAMES = {"": "home", c: "chat", new: "new", search: "search", settings: "settings", admin: "admin"};

/** @param {string} path @param {string} search @returns {Route} */
export function routeOf(path, search) {
  const [first = "", second = "", ...rest] = path.split("/").filter(Boolean).map(decodeURIComponent);
  const query = new URLSearchParams(search);
  const name = NAMES[first] ?? "nowhere";
  const chats = name === "chat" ? second.split("+").filter(Boolean) : [];
  return {
    name: name === "chat" && !chats.length ? "nowhere" : name,
    chat: chats[0] || "",
    chats,
    message: Number(query.get("m")) || 0,
    path,
    page: name === "settings" || name === "admin" ? [second, ...rest].filter(Boolean).join("/") : "",
    query,
  };
}

const here = () => routeOf(location.pathname, location.search);

/** What the address says now. */
export const route = signal(here());

/** @type {Set<(path: string) => boolean | Promise<boolean>>} */
const holds = new Set();
let standing = location.href;

/**
 * Ask before the address changes; false: stay.
 * @param {(path: string) => boolean | Promise<boolean>} ask
 * @returns {() => void} ends it
 */
export function holdRoute(ask) {
  holds.add(ask);
  return () => holds.delete(ask);
}

/** Whether something on the page wants to be asked before it is left. */
export function holdsRoute() {
  return holds.size > 0;
}

/** @param {string} path */
async function mayLeave(path) {
  for (const ask of holds) if (!(await ask(path))) return false;
  return true;
}

/**
 * Show another address.
 * @param {string} path with its query
 * @param {{replace?: boolean}} [how] replace: without a step to go back to
 */
export async function go(path, {replace = false} = {}) {
  if (holds.size && !(await mayLeave(path))) return;
  history[replace ? "replaceState" : "pushState"](null, "", addressHere(path));
  standing = location.href;
  route.value = here();
}

async function moved() {
  const wanted = location.href;
  if (holds.size && wanted !== standing) {
    history.pushState(null, "", standing); // stand still until it is decided
    if (!(await mayLeave(wanted))) return;
    history.replaceState(null, "", wanted);
  }
  standing = location.href;
  route.value = here();
}

/** Addresses of this daemon that are no views of this page. */
const ELSEWHERE = /^\/(api|docs|openapi\.json|join|login|web|metrics|c\/[^/]+\/read)(\/|$)/;

/** @param {MouseEvent} event */
function clicked(event) {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey) return;
  if (event.shiftKey || event.altKey || !(event.target instanceof Element)) return;
  const link = event.target.closest("a[href]");
  if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
  if (link.origin !== location.origin || ELSEWHERE.test(link.pathname)) return;
  if (link.getAttribute("href")?.startsWith("#")) return;
  event.preventDefault();
  go(link.pathname + link.search);
}

/** Follow links and the buttons of the browser from now on. */
export function followAddress() {
  addEventListener("popstate", moved);
  document.addEventListener("click", clicked);
}
