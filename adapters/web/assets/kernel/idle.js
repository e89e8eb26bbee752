// Work that can wait until the page has nothing else to do.

const WAIT_MS = 500; // then it is done in any case

/**
 * Call `run` when the page is idle.
 * @param {() => void} run
 * @returns {() => void} calls it off
 */
export function whenIdle(run) {
  if ("requestIdleCallback" in globalThis) {
    const handle = requestIdleCallback(run, { timeout: WAIT_MS });
    return () => cancelIdleCallback(handle);
  }
  const timer = setTimeout(run, 50); // Safari has none
  return () => clearTimeout(timer);
}
