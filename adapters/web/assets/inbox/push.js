/**
 * Web push in this browser: it subscribes and unsubscribes, and says which chat it shows, so that it
 * is not called to what a person looks at.
 */

import { go, route } from "../routes.js";
import { effect } from "../ui.js";
import { api } from "../wire/api.js";
import { endpointHere, keepEndpoint } from "./device.js";

export const PUSH = "/api/v2/users/me/webpush";
const WORKER = "/web/worker.js";
const AGAIN_MS = 60_000; // the daemon believes for two minutes that a chat is shown

/** Whether this browser can be pushed to at all. */
export const canPush = () => "serviceWorker" in navigator && "PushManager" in window && isSecureContext;

let trusted = /** @type {any} */ (null);

/** The one address that this page may make a worker of: its policy allows no other text to become one. */
function workerUrl() {
  const types = /** @type {any} */ (window).trustedTypes;
  if (!types) return WORKER;
  trusted ??= types.createPolicy("promptcorner-worker", { createScriptURL: () => WORKER });
  return trusted.createScriptURL("");
}

/** Have this browser pushed to. @returns {Promise<void>} */
export async function subscribe() {
  const { public_key } = await api.get(`${PUSH}/subscription`);
  const worker = await registered();
  await (await worker.pushManager.getSubscription())?.unsubscribe();
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: public_key });
  const { endpoint, keys = {} } = made.toJSON();
  await api.post(`${PUSH}/subscription`, { endpoint, auth_key: keys.auth, p256dh_key: keys.p256dh });
  keepEndpoint(endpoint ?? "");
  followWatching();
}

async function registered() {
  const worker = await navigator.serviceWorker.register(workerUrl());
  if (worker.active) return worker;
  const coming = worker.installing ?? worker.waiting;
  await new Promise((resolve, reject) => {
    coming?.addEventListener("statechange", () => {
      if (coming.state === "activated") resolve(undefined);
      if (coming.state === "redundant") reject(new Error("The browser did not take the worker."));
    });
    if (worker.active) resolve(undefined);
  });
  return worker;
}

/** Have this browser pushed to no more. @returns {Promise<void>} */
export async function unsubscribe() {
  const endpoint = endpointHere();
  keepEndpoint("");
  const worker = await navigator.serviceWorker.getRegistration(WORKER);
  await (await worker?.pushManager.getSubscription())?.unsubscribe();
  if (endpoint) await api.del(`${PUSH}/subscription`, { endpoint }).catch(() => {}); // it was known no more
  await worker?.unregister();
}

let isFollowing = false;
let told = "";

/** Say which chat is looked at, from now on. */
export function followWatching() {
  if (isFollowing) return;
  isFollowing = true;
  effect(() => (route.value, tell()));
  document.addEventListener("visibilitychange", () => tell());
  addEventListener("pagehide", () => tell(""));
  navigator.serviceWorker.onmessage = ({ data }) => { // a person has chosen what was pushed
    if (data?.kind === "open" && /^\/(?!\/)/.test(data.path)) void go(data.path);
  };
  setInterval(() => told && tell(told, true), AGAIN_MS);
}

/** The chat that a person looks at, or "". */
function shown() {
  const { name, chat } = route.peek();
  return name === "chat" && document.visibilityState === "visible" ? chat : "";
}

/** @param {string} [chat] @param {boolean} [again] */
function tell(chat = shown(), again = false) {
  const endpoint = endpointHere();
  if (!endpoint || (chat === told && !again)) return;
  told = chat;
  const said = { endpoint, chat_id: chat || null };
  api.put(`${PUSH}/watching`, said, { keepalive: true }).catch((error) => {
    if (error.status === 404) keepEndpoint(""); // the daemon has forgotten this browser
  });
}
