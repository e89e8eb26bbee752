/** Reads something anew soon after news of it, and only while the page is looked at. */

/**
 * Return the function that takes the news. What happens within `pauseMs` is read together, and what
 * happens while the page is hidden when it is looked at again.
 * @param {() => Promise<unknown>} read a failure is left to the next news @param {number} pauseMs
 */
export function rereader(read, pauseMs) {
  let timer = 0;
  let wanted = false;
  function soon() {
    wanted = true;
    if (timer || document.visibilityState !== "visible") return;
    timer = window.setTimeout(() => {
      timer = 0;
      wanted = false;
      void read().catch(() => {});
    }, pauseMs);
  }
  document.addEventListener("visibilitychange", () => wanted && soon());
  return soon;
}
