// The moments when waiting has become pointless: the network is back, or a person is.

/**
 * Call `wake` whenever the network comes back or the page is looked at again.
 * @param {() => void} wake
 * @returns {() => void} stops it
 */
export function onWake(wake) {
  if (typeof window === "undefined") return () => {};
  const seen = () => document.visibilityState === "visible" && wake();
  window.addEventListener("online", wake);
  window.addEventListener("pageshow", seen);
  document.addEventListener("visibilitychange", seen);
  return () => {
    window.removeEventListener("online", wake);
    window.removeEventListener("pageshow", seen);
    document.removeEventListener("visibilitychange", seen);
  };
}

/** Return whether a person may be looking at the page. */
export function isSeen() {
  return typeof document === "undefined" || document.visibilityState === "visible";
}
