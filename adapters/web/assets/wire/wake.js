// The moments when waiting has become pointless: the network has gone or is back, or a person is.

/**
 * Hear of them: `lost` when the network has gone, `back` when it is there again, `seen` when the
 * page is looked at again.
 * @param {{lost: () => void, back: () => void, seen: () => void}} heard
 * @returns {() => void} ends it
 */
export function onWake({ lost, back, seen }) {
  if (typeof window === "undefined") return () => {};
  const looked = () => document.visibilityState === "visible" && seen();
  window.addEventListener("offline", lost);
  window.addEventListener("online", back);
  window.addEventListener("pageshow", looked);
  document.addEventListener("visibilitychange", looked);
  return () => {
    window.removeEventListener("offline", lost);
    window.removeEventListener("online", back);
    window.removeEventListener("pageshow", looked);
    document.removeEventListener("visibilitychange", looked);
  };
}

/** Hear that the page may be about to end: it is hidden, or left. @param {() => void} left */
export function onLeave(left) {
  if (typeof window === "undefined") return;
  window.addEventListener("pagehide", left);
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && left());
}

/** Return whether a person may be looking at the page. */
export function isSeen() {
  return typeof document === "undefined" || document.visibilityState === "visible";
}

/** Return whether the browser knows of no network. It may be wrong, so this is no reason to give up. */
export function isOffline() {
  return typeof navigator !== "undefined" && navigator.onLine === false;
}
