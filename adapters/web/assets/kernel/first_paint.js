// What waits until the page has drawn its first picture.
//
//   afterPaint()   → the module after_paint.js, loaded and begun; asked for again, the same

const FRAME_MS = 250; // a page that is hidden draws no frames

/** @type {Promise<typeof import("../after_paint.js")> | null} */
let loading = null;
let isDrawn = false;

/** The first picture needs no more than what is there: a chat, whose messages the page came with. */
export const drawFirst = () => void (isDrawn = true);

/** Return what is needed after the first picture. */
export function afterPaint() {
  loading ??= painted().then(() => import("../after_paint.js")).then((module) => (module.begin(), module));
  loading.catch(() => (loading = null));
  return loading;
}

/** Wait for the next picture, unless nothing can be drawn without what comes then. */
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
