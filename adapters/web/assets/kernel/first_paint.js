// The module after_paint.js, which is loaded when the page has drawn its first picture.
//
//   afterPaint()   → a promise of the module, loaded and begun once

const FRAME_MS = 250; // a page that is hidden draws no frames

/** @type {Promise<typeof import("../after_paint.js")> | null} */
let loading = null;
let isDrawn = false;

/** Load it at once: the first picture of this page cannot be drawn without it. */
export const drawFirst = () => void (isDrawn = true);

/** Return the module. After a failure the next call tries again. */
export function afterPaint() {
  loading ??= painted().then(() => import("../after_paint.js")).then((module) => (module.begin(), module));
  loading.catch(() => (loading = null));
  return loading;
}

/** Wait for the next picture, unless `drawFirst` was called. */
function painted() {
  if (isDrawn) return Promise.resolve();
  isDrawn = true;
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, FRAME_MS);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      setTimeout(resolve);
    });
  });
}
