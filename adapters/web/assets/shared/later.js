/** Views that are not needed at first: their modules are loaded when they are drawn. */

import {html, useEffect, useState} from "../ui.js";

const AGAIN_MS = 3000; // after a module could not be had: there may be no network for a while

/**
 * Return a view of a module that is loaded when the view is drawn for the first time. Until then
 * there is nothing, or what keeps its place; what is loaded once is drawn at once.
 *
 *     const Share = later(() => import("./share.js").then((module) => module.Share));
 *
 * @template {(props: any) => any} View
 * @param {() => Promise<View>} load
 * @param {(props: any) => any} [Before] what keeps its place
 * @returns {View}
 */
export function later(load, Before) {
  /** @type {View | null} */
  let loaded = null;
  /** @param {any} props */
  function Later(props) {
    const [, drawn] = useState(0);
    useEffect(() => {
      let timer = 0;
      const tried = () =>
        load().then(
          (view) => ((loaded = view), drawn(1)),
          (error) => (timer || failed(error), (timer = window.setTimeout(tried, AGAIN_MS))),
        );
      if (!loaded) tried();
      return () => clearTimeout(timer);
    }, []);
    if (loaded) return html`<${loaded} ...${props} />`;
    return Before ? html`<${Before} ...${props} />` : null;
  }
  return /** @type {any} */ (Later);
}

/** @param {unknown} error */
function failed(error) {
  dispatchEvent(new CustomEvent("module-missing", {detail: error}));
}
