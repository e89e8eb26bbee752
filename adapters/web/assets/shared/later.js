/** Views that are not needed at first: their modules are loaded when they are drawn. */

import {html, useEffect, useState} from "../ui.js";

/**
 * Return a view of a module that is loaded when the view is drawn for the first time. Until then
 * there is nothing; what is loaded once is drawn at once.
 *
 *     const Share = later(() => import("./share.js").then((module) => module.Share));
 *
 * @template {(props: any) => any} View
 * @param {() => Promise<View>} load
 * @returns {View}
 */
export function later(load) {
  /** @type {View | null} */
  let loaded = null;
  /** @param {any} props */
  function Later(props) {
    const [, drawn] = useState(0);
    useEffect(() => {
      if (!loaded) load().then((view) => ((loaded = view), drawn(1)), failed);
    }, []);
    return loaded && html`<${loaded} ...${props} />`;
  }
  return /** @type {any} */ (Later);
}

/** @param {unknown} error */
function failed(error) {
  dispatchEvent(new CustomEvent("module-missing", {detail: error}));
}
