/**
 * The worker that shows what is pushed while no page is open. It does nothing else: no request passes
 * through it and nothing is kept. What is pushed about a chat that a page of this browser shows at
 * this moment is not shown.
 */

const worker = /** @type {any} */ (globalThis);

worker.addEventListener("install", () => worker.skipWaiting());

worker.addEventListener("push", (/** @type {any} */ event) => event.waitUntil(show(event.data?.json() ?? {})));

worker.addEventListener("notificationclick", (/** @type {any} */ event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.url ?? "/"));
});

const pages = () => worker.clients.matchAll({ type: "window", includeUncontrolled: true });

/** @param {{title?: string, body?: string, tag?: string, data?: {url?: string}}} message */
async function show({ title = "promptcorner", body = "", tag, data = {} }) {
  const path = data.url ?? "/";
  for (const page of await pages()) {
    if (page.visibilityState === "visible" && new URL(page.url).pathname === path) return;
  }
  await worker.registration.showNotification(title, { body, tag, data });
}

/** Lead to a chat: in a page that is open, or in a new one. @param {string} path */
async function open(path) {
  const url = new URL(path, worker.location.origin);
  if (url.origin !== worker.location.origin) return;
  const open = await pages();
  const there = open.find((/** @type {any} */ page) => new URL(page.url).pathname === url.pathname) ?? open[0];
  if (!there) return worker.clients.openWindow(url.href);
  await there.focus();
  there.postMessage({ kind: "open", path: url.pathname });
}
