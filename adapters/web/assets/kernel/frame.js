// Work that is done once a frame of the screen, however often it is asked for.
//
//   const frame = onceAFrame(run)
//   frame.ask()      run before the next frame
//   frame.now()      run at once if it has been asked for
//   frame.cancel()

const HIDDEN_MS = 250; // a page that is not seen draws no frames; it still keeps up

/** @param {() => void} run */
export function onceAFrame(run) {
  /** @type {(() => void) | null} */
  let cancel = null;
  const now = () => {
    if (!cancel) return;
    cancel();
    cancel = null;
    run();
  };
  return {
    ask: () => void (cancel ??= beforeFrame(now)),
    now,
    cancel: () => {
      cancel?.();
      cancel = null;
    },
  };
}

/**
 * Call `run` before the next frame, or soon if none is drawn. A page that is hidden in between
 * draws no frame, so a timer runs along.
 * @param {() => void} run
 * @returns {() => void} calls it off
 */
function beforeFrame(run) {
  const timer = setTimeout(run, HIDDEN_MS);
  const frame = globalThis.requestAnimationFrame?.(run);
  return () => {
    clearTimeout(timer);
    if (frame !== undefined) cancelAnimationFrame(frame);
  };
}
